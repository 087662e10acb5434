package org.jfabric.simulation;

import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.info.FabricErrno;

/** Reads what a completion queue has. */
final class EntryReader {
    private static final int BATCH = 16;

    private EntryReader() {
    }

    /**
     * Reads until there is no entry left.
     *
     * @param error   where an error entry is read into before {@code onError}.
     * @param onError called for each error entry, once that is read.
     * @return entries read.
     */
    static int readAll(CompletionQueue queue, CompletionError error, CompletionHandler handler, Runnable onError) {
        int work = 0;
        for (;;) {
            int result = queue.poll(handler, BATCH);
            if (result == -FabricErrno.EAVAIL) {
                Account.require(queue.readErr(error, 0) == 1, "there is no error to be read");
                onError.run();
                result = 1;
            }
            if (result == -FabricErrno.EAGAIN) {
                return work;
            }
            Account.require(result > 0, "poll answered " + FabricErrno.name(result));
            work += result;
        }
    }
}
