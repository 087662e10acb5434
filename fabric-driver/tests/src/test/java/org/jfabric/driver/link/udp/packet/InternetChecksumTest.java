package org.jfabric.driver.link.udp.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;

class InternetChecksumTest {
    private static int checksum(byte[] bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(bytes.length + 1L, 8);
            MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
            // as it would be stored, read in the order of networks
            return (int) InternetChecksum.big(
                InternetChecksum.fold(InternetChecksum.sum(memory.address(), bytes.length)));
        }
    }

    /** Word by word, as RFC 1071 has it. */
    private static int simple(byte[] bytes) {
        long sum = 0;
        for (int i = 0; i < bytes.length; i += 2) {
            sum += (bytes[i] & 0xff) << 8 | (i + 1 < bytes.length ? bytes[i + 1] & 0xff : 0);
        }
        while (sum > 0xffff) {
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        return (int) ~sum & 0xffff;
    }

    @Test
    void shouldComputeTheChecksumOfAKnownHeader() {
        byte[] header = HexFormat.of().parseHex("45000073000040004011" + "0000" + "c0a80001c0a800c7");
        assertEquals(0xb861, checksum(header));
        byte[] whole = HexFormat.of().parseHex("45000073000040004011" + "b861" + "c0a80001c0a800c7");
        assertEquals(0, checksum(whole));
    }

    @Test
    void shouldAgreeWithTheSimpleWayForAllLengths() {
        Random random = new Random(7);
        for (int length = 0; length < 300; length++) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            assertEquals(simple(bytes), checksum(bytes), "length " + length);
        }
        byte[] ones = new byte[65_507];
        java.util.Arrays.fill(ones, (byte) 0xff);
        assertEquals(simple(ones), checksum(ones));
    }
}
