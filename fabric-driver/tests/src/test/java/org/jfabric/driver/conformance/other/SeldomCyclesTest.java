package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application that seldom runs the cycle of its embedded driver: a connection is there within a few cycles. */
@Tag("conformance")
@Timeout(60)
class SeldomCyclesTest {
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    /** A connection has several steps. */
    private static final int FEW_CYCLES = 24;
    private static final int ROUNDS = 4;

    @Test
    void shouldAcceptConnectionsWithinFewCycles() {
        try (FabricPair pair = new FabricPair(Setup.NETWORK_EMBEDDED)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            for (int round = 0; round < ROUNDS; round++) {
                Endpoint asking = a.open(1);
                asking.connect(passive.name());
                EventEntry request = new EventEntry();
                for (int cycles = 0; b.events.read(request, 0) == -FabricErrno.EAGAIN; cycles++) {
                    assertTrue(cycles < FEW_CYCLES, "no request came in " + FEW_CYCLES + " cycles");
                    LockSupport.parkNanos(PAUSE_NS);
                    pair.pump();
                }
                assertEquals(EventType.CONNREQ, request.type());
                Endpoint accepting = b.open(request.info(), 2);
                accepting.accept();
                a.next(EventType.CONNECTED, asking);
                b.next(EventType.CONNECTED, accepting);
                asking.close();
                b.next(EventType.SHUTDOWN, accepting);
                accepting.close();
            }
        }
    }
}
