package org.jfabric.future;

import java.util.concurrent.CompletableFuture;
import org.jfabric.info.FabricException;

/** One operation from its submission to its end. Owner: the dispatcher's thread. */
final class Operation {
    private final Post post;
    private final CompletionCallback callback;
    private final CompletableFuture<CompletionRecord> future;
    private CompletionRecord completion;
    private FabricException failure;

    /** Either callback or future is null. */
    Operation(Post post, CompletionCallback callback, CompletableFuture<CompletionRecord> future) {
        this.post = post;
        this.callback = callback;
        this.future = future;
    }

    int post(long opContext) {
        return post.post(opContext);
    }

    /** Whether the application gave it up before it was posted. */
    boolean isGivenUp() {
        return future != null && future.isDone();
    }

    Operation ended(CompletionRecord with) {
        completion = with;
        return this;
    }

    Operation failed(FabricException with) {
        failure = with;
        return this;
    }

    void report() {
        if (callback != null) {
            callback.onCompletion(completion, failure);
        } else if (failure != null) {
            future.completeExceptionally(failure);
        } else {
            future.complete(completion);
        }
    }
}
