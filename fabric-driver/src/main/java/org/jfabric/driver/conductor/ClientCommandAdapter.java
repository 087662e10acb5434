package org.jfabric.driver.conductor;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.FabricException;
import org.jfabric.Info;
import org.jfabric.client.InfoCodec;
import org.jfabric.codec.control.CloseObjectDecoder;
import org.jfabric.codec.control.EnableEndpointDecoder;
import org.jfabric.codec.control.InsertAddressDecoder;
import org.jfabric.codec.control.OpenAddressVectorDecoder;
import org.jfabric.codec.control.OpenCompletionQueueDecoder;
import org.jfabric.codec.control.OpenCounterDecoder;
import org.jfabric.codec.control.OpenViewDecoder;
import org.jfabric.codec.control.OpenWaitSetDecoder;
import org.jfabric.codec.control.PublishServiceDecoder;
import org.jfabric.codec.control.QueryInfoDecoder;
import org.jfabric.codec.control.RegisterRegionDecoder;
import org.jfabric.codec.control.RemoveAddressDecoder;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Receives the commands of clients and turns each into one call of the conductor.
 *
 * <p>A record is first copied out of the client's memory, then its lengths are checked, then it is decoded: what was
 * checked cannot change any more. Owner: conductor.
 */
final class ClientCommandAdapter {
    private static final int BATCH = 16;
    /** No command is longer: nine texts of 4,096 bytes and the block. */
    private static final int MAX_BODY = 9 * (4096 + Integer.BYTES) + EnableEndpointDecoder.BLOCK_LENGTH;
    private static final int MAX_TEXT = 4096;
    private static final int VERSION = 0;

    private final DriverConductor conductor;
    private final UnsafeBuffer body = new UnsafeBuffer(new byte[MAX_BODY]);
    private final UnsafeBuffer source = new UnsafeBuffer(0, 0);
    private final OpenCompletionQueueDecoder openQueue = new OpenCompletionQueueDecoder();
    private final OpenCounterDecoder openCounter = new OpenCounterDecoder();
    private final OpenWaitSetDecoder openWaitSet = new OpenWaitSetDecoder();
    private final OpenViewDecoder openView = new OpenViewDecoder();
    private final OpenAddressVectorDecoder openVector = new OpenAddressVectorDecoder();
    private final InsertAddressDecoder insert = new InsertAddressDecoder();
    private final RemoveAddressDecoder remove = new RemoveAddressDecoder();
    private final RegisterRegionDecoder register = new RegisterRegionDecoder();
    private final EnableEndpointDecoder enable = new EnableEndpointDecoder();
    private final PublishServiceDecoder publish = new PublishServiceDecoder();
    private final CloseObjectDecoder close = new CloseObjectDecoder();
    private final QueryInfoDecoder query = new QueryInfoDecoder();
    private final ConnectionCommandAdapter connections;

    /**
     * An adapter for all clients.
     *
     * @param conductor called for each command.
     */
    ClientCommandAdapter(DriverConductor conductor) {
        this.conductor = conductor;
        this.connections = new ConnectionCommandAdapter(conductor, body);
    }

    /**
     * Takes commands of a client.
     *
     * @param session not ending.
     * @return commands taken; {@link #isFull} says whether there may be more.
     */
    int poll(ClientSession session) {
        RecordConsumer ring = session.commands();
        int work = 0;
        while (work < BATCH && !session.isEnding()) {
            int state = ring.poll();
            if (state == RecordConsumer.EMPTY) {
                break;
            }
            String wrong = state == RecordConsumer.CORRUPT ? ring.describe() : take(session, ring);
            if (wrong != null) {
                conductor.onCorruption(session, "the command ring is corrupt: " + wrong);
                return work;
            }
            ring.advance();
            work++;
        }
        ring.release();
        return work;
    }

    /**
     * Whether a poll stopped because it had taken enough.
     *
     * @param taken result of {@link #poll}.
     * @return true if it has to be called again.
     */
    static boolean isFull(int taken) {
        return taken == BATCH;
    }

