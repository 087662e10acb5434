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
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Two endpoints send each other one long message and, behind it, more short ones than the other stores. Both post
 * receives for the short ones only when their long ones have ended, and the answers that end them come behind the short
 * ones of the other side: both have to read on although they have no room.
 */
@Tag("slow")
class AwaitedAnswerTest {
    private static final int LONG_BYTES = 100_000;
    private static final int SHORT_BYTES = 4096;
    private static final int SHORT_COUNT = 60;
    private static final int SEEDS = 20;
    private static final Map<String, String> SMALL_STORE = Map.of(
        "jfabric.engine.unexpectedBudgetBytes", "65536", "jfabric.engine.creditWindowBytes", "8192");

    @ParameterizedTest
    @ValueSource(strings = {"rxm", "tcp"})
    void shouldReadAnswersBehindMoreMessagesThanItStores(String link) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            Side[] sides = new Side[2];
            String[] names = new String[2];
            try (Simulation simulation = new Simulation(seed)) {
                for (int i = 0; i < 2; i++) {
                    Map<String, String> options = new HashMap<>(SMALL_STORE);
                    options.put("jfabric.link.enabled", link);
                    simulation.add("n" + i, options, node -> sides[node.index()] = new Side(node, link, names));
                }
                simulation.start();
                boolean isOver = simulation.runUntil(
                    () -> sides[0].isOver() && sides[1].isOver(), Duration.ofSeconds(10));
                assertTrue(isOver, "seed " + seed + ": " + sides[0] + ", " + sides[1]);
            }
        }
    }

    private static final class Side implements Program {
        private static final int LONG_SENT = 1;
        private static final int LONG_RECEIVED = 2;
        private static final int SHORT_SENT = 3;
        private static final int SHORT_RECEIVED = 4;

        private final int index;
        private final String[] names;
        private final AddressVector vector;
        private final CompletionQueue queue;
        private final Endpoint endpoint;
        private final MemoryRegion memory;
        private final int[] ended = new int[SHORT_RECEIVED + 1];
        private long peer = -1;
        private boolean isLongPosted;
        private boolean isLongSent;
        private int shortSends;
        private int shortReceives;

        Side(Node node, String link, String[] names) {
            this.index = node.index();
            this.names = names;
            Info hints = new Info().caps(Flags.TAGGED).linkName(link);
            Domain domain = node.fabric().domain(node.fabric().info(hints).best());
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(512));
            vector = domain.openAddressVector(new AddressVectorAttr());
            memory = domain.allocate(2 * LONG_BYTES);
            endpoint = domain.openEndpoint(domain.info());
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(vector);
            endpoint.enable();
            names[index] = endpoint.name();
        }

        @Override
        public int run() {
            if (names[1 - index] == null) {
                return 0;
            }
            peer = peer < 0 ? vector.insert(names[1 - index]) : peer;
            int before = shortSends + shortReceives;
            if (!isLongPosted) {
                isLongPosted = isPosted(endpoint.trecv(memory.address(LONG_BYTES), LONG_BYTES,
                    FabricAddress.ADDR_UNSPEC, 1, 0, LONG_RECEIVED));
            }
            if (!isLongSent) {
                isLongSent = isPosted(endpoint.messages().tsendmsg(memory.address(), LONG_BYTES, 0, peer, 1, LONG_SENT,
                    Flags.DELIVERY_COMPLETE | Flags.COMPLETION));
            }
            while (isLongSent && shortSends < SHORT_COUNT && isPosted(
                endpoint.tsend(memory.address(), SHORT_BYTES, peer, 2, SHORT_SENT))) {
                shortSends++;
            }
            boolean isLongOver = ended[LONG_SENT] + ended[LONG_RECEIVED] == 2;
            while (isLongOver && shortReceives < SHORT_COUNT && isPosted(endpoint.trecv(memory.address(LONG_BYTES),
                SHORT_BYTES, FabricAddress.ADDR_UNSPEC, 2, 0, SHORT_RECEIVED))) {
                shortReceives++;
            }
            return Math.max(0, queue.poll(this::onEntry, 16)) + shortSends + shortReceives - before;
        }

        private void onEntry(Completion entry) {
            ended[(int) entry.opContext()]++;
        }

        private static boolean isPosted(int result) {
            if (result != -FabricErrno.EAGAIN) {
                assertEquals(0, result);
            }
            return result == 0;
        }

        boolean isOver() {
            return ended[SHORT_SENT] == SHORT_COUNT && ended[SHORT_RECEIVED] == SHORT_COUNT;
        }

        @Override
        public String toString() {
            return "node %d: long message sent %d, received %d; short ones sent %d, received %d".formatted(
                index, ended[LONG_SENT], ended[LONG_RECEIVED], ended[SHORT_SENT], ended[SHORT_RECEIVED]);
        }
    }
}
