package org.jfabric.perf.compare;

import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.info.FabricErrno;
import org.jfabric.tool.ToolException;

/** Why a side of JFabric cannot go on. */
final class Refusal {
    private Refusal() {
    }

    /**
     * Throws unless a call has succeeded, or may succeed later.
     *
     * @param queue  as for {@link #of}.
     * @param result of the call: a count, or a negative fabric errno.
     */
    static void unlessAgain(CompletionQueue queue, int result) {
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw of(queue, result);
        }
    }

    /** Throws unless a call of a stream or a log has succeeded, or may succeed later. */
    static void unlessAgain(int result) {
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new ToolException("A call of a stream failed with " + FabricErrno.name(-result) + " ("
                + FabricErrno.describe(-result) + ").");
        }
    }

    /**
     * Describes the result of a call.
     *
     * @param queue  that was read; its error entry is taken if the result says that there is one.
     * @param result negative fabric errno.
     */
    static ToolException of(CompletionQueue queue, int result) {
        if (result == -FabricErrno.EAVAIL) {
            CompletionError error = new CompletionError();
            queue.readErr(error, 0);
            return new ToolException("A transfer failed with " + FabricErrno.name(error.err()) + ".");
        }
        return new ToolException("A transfer was refused with " + FabricErrno.name(-result) + " ("
            + FabricErrno.describe(-result) + ").");
    }
}
