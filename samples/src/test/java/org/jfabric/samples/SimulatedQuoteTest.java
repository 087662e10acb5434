package org.jfabric.samples;

// example: fabric-test
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.jfabric.Messenger;
import org.jfabric.junit.FabricTest;
import org.jfabric.simulation.Simulation;

class SimulatedQuoteTest {
    private int received;

    @FabricTest
    void shouldReceive(Messenger desk, Messenger feed) {
        desk.endpoint().trecv(desk.memory().slice(0, 64), 7, 0, 1);
        feed.endpoint().tsend(feed.memory().slice(0, 5), feed.peer(desk.address()), 7, 2);
        desk.await(1, 1_000_000_000L, entry -> assertEquals(5, entry.len()));
    }

    @FabricTest
    void shouldReceiveInVirtualTime(Simulation simulation) {
        simulation.add("desk", "tcp", node -> {
            Messenger desk = node.fabric().messenger().open();
            Messenger feed = node.fabric().messenger().open();
            desk.endpoint().trecv(desk.memory().slice(0, 64), 7, 0, 1);
            feed.endpoint().tsend(feed.memory().slice(0, 5), feed.peer(desk.address()), 7, 2);
            return () -> Math.max(desk.poll(entry -> received++, 1), 0);
        });
        simulation.start();
        assertTrue(simulation.runUntil(() -> received == 1, Duration.ofSeconds(10)));
    }
}
// end
