package org.jfabric.driver.resource;

/**
 * A piece of slow system work: mapping, reserving, connecting. It runs on a resource thread. Its result is applied on
 * the requesting thread, in that thread's next cycle.
 */
public abstract class ResourceTask {
    private Throwable failure;

    protected ResourceTask() {
    }

    /**
     * Does the slow part; on a resource thread. It accesses only state of the task itself.
     *
     * @throws Exception anything that goes wrong; handed to {@link #onFailed}.
     */
    protected abstract void execute() throws Exception;

    /**
     * Memory that the slow part reserves, maps or frees. Tasks of more than {@link ResourceAgent#LONG_TASK_BYTES} run
     * on a thread of their own, in their own order, so that the other tasks do not wait for them. Returns the bytes, 0
     * if the task does not depend on a size; the same for each call.
     */
    protected long sizeBytes() {
        return 0;
    }

    /**
     * Whether the slow part waits for stable storage. Such tasks run on a thread of their own, so that they and all
     * others do not wait for each other.
     *
     * @return the same for each call.
     */
    protected boolean isSync() {
        return false;
    }

    /**
     * Whether the slow part gives something back that nothing waits for, and takes long for it. Such tasks run on a
     * thread of their own.
     *
     * @return the same for each call.
     */
    protected boolean isClosing() {
        return false;
    }

    /** Applies the result of finished work; called on the requesting thread. */
    protected abstract void onDone();

    /**
     * Handles a failure of the work; called on the requesting thread.
     *
     * @param cause thrown by {@link #execute()}.
     */
    protected abstract void onFailed(Throwable cause);

    /** Runs the slow part and keeps its failure; on a resource thread. */
    public final void run() {
        try {
            execute();
        } catch (Exception | Error e) {
            // the caller must be notified even after an out-of-memory error
            failure = e;
        }
    }

    /** Applies the result; asking thread, after {@link #run()} with a happens-before edge between. */
    public final void complete() {
        if (failure == null) {
            onDone();
        } else {
            onFailed(failure);
        }
    }
}
