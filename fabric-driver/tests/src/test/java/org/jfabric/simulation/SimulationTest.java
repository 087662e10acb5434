package org.jfabric.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.jfabric.CompletionError;
import org.jfabric.Messenger;
import org.jfabric.driver.kit.Effort;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Short runs of the simulation; {@code ./fabric simulate} makes long ones. */
@Tag("slow")
class SimulationTest {
    private static final Duration SHORT = Duration.ofMillis(2);
    private static final long NS_PER_S = 1_000_000_000L;

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "rxm", "shm", "best"})
    void shouldRepeatEveryEventOfASeed(String link) {
        Simulate.Result first = Simulate.run(77, SHORT, link);
        assertEquals(first.hash(), Simulate.run(77, SHORT, link).hash());
        assertEquals(first.sent(), Simulate.run(77, SHORT, link).sent());
        assertNotEquals(first.hash(), Simulate.run(78, SHORT, link).hash());
    }

    @Test
    void shouldKeepEveryPromiseUnderFaults() {
        int seeds = Effort.rounds(4, 12);
        long sent = 0;
        long failed = 0;
        for (long seed = 1; seed <= seeds; seed++) {
            Simulate.Result result = Simulate.run(seed, SHORT, seed % 3 == 0 ? "shm" : "tcp");
            sent += result.sent();
            failed += result.failed();
        }
        assertTrue(sent > 1000 * seeds / 12, sent + " messages were sent");
        assertTrue(failed > 0, "no fault has ended a message");
    }

    /** There is no room for files while peers are killed, so that others are connected by tcp, and by shm later. */
    @Test
    void shouldKeepEveryPromiseWhilePeersAreReachedByOneLinkAndThenByAnother() {
        Duration length = Duration.ofMillis(20);
        long fallBacks = 0;
        long returns = 0;
        for (long seed = 1; seed <= 4; seed++) {
            Simulate.Plan plan = Simulate.plan(seed, length, Simulate.BEST, Simulate.PLAIN);
            double perSecond = 20 * NS_PER_S / (double) length.toNanos();
            Simulate.Result result = Simulate.run(seed, length, plan.with(new Faults()
                .add(Fault.Kind.KILL, perSecond, 100_000).add(Fault.Kind.DISK, perSecond / 2, 2_000_000)
                .draw(seed, plan.nodes(), length.toNanos())));
            fallBacks += result.fallBacks();
            returns += result.returns();
        }
        assertTrue(fallBacks > 5, fallBacks + " peers were reached by the next link");
        assertTrue(returns > 5, returns + " peers were reached by the first link again");
    }

    @Test
    void shouldLoseNothingOfARecordedGroupThatTheLogHas() {
        Duration length = Duration.ofMillis(6);
        int seeds = Effort.rounds(4, 12);
        long kills = 0;
        long read = 0;
        for (long seed = 1; seed <= seeds; seed++) {
            Simulate.Result result = Simulate.run(seed, length, Simulate.plan(seed, length, null, Simulate.RECORDED));
            kills += result.faults().getOrDefault(Fault.Kind.KILL, 0L);
            read += result.received();
        }
        assertTrue(kills > 25 * seeds / 12, kills + " kills");
        assertTrue(read > 5_000 * seeds / 12, read + " messages were read");
        // messages are on the disk, and the call that was to say so has failed for lack of room
        Simulate.run(568, length, Simulate.plan(568, length, null, Simulate.RECORDED));
        Simulate.Plan plan = Simulate.plan(3, length, null, Simulate.RECORDED);
        assertEquals(Simulate.run(3, length, plan).hash(), Simulate.run(3, length, plan).hash());
    }

    @Test
    void shouldShowStreamsToOtherHostsAsTheirPoliciesSay() {
        Duration length = Duration.ofMillis(2);
        int seeds = Effort.rounds(2, 10);
        long kills = 0;
        long read = 0;
        for (long seed = 1; seed <= seeds; seed++) {
            Simulate.Result result = Simulate.run(seed, length, Simulate.plan(seed, length, null, Simulate.STREAM));
            kills += result.faults().getOrDefault(Fault.Kind.KILL, 0L);
            read += result.received();
        }
        assertTrue(kills > seeds, kills + " kills");
        assertTrue(read > 100 * seeds, read + " messages were read");
        Simulate.Plan plan = Simulate.plan(9, length, null, Simulate.STREAM);
        assertEquals(Simulate.run(9, length, plan).hash(), Simulate.run(9, length, plan).hash());
    }

    /** The errors of a driver name the message that waits for room, once however often it is tried. */
    @Test
    void shouldSayOnceThatADiskIsFull() {
        Duration length = Duration.ofMillis(4);
        int seeds = Effort.rounds(4, 12);
        long said = 0;
        for (long seed = 1; seed <= seeds; seed++) {
            Simulate.Plan plan = Simulate.plan(seed, length, null, Simulate.RECORDED).with(
                List.of(new Fault(500_000, Fault.Kind.DISK, 0, 0, 3_000_000)));
            List<String> full = Simulate.run(seed, length, plan).errors().stream().map(Throwable::toString)
                .filter(error -> error.contains("no room for message")).toList();
            said += full.size();
            assertEquals(Set.copyOf(full).size(), full.size(), full::toString);
        }
        assertTrue(said > 5, said + " times a message had no room");
    }

    /** Over a link that was asked for, only what that link carries is run. */
    @Test
    void shouldChooseARecordedGroupForOneSeedOfEight() {
        for (String link : new String[] {null, "shm", "tcp"}) {
            long recorded = LongStream.range(0, 64).mapToObj(seed -> Simulate.plan(seed, SHORT, link, null))
                .filter(plan -> Simulate.RECORDED.equals(plan.traffic()) && "shm".equals(plan.link())).count();
            assertEquals("tcp".equals(link) ? 0 : 8, recorded, "over " + link);
        }
    }

    @Test
    void shouldPassAnIdleMinuteInFewSteps() {
        try (Simulation simulation = new Simulation(1)) {
            for (String name : List.of("a", "b", "c")) {
                simulation.add(name, "loopback,tcp,shm", node -> () -> 0);
            }
            simulation.start();
            simulation.run(Duration.ofMinutes(1));
            assertTrue(simulation.elapsedNs() >= 60 * NS_PER_S);
            assertTrue(simulation.steps() < 20_000, simulation.steps() + " steps");
        }
    }

    @Test
    void shouldStartAKilledNodeAgain() {
        try (Simulation simulation = new Simulation(2)) {
            Node node = simulation.add("a", "loopback", each -> () -> 0);
            simulation.start();
            simulation.faults(List.of(new Fault(1_000_000, Fault.Kind.KILL, 0, 0, 5_000_000)));
            simulation.run(Duration.ofMillis(3));
            assertTrue(!node.isUp());
            simulation.run(Duration.ofMillis(10));
            assertTrue(node.isUp());
            assertEquals(2, node.life());
        }
    }

    @Test
    void shouldRunAStoppedNodeAfterTheEndOfAllFaults() {
        int[] ran = new int[1];
        try (Simulation simulation = new Simulation(2)) {
            Node node = simulation.add("a", "loopback", each -> () -> {
                ran[0]++;
                return 0;
            });
            simulation.start();
            simulation.faults(List.of(new Fault(1_000_000, Fault.Kind.STOP, 0, 0, 3600 * NS_PER_S)));
            simulation.run(Duration.ofMillis(10));
            assertFalse(node.isRunning());
            int before = ran[0];
            simulation.run(Duration.ofMillis(10));
            assertEquals(before, ran[0]);
            simulation.heal();
            assertTrue(node.isRunning());
            simulation.run(Duration.ofMillis(10));
            assertTrue(ran[0] > before, "it has not run again");
        }
    }

    /** A client that was stopped, then killed, runs when it is started again. */
    @Test
    void shouldRunAClientThatWasKilledWhileItWasStopped() {
        int[] ran = new int[1];
        try (Simulation simulation = new Simulation(2)) {
            Node host = simulation.add("a", "loopback", each -> () -> 0);
            Node client = simulation.addClient("c", host, each -> () -> {
                ran[0]++;
                return 0;
            });
            simulation.start();
            simulation.faults(List.of(new Fault(1_000_000, Fault.Kind.STOP, 1, 1, 3600 * NS_PER_S),
                new Fault(2_000_000, Fault.Kind.KILL, 1, 1, 1_000_000)));
            simulation.run(Duration.ofNanos(2_500_000));
            int before = ran[0];
            simulation.run(Duration.ofMillis(10));
            assertEquals(2, client.life());
            assertTrue(ran[0] > before, "it has not run again");
        }
    }

    /** The program forgets what it has acknowledged when it is killed; a run without kills cannot show that. */
    @Test
    void shouldFindAMistakeOfAProgramThatAKillShows() {
        assertEquals(0, lost(List.of()));
        assertTrue(lost(List.of(new Fault(3_000_000, Fault.Kind.KILL, 0, 0, 1_000_000))) > 0);
    }

    @Test
    void shouldReportTheSeedOfAFailure() {
        try (Simulation simulation = new Simulation(5)) {
            simulation.add("a", "loopback", node -> () -> {
                if (node.simulation().elapsedNs() > 1_000_000) {
                    throw new IllegalStateException("broken");
                }
                return 0;
            });
            simulation.start();
            SimulationFailure failure = assertThrows(
                SimulationFailure.class, () -> simulation.run(Duration.ofSeconds(5)));
            assertEquals(5, failure.seed());
            assertTrue(failure.getMessage().startsWith("seed 5, step "), failure.getMessage());
            assertTrue(failure.getMessage().contains("broken"), failure.getMessage());
        }
    }

    /** Acknowledged additions that a counter on node 0 does not know any more. */
    private static long lost(List<Fault> faults) {
        CounterServer[] server = new CounterServer[1];
        String[] address = new String[1];
        List<CounterClient> clients = new ArrayList<>();
        try (Simulation simulation = new Simulation(9)) {
            simulation.add("server", "tcp", node -> {
                server[0] = new CounterServer(node.fabric().messenger().open());
                address[0] = server[0].messenger.address();
                return server[0];
            });
            simulation.add("client", "tcp", node -> {
                CounterClient client = new CounterClient(node, address);
                clients.add(client);
                return client;
            });
            simulation.start();
            simulation.faults(faults);
            simulation.run(Duration.ofMillis(20));
            long acknowledged = clients.stream().mapToLong(client -> client.acknowledged).sum();
            assertTrue(acknowledged > 0, "nothing was acknowledged");
            return Math.max(0, acknowledged - server[0].count);
        }
    }

    /** Counts messages; its count is in memory only, which is the mistake. */
    private static final class CounterServer implements Program {
        private final Messenger messenger;
        private long count;
        private boolean isPosted;

        CounterServer(Messenger messenger) {
            this.messenger = messenger;
        }

        @Override
        public int run() {
            if (!isPosted) {
                isPosted = messenger.endpoint().trecv(
                    messenger.memory().address(), 64, FabricAddress.ADDR_UNSPEC, 0, -1, 1) == 0;
            }
            return Math.max(0, messenger.queue().poll(entry -> {
                count++;
                isPosted = false;
            }, 1));
        }
    }

    /** Sends one message after the other, and takes each for counted that has arrived. */
    private static final class CounterClient implements Program {
        private final Messenger messenger;
        private final String[] address;
        private final CompletionError error = new CompletionError();
        private String known = "";
        private long peer;
        private boolean isSent;
        private long acknowledged;

        CounterClient(Node node, String[] address) {
            this.messenger = node.fabric().messenger().open();
            this.address = address;
        }

        @Override
        public int run() {
            if (!known.equals(address[0])) {
                known = address[0];
                peer = messenger.peer(known).number();
            }
            if (!isSent) {
                isSent = messenger.endpoint().messages().tsendmsg(
                    messenger.memory().address(), 64, 0, peer, 0, 1, Flags.DELIVERY_COMPLETE) == 0;
            }
            int count = messenger.queue().poll(entry -> acknowledged++, 1);
            if (count == -FabricErrno.EAVAIL) {
                count = messenger.queue().readErr(error, 0);
            }
            isSent &= count <= 0;
            return Math.max(0, count);
        }
    }
}
