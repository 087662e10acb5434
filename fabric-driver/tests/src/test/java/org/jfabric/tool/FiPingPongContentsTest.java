package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class FiPingPongContentsTest {
    @Test
    void shouldBeginEachMessageSevenLettersLater() {
        FiPingPongContents contents = new FiPingPongContents();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(70);
            contents.fill(memory, 70);
            assertEquals("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01234567", text(memory, 70));
            contents.fill(memory, 4);
            assertEquals("789a", text(memory, 4));
            for (int i = 2; i < 10; i++) {
                contents.fill(memory, 0);
            }
            // message 10 begins at letter 70, which is letter 8 of the second time round
            contents.fill(memory, 2);
            assertEquals("89", text(memory, 2));
        }
    }

    @Test
    void shouldFindTheFirstWrongByteAndCountEachDirectionByItself() {
        FiPingPongContents sender = new FiPingPongContents();
        FiPingPongContents receiver = new FiPingPongContents();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(100);
            for (int i = 0; i < 100; i++) {
                sender.fill(memory, i);
                assertEquals(-1, receiver.mismatch(memory, i));
            }
            sender.fill(memory, 100);
            memory.set(ValueLayout.JAVA_BYTE, 63, (byte) '!');
            assertEquals(63, receiver.mismatch(memory, 100));
        }
    }

    @Test
    void shouldHaveTheSizesOfTheCProgram() {
        assertEquals(List.of(64L, 256L, 1024L, 4096L, 65536L, 1048576L), FiPingPongPlan.usualSizes());
        List<Long> all = FiPingPongPlan.allSizes();
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 6L, 8L, 12L, 16L), all.subList(0, 9));
        assertEquals(6291456L, all.getLast());
        // as many as it generates for datagrams of 1472 bytes
        assertEquals(21, all.stream().filter(size -> size <= 1472).count());
    }

    private static String text(MemorySegment memory, int length) {
        return new String(memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
    }
}
