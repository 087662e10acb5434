package org.jfabric.simulation;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Buffered receives of messages that arrive in a stream and do not fit into the budget of waiting messages. */
@Tag("slow")
class BufferedStreamTest {
    private static final int BUDGET = 1 << 16;
    private static final int LONG = 5 * BUDGET;
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static final class Side {
        final Domain domain;
        final CompletionQueue queue;
        final AddressVector vector;
        final Endpoint endpoint;
        final MemoryRegion memory;
        /** Of the entries, by context. */
        final Map<Long, Long> lengths = new HashMap<>();
        long shown;

        Side(Node node, long mode) {
            Info hints = new Info().caps(Flags.MSG | Flags.SOURCE).linkName("tcp");
            if (mode != 0) {
                hints.mode(mode);
            }
            domain = node.fabric().domain(node.fabric().info(hints).best());
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(32));
            vector = domain.openAddressVector(new AddressVectorAttr());
            memory = domain.allocate(2L * LONG);
            endpoint = domain.openEndpoint(domain.info());
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(vector);
            endpoint.enable();
        }

        boolean has(int entries) {
            queue.poll(this::onEntry, 8);
            return lengths.size() >= entries;
        }

        private void onEntry(Completion entry) {
            lengths.put(entry.opContext(), entry.len());
            if (entry.opContext() < 0) {
                shown = entry.opContext();
            }
        }
    }

    @Test
    void shouldShowAMessageThatIsLongerThanTheBudget() {
        try (Simulation simulation = new Simulation(3)) {
            Map<String, String> options = Map.of("jfabric.link.enabled", "tcp",
                "jfabric.engine.unexpectedBudgetBytes", Integer.toString(BUDGET),
                "jfabric.engine.creditWindowBytes", "8192");
            Node from = simulation.add("from", options, node -> () -> 0);
            Node to = simulation.add("to", options, node -> () -> 0);
            simulation.start();
            Side sender = new Side(from, 0);
            Side receiver = new Side(to, Mode.BUFFERED_RECV);
            long peer = sender.vector.insert(receiver.endpoint.name());
            receiver.vector.insert(sender.endpoint.name());
            Payload.fill(sender.memory.buffer(), 0, LONG, 7);
            assertEquals(0, sender.endpoint.send(sender.memory.address(), LONG, peer, 1));
            assertEquals(0, sender.endpoint.send(sender.memory.address(), LONG, peer, 2));
            assertTrue(simulation.runUntil(() -> receiver.has(1), LIMIT), "the first message is not shown");
            assertEquals(LONG, receiver.lengths.get(receiver.shown));
            simulation.run(Duration.ofMillis(100));
            assertTrue(!receiver.has(2), "a second message is stored beyond the budget");
            long first = receiver.shown;
            assertEquals(0, receiver.endpoint.messages().recvmsg(
                receiver.memory.address(), LONG, FabricAddress.ADDR_UNSPEC,
                first, Flags.CLAIM | Flags.DISCARD));
            assertTrue(simulation.runUntil(() -> receiver.has(2), LIMIT) && receiver.shown != first,
                "the second message is not shown");
            assertEquals(0, receiver.endpoint.messages().recvmsg(
                receiver.memory.address(), LONG, FabricAddress.ADDR_UNSPEC,
                receiver.shown, Flags.CLAIM));
            receiver.lengths.clear();
            assertTrue(simulation.runUntil(() -> receiver.has(1) && sender.has(2), LIMIT), "the claim does not end");
            Payload.check(receiver.memory.buffer(), 0, LONG, 7);
        }
    }
}
