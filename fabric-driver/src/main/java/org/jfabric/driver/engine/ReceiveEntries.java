package org.jfabric.driver.engine;

import org.agrona.DirectBuffer;
import org.jfabric.FabricAddress;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.client.LentMessages;
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

    /** The slots of the queue for entries that no operation took one for. */
    DriverShare driverShare() {
        return completions.driverShare();
    }

    /** The endpoint's index in the queue. */
    int completionIndex() {
        return completionIndex;
    }

    /** Where a message may be lent to, in place of an entry; null if it has to have one. */
    LentMessages lentNow() {
        return completions.lentNow();
    }

    /** A message was lent. */
    void lent() {
        if (counter != null) {
            counter.success();
        }
    }

    /** Operations end without entries. */
    void retire(int count) {
        completions.retire(count);
    }

    /** Writes the entry of a receive whose message is placed, or discarded. */
    void complete(ReceiveOperation operation) {
        if ((operation.flags & Flags.DISCARD) != 0) {
            if (operation.endErrno == 0) {
                found(operation, 0);
            } else {
                // what was asked for was to receive it, and that is counted
                operation.flags &= ~Flags.DISCARD;
                error(operation, 0, operation.endErrno);
            }
        } else if (!complete(operation, 0, 0)) {
            completions.retire();
        }
    }

    /** Writes the entry of a message in a multi-receive buffer, which says where it is. */
    void completePart(ReceiveOperation part) {
        complete(part, CompletionQueueDescriptor.FLAG_DRIVER_SHARE, part.buf);
    }

    /** False if no entry was asked for. */
    private boolean complete(ReceiveOperation operation, int share, long place) {
        long placed = operation.placedBytes();
        if (isTruncated(operation)) {
            error(operation, share, place, placed, operation.messageLength - placed, FabricErrno.ETRUNC, null);
            return true;
        }
        if (isOfStranger(operation)) {
            // also for a receive that asked for no entry: nobody could learn the address otherwise
            error(operation, share, place, placed, 0, FabricErrno.EADDRNOTAVAIL, operation.peer.rawAddress());
            return true;
        }
        operation.reported = true;
        if (counter != null) {
            counter.success();
        }
        if ((operation.flags & Flags.COMPLETION) == 0) {
            return false;
        }
        completions.success(
            completionIndex,
            share,
            operation.context,
            Flags.RECV | operation.messageFlags,
            placed,
            place,
            operation.messageData,
            operation.messageTag,
            source(operation.peer));
        return true;
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
            source(operation.peer));
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

    /** Whether a message in a multi-receive buffer gets an entry, now that it has ended. */
    boolean hasEntry(ReceiveOperation part) {
        return part.endErrno != 0 || (part.flags & Flags.COMPLETION) != 0 || isTruncated(part) || isOfStranger(part);
    }

    /** Writes the error entry of a receive, with or without a message; that of a buffer for many gives it back. */
    void error(ReceiveOperation operation, long placed, int errno) {
        if (operation.isBuffer()) {
            operation.endErrno = errno;
            release(operation);
        } else {
            error(operation, 0, 0, placed, 0, errno, null);
        }
    }

    /** Writes the error entry of a message in a multi-receive buffer, which says where it is. */
    void errorOfPart(ReceiveOperation part, long placed, int errno) {
        error(part, CompletionQueueDescriptor.FLAG_DRIVER_SHARE, part.buf, placed, 0, errno, null);
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
        ReceiveOperation operation, int share, long place, long placed, long overflow, int errno,
        DirectBuffer errData) {
        operation.reported = true;
        // a look receives nothing, so it is not counted, found or not
        if (counter != null && (operation.flags & (Flags.PEEK | Flags.DISCARD)) == 0) {
            counter.error();
        }
        completions.error(
            completionIndex,
            share,
            operation.context,
            Flags.RECV | operation.messageFlags,
            placed,
            place,
            operation.messageData,
            operation.messageTag,
            source(operation.peer),
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

    /** The sender as entries name it. */
    long source(Peer peer) {
        return sources && peer != null ? peer.sourceAddress() : FabricAddress.ADDR_NOTAVAIL;
    }
}
