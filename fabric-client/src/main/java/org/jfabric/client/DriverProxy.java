package org.jfabric.client;

import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVectorAttr;
import org.jfabric.CompletionQueueAttr;
import org.jfabric.CounterAttr;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Info;
import org.jfabric.WaitSetAttr;
import org.jfabric.codec.control.CloseObjectEncoder;
import org.jfabric.codec.control.EnableEndpointEncoder;
import org.jfabric.codec.control.InsertAddressEncoder;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.OpenAddressVectorEncoder;
import org.jfabric.codec.control.OpenCompletionQueueEncoder;
import org.jfabric.codec.control.OpenCounterEncoder;
import org.jfabric.codec.control.OpenViewEncoder;
import org.jfabric.codec.control.OpenWaitSetEncoder;
import org.jfabric.codec.control.PublishServiceEncoder;
import org.jfabric.codec.control.QueryInfoEncoder;
import org.jfabric.codec.control.RegisterRegionEncoder;
import org.jfabric.codec.control.RemoveAddressEncoder;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;

import java.nio.ByteOrder;

/**
 * Writes commands into the command ring and wakes the driver. Each call returns 0, or {@code -FI_EAGAIN} while the ring
 * is full.
 *
 * <p>Owner: whoever holds the conductor's command lock.
 */
public final class DriverProxy {
    private static final int INITIAL_LENGTH = 1024;

    private final MutableDirectBuffer body = new ExpandableArrayBuffer(INITIAL_LENGTH);
    private final OpenCompletionQueueEncoder openCompletionQueue = new OpenCompletionQueueEncoder();
    private final OpenCounterEncoder openCounter = new OpenCounterEncoder();
    private final OpenWaitSetEncoder openWaitSet = new OpenWaitSetEncoder();
    private final OpenViewEncoder openView = new OpenViewEncoder();
    private final OpenAddressVectorEncoder openAddressVector = new OpenAddressVectorEncoder();
    private final InsertAddressEncoder insertAddress = new InsertAddressEncoder();
    private final RemoveAddressEncoder removeAddress = new RemoveAddressEncoder();
    private final RegisterRegionEncoder registerRegion = new RegisterRegionEncoder();
    private final EnableEndpointEncoder enableEndpoint = new EnableEndpointEncoder();
    private final PublishServiceEncoder publishService = new PublishServiceEncoder();
    private final CloseObjectEncoder closeObject = new CloseObjectEncoder();
    private final QueryInfoEncoder queryInfo = new QueryInfoEncoder();
    private final RecordProducer producer;
    private final UnsafeBuffer ring;
    private final Doorbell doorbell;

    /**
     * A proxy of a ring.
     *
     * @param producer writing end.
     * @param ring     the same memory, from the first record on.
     * @param doorbell rung after each command, or null with an embedded driver.
     */
    public DriverProxy(RecordProducer producer, UnsafeBuffer ring, Doorbell doorbell) {
        this.producer = producer;
        this.ring = ring;
        this.doorbell = doorbell;
    }

