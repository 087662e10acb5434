package org.jfabric.driver.conductor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.InfoCodec;
import org.jfabric.client.ReasonText;
import org.jfabric.codec.control.AddressReadyEncoder;
import org.jfabric.codec.control.AddressVectorReadyEncoder;
import org.jfabric.codec.control.CardKeyReadyEncoder;
import org.jfabric.codec.control.ClientEndedEncoder;
import org.jfabric.codec.control.CommandFailedEncoder;
import org.jfabric.codec.control.CompletionQueueOverrunEncoder;
import org.jfabric.codec.control.CompletionQueueReadyEncoder;
import org.jfabric.codec.control.ConnectionEndedEncoder;
import org.jfabric.codec.control.ConnectionFailedEncoder;
import org.jfabric.codec.control.ConnectionMadeEncoder;
import org.jfabric.codec.control.ConnectionRequestedEncoder;
import org.jfabric.codec.control.CounterReadyEncoder;
import org.jfabric.codec.control.CqFormat;
import org.jfabric.codec.control.DoneEncoder;
import org.jfabric.codec.control.DriverDrainingEncoder;
import org.jfabric.codec.control.EndpointReadyEncoder;
import org.jfabric.codec.control.InfoEndEncoder;
import org.jfabric.codec.control.InfoMatchEncoder;
import org.jfabric.codec.control.InfoVerdictEncoder;
import org.jfabric.codec.control.PassiveEndpointReadyEncoder;
import org.jfabric.codec.control.PathReadyEncoder;
import org.jfabric.codec.control.PeerDownEncoder;
import org.jfabric.codec.control.RegionReadyEncoder;
import org.jfabric.codec.control.ScalableEndpointReadyEncoder;
import org.jfabric.codec.control.ViewReadyEncoder;
import org.jfabric.codec.control.WaitSetReadyEncoder;
import org.jfabric.driver.engine.EndpointSettings;
import org.jfabric.driver.link.ContextName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Info;
import org.jfabric.info.Verdict;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Sends answers and events to one client through its event ring.
 *
 * <p>A client that does not read loses no answer: events that do not fit into the ring are queued here, up to a bound
 * that only unsolicited events can exceed. Owner: conductor.
 */
final class ClientProxy {
    private static final int MAX_PENDING = 16 * 1024;
    private static final int MAX_TEXT = 4096;

    private final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer(1024);
    private final ArrayDeque<byte[]> pending = new ArrayDeque<>();
    private final RecordProducer ring;
    private final UnsafeBuffer records;
    private final Runnable doorbell;
    private boolean broken;
    private boolean closed;

    /**
     * A proxy for a fresh ring.
     *
     * @param doorbell rung after each event.
     */
    ClientProxy(RecordProducer ring, Runnable doorbell) {
        this.ring = ring;
        this.records = new UnsafeBuffer(ring.ringAddress(), ring.capacity());
        this.doorbell = doorbell;
    }

