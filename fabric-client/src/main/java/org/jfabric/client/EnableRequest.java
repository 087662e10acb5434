package org.jfabric.client;

/**
 * The bindings and names with which an endpoint is enabled.
 *
 * @param txCqId           completion queue of sends, 0 for none.
 * @param rxCqId           completion queue of receives, 0 for none.
 * @param avId             address vector, 0 for a connection-oriented endpoint.
 * @param bufferedLimit    longest message that is shown whole, with mode FI_BUFFERED_RECV.
 * @param requestId        connection request that it will accept, 0 for none.
 * @param passiveId        passive endpoint whose name it takes over, 0 for none.
 * @param receiveContextId shared receive context that it uses, 0 for none, or {@link #IS_RECEIVE_CONTEXT}.
 * @param endpointName     name wanted within the driver, or null.
 * @param service          further name to be published, or null.
 */
public record EnableRequest(
    long context,
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
    String endpointName,
    String service) {
    /** As {@link #receiveContextId}: the endpoint is a shared receive context. */
    public static final long IS_RECEIVE_CONTEXT = -1;
}