    /**
     * Opens a completion queue.
     *
     * @param correlationId of the answer.
     * @param attr          every member reaches the driver unchanged.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int openCompletionQueue(long correlationId, CompletionQueueAttr attr) {
        openCompletionQueue.wrap(body, 0)
            .correlationId(correlationId)
            .size(attr.size())
            .flags(attr.flags())
            .signalingVector(attr.signalingVector())
            .waitSetId(attr.waitSetId());
        putInt(OpenCompletionQueueEncoder.formatEncodingOffset(), attr.format().code());
        putInt(OpenCompletionQueueEncoder.waitObjEncodingOffset(), attr.waitObject().code());
        putInt(OpenCompletionQueueEncoder.waitCondEncodingOffset(), attr.waitCondition().code());
        return submit(OpenCompletionQueueEncoder.TEMPLATE_ID, OpenCompletionQueueEncoder.BLOCK_LENGTH);
    }

    /**
     * Opens a counter.
     *
     * @param correlationId of the answer.
     * @param attr          attributes.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int openCounter(long correlationId, CounterAttr attr) {
        openCounter.wrap(body, 0).correlationId(correlationId).flags(attr.flags()).waitSetId(attr.waitSetId());
        putInt(OpenCounterEncoder.eventsEncodingOffset(), attr.events().code());
        putInt(OpenCounterEncoder.waitObjEncodingOffset(), attr.waitObject().code());
        return submit(OpenCounterEncoder.TEMPLATE_ID, OpenCounterEncoder.BLOCK_LENGTH);
    }

    /**
     * Opens a wait set.
     *
     * @param correlationId of the answer.
     * @param attr          attributes.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int openWaitSet(long correlationId, WaitSetAttr attr) {
        openWaitSet.wrap(body, 0).correlationId(correlationId).flags(attr.flags());
        putInt(OpenWaitSetEncoder.waitObjEncodingOffset(), attr.waitObject().code());
        return submit(OpenWaitSetEncoder.TEMPLATE_ID, OpenWaitSetEncoder.BLOCK_LENGTH);
    }

    /**
     * Asks for a look at the queues of an endpoint of the driver, whoever it belongs to.
     *
     * @param correlationId   of the answer.
     * @param afterEndpointId the endpoint with the next greater id is looked at; 0 for the first.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int openView(long correlationId, long afterEndpointId) {
        openView.wrap(body, 0).correlationId(correlationId).afterEndpointId(afterEndpointId);
        return submit(OpenViewEncoder.TEMPLATE_ID, OpenViewEncoder.BLOCK_LENGTH);
    }

    /**
     * Opens an address vector.
     *
     * @param correlationId of the answer.
     * @param attr          attributes.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int openAddressVector(long correlationId, AddressVectorAttr attr) {
        openAddressVector.wrap(body, 0)
            .correlationId(correlationId)
            .rxCtxBits(attr.rxCtxBits())
            .count(attr.count())
            .epPerNode(attr.epPerNode())
            .flags(attr.flags());
        putInt(OpenAddressVectorEncoder.avTypeEncodingOffset(), attr.type().code());
        return submit(OpenAddressVectorEncoder.TEMPLATE_ID,
            InfoCodec.putText(body, OpenAddressVectorEncoder.BLOCK_LENGTH, "name", attr.name()));
    }

    /**
     * Inserts an address.
     *
     * @param correlationId of the answer.
     * @param avId          address vector.
     * @param flags         insertion flags.
     * @param address       to be inserted.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int insertAddress(long correlationId, long avId, long flags, String address) {
        insertAddress.wrap(body, 0).correlationId(correlationId).avId(avId).flags(flags);
        return submit(InsertAddressEncoder.TEMPLATE_ID,
            InfoCodec.putText(body, InsertAddressEncoder.BLOCK_LENGTH, "address", address));
    }

    /**
     * Removes an address.
     *
     * @param correlationId of the answer.
     * @param avId          address vector.
     * @param fiAddr        number of the address.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int removeAddress(long correlationId, long avId, long fiAddr) {
        removeAddress.wrap(body, 0).correlationId(correlationId).avId(avId).fiAddr(fiAddr).flags(0);
        return submit(RemoveAddressEncoder.TEMPLATE_ID, RemoveAddressEncoder.BLOCK_LENGTH);
    }

    /**
     * Registers memory, or lets the driver make it.
     *
     * @param correlationId of the answer.
     * @param length        bytes.
     * @param access        access flags.
     * @param nativeAddress memory of the embedding process, 0 for a new file.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int registerRegion(long correlationId, long length, long access, long nativeAddress) {
        registerRegion.wrap(body, 0)
            .correlationId(correlationId)
            .length(length)
            .access(access)
            .requestedKey(0)
            .flags(0)
            .nativeAddress(nativeAddress);
        return submit(RegisterRegionEncoder.TEMPLATE_ID, RegisterRegionEncoder.BLOCK_LENGTH);
    }

    /**
     * Enables an endpoint: open, bind and enable in one.
     *
     * @param correlationId of the answer.
     * @param request       what it is bound to.
     * @param info          what it was opened with.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int enableEndpoint(long correlationId, EnableRequest request, Info info) {
        enableEndpoint.wrap(body, 0)
            .correlationId(correlationId)
            .endpointContext(request.context())
            .txCqId(request.txCqId())
            .rxCqId(request.rxCqId())
            .avId(request.avId())
            .eqId(0)
            .sendCounterId(request.sendCounterId())
            .receiveCounterId(request.receiveCounterId())
            .bufferedLimit(request.bufferedLimit())
            .bufferedMin(request.bufferedMin())
            .requestId(request.requestId())
            .passiveId(request.passiveId());
        putLong(EnableEndpointEncoder.txCqFlagsEncodingOffset(), request.txCqFlags());
        putLong(EnableEndpointEncoder.rxCqFlagsEncodingOffset(), request.rxCqFlags());
        InfoCodec.putFixed(body, EnableEndpointEncoder.capsEncodingOffset(), info);
        int next = InfoCodec.putTexts(body, EnableEndpointEncoder.BLOCK_LENGTH, info);
        next = InfoCodec.putText(body, next, "endpoint name", request.endpointName());
        return submit(EnableEndpointEncoder.TEMPLATE_ID, InfoCodec.putText(body, next, "service", request.service()));
    }

    /**
     * Publishes a further name of an endpoint.
     *
     * @param correlationId of the answer.
     * @param endpointId    the endpoint.
     * @param service       name.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int publishService(long correlationId, long endpointId, String service) {
        publishService.wrap(body, 0).correlationId(correlationId).endpointId(endpointId);
        return submit(PublishServiceEncoder.TEMPLATE_ID,
            InfoCodec.putText(body, PublishServiceEncoder.BLOCK_LENGTH, "service", service));
    }

    /**
     * Closes an object.
     *
     * @param correlationId of the answer.
     * @param kind          what it is.
     * @param objectId      its id; of a region its index.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int closeObject(long correlationId, ObjectKind kind, long objectId) {
        closeObject.wrap(body, 0).correlationId(correlationId).objectId(objectId).kind(kind);
        return submit(CloseObjectEncoder.TEMPLATE_ID, CloseObjectEncoder.BLOCK_LENGTH);
    }

    /**
     * Asks what the fabric offers.
     *
     * @param correlationId of the answers.
     * @param hints         what is needed.
     * @param flags         query flags.
     * @param node          where to, or null.
     * @param service       where to, or null.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    public int queryInfo(long correlationId, Info hints, long flags, String node, String service) {
        queryInfo.wrap(body, 0)
            .correlationId(correlationId)
            .flags(flags)
            .apiVersionWanted(hints.fabricAttr().apiVersion());
        InfoCodec.putFixed(body, QueryInfoEncoder.capsEncodingOffset(), hints);
        int next = InfoCodec.putTexts(body, QueryInfoEncoder.BLOCK_LENGTH, hints);
        next = InfoCodec.putText(body, next, "node", node);
        return submit(QueryInfoEncoder.TEMPLATE_ID, InfoCodec.putText(body, next, "service", service));
    }

    private int submit(int type, int bodyLength) {
        return submit(type, body, bodyLength);
    }

    private void putInt(int offset, int value) {
        body.putInt(offset, value, ByteOrder.LITTLE_ENDIAN);
    }

    private void putLong(int offset, long value) {
        body.putLong(offset, value, ByteOrder.LITTLE_ENDIAN);
    }

    int submit(int type, DirectBuffer from, int bodyLength) {
        int length = RecordRingDescriptor.WORD_LENGTH + bodyLength;
        if (length > producer.capacity() / 4) {
            throw new FabricException(FabricErrno.EINVAL, "the command has " + length + " bytes, a command ring of "
                + producer.capacity() + " takes " + producer.capacity() / 4, "Use shorter names.");
        }
        int offset = producer.claim(length);
        if (offset < 0) {
            return offset;
        }
        ring.putBytes(offset + RecordRingDescriptor.WORD_LENGTH, from, 0, bodyLength);
        producer.commit(offset, length, type);
        if (doorbell != null) {
            doorbell.ring();
        }
        return 0;
    }
}
