package org.jfabric.simulation;

import java.time.Duration;
import java.util.Map;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteRequest;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The only slot of the driver's quota is that of a message whose payload comes behind a write that is to be reported.
 */
@Tag("slow")
class ReportSlotTest {
    private static final int WRITES = 5;
    private static final int LENGTH = 64;
    private static final long KEY = 7;

    private Endpoint target;
    private long targetAddress;
    private boolean isPosted;
    private int messages;
    private int reports;

    @Test
    void shouldReportWritesLaterIfTheSlotIsOfAMessageBehindThem() {
        Map<String, String> options = Map.of("jfabric.link.enabled", "rxm", "jfabric.queue.cqDriverShare", "1");
        try (Simulation simulation = new Simulation(1)) {
            simulation.add("target", options, Target::new);
            simulation.add("writer", options, Writer::new);
            simulation.start();
            assertTrue(simulation.runUntil(() -> messages == 2 && reports == WRITES, Duration.ofMinutes(1)),
                messages + " messages and " + reports + " reports have come");
            assertTrue(simulation.nodes().getFirst().errors().isEmpty());
        }
    }

    private static Domain domain(Node node) {
        return node.fabric().domain(node.fabric().info(
            new Info().caps(Flags.MSG | Flags.RMA | Flags.MULTI_RECV).linkName("rxm")).best());
    }

    private static Endpoint open(Domain domain, CompletionQueue queue, AddressVector vector) {
        Endpoint endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();
        return endpoint;
    }

    private final class Target implements Program {
        private final CompletionQueue queue;
        private final MemoryRegion buffer;

        Target(Node node) {
            Domain domain = domain(node);
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(16));
            buffer = domain.allocate(4096);
            targetAddress = domain.allocate(4096, new MemoryRegionAttr().access(Flags.REMOTE_WRITE).requestedKey(KEY))
                .remoteAddress();
            target = open(domain, queue, domain.openAddressVector(new AddressVectorAttr()));
        }

        @Override
        public int run() {
            if (!isPosted) {
                isPosted = true;
                assertEquals(0, target.messages().recvmsg(
                    buffer.address(0), 4096, FabricAddress.ADDR_UNSPEC, 1, Flags.MULTI_RECV | Flags.COMPLETION));
            }
            return Math.max(0, queue.poll(this::onEntry, 16));
        }

        private void onEntry(Completion entry) {
            if ((entry.flags() & Flags.REMOTE_WRITE) != 0) {
                assertEquals(reports++, entry.data());
                assertEquals(LENGTH, entry.len());
            } else {
                messages++;
            }
        }
    }

    /** Sends a message that brings the connection up, then one that the target fetches, and writes at once. */
    private final class Writer implements Program {
        private final CompletionQueue queue;
        private final Endpoint endpoint;
        private final MemoryRegion memory;
        private final long to;
        private final RemoteRequest request = new RemoteRequest();
        private int sent;
        private int written;

        Writer(Node node) {
            Domain domain = domain(node);
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(16));
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            memory = domain.allocate(4096);
            endpoint = open(domain, queue, vector);
            to = vector.insert(target.name());
        }

        @Override
        public int run() {
            int work = Math.max(0, queue.poll(entry -> { }, 16));
            if (sent == 0 || sent == 1 && messages == 1) {
                long flags = Flags.COMPLETION | Flags.DELIVERY_COMPLETE;
                sent += endpoint.messages().sendmsg(memory.address(0), LENGTH, 0, to, sent, flags) == 0 ? 1 : 0;
                work++;
            }
            while (sent == 2 && written < WRITES && endpoint.remoteMemory().writemsg(
                request.clear().memory(memory.address(0), LENGTH).destAddr(to).remote(targetAddress, KEY)
                    .remoteCqData(written).opContext(written).flags(Flags.COMPLETION | Flags.REMOTE_CQ_DATA)) == 0) {
                written++;
                work++;
            }
            return work;
        }
    }
}
