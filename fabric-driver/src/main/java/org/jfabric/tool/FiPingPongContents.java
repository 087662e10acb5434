package org.jfabric.tool;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * Contents of checked messages: 62 letters and digits over and over, from another one on in each message.
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
        for (long i = 0; i < sizeBytes; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, letter(start + i));
        }
    }

    /** Compares the next message; position of the first wrong byte, or -1. */
    long mismatch(MemorySegment memory, long sizeBytes) {
        long start = compared++ * STEP;
        for (long i = 0; i < sizeBytes; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != letter(start + i)) {
                return i;
            }
        }
        return -1;
    }

    private static byte letter(long index) {
        return ALPHABET[(int) (index % ALPHABET.length)];
    }
}
