package org.jfabric.driver.engine.rx;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.engine.complete.CompletionWriter;

/**
 * The completion entries of one endpoint's receives.
 *
 * <p>Owner: progress agent.
 */
final class ReceiveEntries {
    private final CompletionWriter completions;
    private final int completionIndex;

    ReceiveEntries(CompletionWriter completions, int completionIndex) {
        this.completions = completions;
        this.completionIndex = completionIndex;
    }

    /** Operations end without entries. */
    void retire(int count) {
        completions.retire(count);
    }

    /** Writes the entry of a receive whose message is placed. */
    void complete(ReceiveOperation operation) {
        long placed = operation.placedBytes();
        if (operation.messageLength > operation.length) {
            error(operation, placed, operation.messageLength - placed, FabricErrno.ETRUNC);
            return;
        }
        operation.reported = true;
        if ((operation.flags & Flags.COMPLETION) != 0) {
            completions.success(
                completionIndex,
                0,
                operation.context,
                Flags.RECV | operation.messageFlags,
                placed,
                0,
                operation.messageData,
                operation.messageTag,
                operation.peer.sourceAddress());
        } else {
            completions.retire();
        }
    }

    /** Writes the error entry of a receive, with or without a message. */
    void error(ReceiveOperation operation, long placed, long overflow, int errno) {
        operation.reported = true;
        completions.error(
            completionIndex,
            0,
            operation.context,
            Flags.RECV | operation.messageFlags,
            placed,
            operation.messageData,
            operation.messageTag,
            operation.peer == null ? -1L : operation.peer.sourceAddress(),
            overflow,
            errno,
            errno,
            null);
    }
}
