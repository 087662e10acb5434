package org.jfabric.driver.resource;

import org.agrona.ErrorHandler;
import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;

/**
 * Runs slow system work on a thread of its own, which is started when there is something to do and sleeps otherwise.
 * In INVOKER mode it also waits for descriptors, because no other thread of the driver could.
 *
 * <p>Any thread submits; results go to the inbox of the thread that asked.
 */
public final class ResourceAgent implements AutoCloseable {
    private static final String THREAD_NAME = "jfabric-resource";
    private static final int SLEEP_MS = 60_000;
    private static final long CLOSE_TIMEOUT_MS = 10_000;

    /** Is handed back itself, once, however often that is tried. */
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

    private final ManyToOneConcurrentLinkedQueue<Submission> queue = new ManyToOneConcurrentLinkedQueue<>();
    private final DescriptorWatcher watcher;
    private final Inbox ownInbox = new Inbox();
    private final ErrorHandler errorHandler;
    /** Run, and not yet handed back; under the queue's lock. */
    private Submission finished;
    private Thread thread;
    private volatile boolean running = true;

    /**
     * An agent without thread.
     *
     * @param watcher      what it sleeps on; its own or, in INVOKER, the one with the driver's descriptors.
     * @param errorHandler told of what should not happen.
     */
    public ResourceAgent(DescriptorWatcher watcher, ErrorHandler errorHandler) {
        this.watcher = watcher;
        this.errorHandler = errorHandler;
    }

    /**
     * Runs a task in the background; any thread.
     *
     * @param task  to be run; after {@link #close()} it is run at once by the caller.
     * @param inbox where its result is applied.
     */
    public void submit(ResourceTask task, Inbox inbox) {
        queue.offer(new Submission(task, inbox));
        if (running) {
            start();
            watcher.wake();
        } else {
            runAll();
        }
    }

    /** Starts the thread if there is none; any thread. */
    public synchronized void start() {
        if (thread == null && running) {
            thread = new Thread(this::run, THREAD_NAME);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Runs what was submitted, then ends the thread. The watcher stays open. */
    @Override
    public void close() {
        Thread ending;
        synchronized (this) {
            running = false;
            ending = thread;
        }
        if (ending != null) {
            watcher.wake();
            boolean interrupted = false;
            try {
                ending.join(CLOSE_TIMEOUT_MS);
            } catch (InterruptedException ex) {
                interrupted = true;
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        runAll();
    }

    private void run() {
        while (running) {
            try {
                watcher.poll(isIdle() ? SLEEP_MS : 0, ownInbox);
                runAll();
            } catch (RuntimeException | Error ex) {
                // also for lack of memory: without this thread nothing is ever opened, closed or unmapped again
                report(ex);
            }
        }
    }

    private boolean isIdle() {
        synchronized (queue) {
            return finished == null && queue.isEmpty();
        }
    }

    private void runAll() {
        // one taker at a time, also at the end, when whoever closes takes over
        synchronized (queue) {
            for (;;) {
                Submission submission = finished;
                if (submission == null) {
                    submission = queue.poll();
                    if (submission == null) {
                        return;
                    }
                    submission.task.run();
                    finished = submission;
                }
                // takes memory: if there is none it is tried again, or whoever waits would wait for ever
                submission.inbox.post(submission);
                finished = null;
            }
        }
    }

    private void report(Throwable error) {
        try {
            errorHandler.onError(error);
        } catch (RuntimeException | Error again) {
            // no memory to report it either; whoever waits for a task is told by the task
            return;
        }
    }
}
