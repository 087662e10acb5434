package org.jfabric.driver.kit;

import org.jfabric.client.WorkRequest;

/** Records of operations that tests post into an engine. */
public final class Requests {
    private Requests() {
    }

    /**
     * A message of pieces that starts at once: a send with remote CQ data, or a receive with bits of the tag to ignore.
     *
     * @param pieces address and length of each.
     */
    public static WorkRequest message(
        int kind, long flags, long[] pieces, long address, long tag, long dataOrIgnore, long context) {
        WorkRequest work = new WorkRequest().begin(kind);
        work.flags = flags;
        System.arraycopy(pieces, 0, work.pieces, 0, pieces.length);
        work.count = pieces.length / 2;
        work.address = address;
        work.tag = tag;
        work.data = dataOrIgnore;
        work.ignore = dataOrIgnore;
        work.context = context;
        return work;
    }
}
