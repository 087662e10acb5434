package org.jfabric.simulation;

import java.time.Duration;
import java.util.List;
import org.jfabric.driver.link.udp.UdpLinkProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Datagrams in the simulation: what the network does to them, and that the traffic's checks see it. */
@Tag("slow")
class DatagramSimulationTest {
    private static final Duration SHORT = Duration.ofMillis(2);

    private static Simulate.Plan plan(long seed) {
        return Simulate.plan(seed, SHORT, UdpLinkProvider.NAME, null);
    }

    @Test
    void shouldRepeatEveryEventOfASeed() {
        Simulate.Result first = Simulate.run(77, SHORT, UdpLinkProvider.NAME);
        assertEquals(first.hash(), Simulate.run(77, SHORT, UdpLinkProvider.NAME).hash());
        assertNotEquals(first.hash(), Simulate.run(78, SHORT, UdpLinkProvider.NAME).hash());
    }

    @Test
    void shouldReceiveWhatArrivesUnderFaults() {
        long received = 0;
        for (long seed = 1; seed <= 10; seed++) {
            received += Simulate.run(seed, SHORT, UdpLinkProvider.NAME).received();
        }
        assertTrue(received > 1000, received + " datagrams were received");
    }

    @Test
    void shouldLoseNothingWithoutFaultsWhereSocketsHaveRoom() {
        Simulate.Plan plan = plan(3).with(List.of());
        plan.options().put("jfabric.udp.bufferBytes", "16777216");
        Simulate.Result result = Simulate.run(3, SHORT, plan);
        assertTrue(result.sent() > 100 && result.received() >= result.sent(),
            result.sent() + " sent, " + result.received() + " received");
    }

    @Test
    void shouldLoseDoubleAndDelayDatagramsAsAsked() {
        DatagramLedger all = count(0, 0, 0);
        assertTrue(all.sent > 100 && all.lost == 0 && all.doubled == 0, all.toString());
        assertEquals(0, count(1000, 0, 0).received);
        assertTrue(count(300, 0, 0).lost > 0);
        assertTrue(count(0, 300, 0).doubled > 0);
        assertFalse(all.wasOvertaken);
        assertTrue(count(0, 0, 300).wasOvertaken);
    }

    private static DatagramLedger count(int lost, int doubled, int late) {
        try (Simulation simulation = new Simulation(11)) {
            DatagramLedger ledger = new DatagramLedger(simulation, 2);
            simulation.onDatagrams(ledger);
            for (String name : List.of("a", "b")) {
                simulation.add(name, UdpLinkProvider.NAME, node -> new DatagramTraffic(node, ledger, 0));
            }
            simulation.start();
            simulation.datagramFaults(lost, doubled, late, Duration.ofMillis(20));
            simulation.run(SHORT);
            ledger.end();
            simulation.heal();
            assertTrue(simulation.runUntil(ledger::isOver, Duration.ofSeconds(10)), ledger.unfinished());
            return ledger;
        }
    }

    @Test
    void shouldSeeADatagramThatIsReceivedTwice() {
        try (Simulation simulation = new Simulation(1)) {
            DatagramLedger ledger = new DatagramLedger(simulation, 1);
            Node node = simulation.add("a", "loopback", each -> () -> 0);
            simulation.start();
            ledger.onPosted(new Account.Message(ledger.nextId(), node, 0, 1, 8));
            assertThrows(AssertionError.class, () -> ledger.onReceived(node, 1, 8, false));
            assertThrows(AssertionError.class, () -> ledger.onReceived(node, 2, 8, false));
        }
    }
}
