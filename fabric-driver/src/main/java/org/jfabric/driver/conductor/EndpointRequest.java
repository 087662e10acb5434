package org.jfabric.driver.conductor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.jfabric.client.ContextPlace;
import org.jfabric.client.CounterIds;
import org.jfabric.client.EnableRequest;
import org.jfabric.client.InfoCodec;
import org.jfabric.client.VarDataReader;
import org.jfabric.codec.control.EnableEndpointDecoder;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Info;

/**
 * The request to enable an endpoint.
 *
 * @param txCqId           completion queue for sends, or 0.
 * @param rxCqId           completion queue for receives, or 0.
 * @param bufferedLimit    longest message that is delivered whole, with mode FI_BUFFERED_RECV.
 * @param requestId        connection request that it will accept, or 0.
 * @param passiveId        passive endpoint whose name it takes over, or 0.
 * @param receiveContextId shared receive context that it uses, 0, or {@link EnableRequest#IS_RECEIVE_CONTEXT}.
 * @param endpointName     name for its address, or empty.
 * @param service          name to be published, or empty.
 */
record EndpointRequest(
    long endpointContext,
    long txCqId,
    long txCqFlags,
    long rxCqId,
    long rxCqFlags,
    CounterIds counters,
    long domain,
    long avId,
    int bufferedLimit,
    int bufferedMin,
    long requestId,
    long passiveId,
    ContextPlace place,
    long receiveContextId,
    Info hints,
    String endpointName,
    String service) {

    static EndpointRequest decode(CommandRequest request) {
        EnableEndpointDecoder decoder = new EnableEndpointDecoder().wrap(
            request.body(), 0, EnableEndpointDecoder.BLOCK_LENGTH, EnableEndpointDecoder.SCHEMA_VERSION);
        Info hints = InfoCodec.getFixed(request.body(), EnableEndpointDecoder.capsEncodingOffset());
        VarDataReader texts = request.varData(EnableEndpointDecoder.BLOCK_LENGTH);
        InfoCodec.getTexts(texts, hints);
        return new EndpointRequest(
            decoder.endpointContext(),
            decoder.txCqId(),
            // as a plain number: the accessor is an object with a method for each bit
            request.body().getLong(EnableEndpointDecoder.txCqFlagsEncodingOffset(), LITTLE_ENDIAN),
            decoder.rxCqId(),
            request.body().getLong(EnableEndpointDecoder.rxCqFlagsEncodingOffset(), LITTLE_ENDIAN),
            new CounterIds(
                decoder.sendCounterId(), decoder.receiveCounterId(), decoder.readCounterId(), decoder.writeCounterId(),
                decoder.remoteReadCounterId(), decoder.remoteWriteCounterId()),
            decoder.domain(),
            decoder.avId(),
            decoder.bufferedLimit(),
            decoder.bufferedMin(),
            decoder.requestId(),
            decoder.passiveId(),
            new ContextPlace(decoder.scalableId(), decoder.contextIndex(), decoder.isTransmitContext() != 0),
            decoder.receiveContextId(),
            hints,
            texts.ascii(),
            texts.ascii());
    }

    /** Whether it requests a shared receive context, which has no links, queues and address vector. */
    boolean isReceiveContext() {
        return receiveContextId == EnableRequest.IS_RECEIVE_CONTEXT;
    }

    /** Whether it requests a connection-oriented endpoint. */
    boolean connects() {
        return hints.epAttr().type() == EndpointType.MSG;
    }

    /** Whether a link may be used. */
    boolean wants(String linkName) {
        String wanted = hints.linkName();
        return wanted == null || wanted.isEmpty() || wanted.equals(linkName);
    }
}
