package org.jfabric.simulation;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.RecvContext;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * An access to memory fails while lent messages are shown and not given back yet, or their lender closes the region
 * meanwhile: their bytes stay, each send ends once, and later messages are lent again.
 */
@Tag("slow")
class LentFaultTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int ACCESSES = 40;
    private static final int MESSAGES = 8;
    private static final int LENGTH = 20_000;
    /** The message behind the fault. */
    private static final int LAST = MESSAGES;

    private String name;
    private boolean withdraws;
    private Node toFail;
    private int accesses;
    /** All but the last were shown. */
    private boolean isShown;
    private int givenBack;
    /** Runs in which the driver has noticed the failure before all were given back. */
    private int inTime;
    private boolean isLastShown;
    private int ended;

    @ParameterizedTest
    @CsvSource({"receiver, false", "sender, false", "receiver, true", "sender, true"})
    void shouldEndEachLoanOnceWhicheverAccessFails(String side, boolean closesRegion) {
        withdraws = closesRegion;
        inTime = 0;
        for (accesses = 0; accesses < ACCESSES; accesses++) {
            run(side);
        }
        assertTrue(inTime > ACCESSES / 2, inTime + " accesses failed while messages were lent");
    }

    private void run(String side) {
        isShown = false;
        isLastShown = false;
        givenBack = 0;
        ended = 0;
        Map<String, String> options = Map.of("jfabric.link.enabled", "loopback,shm");
        try (Simulation simulation = new Simulation(1)) {
            Node receiver = simulation.add("receiver", options, Receiving::new);
            Node sender = simulation.add("sender", options, Sending::new);
            toFail = side.equals("sender") ? sender : receiver;
            simulation.start();
            assertTrue(simulation.runUntil(() -> ended > MESSAGES && isLastShown, LIMIT), () -> givenBack
                + " were given back and " + ended + " sends ended after " + accesses + " accesses: "
                + receiver.errors() + sender.errors());
            assertEquals(MESSAGES, givenBack);
        }
    }

    private static Domain domain(Node node) {
        Info hints = new Info().caps(Flags.MSG).mode(Mode.BUFFERED_RECV).linkName("shm");
        return node.fabric().domain(node.fabric().info(hints).best());
    }

    private static Endpoint open(Domain domain, CompletionQueue queue, AddressVector vector) {
        Endpoint endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();
        return endpoint;
    }

    private static CompletionQueue queue(Domain domain) {
        return domain.openCompletionQueue(new CompletionQueueAttr().size(64).format(CompletionFormat.TAGGED));
    }

    private final class Sending implements Program {
        private final CompletionQueue queue;
        private final Endpoint endpoint;
        private final MemoryRegion memory;
        private final MemoryRegion later;
        private final CompletionError error = new CompletionError();
        private final BitSet ends = new BitSet();
        private final long to;
        private int posted;
        private boolean isLastLent;

        Sending(Node node) {
            Domain domain = domain(node);
            queue = queue(domain);
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            memory = domain.allocate((long) MESSAGES * LENGTH);
            later = domain.allocate(LENGTH);
            endpoint = open(domain, queue, vector);
            to = vector.insert(name);
            for (int i = 0; i < MESSAGES; i++) {
                fill(memory.buffer(), i * LENGTH, i);
            }
            fill(later.buffer(), 0, LAST);
        }

        private static void fill(UnsafeBuffer bytes, int begin, int number) {
            for (int i = 0; i < LENGTH; i += Long.BYTES) {
                bytes.putLong(begin + i, number);
            }
        }

        @Override
        public int run() {
            int work = readEnds();
            if (posted < MESSAGES) {
                int result = endpoint.messages().sendLent(memory.address((long) posted * LENGTH), LENGTH, to, posted);
                posted += result == 0 ? 1 : 0;
                return work + 1;
            }
            if (isShown && withdraws) {
                withdraws = false;
                memory.close();
                return work + 1;
            }
            if (ends.cardinality() == MESSAGES && !isLastLent) {
                isLastLent = endpoint.messages().sendLent(later.address(), LENGTH, to, LAST) == 0;
                return work + 1;
            }
            return work;
        }

        private int readEnds() {
            int result = queue.poll(entry -> onEnd((int) entry.opContext(), 0), MESSAGES);
            if (result == -FabricErrno.EAVAIL) {
                assertEquals(1, queue.readErr(error, 0));
                onEnd((int) error.opContext(), error.err());
                return 1;
            }
            return Math.max(0, result);
        }

        private void onEnd(int number, int errno) {
            if (number == LAST) {
                // a connection that ended because of the fault is made again
                isLastLent = errno == 0;
                ended += errno == 0 ? 1 : 0;
                return;
            }
            assertFalse(ends.get(number), () -> "send " + number + " ended twice");
            ends.set(number);
            ended++;
        }
    }

    private final class Receiving implements Program {
        private final CompletionQueue queue;
        private final Deque<RecvContext> shown = new ArrayDeque<>();
        private final CompletionError error = new CompletionError();

        Receiving(Node node) {
            Domain domain = domain(node);
            queue = queue(domain);
            name = open(domain, queue, domain.openAddressVector(new AddressVectorAttr())).name();
        }

        @Override
        public int run() {
            int work = queue.poll(this::onEntry, MESSAGES);
            if (work == -FabricErrno.EAVAIL) {
                assertEquals(1, queue.readErr(error, 0));
                return 1;
            }
            if (!isShown && shown.size() == MESSAGES) {
                isShown = true;
                toFail.faults().begin(new Fault(0, Fault.Kind.MEMORY, 0, 0, accesses));
            } else if (isShown && !shown.isEmpty()) {
                RecvContext first = shown.peek();
                assertShows(first, givenBack);
                if (first.release() == 0) {
                    shown.remove();
                    givenBack++;
                    inTime += shown.isEmpty() && !toFail.errors().isEmpty() ? 1 : 0;
                }
                return 1;
            }
            return Math.max(0, work);
        }

        private void onEntry(Completion entry) {
            RecvContext message = queue.recvContext(entry);
            assertNotNull(message, entry::toString);
            assertTrue(message.isLent(), entry::toString);
            if (isShown) {
                assertShows(message, LAST);
                assertEquals(0, message.release());
                isLastShown = true;
                return;
            }
            message.retain();
            shown.add(message);
        }

        private static void assertShows(RecvContext message, int number) {
            assertEquals(LENGTH, message.buffer().capacity());
            for (int i = 0; i < LENGTH; i += Long.BYTES) {
                assertEquals(number, message.buffer().getLong(i), "byte " + i);
            }
        }
    }
}
