package org.jfabric.driver.engine;

/** The counters bound to an endpoint, each null if there is none; one may stand in several places (fi_cntr(3)). */
public record EndpointCounters(
    CounterWriter sends,
    CounterWriter receives,
    CounterWriter reads,
    CounterWriter writes,
    CounterWriter remoteReads,
    CounterWriter remoteWrites) {
    public static final EndpointCounters NONE = of(null, null);

    /**
     * Counters of messages only.
     *
     * @param sends    or null.
     * @param receives or null.
     */
    public static EndpointCounters of(CounterWriter sends, CounterWriter receives) {
        return new EndpointCounters(sends, receives, null, null, null, null);
    }
}
