package org.jfabric.driver.resource;

/**
 * A piece of slow system work: mapping, reserving, connecting. It runs on a resource thread and is applied on the
 * thread that asked for it, in that thread's next cycle.
 */
public abstract class ResourceTask {
    private Throwable failure;

    /** For subclasses. */
    protected ResourceTask() {
    }

    /**
     * The slow part; on a resource thread. Touches only what the task itself holds.
     *
     * @throws Exception anything that goes wrong; handed to {@link #onFailed}.
     */
    protected abstract void execute() throws Exception;

    /**
     * Memory that the slow part reserves, maps or frees. Tasks of more than {@link ResourceAgent#LONG_TASK_BYTES} run
     * on a thread of their own, in their own order, so that the other tasks do not wait for them.
     *
     * @return bytes, 0 if the task does not depend on a size; the same for each call.
     */
    protected long sizeBytes() {
        return 0;
    }

    /** The work is done; called on the asking thread. */
    protected abstract void onDone();

    /**
     * The work failed; called on the asking thread.
     *
     * @param cause what {@link #execute()} threw.
     */
    protected abstract void onFailed(Throwable cause);

    /** Runs the slow part and keeps its failure; on a resource thread. */
    public final void run() {
        try {
            execute();
        } catch (Exception | Error e) {
            // whoever waits must be told, also if it was memory that was lacking
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