    /**
     * A command was refused.
     *
     * @param errno         positive fabric errno.
     */
    void commandFailed(long correlationId, int errno, String message) {
        CommandFailedEncoder encoder = new CommandFailedEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).errno(errno).message(cut(message));
        send(CommandFailedEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    void completionQueueReady(long correlationId, CompletionQueueResource queue, int format) {
        CompletionQueueReadyEncoder encoder = new CompletionQueueReadyEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).cqId(queue.id()).fileNumber(queue.file().number())
            .capacity(queue.capacity()).clientShare(queue.clientShare())
            .driverShare(queue.driverShare()).format(CqFormat.get(format))
            .waitToken(queue.waitResource() == null ? WaitResource.NO_CHANNEL : queue.waitResource().token());
        send(CompletionQueueReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    void counterReady(long correlationId, CounterResource counter) {
        CounterReadyEncoder encoder = new CounterReadyEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).counterId(counter.id()).fileNumber(counter.file().number())
            .waitToken(counter.waitResource() == null ? WaitResource.NO_CHANNEL : counter.waitResource().token());
        send(CounterReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    void waitSetReady(long correlationId, WaitSetResource waitSet) {
        WaitSetReadyEncoder encoder = new WaitSetReadyEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).waitSetId(waitSet.id()).fileNumber(waitSet.file().number())
            .waitToken(waitSet.waitResource().token());
        send(WaitSetReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * A view of an endpoint's queues is open.
     *
     * @param view          the view, or null if there is no such endpoint.
     */
    void viewReady(long correlationId, ViewResource view) {
        ViewReadyEncoder encoder = new ViewReadyEncoder().wrap(buffer, Long.BYTES).correlationId(correlationId)
            .viewId(view == null ? 0 : view.id()).fileNumber(view == null ? 0 : view.file().number())
            .endpointId(view == null ? 0 : view.endpointId());
        send(ViewReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    void addressVectorReady(long correlationId, long avId) {
        AddressVectorReadyEncoder encoder = new AddressVectorReadyEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).avId(avId);
        send(AddressVectorReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * An address is inserted, or that of a passive endpoint.
     *
     * @param fiAddr        its place in the address vector, or 0.
     */
    void addressReady(long correlationId, long fiAddr, String address) {
        AddressReadyEncoder encoder = new AddressReadyEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).fiAddr(fiAddr).address(address);
        send(AddressReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    void regionReady(long correlationId, RegionResource region) {
        RegionReadyEncoder encoder = new RegionReadyEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).fileNumber(region.copy(0).number())
            .generation(region.copy(0).generation()).length(region.copy(0).lengthBytes())
            .regionIndex(region.index()).reserved(0);
        send(RegionReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * A region is registered with a card.
     *
     * @param address       of the first byte under that key.
     */
    void cardKeyReady(long correlationId, long key, long address) {
        CardKeyReadyEncoder encoder = new CardKeyReadyEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).key(key).address(address);
        send(CardKeyReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    void endpointReady(long correlationId, EndpointResource endpoint) {
        EndpointSettings settings = endpoint.endpoint().settings();
        EndpointFiles files = endpoint.files();
        EndpointReadyEncoder encoder = new EndpointReadyEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).endpointId(endpoint.id())
            .transmitQueueFile(files.transmitNumber()).receiveQueueFile(files.receiveNumber())
            .transmitQueueLength(files.transmitLength()).receiveQueueLength(files.receiveLength())
            .activityIndex(endpoint.activityIndex())
            .txCqIndex(endpoint.endpoint().transmitIndex()).rxCqIndex(endpoint.endpoint().receiveIndex())
            .txSize(settings.txSize()).rxSize(settings.rxSize()).injectSize(settings.injectSizeBytes())
            .maxMsgSize(settings.maxMessageBytes()).slabFile(files.slabNumber())
            .slabCells(settings.slab() == null ? 0 : settings.slab().cells())
            .slabCellLength(settings.slab() == null ? 0 : settings.slab().cellBytes())
            // contexts have one address for their client
            .address(ContextName.endpoint(settings.address()));
        send(EndpointReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /** A command without result is done. */
    void done(long correlationId) {
        DoneEncoder encoder = new DoneEncoder().wrap(buffer, Long.BYTES).correlationId(correlationId);
        send(DoneEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /** A link meets the hints. */
    void infoMatch(long correlationId, Info info) {
        InfoMatchEncoder encoder = new InfoMatchEncoder().wrap(buffer, Long.BYTES).correlationId(correlationId);
        InfoCodec.putFixed(buffer, Long.BYTES + InfoMatchEncoder.capsEncodingOffset(), info);
        byte[] key = info.epAttr().authKey();
        encoder.srcAddr(text(info.srcAddr())).destAddr(text(info.destAddr())).linkName(text(info.linkName()))
            .provName(text(info.fabricAttr().provName())).fabricName(text(info.fabricAttr().name()))
            .domainName(text(info.domainAttr().name())).putAuthKey(key, 0, key.length);
        send(InfoMatchEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * Whether a link was chosen.
     *
     * @param verdict       chosen or rejected, with reasons.
     */
    void infoVerdict(long correlationId, Verdict verdict) {
        InfoVerdictEncoder encoder = new InfoVerdictEncoder().wrap(buffer, Long.BYTES).correlationId(correlationId)
            .chosen((short) (verdict.chosen() ? 1 : 0)).score(verdict.score()).linkName(verdict.linkName())
            .reasons(cut(ReasonText.format(verdict.reasons())));
        send(InfoVerdictEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * How a peer is reached; its verdicts were sent before.
     *
     * @param linkName      empty for none.
     */
    void pathReady(long correlationId, int state, String linkName, String remote) {
        PathReadyEncoder encoder = new PathReadyEncoder().wrap(buffer, Long.BYTES).correlationId(correlationId)
            .state((short) state).linkName(linkName).remoteAddress(remote);
        send(PathReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * All matches and verdicts were sent.
     *
     * @param errno         0, or positive fabric errno if nothing meets the hints.
     */
    void infoEnd(long correlationId, int errno) {
        InfoEndEncoder encoder = new InfoEndEncoder().wrap(buffer, Long.BYTES).correlationId(correlationId)
            .errno(errno);
        send(InfoEndEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * A peer of an endpoint is down.
     *
     * @param fiAddr     the peer in its address vector, or -1.
     * @param errno      positive fabric errno.
     * @param provErrno  error number of the link, else the same errno.
     */
    void peerDown(long endpointId, long fiAddr, int errno, int provErrno, String address) {
        PeerDownEncoder encoder = new PeerDownEncoder().wrap(buffer, Long.BYTES).endpointId(endpointId)
            .fiAddr(fiAddr).errno(errno).provErrno(provErrno).address(address);
        send(PeerDownEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /** A completion queue has lost an entry. */
    void completionQueueOverrun(long cqId) {
        CompletionQueueOverrunEncoder encoder =
            new CompletionQueueOverrunEncoder().wrap(buffer, Long.BYTES).cqId(cqId);
        send(CompletionQueueOverrunEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * The driver takes no new endpoints and will end.
     *
     * @param begins false if it continues to serve.
     */
    void driverDraining(boolean begins) {
        DriverDrainingEncoder encoder =
            new DriverDrainingEncoder().wrap(buffer, Long.BYTES).begins(begins ? 1 : 0).reserved(0);
        send(DriverDrainingEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    void scalableEndpointReady(long correlationId, long scalableId, String address) {
        ScalableEndpointReadyEncoder encoder = new ScalableEndpointReadyEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).scalableId(scalableId).address(address);
        send(ScalableEndpointReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    void passiveEndpointReady(long correlationId, long passiveId, String address) {
        PassiveEndpointReadyEncoder encoder = new PassiveEndpointReadyEncoder().wrap(buffer, Long.BYTES)
            .correlationId(correlationId).passiveId(passiveId).address(address);
        send(PassiveEndpointReadyEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    void connectionRequested(
        long passiveId, long requestId, String linkName, String peerAddress, byte[] cmData) {
        ConnectionRequestedEncoder encoder = new ConnectionRequestedEncoder().wrap(buffer, Long.BYTES)
            .passiveId(passiveId).requestId(requestId).linkName(linkName).peerAddress(peerAddress)
            .putCmData(cmData, 0, cmData.length);
        send(ConnectionRequestedEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    void connectionMade(long endpointId, String localAddress, String peerAddress, byte[] cmData) {
        ConnectionMadeEncoder encoder = new ConnectionMadeEncoder().wrap(buffer, Long.BYTES).endpointId(endpointId)
            .localAddress(localAddress).peerAddress(peerAddress).putCmData(cmData, 0, cmData.length);
        send(ConnectionMadeEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * A connection failed, or a passive endpoint has stopped listening.
     *
     * @param objectId the endpoint or passive endpoint.
     * @param errno    positive fabric errno.
     */
    void connectionFailed(long objectId, int errno, byte[] cmData) {
        ConnectionFailedEncoder encoder = new ConnectionFailedEncoder().wrap(buffer, Long.BYTES).objectId(objectId)
            .errno(errno).reserved(0).putCmData(cmData, 0, cmData.length);
        send(ConnectionFailedEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * The peer of a connected endpoint has closed the connection, or the connection is lost.
     *
     * @param errno      0 for an orderly close, else a positive fabric errno.
     */
    void connectionEnded(long endpointId, int errno) {
        ConnectionEndedEncoder encoder = new ConnectionEndedEncoder().wrap(buffer, Long.BYTES).endpointId(endpointId)
            .errno(errno).reserved(0);
        send(ConnectionEndedEncoder.TEMPLATE_ID, encoder.encodedLength());
    }

    /**
     * The driver ends this client; the last event.
     *
     * @param errno  positive fabric errno.
     */
    void clientEnded(int errno, String reason) {
        ClientEndedEncoder encoder = new ClientEndedEncoder().wrap(buffer, Long.BYTES).errno(errno).reserved(0)
            .reason(cut(reason));
        send(ClientEndedEncoder.TEMPLATE_ID, encoder.encodedLength());
        closed = true;
    }

    /** Stops sending, because the ring's memory is about to be unmapped. */
    void close() {
        closed = true;
        pending.clear();
    }

    /** Sends queued events that did not fit before. */
    int flush() {
        int work = 0;
        while (!closed && !pending.isEmpty() && offer(pending.peekFirst())) {
            pending.removeFirst();
            work++;
        }
        return work;
    }

    /** Whether events wait for space in the ring. */
    boolean hasPending() {
        return !closed && !pending.isEmpty();
    }

    /** Checks the client's end of the ring. Returns null, or the reason to end the client. */
    String broken() {
        if (broken) {
            return "the position in its event ring is impossible";
        }
        return pending.size() > MAX_PENDING
            ? "it does not read its events: " + pending.size() + " wait besides a full ring of " + ring.capacity()
                + " bytes"
            : null;
    }

    private void send(int type, int bodyLength) {
        if (closed) {
            return;
        }
        int length = RecordRingDescriptor.WORD_LENGTH + bodyLength;
        byte[] record = new byte[length];
        buffer.getBytes(0, record);
        UnsafeBuffer view = new UnsafeBuffer(record);
        view.putInt(Integer.BYTES, type, LITTLE_ENDIAN);
        if (!pending.isEmpty() || !offer(record)) {
            pending.addLast(record);
        }
    }

    private boolean offer(byte[] record) {
        int offset = ring.claim(record.length);
        if (offset < 0) {
            broken |= offset != -FabricErrno.EAGAIN;
            return false;
        }
        records.putBytes(
            offset + RecordRingDescriptor.WORD_LENGTH,
            record,
            RecordRingDescriptor.WORD_LENGTH,
            record.length - RecordRingDescriptor.WORD_LENGTH);
        ring.commit(offset, record.length, new UnsafeBuffer(record).getInt(Integer.BYTES, LITTLE_ENDIAN));
        doorbell.run();
        return true;
    }

    private static String text(String value) {
        return value == null ? "" : value;
    }

    private static String cut(String text) {
        if (text == null) {
            return "";
        }
        // characters of up to three bytes each must not exceed the field
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= MAX_TEXT ? text : text.substring(0, Math.min(text.length(), MAX_TEXT / 3));
    }
}
