package org.jfabric.client;

/**
 * The driver's numbers of the counters bound to an endpoint, each 0 if there is none.
 *
 * @param sends        counts sends.
 * @param receives     counts receives.
 * @param reads        counts reads of remote memory.
 * @param writes       counts writes to remote memory.
 * @param remoteReads  counts reads by peers.
 * @param remoteWrites counts writes by peers.
 */
public record CounterIds(
    long sends, long receives, long reads, long writes, long remoteReads, long remoteWrites) {
}
