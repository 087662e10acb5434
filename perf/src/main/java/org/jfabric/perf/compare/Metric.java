package org.jfabric.perf.compare;

/** What is reported of a cell. */
enum Metric {
    /** Total time over twice the round trips; of messages to oneself, over the messages. */
    HALF_ROUND_TRIP("halfRoundTrip", "ns", false),
    /** Messages of a stream over its time. */
    MESSAGE_RATE("messageRate", "messages/s", true),
    /** Payload of a stream over its time; a megabyte is a million bytes. */
    BANDWIDTH("bandwidth", "MB/s", true),
    /** Half of the answers are there by then, counted from the intended send. */
    PACED_P50("roundTripAtRateP50", "ns", false),
    /** 99 % of the answers are there by then. */
    PACED_P99("roundTripAtRateP99", "ns", false),
    /** 99.9 % of the answers are there by then. */
    PACED_P999("roundTripAtRateP99.9", "ns", false),
    /** Processor time of both sides for a message of an exchange. */
    EXCHANGE_CPU("cpuPerExchangedMessage", "ns", false),
    /** Processor time of both sides for a message of a stream. */
    STREAM_CPU("cpuPerStreamedMessage", "ns", false),
    /** Resident memory of all processes of the contender. */
    MEMORY("memory", "MiB", false);

    private final String key;
    private final String unit;
    private final boolean moreIsBetter;

    Metric(String key, String unit, boolean moreIsBetter) {
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

    boolean moreIsBetter() {
        return moreIsBetter;
    }
}
