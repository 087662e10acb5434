package org.jfabric.simulation;

import java.time.Duration;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
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

/** An access to memory fails at a receiver: whichever it is, no other message is harmed. */
@Tag("slow")
class ReceiverFaultTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int ACCESSES = 60;
    private static final int MESSAGES = 40;
    private static final int RECEIVES = 80;
    private static final int LENGTH = 4000;
    private static final int SLOT = 16384;
    private static final long POST_NS = 5_000_000;

    private String name;
    private boolean isAnnounced;
    /** Receives are posted, and the fault is to come. */
    private boolean isPosted;
    private int ended;
    private int failed;
    private int sent;

    /**
     * More messages arrive than the receiver may store, so that one of them waits in the link. Receives are posted at
     * last, and the access fails behind that.
     */
    @ParameterizedTest
    @ValueSource(strings = {"rxm", "tcp"})
    void shouldNotMixMessagesWhicheverAccessFails(String link) {
        isAnnounced = false;
        int errors = 0;
        for (int accesses = 0; accesses < ACCESSES; accesses++) {
            // the message in hand is lost with the access
            errors += run(link, accesses, () -> ended >= MESSAGES - 1);
        }
        assertTrue(errors > ACCESSES / 2, errors + " errors were recorded");
    }

    /** Receives wait for messages that stay at the sender until they are fetched. */
    @ParameterizedTest
    @ValueSource(strings = {"rxm", "shm"})
    void shouldEndAnnouncedSendsWhicheverAccessFails(String link) {
        isAnnounced = true;
        int errors = 0;
        for (int accesses = 0; accesses < ACCESSES; accesses++) {
            errors += run(link, accesses, () -> sent == MESSAGES);
        }
        assertTrue(errors > ACCESSES / 2, errors + " errors were recorded");
    }

    /** Returns the number of errors that the receiver's driver has recorded. */
    private int run(String link, int accesses, BooleanSupplier isOver) {
        ended = 0;
        failed = 0;
        sent = 0;
        isPosted = false;
        Map<String, String> options = Map.of("jfabric.link.enabled", link,
            "jfabric.engine.unexpectedBudgetBytes", "65536", "jfabric.engine.creditWindowBytes", "8192",
            "jfabric.engine.eagerLimitBytes", "1024");
        try (Simulation simulation = new Simulation(1)) {
            Node at = simulation.add("receiver", options, node -> new Receiving(node, link, accesses));
            simulation.add("sender", options, node -> new Sending(node, link));
            simulation.start();
            assertTrue(simulation.runUntil(isOver, LIMIT),
                ended + " receives and " + sent + " sends ended after " + accesses + " accesses");
            assertTrue(failed <= 2, failed + " receives failed after " + accesses + " accesses");
            return at.errors().size();
        }
    }

    /** Of the payload of a message, which is its number in each word. */
    private static int length(int number) {
        return LENGTH + number % 3 * LENGTH;
    }

    private static Endpoint open(Node node, Domain domain, CompletionQueue queue, AddressVector vector) {
        Endpoint endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();
        return endpoint;
    }

    private static Domain domain(Node node, String link) {
        return node.fabric().domain(node.fabric().info(new Info().caps(Flags.TAGGED).linkName(link)).best());
    }

    private final class Sending implements Program {
        private final CompletionQueue queue;
        private final Endpoint endpoint;
        private final MemoryRegion memory;
        private final CompletionError error = new CompletionError();
        private final long to;
        private int posted;

        Sending(Node node, String link) {
            Domain domain = domain(node, link);
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(128));
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            memory = domain.allocate((long) MESSAGES * SLOT);
            endpoint = open(node, domain, queue, vector);
            to = vector.insert(name);
        }

        @Override
        public int run() {
            int work = readEnds();
            // one brings the connection up
            if (posted == MESSAGES || isAnnounced && posted == 1 && !isPosted) {
                return work;
            }
            UnsafeBuffer bytes = memory.buffer();
            int begin = posted * SLOT;
            for (int i = 0; i < length(posted); i += Long.BYTES) {
                bytes.putLong(begin + i, posted);
            }
            long flags = Flags.COMPLETION | (isAnnounced ? Flags.DELIVERY_COMPLETE : 0);
            posted += endpoint.messages().tsendmsg(
                memory.address(begin), length(posted), 0, to, posted, posted, flags) == 0
                ? 1 : 0;
            return work + 1;
        }

        private int readEnds() {
            int work = Math.max(0, queue.poll(entry -> sent++, MESSAGES));
            if (queue.readErr(error, 0) == 1) {
                sent++;
                work++;
            }
            return work;
        }
    }

    private final class Receiving implements Program {
        private final Node node;
        private final int accesses;
        private final CompletionQueue queue;
        private final Endpoint endpoint;
        private final MemoryRegion memory;
        private final CompletionError error = new CompletionError();
        /** When all has arrived for which there is room. */
        private long postNs;

        Receiving(Node node, String link, int accesses) {
            this.node = node;
            this.accesses = accesses;
            Domain domain = domain(node, link);
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(128));
            memory = domain.allocate((long) RECEIVES * SLOT);
            endpoint = open(node, domain, queue, domain.openAddressVector(new AddressVectorAttr()));
            name = endpoint.name();
        }

        @Override
        public int run() {
            long nowNs = node.simulation().nanoTime();
            if (postNs == 0) {
                postNs = nowNs + POST_NS;
                node.wakeAt(postNs);
            }
            if (nowNs < postNs) {
                return 0;
            }
            if (!isPosted) {
                isPosted = true;
                for (int i = 0; i < RECEIVES; i++) {
                    assertEquals(0, endpoint.trecv(
                        memory.address((long) i * SLOT), SLOT, FabricAddress.ADDR_UNSPEC, i, 0, i));
                }
                node.faults().begin(new Fault(0, Fault.Kind.MEMORY, 0, 0, accesses));
            }
            int result = queue.poll(this::onEntry, RECEIVES);
            if (result == -FabricErrno.EAVAIL) {
                assertEquals(1, queue.readErr(error, 0));
                failed++;
                ended++;
                return 1;
            }
            return result == -FabricErrno.EAGAIN ? 0 : result;
        }

        private void onEntry(Completion entry) {
            int number = (int) entry.opContext();
            assertEquals(length(number), entry.len(), "length of " + number);
            for (int i = 0; i < length(number); i += Long.BYTES) {
                assertEquals(number, memory.buffer().getLong(number * SLOT + i), "byte " + i + " of " + number);
            }
            ended++;
        }
    }
}
