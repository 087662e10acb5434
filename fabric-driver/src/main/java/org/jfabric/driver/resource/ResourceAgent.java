package org.jfabric.driver.resource;

import org.agrona.ErrorHandler;
import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;

import java.util.concurrent.locks.LockSupport;
import org.jfabric.ffi.Affinity;

/**
 * Runs slow system work on four threads, each started when there is something to do and asleep otherwise: one for tasks
 * that reserve or free much memory, which may take seconds, one for those that wait for stable storage, one for those
 * that close what the system is slow to close, and one for all others. In INVOKER mode the last one also waits for
 * descriptors, because no other thread of the driver could.
 *
 * <p>Any thread submits; results go to the inbox of the thread that asked. Tasks of one kind run in the order of their
 * submission; a caller that needs an order between the kinds submits the second task when the first has ended.
 */
public final class ResourceAgent implements AutoCloseable {
    /** Tasks of more bytes than that run on the thread for long tasks; fewer are reserved within milliseconds. */
    public static final long LONG_TASK_BYTES = 4L << 20;

    private static final String THREAD_NAME = "jfabric-resource";
    private static final String LONG_THREAD_NAME = "jfabric-resource-long";
    private static final String SYNC_THREAD_NAME = "jfabric-resource-sync";
    private static final String CLOSING_THREAD_NAME = "jfabric-resource-close";
    private static final int SLEEP_MS = 60_000;
    private static final long CLOSE_TIMEOUT_MS = 10_000;

    /** Applies the result of its task once, even if it is posted repeatedly. */
    private static final class Submission implements Runnable {
        private final ResourceTask task;
        private final Inbox inbox;
        private boolean applied;

        Submission(ResourceTask task, Inbox inbox) {
            this.task = task;
            this.inbox = inbox;
        }

        @Override
        public void run() {
            if (!applied) {
                applied = true;
                task.complete();
            }
        }
    }

    /** Tasks that run one after the other. */
    private static final class Lane {
        private final ManyToOneConcurrentLinkedQueue<Submission> queue = new ManyToOneConcurrentLinkedQueue<>();
        /** A task that was run, and whose result is not posted yet; under the queue's lock. */
        private Submission finished;

        boolean isIdle() {
            synchronized (queue) {
                return finished == null && queue.isEmpty();
            }
        }

        /** Returns the number of tasks. */
        int runAll() {
            int work = 0;
            // one taker at a time, also at the end, when the closing thread takes over
            synchronized (queue) {
                for (;;) {
                    Submission submission = finished;
                    if (submission == null) {
                        submission = queue.poll();
                        if (submission == null) {
                            return work;
                        }
                        submission.task.run();
                        finished = submission;
                    }
                    // allocates: without memory it is tried again, or the caller would wait for ever
                    submission.inbox.post(submission);
                    finished = null;
                    work++;
                }
            }
        }
    }

    /** Tasks with a thread that sleeps by itself. */
    private final class ParkedLane {
        private final Lane lane = new Lane();
        private final String threadName;
        private Thread thread;

        ParkedLane(String threadName) {
            this.threadName = threadName;
        }

        void wake() {
            LockSupport.unpark(thread());
        }

        /** The thread, started if the agent is running; null if it never was. */
        Thread thread() {
            synchronized (ResourceAgent.this) {
                if (thread == null && running && hasThreads) {
                    thread = started(this::run, threadName);
                }
                return thread;
            }
        }

        private void run() {
            while (running) {
                try {
                    if (lane.isIdle()) {
                        LockSupport.park(lane);
                    }
                    lane.runAll();
                } catch (RuntimeException | Error ex) {
                    report(ex);
                }
            }
        }
    }

    private final Lane shortTasks = new Lane();
    private final ParkedLane longTasks = new ParkedLane(LONG_THREAD_NAME);
    private final ParkedLane syncTasks = new ParkedLane(SYNC_THREAD_NAME);
    private final ParkedLane closingTasks = new ParkedLane(CLOSING_THREAD_NAME);
    private final DescriptorWatcher watcher;
    private final boolean hasThreads;
    private final Inbox ownInbox = new Inbox();
    private final ErrorHandler errorHandler;
    private Sleepers sleepers;
    private Thread thread;
    private volatile boolean running = true;

