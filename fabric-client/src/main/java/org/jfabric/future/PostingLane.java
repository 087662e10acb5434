package org.jfabric.future;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Operations that are posted in the order of their submission. One for which there is no room ({@code -FI_EAGAIN})
 * waits here, those behind it too, and {@link CompletionDispatcher#dispatch(int)} posts them as soon as there is room.
 *
 * <pre>{@code
 * transfers.sends().submit(context -> endpoint.messages().tsendv(pieces, peer, 7, context));
 * }</pre>
 *
 * <p>Take one lane for the sends and another one for the receives of an endpoint, as {@link FutureEndpoint} does: a
 * send that waits for room must not keep back the receive that makes the room. The number of operations that wait is
 * not limited; {@link #waiting()} returns it. Owner: the dispatcher's thread.
 */
public final class PostingLane {
    private final CompletionDispatcher dispatcher;
    private final ArrayDeque<Operation> waiting = new ArrayDeque<>();

    PostingLane(CompletionDispatcher dispatcher) {
        this.dispatcher = dispatcher;
    }

    /**
     * Posts an operation now, or when there is room.
     *
     * @param post posts it on an endpoint that reports it to the dispatcher's queue, with an entry for its success.
     * @return completed with the entry; exceptionally with a {@link FabricException} if the endpoint refused it, if it
     *     failed ({@link TransferException}) or if the dispatcher ended before. Cancelling it takes back an operation
     *     that still waits for room; one that was posted continues and uses its memory to its end.
     */
    public CompletableFuture<CompletionRecord> submit(Post post) {
        CompletableFuture<CompletionRecord> future = new CompletableFuture<>();
        submit(new Operation(post, null, future));
        return future;
    }

    /**
     * Posts an operation now, or when there is room.
     *
     * @param post     as for {@link #submit(Post)}.
     * @param callback called once at the end, by a later {@code dispatch}, or within this call if the operation is
     *                 refused.
     */
    public void submit(Post post, CompletionCallback callback) {
        submit(new Operation(post, callback, null));
    }

    /**
     * Operations that were submitted and wait for room.
     *
     * @return a count.
     */
    public int waiting() {
        return waiting.size();
    }

    /** Posts what there is room for. */
    void postWaiting() {
        Operation operation;
        while ((operation = waiting.peek()) != null) {
            FabricException failure = null;
            try {
                int result = operation.isGivenUp() ? 0 : dispatcher.post(operation);
                if (result == -FabricErrno.EAGAIN) {
                    return;
                }
                failure = result == 0 ? null : refused(result);
            } catch (RuntimeException thrown) {
                // by the application's post; it must not stand in the way of all others for ever
                failure = new FabricException(FabricErrno.EOTHER, "posting an operation threw " + thrown, "", thrown);
            }
            waiting.remove();
            if (failure != null) {
                dispatcher.end(operation.failed(failure));
            }
        }
    }

    void failWaiting(FabricException failure) {
        Operation operation;
        while ((operation = waiting.poll()) != null) {
            dispatcher.end(operation.failed(failure));
        }
    }

    private void submit(Operation operation) {
        FabricException ended = dispatcher.ended();
        if (ended != null) {
            operation.failed(ended).report();
            return;
        }
        int result = waiting.isEmpty() ? dispatcher.post(operation) : -FabricErrno.EAGAIN;
        if (result == -FabricErrno.EAGAIN) {
            waiting.add(operation);
        } else if (result != 0) {
            operation.failed(refused(result)).report();
        }
    }

    private static FabricException refused(int result) {
        return new FabricException(result, "an operation could not be posted");
    }
}
