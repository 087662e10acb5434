package org.jfabric.driver.engine;

import org.agrona.DirectBuffer;
import org.jfabric.FabricAddress;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;

/**
 * The completion entries of one endpoint's receives, and what is counted of them.
 *
 * <p>Owner: progress agent.
 */
final class ReceiveEntries {
    private final CompletionWriter completions;
    private final int completionIndex;
    private final CounterWriter counter;
    private final LinkFailure failure;
    private final boolean sources;
    private final boolean unknownSources;

    ReceiveEntries(
        EndpointSettings settings, CompletionWriter completions, int completionIndex, CounterWriter counter,
        LinkFailure failure) {
        this.sources = settings.reportsSource();
        this.unknownSources = settings.reportsUnknownSource();
        this.completions = completions;
        this.completionIndex = completionIndex;
        this.counter = counter;
        this.failure = failure;
    }

    /** Entries, and operations without one, since the start. */
    long ended() {
        return completions.ended();
    }

    /** Whether an application that asked for it is to be told the address of a message's sender. */
    boolean isOfUnknown(Peer peer) {
        return unknownSources && peer.source() == Peer.UNKNOWN_SOURCE;
    }

    /** The entry of a plain tagged receive. */
    void expected(long flags, long context, long length, long tag, Peer peer) {
        if ((flags & Flags.COMPLETION) != 0) {
            completions.success(
                completionIndex, 0, context, Flags.RECV | Flags.TAGGED, length, 0, 0, tag, source(peer));
        } else {
            completions.retire();
        }
    }

    /** The error entry of a plain tagged receive. */
    void expectedFailed(long flags, long context, int errno) {
        completions.error(
            completionIndex, 0, context, Flags.RECV | Flags.TAGGED, 0, 0, 0, 0, FabricAddress.ADDR_NOTAVAIL, 0, errno,
            failure.of(errno), null);
    }

    /** Operations end without entries. */
    void retire(int count) {
        completions.retire(count);
    }

    /**
     * Writes the entry of a receive whose message is placed, or discarded; that of a part says where it is.
     */
    void complete(ReceiveOperation operation) {
        if ((operation.flags & Flags.DISCARD) != 0) {
            if (operation.endErrno == 0) {
                found(operation, 0);
            } else {
                // what was asked for was to receive it, and that is counted
                operation.flags &= ~Flags.DISCARD;
                error(operation, 0, 0, operation.endErrno);
            }
            return;
        }
        long placed = operation.placedBytes();
        if (isTruncated(operation)) {
            error(operation, placed, operation.messageLength - placed, FabricErrno.ETRUNC);
            return;
        }
        if (isOfStranger(operation)) {
            // also for a receive that asked for no entry: nobody could learn the address otherwise
            error(operation, placed, 0, FabricErrno.EADDRNOTAVAIL, operation.peer.rawAddress());
            return;
        }
        operation.reported = true;
        if (counter != null) {
            counter.success();
        }
        if ((operation.flags & Flags.COMPLETION) != 0) {
            completions.success(
                completionIndex,
                share(operation),
                operation.context,
                Flags.RECV | operation.messageFlags,
                placed,
                place(operation),
                operation.messageData,
                operation.messageTag,
                source(operation));
        } else if (!operation.isPart) {
            completions.retire();
        }
    }

    /**
     * Writes the entry of a look at a message: its whole length, whatever was copied, and always, as it would have no
     * use without.
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

    /**
     * Writes the entry of a message in the slab, always: without it nobody could give the cell back. It has
     * {@link Flags#MORE} if only the message's begin is there.
     *
     * @param context of this use of the cell.
     * @param ofShare whether the entry has a slot of the driver's share.
     */
    void buffered(SlabCell cell, long context, boolean ofShare) {
        if (counter != null) {
            counter.success();
        }
        completions.success(
            completionIndex,
            CompletionQueueDescriptor.FLAG_BUFFERED | (ofShare ? CompletionQueueDescriptor.FLAG_DRIVER_SHARE : 0),
            context,
            Flags.RECV | cell.flags | (cell.message == null ? 0 : Flags.MORE),
            cell.length,
            cell.place,
            cell.data,
            cell.tag,
            source(cell.peer));
    }

    /** Whether a part that has ended gets an entry. */
    boolean hasEntry(ReceiveOperation part) {
        return part.endErrno != 0 || (part.flags & Flags.COMPLETION) != 0 || isTruncated(part) || isOfStranger(part);
    }

    /** Writes the error entry of a receive, with or without a message. */
    void error(ReceiveOperation operation, long placed, long overflow, int errno) {
        error(operation, placed, overflow, errno, null);
    }

    /**
     * Writes the entry that gives a multi-receive buffer back, asked for or not. Its only flag says that it
     * belongs to no message, also if the buffer was cancelled. What is counted are its messages, and a cancel.
     */
    void release(ReceiveOperation buffer) {
        buffer.reported = true;
        int errno = buffer.endErrno;
        if (errno == 0) {
            completions.success(
                completionIndex, 0, buffer.context, Flags.MULTI_RECV, 0, 0, 0, 0, FabricAddress.ADDR_NOTAVAIL);
        } else {
            if (counter != null) {
                counter.error();
            }
            completions.error(
                completionIndex, 0, buffer.context, Flags.MULTI_RECV, 0, 0, 0, 0, FabricAddress.ADDR_NOTAVAIL, 0,
                errno, failure.of(errno), null);
        }
    }

    private void error(
        ReceiveOperation operation, long placed, long overflow, int errno, DirectBuffer errData) {
        operation.reported = true;
        // a look receives nothing, so it is not counted, found or not
        if (counter != null && (operation.flags & (Flags.PEEK | Flags.DISCARD)) == 0) {
            counter.error();
        }
        completions.error(
            completionIndex,
            share(operation),
            operation.context,
            Flags.RECV | operation.messageFlags,
            placed,
            place(operation),
            operation.messageData,
            operation.messageTag,
            source(operation),
            overflow,
            errno,
            failure.of(errno),
            errData);
    }

    private static boolean isTruncated(ReceiveOperation operation) {
        return operation.messageLength > operation.length;
    }

    private boolean isOfStranger(ReceiveOperation operation) {
        return unknownSources && operation.peer.source() == Peer.UNKNOWN_SOURCE;
    }

    private static int share(ReceiveOperation operation) {
        return operation.isPart ? CompletionQueueDescriptor.FLAG_DRIVER_SHARE : 0;
    }

    private static long place(ReceiveOperation operation) {
        return operation.isPart ? operation.buf : 0;
    }

    private long source(ReceiveOperation operation) {
        return source(operation.peer);
    }

    private long source(Peer peer) {
        return sources && peer != null ? peer.sourceAddress() : FabricAddress.ADDR_NOTAVAIL;
    }
}
