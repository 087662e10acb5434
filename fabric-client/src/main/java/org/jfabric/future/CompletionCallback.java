package org.jfabric.future;

import org.jfabric.FabricException;

/** Told how an operation has ended; called by {@link CompletionDispatcher#dispatch(int)}, on its thread. */
@FunctionalInterface
public interface CompletionCallback {
    /**
     * The operation has ended. Submitting and dispatching are allowed in here. An exception passes through
     * {@code dispatch}; what else has ended is told by the next one.
     *
     * @param completion what the entry says, or null if the operation failed.
     * @param failure    null, or why it failed: a {@link TransferException} if an error entry told it.
     */
    void onCompletion(CompletionRecord completion, FabricException failure);
}
