package org.jfabric.client;

/** The driver's numbers of the counters bound to an endpoint, each 0 if there is none. */
public record CounterIds(
    long sends, long receives, long reads, long writes, long remoteReads, long remoteWrites) {
}
