package org.jfabric.simulation.soak;

import org.jfabric.IoVec;

import java.util.Random;

/**
 * A buffer as a vector of pieces that is not in memory order: rotated, so that its first bytes come last, and divided
 * once more; one piece may be empty.
 */
final class RotatedPieces {
    /** The smallest limit of all links. */
    private static final int MOST = 4;

    private final IoVec vector = new IoVec(MOST);

    static boolean usedBy(String call) {
        return call.endsWith("v") && !call.endsWith("recv") || call.endsWith("(iov)");
    }

    /** Draws the rotation of a buffer; the id at the begin of a message is never divided. */
    static int rotation(Random random, int length) {
        return length <= Long.BYTES ? 0 : random.nextInt(length - Long.BYTES + 1);
    }

    /** The pieces of a buffer, in the order of the payload. */
    IoVec of(long address, int length, int rotation) {
        int front = length - rotation;
        int cut = front / 3;
        vector.clear().add(address + rotation, cut).add(address + rotation + cut, front - cut);
        return rotation == 0 && length % 2 == 0 ? vector : vector.add(address, rotation);
    }
}