    private String take(ClientSession session, RecordConsumer ring) {
        int type = ring.type();
        int length = ring.length() - RecordRingDescriptor.WORD_LENGTH;
        int block = blockLength(type);
        if (block == 0) {
            return "a command with template " + type + " is not known";
        }
        if (length < block || length > MAX_BODY) {
            return "a command with template " + type + " has " + length + " bytes, needed are " + block + " to "
                + MAX_BODY;
        }
        source.wrap(ring.address() + RecordRingDescriptor.WORD_LENGTH, length);
        body.putBytes(0, source, 0, length);
        int end = block;
        for (int i = 0, texts = texts(type); i < texts; i++) {
            if (length - end < Integer.BYTES) {
                return "text " + i + " of a command with template " + type + " is missing in " + length + " bytes";
            }
            int text = body.getInt(end, LITTLE_ENDIAN);
            end += Integer.BYTES;
            if (text < 0 || text > MAX_TEXT || text > length - end) {
                return "text " + i + " of a command with template " + type + " has a length of "
                    + Integer.toUnsignedString(text) + " bytes, " + (length - end) + " are left";
            }
            end += text;
        }
        dispatch(session, type);
        return null;
    }

    private void dispatch(ClientSession session, int type) {
        // the correlation id is the first field of every command
        long correlationId = body.getLong(0, LITTLE_ENDIAN);
        try {
            decode(session, type);
        } catch (FabricException ex) {
            conductor.onRefused(session, correlationId, ex);
        }
    }

    private void decode(ClientSession session, int type) {
        switch (type) {
            case OpenCompletionQueueDecoder.TEMPLATE_ID -> conductor.onOpenCompletionQueue(
                session, openQueue.wrap(body, 0, OpenCompletionQueueDecoder.BLOCK_LENGTH, VERSION));
            case OpenCounterDecoder.TEMPLATE_ID -> conductor.onOpenCounter(
                session, openCounter.wrap(body, 0, OpenCounterDecoder.BLOCK_LENGTH, VERSION));
            case OpenWaitSetDecoder.TEMPLATE_ID -> conductor.onOpenWaitSet(
                session, openWaitSet.wrap(body, 0, OpenWaitSetDecoder.BLOCK_LENGTH, VERSION));
            case OpenViewDecoder.TEMPLATE_ID -> {
                openView.wrap(body, 0, OpenViewDecoder.BLOCK_LENGTH, VERSION);
                conductor.onOpenView(session, openView.correlationId(), openView.afterEndpointId());
            }
            case OpenAddressVectorDecoder.TEMPLATE_ID -> conductor.onOpenAddressVector(
                session, openVector.wrap(body, 0, OpenAddressVectorDecoder.BLOCK_LENGTH, VERSION));
            case InsertAddressDecoder.TEMPLATE_ID -> {
                insert.wrap(body, 0, InsertAddressDecoder.BLOCK_LENGTH, VERSION);
                conductor.onInsertAddress(
                    session, insert.correlationId(), insert.avId(), insert.flags(), insert.address());
            }
            case RemoveAddressDecoder.TEMPLATE_ID -> {
                remove.wrap(body, 0, RemoveAddressDecoder.BLOCK_LENGTH, VERSION);
                conductor.onRemoveAddress(
                    session, remove.correlationId(), remove.avId(), remove.fiAddr(), remove.flags());
            }
            case RegisterRegionDecoder.TEMPLATE_ID -> conductor.onRegisterRegion(
                session, register.wrap(body, 0, RegisterRegionDecoder.BLOCK_LENGTH, VERSION));
            case EnableEndpointDecoder.TEMPLATE_ID -> conductor.onEnableEndpoint(session, endpointRequest());
            case PublishServiceDecoder.TEMPLATE_ID -> {
                publish.wrap(body, 0, PublishServiceDecoder.BLOCK_LENGTH, VERSION);
                conductor.onPublishService(
                    session, publish.correlationId(), publish.endpointId(), publish.service());
            }
            case CloseObjectDecoder.TEMPLATE_ID -> {
                close.wrap(body, 0, CloseObjectDecoder.BLOCK_LENGTH, VERSION);
                conductor.onCloseObject(session, close.correlationId(), close.kindRaw(), close.objectId());
            }
            case QueryInfoDecoder.TEMPLATE_ID -> onQueryInfo(session);
            default -> connections.decode(session, type);
        }
    }

