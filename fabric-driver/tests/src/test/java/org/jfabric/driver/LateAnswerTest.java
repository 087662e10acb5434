package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jfabric.client.ClientConductor;
import org.jfabric.client.ClientThreads;
import org.jfabric.client.DriverConnection;
import org.jfabric.client.DriverState;
import org.jfabric.client.DriverUser;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.NoEvents;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client does with commands that its driver, which is stopped, does not answer in time. */
@Tag("slow")
@Timeout(120)
class LateAnswerTest {
    private static final long CONNECT_NS = Deadline.ns(20);
    private static final long COMMAND_NS = Deadline.ns(1);

    private final Path directory = TestDirectory.create().resolve("alpha");
    private final Events events = new Events();
    private DriverProcess driver;
    private ClientConductor client;

    /** Does what late answers bring only in the thread of the test, until it is told otherwise. */
    private static final class Events extends NoEvents {
        private final Thread owner = Thread.currentThread();
        private final CountDownLatch others = new CountDownLatch(1);
        private final List<String> effects = new CopyOnWriteArrayList<>();
        private volatile FabricException away;

        @Override
        public void onLateAnswer(Runnable effect) {
            try {
                if (Thread.currentThread() != owner) {
                    others.await();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            effect.run();
        }

        @Override
        public boolean reconnects() {
            return true;
        }

        @Override
        public void onDriverAway(FabricException why) {
            away = why;
        }
    }

    @BeforeEach
    void start() {
        driver = DriverProcess.start(directory);
        client = new ClientConductor(connect(), new DriverState(), events, COMMAND_NS, Long.MAX_VALUE);
        client.start();
    }

    @AfterEach
    void end() {
        events.others.countDown();
        client.close();
        driver.kill();
        TestDirectory.delete(directory.getParent());
    }

    @ParameterizedTest
    @ValueSource(strings = {"open", "close"})
    void shouldTakeTheEffectOfALateAnswerBeforeThatOfALaterCommand(String later) {
        long other = open();
        long queue = open();
        TestProcess.signal(driver.process(), "STOP");
        assertUnanswered(queue);
        TestProcess.signal(driver.process(), "CONT");
        if (later.equals("open")) {
            open();
        } else {
            close(other);
        }
        assertEquals("closed " + queue, events.effects.getFirst());
    }

    /** The driver may have a command of that attempt in hand, and access memory for it. */
    @Test
    void shouldNotTakeAFailedAttemptToReconnectForTheEndOfTheDriver() {
        driver.kill();
        Deadline.awaitParked("the end", () -> events.away != null);
        driver = DriverProcess.start(directory);
        client.resume(connect());
        long queue = open();
        TestProcess.signal(driver.process(), "STOP");
        client.resumed(false);
        assertUnanswered(queue);
        TestProcess.signal(driver.process(), "CONT");
        client.resume(connect());
        assertEquals(List.of("closed " + queue), events.effects);
        client.resumed(true);
        close(open());
    }

    private DriverConnection connect() {
        return DriverConnection.connect(directory, DriverUser.own(), CONNECT_NS, "late", ClientThreads.SYSTEM);
    }

    private long open() {
        return client.commands().openCompletionQueue(new CompletionQueueAttr()).cqId();
    }

    private void close(long queue) {
        client.commands().closeObject(
            ObjectKind.COMPLETION_QUEUE, queue, () -> events.effects.add("closed " + queue));
    }

    private void assertUnanswered(long queue) {
        FabricException late = assertThrows(FabricException.class, () -> close(queue));
        assertEquals(FabricErrno.ETIMEDOUT, late.errno());
    }
}
