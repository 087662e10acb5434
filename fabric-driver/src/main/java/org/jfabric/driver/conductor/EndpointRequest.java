package org.jfabric.driver.conductor;

import org.jfabric.client.ContextPlace;
import org.jfabric.client.CounterIds;
import org.jfabric.client.InfoCodec;
import org.jfabric.codec.control.EnableEndpoint;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Info;

/** The request to enable an endpoint. */
record EndpointRequest(EnableEndpoint message, Info hints) {
    static EndpointRequest of(EnableEndpoint message) {
        return new EndpointRequest(message, InfoCodec.hints(message));
    }

    CounterIds counters() {
        return new CounterIds(message.sendCounterId(), message.receiveCounterId(), message.readCounterId(),
            message.writeCounterId(), message.remoteReadCounterId(), message.remoteWriteCounterId());
    }

    ContextPlace place() {
        return new ContextPlace(message.scalableId(), message.contextIndex(), message.isTransmitContext() != 0);
    }

    /** Whether it requests a shared receive context, which has no links, queues and address vector. */
    boolean isReceiveContext() {
        return message.receiveContextId() == ContextPlace.IS_RECEIVE_CONTEXT;
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
