package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;

import java.util.Random;

/**
 * Pieces of a node's memory in the order of a message, which is not the order in which they lie there; every second one
 * is named by the twin region.
 */
final class ScatteredPieces {
    private final int[] offsets;
    private final int[] lengths;

    private ScatteredPieces(int count) {
        offsets = new int[count];
        lengths = new int[count];
    }

    /** Cuts an area at random: the last bytes of the message come first in it. Some pieces may be empty. */
    static ScatteredPieces of(Random random, int offset, int length) {
        int count = random.nextInt(5);
        int[] lengths = new int[length != 0 && count == 0 ? 1 : count];
        int rest = length;
        for (int i = 0; i < lengths.length; i++) {
            lengths[i] = i == lengths.length - 1 ? rest : random.nextInt(4) == 0 ? 0 : random.nextInt(rest + 1);
            rest -= lengths[i];
        }
        return of(offset, lengths);
    }

    /** Pieces of these lengths, the last one of them first in memory. */
    static ScatteredPieces of(int offset, int... lengths) {
        ScatteredPieces pieces = new ScatteredPieces(lengths.length);
        int at = offset;
        for (int i = lengths.length - 1; i >= 0; i--) {
            pieces.offsets[i] = at;
            pieces.lengths[i] = lengths[i];
            at += lengths[i];
        }
        return pieces;
    }

    int count() {
        return offsets.length;
    }

    int lengthBytes() {
        int sum = 0;
        for (int length : lengths) {
            sum += length;
        }
        return sum;
    }

    /** Address and length of each, as a request has them. */
    long[] requests(Engines.Node node) {
        long[] requests = new long[2 * offsets.length];
        for (int i = 0; i < offsets.length; i++) {
            requests[2 * i] = i % 2 == 0 ? node.buf(offsets[i]) : node.twinBuf(offsets[i]);
            requests[2 * i + 1] = lengths[i];
        }
        return requests;
    }

    void fill(Engines.Node node, int seed) {
        int index = 0;
        for (int i = 0; i < offsets.length; i++) {
            for (int k = 0; k < lengths[i]; k++) {
                UnsafeApi.putByte(node.memory + offsets[i] + k, Engines.pattern(seed, index++));
            }
        }
    }

    void assertFilled(Engines.Node node, int length, int seed) {
        int index = 0;
        for (int i = 0; i < offsets.length; i++) {
            for (int k = 0; k < lengths[i] && index < length; k++, index++) {
                if (UnsafeApi.getByte(node.memory + offsets[i] + k) != Engines.pattern(seed, index)) {
                    throw new AssertionError(node.address + ": byte " + index + " of " + length + " differs in piece "
                        + i + ", seed " + seed);
                }
            }
        }
    }
}
