package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.progress.ProgressCommand;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.ffi.NativeCallException;

import java.util.List;

/**
 * A command that takes more than one cycle: it waits for the resource thread or the progress thread between its steps.
 *
 * <p>A command runs to its end also if its client ends meanwhile; the client's end waits for it and takes back what it
 * made. Owner: conductor.
 */
public abstract class Command {
    /** Slow work that may fail with a checked exception. */
    @FunctionalInterface
    protected interface SlowWork {
        /**
         * Does the work.
         *
         * @throws Exception which refuses the command.
         */
        void run() throws Exception;
    }

    private final ConductorContext context;
    private final ClientSession session;
    private final long correlationId;
    private boolean waiting;
    private Throwable failure;

    /**
     * A command that has not begun.
     *
     * @param context       what commands work with.
     * @param session       who asks, or null if nobody does.
     * @param correlationId comes back in the answer.
     */
    protected Command(ConductorContext context, ClientSession session, long correlationId) {
        this.context = context;
        this.session = session;
        this.correlationId = correlationId;
    }

    /**
     * Goes on as far as possible.
     *
     * @param nowNs time of the cycle.
     * @return true if the command has ended.
     */
    public final boolean execute(long nowNs) {
        while (!waiting) {
            if (failure != null) {
                undo();
                onRefused(failure);
                return true;
            }
            try {
                Step step = step(nowNs);
                if (step != Step.AGAIN) {
                    return step == Step.ENDED;
                }
            } catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
                // what is too much for this command must not end the conductor of all others
                failure = ex;
            }
        }
        return false;
    }

    /**
     * Who asked.
     *
     * @return the client, or null.
     */
    public final ClientSession session() {
        return session;
    }

    /** What follows a step. */
    protected enum Step {
        /** The next step, at once or when what it waits for is there. */
        AGAIN,
        /** The same question in the next cycle. */
        LATER,
        /** Nothing; the command is answered. */
        ENDED
    }

    /**
     * The next step.
     *
     * @param nowNs time of the cycle.
     * @return what follows.
     */
    protected abstract Step step(long nowNs);

    /** Takes back what was made, after a failure. */
    protected void undo() {
    }

    /**
     * The command failed and was taken back.
     *
     * @param cause why.
     */
    protected void onRefused(Throwable cause) {
        context.counters().add(SystemCounter.COMMANDS_FAILED, 1);
        session.proxy().commandFailed(correlationId, errno(cause), cause.getMessage());
    }

    /**
     * What commands work with.
     *
     * @return the context.
     */
    protected final ConductorContext context() {
        return context;
    }

    /**
     * Comes back in the answer.
     *
     * @return chosen by the client.
     */
    protected final long correlationId() {
        return correlationId;
    }

    /**
     * Has slow work done; the next step follows it.
     *
     * @param work runs on the resource thread.
     */
    protected final void background(SlowWork work) {
        background(work, 0);
    }

    /**
     * Has slow work done that may take long, beside that of others; the next step follows it.
     *
     * @param work      runs on a resource thread.
     * @param sizeBytes memory that it reserves or frees.
     */
    protected final void background(SlowWork work, long sizeBytes) {
        waiting = true;
        context.resource().submit(new Background(work, sizeBytes), context.inbox());
    }

    /**
     * Has a change made on the progress thread; the next step follows it.
     *
     * @param change runs there.
     */
    protected final void onProgress(Runnable change) {
        waiting = true;
        context.proxy().execute(new Change(change));
    }

    /**
     * Lets slow work follow that nobody waits for; its failure is logged.
     *
     * @param work runs on the resource thread.
     */
    protected final void afterwards(SlowWork work) {
        context.resource().submit(new Afterwards(work, 0), context.inbox());
    }

    /**
     * Unmaps files that nothing uses any more; a failure is logged.
     *
     * @param files each unmapped once, by this call.
     */
    protected final void unmapAfterwards(List<SharedFile> files) {
        if (!files.isEmpty()) {
            context.resource().submit(
                new Afterwards(() -> files.forEach(SharedFile::unmap), sizeBytes(files)), context.inbox());
        }
    }

    /**
     * Memory of files.
     *
     * @param files any number.
     * @return bytes mapped for them.
     */
    protected static long sizeBytes(List<SharedFile> files) {
        return files.stream().mapToLong(SharedFile::lengthBytes).sum();
    }

    /**
     * The errno of a failure.
     *
     * @param cause of any kind.
     * @return positive fabric errno.
     */
    protected static int errno(Throwable cause) {
        if (cause instanceof FabricException fabric) {
            return fabric.errno();
        }
        // numbers of the operating system are fabric errnos
        return cause instanceof NativeCallException call ? call.errno() : FabricErrno.EIO;
    }

    private final class Background extends ResourceTask {
        private final SlowWork work;
        private final long sizeBytes;

        Background(SlowWork work, long sizeBytes) {
            this.work = work;
            this.sizeBytes = sizeBytes;
        }

        @Override
        protected long sizeBytes() {
            return sizeBytes;
        }

        @Override
        protected void execute() throws Exception {
            work.run();
        }

        @Override
        protected void onDone() {
            waiting = false;
        }

        @Override
        protected void onFailed(Throwable cause) {
            failure = cause;
            waiting = false;
        }
    }

    private final class Afterwards extends ResourceTask {
        private final SlowWork work;
        private final long sizeBytes;

        Afterwards(SlowWork work, long sizeBytes) {
            this.work = work;
            this.sizeBytes = sizeBytes;
        }

        @Override
        protected long sizeBytes() {
            return sizeBytes;
        }

        @Override
        protected void execute() throws Exception {
            work.run();
        }

        @Override
        protected void onDone() {
            // nobody waits
        }

        @Override
        protected void onFailed(Throwable cause) {
            context.errorHandler().onError(cause);
        }
    }

    private final class Change extends ProgressCommand {
        private final Runnable change;

        Change(Runnable change) {
            this.change = change;
        }

        @Override
        protected void onProgress() {
            change.run();
        }

        @Override
        protected void onDone() {
            waiting = false;
        }

        @Override
        protected void onFailed(Throwable cause) {
            failure = cause;
            waiting = false;
        }
    }
}
