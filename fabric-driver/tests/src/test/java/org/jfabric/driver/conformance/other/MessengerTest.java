package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Destination;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the short way in opens, how it waits, and that it leaves nothing behind. */
@Tag("conformance")
@Timeout(60)
class MessengerTest {
    private static final long TIMEOUT_NS = 10_000_000_000L;

    private static final class Rests implements IdleStrategy {
        private int count;

        @Override
        public void idle(int workCount) {
            count += workCount == 0 ? 1 : 0;
        }

        @Override
        public void idle() {
            count++;
        }

        @Override
        public void reset() {
            // it keeps no state but the count
        }
    }

    private Path base;
    private FabricDriver driver;
    private Fabric fabric;

    @BeforeEach
    void launch() {
        base = TestDirectory.create();
        driver = ReadmeExampleTest.embed(base.resolve("desk"));
        fabric = driver.fabric();
    }

    @AfterEach
    void close() {
        fabric.close();
        driver.close();
        TestDirectory.delete(base);
    }

    @Test
    void shouldOpenWithItsDefaultsAndExchangeBothKindsOfMessages() {
        try (Messenger self = fabric.messenger().open()) {
            Destination peer = self.peer(self.address());
            assertEquals(64 << 10, self.memory().lengthBytes());
            self.memory().buffer().putLong(0, 42);
            assertEquals(0, self.endpoint().trecv(self.memory().slice(64, 8), 1, 0, 1));
            assertEquals(0, self.endpoint().recv(self.memory().slice(128, 8), 2));
            assertEquals(0, self.endpoint().tsend(self.memory().slice(0, 8), peer, 1, 3));
            assertEquals(0, self.endpoint().send(self.memory().slice(0, 8), peer, 4));
            long[] contexts = {0};
            self.await(4, TIMEOUT_NS, entry -> contexts[0] += 1L << entry.opContext());
            assertEquals(0b11110, contexts[0]);
            assertEquals(42, self.memory().buffer().getLong(64));
            assertEquals(42, self.memory().buffer().getLong(128));
        }
    }

    @Test
    void shouldTakeTheNameTheQueueSizeAndTheMemoryThatItIsGiven() {
        try (Messenger orders = fabric.messenger().name("orders").queueSize(64).memoryBytes(4096).open()) {
            assertEquals("jfabric://desk/orders", orders.address());
            assertEquals(4096, orders.memory().lengthBytes());
            FabricException refused = assertThrows(
                FabricException.class, () -> fabric.messenger().name("orders").open());
            assertEquals(FabricErrno.EADDRINUSE, refused.errno(), refused.toString());
        }
        // what was opened before the refusal was closed, and the name is free again
        fabric.messenger().name("orders").open().close();
    }

    @Test
    void shouldRefuseHintsThatNoLinkMeets() {
        FabricException refused = assertThrows(FabricException.class,
            () -> fabric.messenger().hints(new Info().caps(Flags.COLLECTIVE)).open());
        assertEquals(FabricErrno.ENODATA, refused.errno(), refused.toString());
    }

    @Test
    void shouldSayWhyAnOperationFailed() {
        try (Messenger self = fabric.messenger().open()) {
            assertEquals(0, self.endpoint().trecv(self.memory().address(), 64, FabricAddress.ADDR_UNSPEC, 7, 0, 9));
            self.endpoint().cancel(9);
            FabricException failed = assertThrows(
                FabricException.class, () -> self.await(1, TIMEOUT_NS, entry -> { }));
            assertEquals(FabricErrno.ECANCELED, failed.errno());
            assertTrue(failed.getMessage().contains("context 9"), failed.getMessage());
            assertTrue(failed.getMessage().contains(self.queue().strerror(FabricErrno.ECANCELED)), failed.getMessage());
        }
    }

    @Test
    void shouldSendFromMemoryOfAnyKindWithoutAnEntry() {
        try (Messenger self = fabric.messenger().open()) {
            Destination peer = self.peer(self.address());
            assertEquals(self.address(), peer.toString());
            assertSame(self.memory().buffer(), self.memory().buffer());
            UnsafeBuffer any = new UnsafeBuffer(new byte[2048]);
            any.putLong(8, 43);
            assertEquals(-FabricErrno.EINVAL, self.send(null, any, 8, 8, 7));
            assertEquals(-FabricErrno.EINVAL, self.send(peer, any, 0, 2048, 7));
            assertEquals(0, self.endpoint().trecv(self.memory().slice(64, 8), 7, 0, 1));
            assertEquals(0, self.send(peer, any, 8, 8, 7));
            any.putLong(8, 0);
            long[] contexts = {0};
            Deadline deadline = Deadline.usual();
            while (self.poll(entry -> contexts[0] += entry.opContext(), 4) <= 0) {
                deadline.check("the only entry", self::toString);
            }
            assertEquals(1, contexts[0]);
            assertEquals(43, self.memory().buffer().getLong(64));
            assertEquals(-FabricErrno.EAGAIN, self.poll(entry -> { }, 4));
        }
    }

    @Test
    void shouldSayHowManyEntriesCameInTime() {
        try (Messenger self = fabric.messenger().open()) {
            long peer = self.peer(self.address()).number();
            assertEquals(0, self.endpoint().trecv(self.memory().address(), 64, FabricAddress.ADDR_UNSPEC, 7, 0, 1));
            assertEquals(0, self.endpoint().tsend(self.memory().address(64), 64, peer, 7, 2));
            self.await(2, TIMEOUT_NS, entry -> { });
            FabricException late = assertThrows(FabricException.class, () -> self.await(1, 0, entry -> { }));
            assertEquals(FabricErrno.ETIMEDOUT, late.errno());
            assertTrue(late.getMessage().contains("0 of 1 entries"), late.getMessage());
        }
    }

    @Test
    void shouldLeaveNothingOpen() {
        for (int i = 0; i < 100; i++) {
            Messenger self = fabric.messenger().open();
            self.close();
            self.close();
            assertEquals("Messenger{closed}", self.toString());
        }
    }

    @Test
    void shouldRepeatACallUntilThereIsRoom() {
        try (Messenger desk = fabric.messenger().open(); Messenger feed = fabric.messenger().open()) {
            Destination peer = feed.peer(desk.address());
            UnsafeBuffer quote = new UnsafeBuffer(new byte[64]);
            Deadline deadline = Deadline.usual();
            int result = 0;
            while (result == 0) {
                deadline.check("no room was left", feed::toString);
                result = feed.retry(() -> feed.send(peer, quote, 0, 64, 1), 1_000_000, entry -> { });
            }
            assertEquals(-FabricErrno.EAGAIN, result);
            assertEquals(0, feed.retry(() -> {
                desk.endpoint().trecv(desk.memory().slice(0, 64), 1, 0, 1);
                desk.poll(entry -> { }, 16);
                return feed.send(peer, quote, 0, 64, 1);
            }, TIMEOUT_NS, entry -> { }));
        }
    }

    @Test
    void shouldStopRepeatingForAnErrorEntry() {
        Rests rests = new Rests();
        try (Messenger feed = fabric.messenger().idleStrategy(rests).open()) {
            feed.endpoint().trecv(feed.memory().slice(0, 64), 1, 0, 9);
            assertThrows(FabricException.class, () -> feed.await(1, 1_000_000, entry -> { }));
            assertTrue(rests.count > 0, "await asks the strategy");
            feed.endpoint().cancel(9);
            assertEquals(-FabricErrno.EAVAIL, feed.retry(() -> -FabricErrno.EAGAIN, TIMEOUT_NS, entry -> { }));
        }
    }
}
