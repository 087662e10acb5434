package org.jfabric.driver.link.rxm;

import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.support.StallWatch;

/** A message of which some segments have arrived. Owner: progress agent. */
final class RxmAssembly {
    /** Destination of its bytes, given by the engine. */
    final Placement placement = new Placement();
    final StallWatch watch = new StallWatch();
    /** The number that the sender gave it. */
    long message;
    /** Bytes of the whole message. */
    long length;
    /** Bytes that have arrived. */
    long received;
    /** Number of the next segment. */
    int next;
    /** Its receive was full before its end and has ended: the rest is dropped. */
    boolean isDropping;

    /** Whether the receive has all that it can take. */
    boolean isPlaced() {
        return !isDropping && received >= placement.lengthBytes();
    }

    boolean isWhole() {
        return received == length;
    }

    /** Stores the bytes of the next segment; those that do not fit are dropped. */
    void add(long address, int bytes) {
        long stored = Math.min(bytes, placement.lengthBytes() - received);
        if (stored > 0) {
            placement.copyFrom(received, address, stored);
        }
        received += bytes;
        next++;
    }
}
