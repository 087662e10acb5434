package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Silence is not death: stopped and busy processes find everything as it was. */
@Tag("hostile")
@Timeout(120)
class StoppedTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    /** A client looks every second, and tells of a pause of more than a second behind that. */
    private static final long STOP_NS = TimeUnit.MILLISECONDS.toNanos(2200);
    private static final long DRIVER_STOP_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int REFUSALS = 500;

    /** Sends numbered messages to a child that answers each; nothing may be lost. */
    private static final class Conversation {
        final FabricNode node;
        final long toChild;
        long sent;
        long sentEnded;
        long answered;
        long backpressure;

        Conversation(FabricNode node, long toChild) {
            this.node = node;
            this.toChild = toChild;
            for (int i = 0; i < ChildMain.WINDOW; i++) {
                postReceive(i);
            }
        }

        void postReceive(int slot) {
            assertEquals(0, node.endpoint.trecv(
                node.memory.address((long) slot * ChildMain.SLOT), ChildMain.SLOT, -1L, 2, 0, slot));
        }

        /** A bit of everything that can be done now. */
        void step(boolean mayBegin) {
            if (mayBegin && sent - answered < ChildMain.WINDOW) {
                int slot = ChildMain.WINDOW + (int) (sent % ChildMain.WINDOW);
                int offset = slot * ChildMain.SLOT;
                node.memory.buffer().putLong(offset, sent);
                int length = sent % 5 == 0 ? ChildMain.SLOT : 64;
                int result = node.endpoint.tsend(node.memory.address(offset), length, toChild, 1, 1000);
                if (result == 0) {
                    sent++;
                } else {
                    assertEquals(-FabricErrno.EAGAIN, result);
                    backpressure++;
                }
            } else {
                backpressure++;
                LockSupport.parkNanos(100_000);
            }
            FabricNode.Entry entry = node.poll();
            if (entry == null) {
                return;
            }
            assertEquals(0, entry.err(), entry.toString());
            if ((entry.flags() & Flags.RECV) != 0) {
                int slot = (int) entry.context();
                assertEquals(answered, node.memory.buffer().getLong(slot * ChildMain.SLOT));
                answered++;
                postReceive(slot);
            } else {
                sentEnded++;
            }
        }

        void runUntilAnswered(long count) {
            long deadline = System.nanoTime() + Deadline.ns(15);
            while (answered < count || sentEnded < sent) {
                assertTrue(System.nanoTime() < deadline, this::toString);
                step(sent < count);
            }
        }

        @Override
        public String toString() {
            return sent + " sent, " + sentEnded + " of them completed, " + answered + " answered";
        }
    }

    @Test
    void shouldGoOnWhereItWasWhenAClientWasStopped() {
        FabricNode node = DRIVER.opened(Bystanders.node("loopback", DRIVER.directory()));
        TestProcess child = DRIVER.opened(ChildMain.start("serve", DRIVER.directory()));
        Conversation conversation = new Conversation(node, node.av.insert(child.hear("ready")));
        child.say(node.endpoint.name());
        conversation.runUntilAnswered(200);
        long stopped = System.nanoTime();
        TestProcess.signal(child.process(), "STOP");
        long resume = System.nanoTime() + STOP_NS;
        while (System.nanoTime() < resume) {
            conversation.step(true);
        }
        assertTrue(conversation.backpressure > 0 && conversation.sent - conversation.answered > 0,
            conversation::toString);
        TestProcess.signal(child.process(), "CONT");
        conversation.runUntilAnswered(conversation.sent + 200);
        long pauseNs = Long.parseLong(child.hear("paused"));
        long mostNs = System.nanoTime() - stopped;
        assertTrue(pauseNs > STOP_NS / 2 && pauseNs < mostNs, "told of a pause of " + pauseNs + " ns in " + mostNs);
        conversation.runUntilAnswered(conversation.sent + 200);
        assertEquals(1, child.lines().stream().filter(line -> line.startsWith("paused")).count(),
            () -> child.lines().toString());
        assertTrue(child.lines().stream().noneMatch(line -> line.matches("(lost|failed|gone) .*")),
            () -> child.lines().toString());
        child.close();
        node.close();
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldOnlySeeBackpressureWhenTheDriverIsStopped() {
        AtomicInteger gone = new AtomicInteger();
        FabricNode node = DRIVER.opened(Bystanders.node("loopback", new FabricConfig().directory(DRIVER.directory())
            .listener(new FabricListener() {
                @Override
                public void onDriverGone(FabricException why) {
                    gone.incrementAndGet();
                }
            })));
        TestProcess child = DRIVER.opened(ChildMain.start("serve", DRIVER.directory()));
        Conversation conversation = new Conversation(node, node.av.insert(child.hear("ready")));
        child.say(node.endpoint.name());
        conversation.runUntilAnswered(100);
        TestProcess.signal(DRIVER.driver().process(), "STOP");
        try {
            long resume = System.nanoTime() + DRIVER_STOP_NS;
            while (System.nanoTime() < resume) {
                conversation.step(true);
            }
        } finally {
            TestProcess.signal(DRIVER.driver().process(), "CONT");
        }
        conversation.runUntilAnswered(conversation.sent + 200);
        assertEquals(0, gone.get());
        assertTrue(child.lines().stream().noneMatch(line -> line.matches("(lost|failed|gone|paused) .*")),
            () -> child.lines().toString());
    }

    @Test
    void shouldHoldBackTheSendersOfASilentClientWithoutErrors() {
        FabricNode silent = DRIVER.opened(Bystanders.node("loopback", DRIVER.directory()));
        FabricNode sender = DRIVER.opened(Bystanders.node("loopback", DRIVER.directory()));
        long toSilent = sender.av.insert(silent.endpoint.name());
        int sent = 0;
        int refused = 0;
        long deadline = System.nanoTime() + Deadline.ns(20);
        // it is held back, and stays so
        while (refused < REFUSALS) {
            assertTrue(System.nanoTime() - deadline < 0, refused + " times refused after " + sent + " messages");
            // far more than the budget for unexpected bytes and the queue hold
            int length = sent % 3 == 0 ? 100_000 : 8000;
            int offset = (sent % 100) * 100_000;
            int result = sender.endpoint.tsend(sender.memory.address(offset), length, toSilent, sent, sent);
            if (result == 0) {
                sent++;
            } else {
                assertEquals(-FabricErrno.EAGAIN, result);
                refused++;
                LockSupport.parkNanos(1_000_000);
            }
            FabricNode.Entry entry = sender.poll();
            assertTrue(entry == null || entry.err() == 0, () -> "an error for the sender: " + entry);
        }
        DRIVER.bystanders().assertGoOn(50);
        // it wakes up and takes everything
        for (int i = 0; i < sent; i++) {
            assertEquals(0, silent.endpoint.trecv(silent.memory.address(0), 100_000, -1L, i, 0, i));
            FabricNode.Entry entry = Deadline.awaitValue("message " + i + " of " + sent, silent::poll);
            assertEquals(0, entry.err(), entry.toString());
            assertEquals(i, entry.context());
            assertEquals(i % 3 == 0 ? 100_000 : 8000, entry.len());
            FabricNode.Entry ended = sender.poll();
            assertTrue(ended == null || ended.err() == 0, () -> "an error for the sender: " + ended);
        }
        silent.close();
        sender.close();
        DRIVER.assertReclaimed();
    }
}
