package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A receiver waits for a message behind others that it has not posted receives for, and that fill its budget. */
@Timeout(60)
class ReadBeyondBudgetTest {
    private static final int BUDGET = 64 << 10;
    private static final int LENGTH = 10_000;

    private final Path directory = TestDirectory.create();
    private FabricDriver driver;
    private FabricNode sender;
    private FabricNode receiver;
    private long toReceiver;

    private void open(String link) {
        driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(directory.resolve("driver"))
            .threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.link.enabled", link)
            .set("jfabric.engine.unexpectedBudgetBytes", Integer.toString(BUDGET))
            .set("jfabric.engine.creditWindowBytes", Integer.toString(16 << 10))
            .set("jfabric.tcp.interface", "127.0.0.1").build());
        Info hints = new Info().caps(Flags.TAGGED | Flags.SEND | Flags.RECV);
        hints.epAttr().type(EndpointType.RDM);
        // with a confirmation of the peer, rxm announces messages of any length
        hints.txAttr().opFlags(Flags.INJECT_COMPLETE);
        sender = new FabricNode(driver.fabric(), link, hints, 512, 0, () -> { });
        receiver = new FabricNode(driver.fabric(), link, hints, 512, 0, () -> { });
        toReceiver = sender.av.insert(receiver.endpoint.name());
        receiver.av.insert(sender.endpoint.name());
    }

    @AfterEach
    void close() {
        driver.close();
        TestDirectory.delete(directory);
    }

    private void send(int count) {
        for (int i = 0; i < count; i++) {
            sender.fill((long) i * LENGTH, LENGTH, i);
            assertEquals(0, sender.endpoint.tsend(sender.memory.address((long) i * LENGTH), LENGTH, toReceiver, i, i));
        }
    }

    private void post(int tag) {
        assertEquals(0, receiver.endpoint.trecv(
            receiver.memory.address((long) tag * LENGTH), LENGTH, -1, tag, 0, tag));
    }

    private void await(BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "not reached");
            assertNull(receiver.poll());
            Thread.yield();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "rxm"})
    void shouldReadOnWhenTheLastMessageIsReceivedFirst(String link) {
        open(link);
        int count = 8 * BUDGET / LENGTH;
        send(count);
        for (int tag = count - 1; tag >= 0; tag--) {
            post(tag);
            receiver.await(tag);
            receiver.assertFilled((long) tag * LENGTH, LENGTH, tag);
        }
        try (DriverView view = new DriverView(directory.resolve("driver"))) {
            assertTrue(view.counter("bytes that " + receiver.endpoint.name()
                + " has read beyond jfabric.engine.unexpectedBudgetBytes") > 6 * BUDGET);
            assertEquals(List.of(), view.errors());
        }
    }

    /** The second bound is no end for the messages: they wait, and the log says why. */
    @ParameterizedTest
    @ValueSource(strings = {"tcp", "rxm"})
    void shouldSayWhichBudgetIsUsedUpWhenAReceiveWaitsBehindIt(String link) {
        open(link);
        int count = 18 * BUDGET / LENGTH;
        send(count);
        post(count - 1);
        try (DriverView view = new DriverView(directory.resolve("driver"))) {
            await(() -> !view.errors().isEmpty());
            assertTrue(view.errors().getFirst().contains("16 times jfabric.engine.unexpectedBudgetBytes"),
                view.errors()::toString);
        }
        for (int tag = 0; tag < count - 1; tag++) {
            post(tag);
        }
        for (int i = 0; i < count; i++) {
            FabricNode.Entry next = receiver.await();
            assertEquals(0, next.err());
            receiver.assertFilled(next.context() * LENGTH, LENGTH, (int) next.context());
        }
    }
}
