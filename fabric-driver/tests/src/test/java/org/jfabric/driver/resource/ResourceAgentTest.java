package org.jfabric.driver.resource;

import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Whatever a task or a handler throws, its caller is notified, and the thread continues with the next one. */
@Timeout(60)
class ResourceAgentTest {
    private static final long DEADLINE_NS = Deadline.ns(20);

    private final DescriptorWatcher watcher = new DescriptorWatcher();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final ResourceAgent agent = new ResourceAgent(watcher, errors::add, true);
    private final Inbox inbox = new Inbox();

    @AfterEach
    void stop() {
        agent.close();
        watcher.close();
    }

    private static final class Task extends ResourceTask {
        private final Throwable thrown;
        private Throwable failure;
        private int executed;
        private int done;

        Task(Throwable thrown) {
            this.thrown = thrown;
        }

        @Override
        protected void execute() throws Exception {
            executed++;
            if (thrown instanceof Error error) {
                throw error;
            }
            if (thrown instanceof Exception exception) {
                throw exception;
            }
        }

        @Override
        protected void onDone() {
            done++;
        }

        @Override
        protected void onFailed(Throwable cause) {
            done++;
            failure = cause;
        }
    }

    private void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            inbox.drain(10);
            assertTrue(System.nanoTime() - deadline < 0, () -> "waited in vain for " + what + ", errors " + errors);
            Thread.yield();
        }
    }

    @Test
    void shouldTellWhoWaitsWhateverATaskThrows() {
        List<Task> tasks = new ArrayList<>();
        for (Throwable thrown : new Throwable[] {new OutOfMemoryError("Java heap space"), new IOException("disk"),
            new StackOverflowError(), new InternalError("cut"), new IllegalStateException("mistake"),
            new NoClassDefFoundError("X"), null}) {
            Task task = new Task(thrown);
            tasks.add(task);
            agent.submit(task, inbox);
            // one at a time, so that each failure meets a thread that has to be alive
            await("the end of " + thrown, () -> task.done == 1);
        }
        for (Task task : tasks) {
            assertSame(task.thrown, task.failure);
            assertEquals(1, task.executed);
            assertEquals(1, task.done);
        }
    }

    /** Handing a result over takes memory too, and may wake a thread: neither may cost the result or the thread. */
    @Test
    void shouldHandAResultOverWhenThatFailsAtFirst() {
        AtomicInteger failures = new AtomicInteger(2);
        inbox.waker(() -> {
            if (failures.getAndDecrement() > 0) {
                throw new OutOfMemoryError("while waking");
            }
        });
        Task first = new Task(null);
        Task second = new Task(null);
        agent.submit(first, inbox);
        agent.submit(second, inbox);
        await("both results", () -> first.done == 1 && second.done == 1);
        assertEquals(1, first.executed, "it is not done again");
        assertEquals(1, second.executed);
        await("the report", () -> errors.size() == 2);
        assertEquals("while waking", errors.getFirst().getMessage());
        Task third = new Task(null);
        agent.submit(third, inbox);
        await("the third", () -> third.done == 1);
        // whatever was handed over twice was applied once
        await("an empty inbox", inbox::isEmpty);
        assertEquals(1, first.done);
    }

    /** The long one stands at a gate: whoever is done meanwhile has not waited for it. */
    @Test
    void shouldRunOtherTasksBesideALongOneAndLongOnesInOrder() {
        CountDownLatch gate = new CountDownLatch(1);
        List<String> ended = new CopyOnWriteArrayList<>();
        agent.submit(new SizedTask(ResourceAgent.LONG_TASK_BYTES + 1, ended, "long", gate), inbox);
        agent.submit(new SizedTask(Long.MAX_VALUE, ended, "longer", null), inbox);
        agent.submit(new SizedTask(ResourceAgent.LONG_TASK_BYTES, ended, "short", null), inbox);
        try {
            await("the short task", () -> ended.size() == 1);
            assertEquals(List.of("short"), ended);
        } finally {
            gate.countDown();
        }
        await("all tasks", () -> ended.size() == 3);
        assertEquals(List.of("short", "long", "longer"), ended);
        agent.close();
        agent.submit(new SizedTask(Long.MAX_VALUE, ended, "after the close", null), inbox);
        await("the last task", () -> ended.size() == 4);
    }

    private static final class SizedTask extends ResourceTask {
        private final long sizeBytes;
        private final List<String> ended;
        private final String name;
        private final CountDownLatch gate;

        SizedTask(long sizeBytes, List<String> ended, String name, CountDownLatch gate) {
            this.sizeBytes = sizeBytes;
            this.ended = ended;
            this.name = name;
            this.gate = gate;
        }

        @Override
        protected long sizeBytes() {
            return sizeBytes;
        }

        @Override
        protected void execute() throws InterruptedException {
            if (gate != null) {
                gate.await();
            }
        }

        @Override
        protected void onDone() {
            ended.add(name);
        }

        @Override
        protected void onFailed(Throwable cause) {
            ended.add(name + ": " + cause);
        }
    }
}
