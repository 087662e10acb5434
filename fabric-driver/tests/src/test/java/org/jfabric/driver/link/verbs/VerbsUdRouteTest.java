package org.jfabric.driver.link.verbs;

import org.agrona.UnsafeApi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The bytes in front of a datagram. */
class VerbsUdRouteTest {
    private final long at = UnsafeApi.allocateMemory(VerbsUdRoute.BYTES);

    @AfterEach
    void free() {
        UnsafeApi.freeMemory(at);
    }

    private void put(int offset, int... bytes) {
        for (int i = 0; i < bytes.length; i++) {
            UnsafeApi.putByte(at + offset + i, (byte) bytes[i]);
        }
    }

    private void clear(int filling) {
        for (int i = 0; i < VerbsUdRoute.BYTES; i++) {
            UnsafeApi.putByte(at + i, (byte) filling);
        }
    }

    /** A header as in RFC 1071's rule, from 192.0.2.1 to 192.0.2.2. */
    private void putIn4() {
        put(20, 0x45, 0, 0, 0x54, 0, 1, 0x40, 0, 0x40, 0x11, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2);
        int sum = 0;
        for (int i = 20; i < 40; i += 2) {
            sum += (UnsafeApi.getByte(at + i) & 0xff) << 8 | UnsafeApi.getByte(at + i + 1) & 0xff;
        }
        sum = ~((sum & 0xffff) + (sum >>> 16));
        put(30, sum >>> 8, sum);
    }

    @Test
    void shouldFindTheSourceOfIPv4() {
        clear(0);
        putIn4();
        assertTrue(VerbsUdRoute.isIn4(at));
        assertEquals(0, VerbsUdRoute.sourceHigh(at, true));
        assertEquals(0xffff_c000_0201L, VerbsUdRoute.sourceLow(at, true));
    }

    @Test
    void shouldNotBeMisledByWhatStandsBeforeAHeaderOfIPv4() {
        clear(0x66);
        putIn4();
        assertTrue(VerbsUdRoute.isIn4(at));
    }

    @Test
    void shouldFindTheSourceOfIPv6AndInfiniBand() {
        clear(0);
        put(0, 0x60);
        put(8, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1);
        assertFalse(VerbsUdRoute.isIn4(at));
        assertEquals(0xfe80_0000_0000_0000L, VerbsUdRoute.sourceHigh(at, false));
        assertEquals(0x0000_00ff_fe00_0001L, VerbsUdRoute.sourceLow(at, false));
    }

    @Test
    void shouldNotTakeAnAddressOfIPv6ForAHeaderOfIPv4() {
        clear(0);
        put(0, 0x60);
        put(20, 0x45);
        assertFalse(VerbsUdRoute.isIn4(at), "the checksum is wrong");
    }
}
