package org.jfabric.perf.compare;

/** A metric that is reported for a cell. */
enum CellMetric {
    /** Total time over twice the round trips; of messages to oneself, over the messages. */
    HALF_ROUND_TRIP("halfRoundTrip", "ns", false),
    /** {@link #HALF_ROUND_TRIP} over the hand-over of a cache line that was measured around the cell. */
    HALF_ROUND_TRIP_IN_HAND_OVERS("halfRoundTripInHandOvers", "hand-overs", false),
    /** Total time over the operations, one after the other. */
    OPERATION_TIME("timePerOperation", "ns", false),
    /** {@link #OPERATION_TIME} over the hand-over of a cache line that was measured around the cell. */
    OPERATION_TIME_IN_HAND_OVERS("timePerOperationInHandOvers", "hand-overs", false),
    /** Messages of a stream over its time. */
    MESSAGE_RATE("messageRate", "messages/s", true),
    /** Payload of a stream over its time; a megabyte is a million bytes. */
    BANDWIDTH("bandwidth", "MB/s", true),
    /** Payload of an exchange, one direction after the other, over its time. */
    EXCHANGE_BANDWIDTH("bandwidthOfExchange", "MB/s", true),
    /** The time of a stream over its messages. */
    STREAM_TIME("timePerStreamedMessage", "ns", false),
    /** Half of the answers are there by then, counted from the intended send. */
    PACED_P50("roundTripAtRateP50", "ns", false),
    /** 99 % of the answers are there by then. */
    PACED_P99("roundTripAtRateP99", "ns", false),
    /** 99.9 % of the answers are there by then. */
    PACED_P999("roundTripAtRateP99.9", "ns", false),
    /** The time of the calls that write a burst, over its messages. */
    WRITE_TIME("timePerWrittenMessage", "ns", false),
    /** Half of the messages are written by then, counted from the intended send. */
    WRITE_P50("writeAtRateP50", "ns", false),
    /** 99 % of the messages are written by then. */
    WRITE_P99("writeAtRateP99", "ns", false),
    /** Half of the first messages of cold endpoints are there by then. */
    COLD_P50("firstMessageP50", "ns", false),
    /** 99 % of them are there by then. */
    COLD_P99("firstMessageP99", "ns", false),
    /** {@link #COLD_P99} over the mean duty cycle of the daemon in the same pass. */
    COLD_CYCLES("firstMessageP99InCycles", "cycles", false),
    /** Messages 900 to 1,100 of processes that are new, at 1,000 a second; half of their answers are there by then. */
    FRESH_P50("roundTripOfMessages900To1100P50", "ns", false),
    /** The same of processes that have exchanged messages for long. */
    STEADY_P50("roundTripInSteadyStateP50", "ns", false),
    /** {@link #FRESH_P50} over {@link #STEADY_P50} of the same processes. */
    FRESH_OVER_STEADY("freshOverSteadyState", "ratio", false),
    /** Garbage collections in all processes. */
    COLLECTIONS("garbageCollections", "collections", false),
    /** Heap that the threads of the messages allocated meanwhile. */
    OWN_BYTES("allocatedByMeasuringThreads", "bytes", false),
    /** Heap that all threads of these processes allocated meanwhile. */
    ALL_BYTES("allocatedByAllThreads", "bytes", false),
    /** Processor time of both sides for a message of an exchange. */
    EXCHANGE_CPU("cpuPerExchangedMessage", "ns", false),
    /** Processor time of both sides for a message of a stream. */
    STREAM_CPU("cpuPerStreamedMessage", "ns", false),
    /** Resident memory of all processes of the contender. */
    MEMORY("memory", "MiB", false);

    /** The bandwidth of exchanges of shorter messages is not reported. */
    static final int LARGE_BYTES = 65_536;

    private final String key;
    private final String unit;
    private final boolean moreIsBetter;

    CellMetric(String key, String unit, boolean moreIsBetter) {
        this.key = key;
        this.unit = unit;
        this.moreIsBetter = moreIsBetter;
    }

    /** Name in JSON. */
    String key() {
        return key;
    }

    String unit() {
        return unit;
    }

    /** Returns true if the metric is a time, which can be given in hand-overs of a cache line. */
    boolean isTime() {
        return unit.equals("ns");
    }

    /**
     * Returns true if the metric depends on the time of a cache line's hand-over; plain counts and what
     * compares a process with itself do not.
     */
    boolean dependsOnHandOver() {
        return switch (this) {
            case COLLECTIONS, OWN_BYTES, ALL_BYTES, MEMORY, FRESH_OVER_STEADY -> false;
            default -> true;
        };
    }

    /** The metric that this one is in hand-overs; null if it is one of its own. */
    CellMetric inHandOversOf() {
        return this == HALF_ROUND_TRIP_IN_HAND_OVERS ? HALF_ROUND_TRIP
            : this == OPERATION_TIME_IN_HAND_OVERS ? OPERATION_TIME : null;
    }

    boolean moreIsBetter() {
        return moreIsBetter;
    }
}
