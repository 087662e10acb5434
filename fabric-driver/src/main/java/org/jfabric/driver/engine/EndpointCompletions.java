package org.jfabric.driver.engine;

/**
 * Where the ends of an endpoint's operations are written.
 *
 * @param transmit            completion queue of sends; null of a shared receive context.
 * @param receive             completion queue of receives; null of a shared receive context.
 * @param isReceiveSelective  whether receives of a shared context that end here write an entry only with
 *                            {@code Flags.COMPLETION}; a client adds the flag to receives of the endpoint itself.
 */
public record EndpointCompletions(
    CompletionWriter transmit, CompletionWriter receive, EndpointCounters counters, boolean isReceiveSelective) {
    /** Those of a shared receive context, whose receives end at the endpoints that use it. */
    public static final EndpointCompletions NONE =
        new EndpointCompletions(null, null, EndpointCounters.NONE, false);
}
