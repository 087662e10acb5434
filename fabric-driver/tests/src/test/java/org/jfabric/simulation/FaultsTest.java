package org.jfabric.simulation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.kit.Effort;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Faults of one kind at a time: they occur, and nothing else fails than what they explain. */
@Tag("slow")
class FaultsTest {
    private static final Duration SHORT = Duration.ofMillis(2);
    private static final double PER_SECOND = 4000;
    private static final int SEEDS = Effort.rounds(3, 6);
    private static final int ACCESSES = 60;
    private static final int STEP = Effort.rounds(5, 1);

    @ParameterizedTest
    @EnumSource(Fault.Kind.class)
    void shouldKeepEveryPromiseUnderFaultsOfOneKind(Fault.Kind kind) {
        String[] links = kind == Fault.Kind.RESET || kind == Fault.Kind.CUT || kind == Fault.Kind.CALLS
            ? new String[] {"tcp", "rxm"} : new String[] {"tcp", "shm", "rxm"};
        long faults = 0;
        for (long seed = 1; seed <= SEEDS; seed++) {
            Simulate.Plan plan = Simulate.plan(
                seed, SHORT, links[(int) (seed % links.length)], Simulate.PLAIN);
            List<Fault> drawn = new Faults().add(kind, PER_SECOND, 500_000).draw(seed, plan.nodes(), SHORT.toNanos());
            faults += Simulate.run(seed, SHORT, plan.with(drawn)).faults().get(kind);
        }
        assertTrue(faults > SEEDS, faults + " faults");
    }

    /** Wherever the access is that fails, sends to itself over tcp too: their acknowledgements have no numbers. */
    @ParameterizedTest
    @ValueSource(strings = {"tcp", "rxm", "shm"})
    void shouldEndAllOperationsWhereverAnAccessFails(String link) {
        long recorded = 0;
        for (int accesses = 0; accesses < ACCESSES; accesses += STEP) {
            Simulate.Plan plan = Simulate.plan(3, SHORT, link, Simulate.PLAIN).with(List.of(
                new Fault(1_000_000, Fault.Kind.MEMORY, 0, 0, accesses + 1),
                new Fault(1_500_000, Fault.Kind.MEMORY, 1, 1, accesses + 1)));
            recorded += Simulate.run(3, SHORT, plan).errors().size();
        }
        assertTrue(recorded > ACCESSES / STEP, recorded + " errors were recorded");
    }

    /** An access fails in a control call: an object is opened, or an address is inserted. */
    @ParameterizedTest
    @ValueSource(longs = {172, 278})
    void shouldAskTheDriverAgainForWhatAFailedAccessHasRefused(long seed) {
        Simulate.Plan plan = Simulate.plan(seed, SHORT, "rxm", Simulate.PLAIN);
        Simulate.Result result = Simulate.run(seed, SHORT, plan.with(
            new Faults().add(Fault.Kind.MEMORY, PER_SECOND, 500_000).draw(seed, plan.nodes(), SHORT.toNanos())));
        assertTrue(result.faults().get(Fault.Kind.MEMORY) > 0);
    }

    /** The other end of a connection to itself has read a part of a message when a call for its own end fails. */
    @Test
    void shouldReceiveFromItselfAfterAConnectionToItselfIsLost() {
        long failed = 0;
        for (long seed = 1; seed <= 3 * SEEDS; seed++) {
            Simulate.Plan plan = Simulate.plan(seed, SHORT, "tcp", Simulate.PLAIN);
            plan = new Simulate.Plan(1, "tcp", plan.options(), new Faults().add(Fault.Kind.CALLS, PER_SECOND, 500_000)
                .draw(seed, 1, SHORT.toNanos()), false, 0, Simulate.PLAIN);
            failed += Simulate.run(seed, SHORT, plan).failed();
        }
        assertTrue(failed > 0, "no connection was lost");
    }

    @Test
    void shouldRefuseToStartWhileTheDiskIsFull() {
        try (Simulation simulation = new Simulation(1)) {
            Node node = simulation.add("a", "loopback", each -> () -> 0);
            simulation.start();
            simulation.faults(List.of(new Fault(1_000_000, Fault.Kind.DISK, 0, 0, 9_000_000),
                new Fault(2_000_000, Fault.Kind.KILL, 0, 0, 1_000_000)));
            simulation.run(Duration.ofMillis(8));
            assertFalse(node.isUp());
            simulation.run(Duration.ofMillis(6));
            assertTrue(node.isUp());
            assertTrue(node.life() > 2, "it was started " + node.life() + " times");
        }
    }

    @Test
    void shouldReportWhatIsMissingWhenNothingCanBeOpened() {
        int[] errno = new int[2];
        try (Simulation simulation = new Simulation(1)) {
            simulation.add("a", Map.of("jfabric.link.enabled", "tcp"), node -> () -> {
                node.wakeAt(node.simulation().nanoTime() + 100_000);
                int fault = node.simulation().elapsedNs() < 3_000_000 ? 0 : 1;
                if (errno[fault] == 0 && node.simulation().elapsedNs() % 3_000_000 > 1_000_000) {
                    try {
                        node.fabric().messenger().open().close();
                        errno[fault] = -1;
                    } catch (FabricException missing) {
                        errno[fault] = missing.errno();
                    }
                }
                return 0;
            });
            simulation.start();
            simulation.faults(List.of(new Fault(500_000, Fault.Kind.DISK, 0, 0, 2_000_000),
                new Fault(3_000_000, Fault.Kind.DESCRIPTORS, 0, 0, 2_000_000)));
            simulation.run(Duration.ofMillis(6));
        }
        assertEquals(FabricErrno.ENOSPC, errno[0], FabricErrno.name(errno[0]));
        assertEquals(FabricErrno.EMFILE, errno[1], FabricErrno.name(errno[1]));
    }
}
