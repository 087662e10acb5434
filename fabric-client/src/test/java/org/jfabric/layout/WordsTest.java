package org.jfabric.layout;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.ByteBuffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

class WordsTest {
    private static final int MARGIN = 16;
    private static final int ATTEMPTS = 20;
    private static final int LONGEST = 2 * Words.SHORT_COPY_LIMIT;

    private final UnsafeBuffer source = new UnsafeBuffer(ByteBuffer.allocateDirect(LONGEST + 2 * MARGIN));
    private final UnsafeBuffer dest = new UnsafeBuffer(ByteBuffer.allocateDirect(LONGEST + 2 * MARGIN));

    @Test
    void shouldCopyEveryLengthAtEveryAlignmentAndNothingBeside() {
        for (int i = 0; i < source.capacity(); i++) {
            source.putByte(i, (byte) (i * 31 + 7));
        }
        for (int length = 0; length <= LONGEST; length++) {
            for (int skew = 0; skew < Long.BYTES; skew++) {
                dest.setMemory(0, dest.capacity(), (byte) 0);
                Words.copy(
                    source.addressOffset() + MARGIN + skew, dest.addressOffset() + MARGIN - skew, length);
                assertCopied(MARGIN + skew, MARGIN - skew, length);
            }
        }
    }

    @Test
    void shouldCopyShortLengthsWordByWordToo() {
        for (int i = 0; i < source.capacity(); i++) {
            source.putByte(i, (byte) ~i);
        }
        for (int length = 0; length <= Words.SHORT_COPY_LIMIT; length++) {
            dest.setMemory(0, dest.capacity(), (byte) 0);
            Words.copyShort(source.addressOffset() + 3, dest.addressOffset() + MARGIN, length);
            assertCopied(3, MARGIN, length);
        }
    }

    @Test
    void shouldCopyEveryLengthOfAnArray() {
        byte[] array = new byte[LONGEST + MARGIN];
        UnsafeBuffer view = new UnsafeBuffer(array);
        for (int i = 0; i < array.length; i++) {
            array[i] = (byte) (i * 17 + 3);
        }
        source.putBytes(0, array);
        for (int length = 0; length <= LONGEST; length++) {
            dest.setMemory(0, dest.capacity(), (byte) 0);
            Words.copy(array, view.addressOffset() + 5, dest.addressOffset() + MARGIN, length);
            assertCopied(5, MARGIN, length);
        }
    }

    @Test
    void shouldCopyLongLengthsInPieces() {
        int piece = 1 << 20;
        UnsafeBuffer from = new UnsafeBuffer(ByteBuffer.allocateDirect(3 * piece + MARGIN));
        UnsafeBuffer to = new UnsafeBuffer(ByteBuffer.allocateDirect(3 * piece + 3 * MARGIN));
        for (int i = 0; i < from.capacity(); i++) {
            from.putByte(i, (byte) (i * 31 + (i >> 8) + 7));
        }
        for (int length : new int[] {piece - 1, piece, piece + 1, 2 * piece, 3 * piece - 1, 3 * piece + MARGIN}) {
            to.setMemory(0, to.capacity(), (byte) 0);
            Words.copy(from.addressOffset(), to.addressOffset() + MARGIN, length);
            for (int i = 0; i < to.capacity(); i++) {
                int at = i - MARGIN;
                assertEquals(at < 0 || at >= length ? 0 : from.getByte(at), to.getByte(i), "byte " + at);
            }
        }
    }

    /** A collection that is asked for when the first bytes are there ends before the last ones are. */
    @Test
    @Timeout(120)
    void shouldLetTheProcessCollectWhileItCopies() throws InterruptedException {
        int length = 128 << 20;
        UnsafeBuffer from = new UnsafeBuffer(ByteBuffer.allocateDirect(length));
        from.setMemory(0, length, (byte) 1);
        int early = 0;
        // the thread that asks may be late; one attempt that it is not shows the stop
        for (int attempt = 0; attempt < ATTEMPTS && early == 0; attempt++) {
            UnsafeBuffer to = new UnsafeBuffer(ByteBuffer.allocateDirect(length));
            Thread copier = new Thread(() -> Words.copy(from.addressOffset(), to.addressOffset(), length));
            copier.start();
            while (to.getByteVolatile(0) == 0) {
                Thread.onSpinWait();
            }
            System.gc();
            early += to.getByteVolatile(length - 1) == 0 ? 1 : 0;
            copier.join();
            assertEquals(1, to.getByte(length - 1));
        }
        assertNotEquals(0, early, "collections that ended before the copy, of " + ATTEMPTS);
    }

    private void assertCopied(int from, int to, int length) {
        for (int i = 0; i < dest.capacity(); i++) {
            boolean inside = i >= to && i < to + length;
            byte expected = inside ? source.getByte(from + i - to) : 0;
            int at = i;
            assertEquals(expected, dest.getByte(i), () -> "byte " + at + " of a copy of " + length + " to " + to);
        }
    }
}
