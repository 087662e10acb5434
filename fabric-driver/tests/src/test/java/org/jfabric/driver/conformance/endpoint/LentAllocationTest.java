package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.RecvContext;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages that two embedded drivers lend each other, in one thread. */
@Tag("conformance")
@Timeout(60)
class LentAllocationTest {
    private static final int LENGTH = 100_000;
    private static final int ROUNDS = 2000;
    private static final int ATTEMPTS = 5;

    /** A driver with its application. */
    private static final class Node implements CompletionHandler, AutoCloseable {
        private final FabricDriver driver;
        private final Fabric fabric;
        private final CompletionQueue queue;
        private final AddressVector addresses;
        private final Endpoint endpoint;
        private final MemoryRegion region;
        private long received;
        private long givenBack;

        Node(Path directory) {
            driver = FabricDriver.launchEmbedded(
                DriverConfig.builder().directory(directory).threadingMode(ThreadingMode.INVOKER).build());
            fabric = driver.fabric();
            Domain domain = fabric.domain(fabric.info(
                new Info().caps(Flags.MSG).mode(Mode.BUFFERED_RECV).linkName("shm")).best());
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
            addresses = domain.openAddressVector(new AddressVectorAttr());
            region = domain.allocate(LENGTH);
            endpoint = domain.openEndpoint(domain.info());
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(addresses);
            endpoint.enable();
        }

        @Override
        public void onCompletion(Completion completion) {
            RecvContext message = queue.recvContext(completion);
            if (message == null) {
                givenBack++;
            } else {
                assertTrue(message.isLent());
                received++;
            }
        }

        void poll() {
            int result = queue.poll(this, 8);
            assertTrue(result >= 0 || result == -FabricErrno.EAGAIN);
        }

        @Override
        public void close() {
            fabric.close();
            driver.close();
        }
    }

    @Test
    void shouldAllocateNothingWhenMessagesAreLentAndGivenBack() {
        Path base = TestDirectory.create();
        try (Node a = new Node(base.resolve("a")); Node b = new Node(base.resolve("b"))) {
            long toB = a.addresses.insert(b.endpoint.name());
            for (int i = 0; i < ATTEMPTS; i++) {
                lend(a, b, toB);
            }
            // a compiled method replacing an interpreted one in the middle may charge a few bytes to the first attempts
            assertEquals(0, AllocatedBytes.least(() -> lend(a, b, toB)), "bytes allocated by " + ROUNDS + " messages");
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static void lend(Node from, Node to, long destination) {
        long deadlineNs = System.nanoTime() + Deadline.ns(30);
        for (int i = 0; i < ROUNDS; i++) {
            long expected = from.givenBack + 1;
            assertEquals(0, from.endpoint.messages().sendLent(from.region.address(0), LENGTH, destination, 1));
            while (from.givenBack != expected) {
                to.poll();
                from.poll();
                assertTrue(System.nanoTime() - deadlineNs < 0, "a message was not given back");
            }
        }
        assertTrue(to.received >= ROUNDS);
    }
}
