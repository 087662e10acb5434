package org.jfabric.simulation.soak;

import org.jfabric.IoVec;

import java.util.Random;

/**
 * A buffer as calls with several pieces take it: not as it lies in memory, but turned, so that its first bytes come
 * last, and cut once more; one piece may be empty.
 */
final class TurnedPieces {
    /** The fewest that both links take. */
    private static final int MOST = 4;

    private final IoVec vector = new IoVec(MOST);

    static boolean takes(String call) {
        return call.endsWith("v") && !call.endsWith("recv") || call.endsWith("(iov)");
    }

    /** By how many bytes a buffer is turned; the first piece always shows the id of a message. */
    static int turn(Random random, int length) {
        return length <= Long.BYTES ? 0 : random.nextInt(length - Long.BYTES + 1);
    }

    /** The pieces of a buffer, in the order of the payload. */
    IoVec of(long address, int length, int turned) {
        int front = length - turned;
        int cut = front / 3;
        vector.clear().add(address + turned, cut).add(address + turned + cut, front - cut);
        return turned == 0 && length % 2 == 0 ? vector : vector.add(address, turned);
    }
}
