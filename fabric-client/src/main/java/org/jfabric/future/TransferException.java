package org.jfabric.future;

import org.jfabric.CompletionError;
import org.jfabric.info.FabricException;

/**
 * An operation was taken and has failed: holds a copy of its error entry.
 *
 * <pre>{@code
 * transfers.tsend(address, 64, peer, 7).whenComplete((entry, failed) -> {
 *     boolean isFailure = failed instanceof TransferException;
 * });
 * }</pre>
 */
public final class TransferException extends FabricException {
    private static final long serialVersionUID = 1L;

    private final transient CompletionError error;

    TransferException(CompletionError entry) {
        super(entry.err(), "a transfer failed: " + entry.describe());
        error = copy(entry);
    }

    /**
     * The whole error entry.
     *
     * @return a copy that stays valid; null only in an exception that was serialized.
     */
    public CompletionError error() {
        return error;
    }

    private static CompletionError copy(CompletionError from) {
        return new CompletionError().opContext(from.opContext()).flags(from.flags()).len(from.len()).buf(from.buf())
            .data(from.data()).tag(from.tag()).olen(from.olen()).err(from.err()).provErrno(from.provErrno())
            .srcAddr(from.srcAddr()).errData(from.errData(), 0, from.errData().capacity());
    }
}
