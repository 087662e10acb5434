package org.jfabric.driver.engine.rx;

import org.agrona.DirectBuffer;
import org.jfabric.FabricAddress;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.engine.EndpointSettings;
import org.jfabric.driver.engine.complete.CompletionWriter;
import org.jfabric.driver.engine.peer.Peer;

/**
 * The completion entries of one endpoint's receives.
 *
 * <p>Owner: progress agent.
 */
final class ReceiveEntries {
    private final CompletionWriter completions;
    private final int completionIndex;
    private final boolean sources;
    private final boolean unknownSources;

    ReceiveEntries(EndpointSettings settings, CompletionWriter completions, int completionIndex) {
        this.sources = settings.reportsSource();
        this.unknownSources = settings.reportsUnknownSource();
        this.completions = completions;
        this.completionIndex = completionIndex;
    }

    /** Operations end without entries. */
    void retire(int count) {
        completions.retire(count);
    }

    /** Writes the entry of a receive whose message is placed, or discarded. */
    void complete(ReceiveOperation operation) {
        if ((operation.flags & Flags.DISCARD) != 0) {
            found(operation, 0);
            return;
        }
        long placed = operation.placedBytes();
        if (operation.messageLength > operation.length) {
            error(operation, placed, operation.messageLength - placed, FabricErrno.ETRUNC);
            return;
        }
        if (unknownSources && operation.peer.source() == Peer.UNKNOWN_SOURCE) {
            // also for a receive that asked for no entry: nobody could learn the address otherwise
            error(operation, placed, 0, FabricErrno.EADDRNOTAVAIL, operation.peer.rawAddress());
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
                source(operation));
        } else {
            completions.retire();
        }
    }

    /**
     * Writes the entry of a look at a message: its whole length, whatever was copied (AMB-13), and always, as it would
     * have no use without (AMB-48).
     *
     * @param buf the buffer into which data were copied, 0 if none were.
     */
    void found(ReceiveOperation operation, long buf) {
        operation.reported = true;
        completions.success(
            completionIndex,
            0,
            operation.context,
            Flags.RECV | operation.messageFlags,
            operation.messageLength,
            buf,
            operation.messageData,
            operation.messageTag,
            source(operation));
    }

    /** Writes the error entry of a receive, with or without a message. */
    void error(ReceiveOperation operation, long placed, long overflow, int errno) {
        error(operation, placed, overflow, errno, null);
    }

    private void error(
        ReceiveOperation operation, long placed, long overflow, int errno, DirectBuffer errData) {
        operation.reported = true;
        completions.error(
            completionIndex,
            0,
            operation.context,
            Flags.RECV | operation.messageFlags,
            placed,
            operation.messageData,
            operation.messageTag,
            source(operation),
            overflow,
            errno,
            errno,
            errData);
    }

    private long source(ReceiveOperation operation) {
        return sources && operation.peer != null ? operation.peer.sourceAddress() : FabricAddress.ADDR_NOTAVAIL;
    }
}
