package org.jfabric.client;

/**
 * The place of a context within a scalable endpoint.
 *
 * @param scalableId the scalable endpoint, 0 for an endpoint that is no context.
 * @param index      of the context, from 0.
 */
public record ContextPlace(long scalableId, int index, boolean transmits) {
    /** As receiveContextId of EnableEndpoint: the endpoint is a shared receive context. */
    public static final long IS_RECEIVE_CONTEXT = -1;
    /** Of an ordinary endpoint. */
    public static final ContextPlace NONE = new ContextPlace(0, 0, false);

    public boolean isContext() {
        return scalableId != 0;
    }
}
