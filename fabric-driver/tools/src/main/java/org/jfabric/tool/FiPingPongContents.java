package org.jfabric.tool;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * Contents of checked messages: a rotating sequence of 62 characters, which begins at another one in each message.
 *
 * <p>Sent and received messages are counted, each side by itself, over all sizes. Owner: one thread.
 */
final class FiPingPongContents {
    private static final byte[] ALPHABET =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".getBytes(StandardCharsets.US_ASCII);
    private static final long STEP = 7;

    private long filled;
    private long compared;

    /** Writes the next message. */
    void fill(MemorySegment memory, long sizeBytes) {
        long start = filled++ * STEP;
        long done = Math.min(sizeBytes, ALPHABET.length);
        for (long i = 0; i < done; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, letter(start + i));
        }
        // whole alphabets from here on, doubled at each step
        for (; done < sizeBytes; done += Math.min(done, sizeBytes - done)) {
            MemorySegment.copy(memory, 0, memory, done, Math.min(done, sizeBytes - done));
        }
    }

    /** Compares the next message; position of the first wrong byte, or -1. */
    long mismatch(MemorySegment memory, long sizeBytes) {
        long start = compared++ * STEP;
        long first = Math.min(sizeBytes, ALPHABET.length);
        for (long i = 0; i < first; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != letter(start + i)) {
                return i;
            }
        }
        // each byte behind the first alphabet is that of one alphabet before
        long wrong = MemorySegment.mismatch(memory, 0, sizeBytes - first, memory, first, sizeBytes);
        return wrong < 0 ? -1 : wrong + first;
    }

    private static byte letter(long index) {
        return ALPHABET[(int) (index % ALPHABET.length)];
    }
}
