package org.jfabric.samples.replicas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

// example: imports
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jfabric.simulation.Fault;
import org.jfabric.simulation.Faults;
import org.jfabric.simulation.Node;
import org.jfabric.simulation.Program;
import org.jfabric.simulation.Simulation;
import org.jfabric.simulation.SimulationFailure;
// end
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Kills the primary of the counter again and again and cuts it off: no addition that was acknowledged may be lost. */
@Timeout(120)
class ReplicatedCounterTest {
    private static final int SEEDS = 20;
    private static final Duration LENGTH = Duration.ofMillis(100);

    private Primary primary;
    private CounterClient client;

    // example: simulation
    /** Runs the counter under kills of the primary and cuts, and returns how many additions were acknowledged. */
    private long count(long seed, boolean waitsForBackup) {
        Map<String, String> book = new HashMap<>();
        try (Simulation simulation = new Simulation(seed)) {
            simulation.add("primary", "tcp", node -> {
                primary = new Primary(node.fabric(), book, simulation::nanoTime, waitsForBackup);
                return inTime(node, primary::run);
            });
            simulation.add("backup", "tcp", node -> new Backup(node.fabric(), book)::run);
            simulation.add("client", "tcp", node -> {
                client = new CounterClient(node.fabric(), book, simulation::nanoTime);
                return inTime(node, client::run);
            });
            simulation.start();
            // of one node, the first one: 50 kills in a second, after each of which it is away for up to 5 ms
            List<Fault> faults = new ArrayList<>(
                new Faults().add(Fault.Kind.KILL, 50, 5_000_000).draw(seed, 1, LENGTH.toNanos()));
            // and 50 times nothing arrives between the first two for up to 10 ms
            faults.addAll(new Faults().add(Fault.Kind.CUT, 50, 10_000_000).draw(seed, 2, LENGTH.toNanos()));
            faults.sort(Comparator.comparingLong(Fault::timeNs));
            simulation.faults(faults);
            simulation.run(LENGTH);
            simulation.heal();
            if (!simulation.runUntil(() -> primary.isCurrent(), Duration.ofSeconds(30))) {
                throw simulation.failure("the primary does not get the count", null);
            }
            if (primary.count() < client.acknowledged()) {
                throw simulation.failure(
                    client.acknowledged() + " additions were acknowledged, counted are " + primary.count(), null);
            }
            return client.acknowledged();
        }
    }

    /** A party sends again when there was no answer, so virtual time must not pass that moment. */
    private static Program inTime(Node node, IntSupplier party) {
        return () -> {
            node.wakeAt(node.simulation().nanoTime() + ReplicatedCounter.AGAIN_NS);
            return party.getAsInt();
        };
    }
    // end

    // example: seeds
    @Test
    void shouldLoseNothingWhenThePrimaryWaitsForTheBackup() {
        long acknowledged = 0;
        for (long seed = 1; seed <= SEEDS; seed++) {
            acknowledged += count(seed, true);
        }
        assertTrue(acknowledged > 1000, acknowledged + " additions were acknowledged");
    }

    @Test
    void shouldFindTheLossWhenThePrimaryDoesNotWait() {
        SimulationFailure found = assertThrows(SimulationFailure.class, () -> {
            for (long seed = 1; seed <= SEEDS; seed++) {
                count(seed, false);
            }
        });
        // its seed shows it again, at the same time
        SimulationFailure again = assertThrows(SimulationFailure.class, () -> count(found.seed(), false));
        assertEquals(found.timeNs(), again.timeNs());
    }
    // end
}
