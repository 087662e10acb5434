package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.ReceiveRequests;
import org.jfabric.driver.ffi.VerbsDataPath;

/** The receives of one connection, in the queue of its own queue pair. Owner: progress agent. */
final class OwnSlots extends ReceiveSlots {
    private final VerbsDataPath path;
    private final long queuePair;

    OwnSlots(
        VerbsDataPath path, long queuePair, ReceiveRequests requests, int count, long memory, int slotBytes) {
        super(requests, count, memory, slotBytes);
        this.path = path;
        this.queuePair = queuePair;
    }

    @Override
    int post(long request) {
        return path.postReceive(queuePair, request);
    }
}
