package org.jfabric.tool.watch;

import java.util.Map;

/**
 * The counters and gauges of a link, an endpoint or a peer by the last part of their names, such as
 * {@code sent_messages}.
 *
 * @param rates  change of the counters per second; empty in the first sample and of a driver that does not run.
 */
record Meters(Map<String, Long> values, Map<String, Double> rates) {
    /** The value, 0 if there is none of that name. */
    long value(String name) {
        return values.getOrDefault(name, 0L);
    }

    /** The change per second; not a number if it is not known. */
    double rate(String name) {
        return rates.getOrDefault(name, Double.NaN);
    }

    /** Checks whether messages or remote accesses were counted since the sample before. */
    boolean moves() {
        return rate("sent_messages") > 0 || rate("received_messages") > 0 || rate("remote_accesses") > 0;
    }
}
