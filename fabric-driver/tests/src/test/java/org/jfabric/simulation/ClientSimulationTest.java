package org.jfabric.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Processes that are clients of one driver, in the simulation. */
@Tag("slow")
class ClientSimulationTest {
    private static final Duration SHORT = Duration.ofMillis(2);
    private static final int CLIENTS = 3;

    private static Simulate.Plan plan(long seed, String link) {
        return Simulate.plan(seed, SHORT, link, Simulate.CLIENTS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "rxm", "shm", "loopback"})
    void shouldRepeatEveryEventOfASeed(String link) {
        Simulate.Result first = Simulate.run(77, SHORT, plan(77, link));
        assertEquals(first.hash(), Simulate.run(77, SHORT, plan(77, link)).hash());
        assertNotEquals(first.hash(), Simulate.run(78, SHORT, plan(78, link)).hash());
    }

    @Test
    void shouldKeepEveryPromiseUnderFaults() {
        long received = 0;
        for (long seed = 1; seed <= 12; seed++) {
            received += Simulate.run(seed, SHORT, plan(seed, null)).received();
        }
        assertTrue(received > 1000, received + " messages were received");
    }

    /** While they send to each other, one is killed: the others' messages to each other arrive, and its files go. */
    @ParameterizedTest
    @ValueSource(strings = {"loopback", "tcp", "shm"})
    void shouldFreeWhatAKilledClientHadAndHarmNoOther(String link) {
        try (Simulation simulation = new Simulation(21)) {
            Ledger ledger = new Ledger(1 + CLIENTS, "loopback");
            List<RandomTraffic> programs = new ArrayList<>();
            Map<String, String> options = Map.of("jfabric.link.enabled",
                "loopback".equals(link) ? link : "loopback," + link);
            Node host = simulation.add("host", options, node -> new RandomTraffic(node, ledger, link, true, 0));
            host.start();
            List<String> before = files(host);
            List<Node> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(simulation.addClient("c" + i, host, node -> {
                    RandomTraffic program = new RandomTraffic(node, ledger, link, true, 0);
                    programs.add(program);
                    return program;
                }));
            }
            clients.forEach(Node::start);
            simulation.run(SHORT);
            long failed = ledger.failed;
            assertEquals(0, failed, "a message failed before the kill");
            Node victim = clients.getFirst();
            simulation.faults(List.of(new Fault(simulation.elapsedNs(), Fault.Kind.KILL, victim.index(), 0,
                Duration.ofDays(1).toNanos())));
            simulation.run(SHORT);
            assertTrue(ledger.failed > failed, "the kill has ended no message");
            ledger.end();
            assertTrue(simulation.runUntil(() -> ledger.pendingBut(victim.index()) == 0
                && ledger.missing(false).stream().allMatch(message -> message.to == victim.index()
                    || message.from == victim.index()), Duration.ofSeconds(300)),
                () -> ledger.unfinished() + " did not end, " + ledger.missing(false) + " did not arrive");
            clients.forEach(Node::kill);
            assertTrue(simulation.runUntil(() -> files(host).equals(before), Duration.ofSeconds(10)),
                () -> "the driver has left " + files(host) + " instead of " + before);
        }
    }

    private static List<String> files(Node node) {
        String[] names = node.directory().toFile().list();
        return names == null ? List.of() : List.of(names).stream().sorted().toList();
    }
}
