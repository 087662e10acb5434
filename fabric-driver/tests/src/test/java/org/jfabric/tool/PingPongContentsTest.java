package org.jfabric.tool;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

class PingPongContentsTest {
    @Test
    void shouldFindNothingWhenTheMessageIsAsSent() {
        try (Arena arena = Arena.ofConfined()) {
            for (int size = 0; size < 40; size++) {
                MemorySegment memory = arena.allocate(64);
                PingPongContents.fill(memory, size, 17);

                assertEquals(-1, PingPongContents.mismatch(memory, size, 17));
                for (int i = 0; i < size; i++) {
                    assertEquals(
                        PingPongContents.expected(size, 17, i), memory.get(ValueLayout.JAVA_BYTE, i) & 0xFF);
                }
            }
        }
    }

    @Test
    void shouldFindThePositionWhenOneByteDiffers() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(64);
            for (int size = 1; size < 40; size++) {
                for (int i = 0; i < size; i++) {
                    PingPongContents.fill(memory, size, 3);
                    memory.set(ValueLayout.JAVA_BYTE, i, (byte) (memory.get(ValueLayout.JAVA_BYTE, i) ^ 0x40));

                    assertEquals(i, PingPongContents.mismatch(memory, size, 3));
                }
            }
        }
    }

    @Test
    void shouldNoticeAnOlderMessageWhenItIsStillThere() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(64);
            for (int size : new int[] {1, 7, 8, 40}) {
                for (long message = 0; message < 300; message++) {
                    PingPongContents.fill(memory, size, message);

                    assertNotEquals(-1, PingPongContents.mismatch(memory, size, message + 1), size + " " + message);
                    assertNotEquals(-1, PingPongContents.mismatch(memory, size, message + 2), size + " " + message);
                }
            }
        }
    }

    @Test
    void shouldNotLookBehindTheEnd() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(64);
            PingPongContents.fill(memory, 13, 5);

            assertEquals(0, memory.get(ValueLayout.JAVA_BYTE, 13));
            memory.set(ValueLayout.JAVA_BYTE, 13, (byte) 9);
            assertEquals(-1, PingPongContents.mismatch(memory, 13, 5));
        }
    }
}
