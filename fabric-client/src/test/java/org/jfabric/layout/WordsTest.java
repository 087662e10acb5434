package org.jfabric.layout;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

class WordsTest {
    private static final int MARGIN = 16;
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

    private void assertCopied(int from, int to, int length) {
        for (int i = 0; i < dest.capacity(); i++) {
            boolean inside = i >= to && i < to + length;
            byte expected = inside ? source.getByte(from + i - to) : 0;
            int at = i;
            assertEquals(expected, dest.getByte(i), () -> "byte " + at + " of a copy of " + length + " to " + to);
        }
    }
}
