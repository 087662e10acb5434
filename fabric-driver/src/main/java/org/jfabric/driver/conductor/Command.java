package org.jfabric.driver.conductor;

import java.util.List;
import java.util.function.IntConsumer;
import org.jfabric.codec.control.CommandFailed;
import org.jfabric.codec.control.ControlMessage.Answer;
import org.jfabric.driver.progress.ProgressCommand;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A command that takes more than one cycle: it waits for the resource thread or the progress thread between its steps.
 *
 * <p>A command runs to its end even if its client ends meanwhile; the end of the client waits for the command and then
 * closes the objects that it created. Owner: conductor.
 */
abstract class Command {
    /** Slow work that may fail with a checked exception. */
    @FunctionalInterface
    protected interface SlowWork {
        /**
         * Does the work.
         *
         * @throws Exception to refuse the command.
         */
        void run() throws Exception;
    }

    private final ConductorContext context;
    private final Registry registry;
    private final ClientSession session;
    private final long correlationId;
    private boolean waiting;
    private Throwable failure;

    /**
     * A command of a client.
     *
     * @param request as it arrived; not kept.
     */
    Command(CommandRequest request) {
        this(request.context(), request.registry(), request.session(), request.correlationId());
    }

    /**
     * A command of the conductor itself.
     *
     * @param session  the client that it concerns, or null if there is none yet.
     */
    Command(ConductorContext context, Registry registry, ClientSession session) {
        this(context, registry, session, 0);
    }

    private Command(ConductorContext context, Registry registry, ClientSession session, long correlationId) {
        this.context = context;
        this.registry = registry;
        this.session = session;
        this.correlationId = correlationId;
    }

    /** Runs as many steps as possible. Returns true if the command has ended. */
    final boolean execute(long nowNs) {
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
                // a failure of this command must not end the conductor, which serves all others
                failure = ex;
            }
        }
        return false;
    }

    /** The client that the command is for. Returns the client, or null if there is none yet. */
    final ClientSession session() {
        return session;
    }

    /** Results of a step. */
    protected enum Step {
        /** The next step, immediately or when the work that it waits for is done. */
        AGAIN,
        /** The same step in the next cycle. */
        LATER,
        /** No further step; the command is answered. */
        ENDED
    }

    protected abstract Step step(long nowNs);

    /** Closes the objects that the command created, after a failure. */
    protected void undo() {
    }

    /** The command failed and its changes were undone. */
    protected void onRefused(Throwable cause) {
        context.counters().add(SystemCounter.COMMANDS_FAILED, 1);
        session.proxy().send(new CommandFailed(correlationId, errno(cause), cause.getMessage()));
    }

    /** Access to the other parts of the driver. */
    protected final ConductorContext context() {
        return context;
    }

    /** Clients, names and numbers of the driver. */
    protected final Registry registry() {
        return registry;
    }

    /** The correlation id, which the answer repeats. */
    protected final long correlationId() {
        return correlationId;
    }

    /** The last step: the answer, which bears {@link #correlationId()}. */
    protected final Step answer(Answer answer) {
        session.proxy().send(answer);
        return Step.ENDED;
    }

    /** Runs slow work on the resource thread; the next step follows it. */
    protected final void background(SlowWork work) {
        background(work, 0);
    }

    /**
     * Runs slow work that may take long, in parallel with that of others; the next step follows it.
     *
     * @param sizeBytes memory that it reserves or frees.
     */
    protected final void background(SlowWork work, long sizeBytes) {
        waiting = true;
        context.resource().submit(new Background(work, sizeBytes), context.inbox());
    }

    /** Runs a change on one progress thread; the next step follows it. */
    protected final void onThread(int thread, Runnable change) {
        waiting = true;
        context.threads().get(thread).proxy().execute(new Change(change));
    }

    /** Runs a change on every progress thread; the next step follows when all have made it. */
    protected final void onThreads(IntConsumer change) {
        waiting = true;
        context.threads().executeAll(change, cause -> {
            failure = cause;
            waiting = false;
        });
    }

    /**
     * Runs a change on one progress thread that no step waits for; its failure is logged.
     *
     * @param change runs there, before the changes that later calls queue.
     */
    protected final void aheadOnThread(int thread, Runnable change) {
        context.threads().get(thread).proxy().execute(new Ahead(change));
    }

    /** Runs slow work that no step waits for; its failure is logged. */
    protected final void afterwards(SlowWork work) {
        context.resource().submit(new Afterwards(work, 0), context.inbox());
    }

    /** Unmaps files that are not used any more; a failure is logged. */
    protected final void unmapAfterwards(List<SharedFile> files) {
        if (!files.isEmpty()) {
            context.resource().submit(
                new Afterwards(() -> files.forEach(SharedFile::unmap), sizeBytes(files)), context.inbox());
        }
    }

    /**
     * The memory of files.
     *
     * @param files any number.
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
            // no step waits for it
        }

        @Override
        protected void onFailed(Throwable cause) {
            context.log().onError(cause);
        }
    }

    private final class Ahead extends ProgressCommand {
        private final Runnable change;

        Ahead(Runnable change) {
            this.change = change;
        }

        @Override
        protected void onProgress() {
            change.run();
        }

        @Override
        protected void onDone() {
            // no step waits for it
        }

        @Override
        protected void onFailed(Throwable cause) {
            context.log().onError(cause);
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