    private EndpointRequest endpointRequest() {
        enable.wrap(body, 0, EnableEndpointDecoder.BLOCK_LENGTH, VERSION);
        Info hints = InfoCodec.getFixed(body, EnableEndpointDecoder.capsEncodingOffset());
        texts(
            hints, enable.srcAddr(), enable.destAddr(), enable.linkName(), enable.provName(), enable.fabricName(),
            enable.domainName());
        byte[] key = new byte[enable.authKeyLength()];
        enable.getAuthKey(key, 0, key.length);
        hints.epAttr().authKey(key);
        return new EndpointRequest(
            enable.correlationId(),
            enable.endpointContext(),
            enable.txCqId(),
            body.getLong(EnableEndpointDecoder.txCqFlagsEncodingOffset(), LITTLE_ENDIAN),
            enable.rxCqId(),
            body.getLong(EnableEndpointDecoder.rxCqFlagsEncodingOffset(), LITTLE_ENDIAN),
            enable.sendCounterId(),
            enable.receiveCounterId(),
            enable.avId(),
            enable.eqId(),
            enable.bufferedLimit(),
            enable.bufferedMin(),
            enable.requestId(),
            enable.passiveId(),
            hints,
            enable.endpointName(),
            enable.service());
    }

    private void onQueryInfo(ClientSession session) {
        query.wrap(body, 0, QueryInfoDecoder.BLOCK_LENGTH, VERSION);
        Info hints = InfoCodec.getFixed(body, QueryInfoDecoder.capsEncodingOffset());
        texts(
            hints, query.srcAddr(), query.destAddr(), query.linkName(), query.provName(), query.fabricName(),
            query.domainName());
        byte[] key = new byte[query.authKeyLength()];
        query.getAuthKey(key, 0, key.length);
        hints.epAttr().authKey(key);
        hints.fabricAttr().apiVersion((int) query.apiVersionWanted());
        conductor.onQueryInfo(session, query.correlationId(), query.flags(), hints, query.node(), query.service());
    }

    private static void texts(
        Info hints,
        String srcAddr,
        String destAddr,
        String linkName,
        String provName,
        String fabricName,
        String domainName) {
        hints.srcAddr(orNull(srcAddr)).destAddr(orNull(destAddr)).linkName(orNull(linkName));
        hints.fabricAttr().provName(orNull(provName)).name(orNull(fabricName));
        hints.domainAttr().name(orNull(domainName));
    }

    private static String orNull(String text) {
        return text.isEmpty() ? null : text;
    }

    private static int blockLength(int type) {
        return switch (type) {
            case OpenCompletionQueueDecoder.TEMPLATE_ID -> OpenCompletionQueueDecoder.BLOCK_LENGTH;
            case OpenCounterDecoder.TEMPLATE_ID -> OpenCounterDecoder.BLOCK_LENGTH;
            case OpenWaitSetDecoder.TEMPLATE_ID -> OpenWaitSetDecoder.BLOCK_LENGTH;
            case OpenViewDecoder.TEMPLATE_ID -> OpenViewDecoder.BLOCK_LENGTH;
            case OpenAddressVectorDecoder.TEMPLATE_ID -> OpenAddressVectorDecoder.BLOCK_LENGTH;
            case InsertAddressDecoder.TEMPLATE_ID -> InsertAddressDecoder.BLOCK_LENGTH;
            case RemoveAddressDecoder.TEMPLATE_ID -> RemoveAddressDecoder.BLOCK_LENGTH;
            case RegisterRegionDecoder.TEMPLATE_ID -> RegisterRegionDecoder.BLOCK_LENGTH;
            case EnableEndpointDecoder.TEMPLATE_ID -> EnableEndpointDecoder.BLOCK_LENGTH;
            case PublishServiceDecoder.TEMPLATE_ID -> PublishServiceDecoder.BLOCK_LENGTH;
            case CloseObjectDecoder.TEMPLATE_ID -> CloseObjectDecoder.BLOCK_LENGTH;
            case QueryInfoDecoder.TEMPLATE_ID -> QueryInfoDecoder.BLOCK_LENGTH;
            default -> ConnectionCommandAdapter.blockLength(type);
        };
    }

    /** Fields of variable length behind the block. */
    private static int texts(int type) {
        return switch (type) {
            case OpenAddressVectorDecoder.TEMPLATE_ID, InsertAddressDecoder.TEMPLATE_ID,
                PublishServiceDecoder.TEMPLATE_ID -> 1;
            case EnableEndpointDecoder.TEMPLATE_ID, QueryInfoDecoder.TEMPLATE_ID -> 9;
            default -> ConnectionCommandAdapter.texts(type);
        };
    }
}
