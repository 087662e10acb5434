package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.driver.kit.SteppedServices;
import org.jfabric.ffi.IoVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Ranges of reports, without a socket. */
class TcpPinsTest {
    private static final String OFF = "tcp: connections without zero copy because the system copies";

    private final Services services = new Services();
    private final TcpPins pins = new TcpPins(new WithheldReports.Port(new Accepting()), null,
        new TcpCounters(services));
    private final IoVector vector = new IoVector(1);

    @AfterEach
    void close() {
        vector.close();
        services.close();
    }

    private void send(int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(1, pins.send(vector));
        }
    }

    @Test
    void shouldReleaseRangesThatWrapInAnyOrder() {
        pins.startAt(-3);
        send(6);
        assertTrue(pins.isHeld());
        pins.onReport(-1, 1, false);
        pins.onReport(2, 2, false);
        assertTrue(pins.isHeld());
        pins.onReport(-3, -2, false);
        assertFalse(pins.isHeld());
        send(1);
        pins.onReport(3, 3, false);
        assertFalse(pins.isHeld());
        assertTrue(pins.isOn());
    }

    @Test
    void shouldIgnoreRangesOfNoSend() {
        pins.startAt(Integer.MAX_VALUE);
        send(2);
        pins.onReport(Integer.MAX_VALUE - 1, Integer.MAX_VALUE, true);
        pins.onReport(Integer.MIN_VALUE, Integer.MIN_VALUE + 1, true);
        pins.onReport(Integer.MIN_VALUE, Integer.MAX_VALUE, true);
        assertTrue(pins.isHeld());
        assertTrue(pins.isOn());
        pins.onReport(Integer.MAX_VALUE, Integer.MIN_VALUE, false);
        assertFalse(pins.isHeld());
    }

    @Test
    void shouldStopOnceWhereTheSystemCopies() {
        send(3);
        pins.onReport(0, 0, true);
        pins.onReport(1, 1, true);
        assertFalse(pins.isOn());
        assertEquals(1, services.counter(OFF));
        // an ordinary send has no number
        send(1);
        pins.onReport(2, 2, false);
        assertFalse(pins.isHeld());
    }

    /** Counters alone. */
    private static final class Services extends SteppedServices implements AutoCloseable {
        @Override
        public long nowNs() {
            return 0;
        }

        @Override
        public void close() {
            free();
        }
    }
}