    /**
     * An agent without thread.
     *
     * @param watcher      the descriptors it sleeps on; its own or, in INVOKER, the one with the driver's descriptors.
     * @param hasThreads   whether it may start threads; else {@link #poll()} does the work of all of them.
     */
    public ResourceAgent(DescriptorWatcher watcher, ErrorHandler errorHandler, boolean hasThreads) {
        this.watcher = watcher;
        this.hasThreads = hasThreads;
        this.errorHandler = errorHandler;
    }

    /**
     * Wakes threads of the application when a deadline passes; before the agent is started.
     *
     * @param newSleepers of a driver in mode INVOKER, else null.
     */
    public void sleepers(Sleepers newSleepers) {
        sleepers = newSleepers;
    }

    /**
     * Runs a task in the background; any thread.
     *
     * @param task  to be run; after {@link #close()} it is run at once by the caller.
     */
    public void submit(ResourceTask task, Inbox inbox) {
        ParkedLane parked = task.isSync() ? syncTasks : task.isClosing() ? closingTasks
            : task.sizeBytes() > LONG_TASK_BYTES ? longTasks : null;
        Lane lane = parked == null ? shortTasks : parked.lane;
        lane.queue.offer(new Submission(task, inbox));
        if (!running) {
            lane.runAll();
        } else if (!hasThreads) {
            // runs with the next poll
            return;
        } else if (parked != null) {
            parked.wake();
        } else {
            start();
            watcher.wake();
        }
    }

    /** Starts the thread if there is none; any thread. */
    public synchronized void start() {
        if (thread == null && running && hasThreads) {
            thread = started(this::run, THREAD_NAME);
        }
    }

    /**
     * Watches the descriptors and runs what was submitted, for an agent that has no threads. Its results are in the
     * inboxes after the return.
     */
    public int poll() {
        int work = watcher.poll(0, ownInbox);
        return work + shortTasks.runAll() + longTasks.lane.runAll() + syncTasks.lane.runAll()
            + closingTasks.lane.runAll();
    }

    /** Runs what was submitted, then ends the threads. The watcher stays open. */
    @Override
    public void close() {
        Thread ending;
        synchronized (this) {
            running = false;
            ending = thread;
        }
        watcher.wake();
        longTasks.wake();
        syncTasks.wake();
        closingTasks.wake();
        join(ending);
        join(longTasks.thread());
        join(syncTasks.thread());
        join(closingTasks.thread());
        shortTasks.runAll();
        longTasks.lane.runAll();
        syncTasks.lane.runAll();
        closingTasks.lane.runAll();
    }

    private static Thread started(Runnable work, String name) {
        Thread started = new Thread(() -> {
            // the thread that submits may be bound to a processor on which it spins
            Affinity.bind(Environment.SYSTEM.processors());
            work.run();
        }, name);
        started.setDaemon(true);
        started.start();
        return started;
    }

    private static void join(Thread ending) {
        if (ending == null) {
            return;
        }
        try {
            ending.join(CLOSE_TIMEOUT_MS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (running) {
            try {
                watcher.poll(shortTasks.isIdle() ? sleepMs() : 0, ownInbox);
                shortTasks.runAll();
                if (sleepers != null) {
                    sleepers.onTime();
                }
            } catch (RuntimeException | Error ex) {
                // even without free memory: without this thread nothing is ever opened, closed or unmapped again
                report(ex);
            }
        }
    }

    private int sleepMs() {
        return sleepers == null ? SLEEP_MS : sleepers.timeoutMs(SLEEP_MS);
    }

    private void report(Throwable error) {
        try {
            errorHandler.onError(error);
        } catch (RuntimeException | Error again) {
            // no memory to report it either; the task itself notifies its caller
            return;
        }
    }
}
