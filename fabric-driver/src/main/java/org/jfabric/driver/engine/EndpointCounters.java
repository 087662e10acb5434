package org.jfabric.driver.engine;

/**
 * The counters bound to an endpoint, each null if there is none; one may stand in several places (fi_cntr(3)).
 *
 * @param sends        sends that have ended.
 * @param receives     receives that have ended.
 * @param reads        reads of remote memory that this side posted.
 * @param writes       writes to remote memory that this side posted.
 * @param remoteReads  reads of this side's memory.
 * @param remoteWrites writes to this side's memory.
 */
public record EndpointCounters(
    CounterWriter sends,
    CounterWriter receives,
    CounterWriter reads,
    CounterWriter writes,
    CounterWriter remoteReads,
    CounterWriter remoteWrites) {
    /** No counter. */
    public static final EndpointCounters NONE = of(null, null);

    /**
     * Counters of messages only.
     *
     * @param sends    or null.
     * @param receives or null.
     * @return them.
     */
    public static EndpointCounters of(CounterWriter sends, CounterWriter receives) {
        return new EndpointCounters(sends, receives, null, null, null, null);
    }
}
