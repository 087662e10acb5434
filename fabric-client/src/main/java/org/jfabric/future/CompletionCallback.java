package org.jfabric.future;

import org.jfabric.info.FabricException;

/**
 * Receives the end of an operation; called by {@link CompletionDispatcher#dispatch(int)}, on its thread.
 *
 * <pre>{@code
 * transfers.sends().submit(context -> endpoint.send(address, 64, peer, context),
 *     (entry, failure) -> System.out.println(failure == null ? "sent" : failure.getMessage()));
 * }</pre>
 */
@FunctionalInterface
public interface CompletionCallback {
    /**
     * The operation has ended. Submitting and dispatching are allowed in here. An exception passes through
     * {@code dispatch}; the next one reports what else has ended.
     *
     * @param completion what the entry says, or null if the operation failed.
     * @param failure    null, or why it failed: a {@link TransferException} if an error entry reported it.
     */
    void onCompletion(CompletionRecord completion, FabricException failure);
}
