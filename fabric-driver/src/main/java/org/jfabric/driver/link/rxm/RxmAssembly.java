package org.jfabric.driver.link.rxm;

import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.support.StallWatch;

/** A message of which some segments have come. Owner: progress agent. */
final class RxmAssembly {
    /** Where its bytes go; the engine's. */
    final Placement placement = new Placement();
    final StallWatch watch = new StallWatch();
    /** The sender's number of it. */
    long message;
    /** Bytes of the whole. */
    long length;
    /** Bytes that have come. */
    long received;
    /** Number of the segment that comes next. */
    int next;

    boolean isWhole() {
        return received == length;
    }

    /** Takes the next segment's bytes; those that do not fit are dropped. */
    void add(long address, int bytes) {
        long stored = Math.min(bytes, placement.lengthBytes() - received);
        if (stored > 0) {
            placement.copyFrom(received, address, stored);
        }
        received += bytes;
        next++;
    }
}
