package org.jfabric.perf.compare;

/** Kind of traffic between two sides; the rig names it to both. */
enum Pass {
    /** One message there, one back, no clocks inside: half round trip. */
    EXCHANGE,
    /** Messages one way, as many under way as the window allows, one back at the end: rate and bandwidth. */
    STREAM,
    /** Messages at a fixed rate, each answered; measured from the time at which they should have been sent. */
    PACED,
    /** One message at a time, each of another endpoint that was idle for long, amid the traffic of one that is not. */
    COLD,
    /** A thousand messages a second, each answered, from the first ones of processes that are new. */
    FRESH,
    /** A write into the other side's memory, which it polls, and one back: half of that round trip. */
    PUT,
    /** Writes one way, as many under way as the window allows: rate and bandwidth. */
    PUT_STREAM,
    /** Reads of the other side's memory, one after the other. */
    GET,
    /** Fetch-and-add operations on a word of the other side, one after the other. */
    FETCH_ADD,
    /** Bursts of messages one way, each answered by one: the time of the calls that write. */
    BURST,
    /** Messages one way at a fixed rate; measured from the time at which they should have been sent until they were. */
    WRITE,
    /** Messages into a log, until all are in the page cache. */
    RECORD,
    /** Messages into a log, until all are on stable storage. */
    COMMIT,
    /** Messages out of a log that is in the page cache, from its first one on; the log is opened meanwhile. */
    REPLAY,
    /** As {@link #STREAM}, as many messages as a target names and only once; not for its time. */
    COLLECTED,
    /** As {@link #EXCHANGE}, or as {@link #PUT}, contents made and compared. */
    VERIFY,
    /** As {@link #STREAM}, contents made and compared. */
    VERIFY_STREAM;

    /** Returns true if the side that begins finds a distribution. */
    boolean hasDistribution() {
        return switch (this) {
            case PACED, COLD, FRESH, BURST, WRITE -> true;
            default -> false;
        };
    }
}
