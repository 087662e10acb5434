package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.Messenger;
import org.jfabric.driver.kit.Daemons;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that is interrupted closes its fabric while the driver copies a message into its memory. */
@Tag("slow")
@Timeout(60)
class InterruptedCloseTest {
    private static final long LENGTH = 64 << 20;
    private static final byte RECEIVED = 1;
    private static final byte NEW_OWNER = 2;
    private static final int ROUNDS = 3;

    @Test
    void shouldWriteNothingIntoMemoryOfAClosedFabric() {
        try (Daemons daemons = Daemons.shared();
            Arena arena = Arena.ofShared()) {
            Path directory = daemons.start("alpha");
            MemorySegment memory = arena.allocate(LENGTH, 4096);
            try (Fabric sending = Fabric.connect(new FabricConfig().directory(directory));
                DriverView view = new DriverView(directory)) {
                Messenger sender = sending.messenger().hints(hints()).memoryBytes(LENGTH).open();
                sender.memory().segment().fill(RECEIVED);
                for (int round = 0; round < ROUNDS; round++) {
                    closeWhileCopied(directory, sender, memory);
                    Deadline.awaitParked(() -> "the end of the client: " + view.counters(),
                        () -> view.counter(SystemCounter.CLIENTS.label()) == 1);
                    for (long at = 0; at < LENGTH; at += 4096) {
                        assertEquals(NEW_OWNER, memory.get(ValueLayout.JAVA_BYTE, at), "byte " + at);
                    }
                }
            }
        }
    }

    private static void closeWhileCopied(Path directory, Messenger sender, MemorySegment memory) {
        memory.fill((byte) 0);
        Fabric fabric = Fabric.connect(new FabricConfig().directory(directory).closeTimeoutNs(0));
        Domain domain = fabric.domain(fabric.info(hints()).best());
        CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
        AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
        Endpoint endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();
        MemoryRegion region = domain.register(memory);
        assertTrue(region.isCopied());
        assertEquals(0, endpoint.trecv(region.address(), LENGTH, -1, 1, 0, 1));
        assertEquals(0, sender.endpoint().tsend(
            sender.memory().address(), LENGTH, sender.peer(endpoint.name()).number(), 1, 2));
        Deadline.await("the first byte", () -> memory.get(ValueLayout.JAVA_BYTE, 0) == RECEIVED,
            () -> sender);
        Thread.currentThread().interrupt();
        fabric.close();
        memory.fill(NEW_OWNER);
        assertTrue(Thread.interrupted(), "the thread is still interrupted");
        assertFalse(fabric.isOpen());
        int ended = sender.queue().poll(entry -> { }, 1);
        while (ended == 0 || ended == -FabricErrno.EAGAIN) {
            ended = sender.queue().poll(entry -> { }, 1);
        }
        if (ended < 0) {
            sender.queue().readErr(new CompletionError(), 0);
        }
    }

    private static Info hints() {
        return new Info().caps(Flags.TAGGED | Flags.MSG).linkName("shm");
    }
}
