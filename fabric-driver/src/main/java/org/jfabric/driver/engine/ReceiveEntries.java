package org.jfabric.driver.engine;

import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.LentMessages;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.RefusedValueDescriptor;

/**
 * Writes the completion entries of one endpoint's receives and counts them.
 *
 * <p><b>Prefix.</b> With FI_MSG_PREFIX receives are posted without the prefix of their buffers, which nothing else in
 * the engine knows of: here it is added to lengths and taken from addresses.
 *
 * <p>Owner: progress agent.
 */
final class ReceiveEntries implements QuotaMember {
    private final CompletionWriter completions;
    private final int completionIndex;
    private final CounterWriter counter;
    private final LinkFailure failure;
    private final Traffic own;
    private final boolean sources;
    private final boolean unknownSources;
    private final long prefixBytes;
    private final boolean mayOverrun;
    /** First and last position of lost messages; made with the first entry that says so. */
    private UnsafeBuffer lost;
    /** Of the driver's quota. */
    private boolean isMember;
    /** Such an entry waits for a slot. */
    private boolean waits;

    ReceiveEntries(
        EndpointSettings settings, CompletionWriter completions, int completionIndex, CounterWriter counter,
        LinkFailure failure, Traffic own) {
        this.sources = settings.reportsSource();
        this.unknownSources = settings.reportsUnknownSource();
        this.prefixBytes = settings.prefixBytes();
        this.mayOverrun = settings.mayOverrun();
        this.completions = completions;
        this.completionIndex = completionIndex;
        this.counter = counter;
        this.failure = failure;
        this.own = own;
    }

    /** The number of entries, and of operations that ended without one, since the start. */
    long ended() {
        return completions.ended();
    }

    /** Returns whether the address of a message's sender must be reported as error data (FI_SOURCE_ERR). */
    boolean isOfUnknownPeer(PeerReceives from) {
        return unknownSources && from.peer().source() == Peer.UNKNOWN_SOURCE;
    }

    /** Writes the entry of a plain tagged receive. */
    void expected(long flags, long context, long length, long tag, PeerReceives from) {
        if ((flags & Flags.COMPLETION) != 0) {
            completions.success(
                completionIndex, 0, context, Flags.RECV | Flags.TAGGED, length + prefixBytes, 0, 0, tag,
                source(from));
        } else {
            completions.retire();
        }
    }

    /** Writes the error entry of a plain tagged receive. */
    void expectedFailed(long flags, long context, int errno) {
        own.failed();
        completions.error(
            completionIndex, 0, context, Flags.RECV | Flags.TAGGED, 0, 0, 0, 0, FabricAddress.ADDR_NOTAVAIL, 0, errno,
            failure.of(errno), null);
    }

    /** The driver's quota of slots, for entries that no submission has reserved a slot for. */
    DriverQuota driverQuota() {
        return completions.driverQuota();
    }

    /** The endpoint's index in the queue. */
    int completionIndex() {
        return completionIndex;
    }

    /** The list of lent messages, if a message may be lent now in place of an entry; else null. */
    LentMessages lentNow() {
        return completions.lentNow();
    }

    /** Counts a lent message. */
    void lent(long length) {
        if (counter != null) {
            counter.success(length);
        }
    }

    /** Ends operations without entries. */
    void retire(int count) {
        completions.retire(count);
    }

    /** Writes the entry of a receive whose message is placed, or discarded. */
    void complete(ReceiveOperation operation) {
        if ((operation.flags & Flags.DISCARD) != 0) {
            if (operation.endErrno == 0) {
                found(operation, 0);
            } else {
                // a claim asked to receive the message, so its error is counted
                operation.flags &= ~Flags.DISCARD;
                error(operation, 0, operation.endErrno);
            }
        } else if (!complete(operation, 0, 0)) {
            completions.retire();
        }
    }

    /** Writes the entry of a message in a multi-receive buffer, with its address. */
    void completePart(ReceiveOperation part) {
        complete(part, CompletionQueueDescriptor.FLAG_DRIVER_SHARE, part.buf - prefixBytes);
    }

    /**
     * Writes the entry of a receive of a shared context in a slot of the driver's quota, if it has one
     * ({@link #hasEntry}).
     */
    void completeShared(ReceiveOperation receive) {
        complete(receive, CompletionQueueDescriptor.FLAG_DRIVER_SHARE, 0);
    }

    /** Returns false if no entry was requested. */
    private boolean complete(ReceiveOperation operation, int share, long place) {
        long placed = operation.placedBytes();
        if (isTruncated(operation)) {
            error(operation, share, place, placed + prefixBytes, operation.messageLength - placed,
                FabricErrno.ETRUNC, null);
            return true;
        }
        if (isOfUnknownPeer(operation.from)) {
            // also for a receive that requested no entry: the application cannot get the address otherwise
            error(operation, share, place, placed + prefixBytes, 0, FabricErrno.EADDRNOTAVAIL,
                operation.from.peer().rawAddress());
            return true;
        }
        operation.reported = true;
        if ((operation.messageFlags & (Flags.RMA | Flags.TIMESTAMP)) != 0) {
            if ((operation.messageFlags & Flags.RMA) != 0) {
                return written(operation, share, place);
            }
            if ((operation.flags & Flags.COMPLETION) != 0) {
                completions.at(operation.messageTimeNs);
            }
        }
        CounterWriter counts = counter(operation);
        if (counts != null) {
            counts.success(placed);
        }
        if ((operation.flags & Flags.COMPLETION) == 0) {
            return false;
        }
        completions.success(
            completionIndex,
            share,
            operation.context,
            Flags.RECV | operation.messageFlags,
            length(operation, placed + prefixBytes),
            place,
            operation.messageData,
            operation.messageTag,
            source(operation));
        return true;
    }

    /** As {@link #complete}, for a write to registered memory: no message was received, so none is counted. */
    private boolean written(ReceiveOperation operation, int share, long place) {
        if ((operation.flags & Flags.COMPLETION) == 0) {
            return false;
        }
        completions.success(
            completionIndex, share, operation.context, operation.messageFlags,
            operation.messageData >>> Integer.SIZE, place, operation.messageData & 0xffff_ffffL, 0,
            source(operation.from));
        return true;
    }

    /**
     * Writes the entry of a peek, even if no entry was requested. Its length is that of the whole message, however much
     * was copied.
     *
     * @param buf buffer with the copied data, 0 if nothing was copied.
     */
    void found(ReceiveOperation operation, long buf) {
        found(operation, 0, buf);
    }

    /** As {@link #found}, in a slot of the driver's quota. */
    void foundShared(ReceiveOperation operation, long buf) {
        found(operation, CompletionQueueDescriptor.FLAG_DRIVER_SHARE, buf);
    }

    private void found(ReceiveOperation operation, int share, long buf) {
        operation.reported = true;
        if ((operation.messageFlags & Flags.TIMESTAMP) != 0) {
            completions.at(operation.messageTimeNs);
        }
        completions.success(
            completionIndex,
            share,
            operation.context,
            Flags.RECV | operation.messageFlags,
            length(operation, operation.messageLength + prefixBytes),
            buf == 0 ? 0 : buf - prefixBytes,
            operation.messageData,
            operation.messageTag,
            source(operation));
    }

    /**
     * Writes the entry of a message in the slab, even if no entry was requested: without it the client could not return
     * the cell. It has {@link Flags#MORE} if the cell has only a prefix of the message.
     *
     * @param ofShare whether the entry uses a slot of the driver's quota.
     */
    void buffered(SlabCell cell, long context, boolean ofShare) {
        if (counter != null) {
            counter.success(cell.length);
        }
        long length = cell.length;
        long source = source(cell.from);
        if ((cell.flags & ReceiveOperation.OF_FEW) != 0) {
            if ((cell.flags & Flags.TIMESTAMP) != 0) {
                completions.at(cell.timeNs);
            }
            if ((cell.flags & Flags.MULTICAST) != 0) {
                length = CompletionQueueDescriptor.groupLength(length, cell.position);
                source = CompletionQueueDescriptor.groupSource(source, cell.position);
            }
        }
        completions.success(
            completionIndex,
            CompletionQueueDescriptor.FLAG_BUFFERED | (ofShare ? CompletionQueueDescriptor.FLAG_DRIVER_SHARE : 0),
            context,
            Flags.RECV | cell.flags | (cell.message == null ? 0 : Flags.MORE) | (cell.isLent ? Flags.LENT : 0),
            length,
            cell.place,
            cell.data,
            cell.tag,
            source);
    }

    /** Returns whether a message gets an entry that ended in a multi-receive buffer, or in a shared context. */
    boolean hasEntry(ReceiveOperation receive) {
        return receive.endErrno != 0 || (receive.flags & Flags.COMPLETION) != 0 || isTruncated(receive)
            || isOfUnknownPeer(receive.from);
    }

    /** Returns whether the endpoint counts its receives. */
    boolean areCounted() {
        return counter != null;
    }

    /**
     * Writes the error entry of a receive, with or without a message. For a multi-receive buffer it is the entry that
     * releases the buffer.
     */
    void error(ReceiveOperation operation, long placed, int errno) {
        if (operation.isBuffer()) {
            operation.endErrno = errno;
            release(operation);
        } else {
            error(operation, 0, 0, withPrefix(placed), 0, errno, null);
        }
    }

    /** Writes the error entry of a message in a multi-receive buffer, with its address. */
    void errorOfPart(ReceiveOperation part, long placed, int errno) {
        error(part, CompletionQueueDescriptor.FLAG_DRIVER_SHARE, part.buf - prefixBytes, withPrefix(placed), 0, errno,
            null);
    }

    /** Writes the error entry of a receive of a shared context in a slot of the driver's quota. */
    void errorOfShared(ReceiveOperation receive, long placed, int errno) {
        error(receive, CompletionQueueDescriptor.FLAG_DRIVER_SHARE, 0, placed, 0, errno, null);
    }

    /**
     * Writes the entry that releases a multi-receive buffer, even if no entry was requested. Its only flag,
     * FI_MULTI_RECV, shows that it belongs to no message, also if the buffer was cancelled. The counter counts the
     * buffer's messages and a cancel, not a normal release.
     */
    void release(ReceiveOperation buffer) {
        buffer.reported = true;
        int errno = buffer.endErrno;
        if (errno == 0) {
            completions.success(
                completionIndex, 0, buffer.context, Flags.MULTI_RECV, 0, 0, 0, 0, FabricAddress.ADDR_NOTAVAIL);
        } else {
            own.failed();
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
        (operation.from == null ? own : operation.from.peer().traffic()).failed();
        CounterWriter counts = counter(operation);
        // a peek receives nothing, so its failure is not counted
        if (counts != null && (operation.flags & (Flags.PEEK | Flags.DISCARD)) == 0) {
            counts.error();
        }
        completions.error(
            completionIndex,
            share,
            operation.context,
            // its cell has the error
            Flags.RECV | operation.messageFlags & ~Flags.TIMESTAMP,
            length(operation, placed),
            place,
            operation.messageData,
            operation.messageTag,
            source(operation),
            overflow,
            errno,
            failure.of(errno),
            errData != null ? errData : refusedValue(operation, errno));
    }

    /** The memory of a receive that is in no region; else null. */
    private DirectBuffer refusedValue(ReceiveOperation operation, int errno) {
        return errno != FabricErrno.EFAULT || operation.from != null || operation.length == 0 ? null
            : RefusedValueDescriptor.value(RefusedValueDescriptor.LOCAL_MEMORY, operation.buf - prefixBytes,
                operation.length + prefixBytes, 0);
    }

    /** The length in the entry of a receive that failed, perhaps before it had a message. */
    private long withPrefix(long placed) {
        return placed == 0 ? 0 : placed + prefixBytes;
    }

    private CounterWriter counter(ReceiveOperation operation) {
        return (operation.flags & Flags.TRIGGER) == 0 ? counter : operation.counter;
    }

    private static boolean isTruncated(ReceiveOperation operation) {
        return operation.messageLength > operation.length;
    }

    /** The length for the entry of a message, with half of its position if it is a group's. */
    private static long length(ReceiveOperation operation, long length) {
        return (operation.messageFlags & Flags.MULTICAST) == 0 ? length
            : CompletionQueueDescriptor.groupLength(length, operation.messagePosition);
    }

    /** The source address for the entry of a message, with the other half. */
    private long source(ReceiveOperation operation) {
        long source = source(operation.from);
        return (operation.messageFlags & Flags.MULTICAST) == 0 ? source
            : CompletionQueueDescriptor.groupSource(source, operation.messagePosition);
    }

    /**
     * Writes the error entry of messages of a group that are lost. No receive has a slot for it, so it takes one of the
     * driver's quota. Returns false if none is free; the client wakes the driver when one is.
     */
    boolean gap(PeerReceives from, long firstPosition, long lastPosition) {
        if (!mayOverrun && !takeSlot()) {
            return false;
        }
        if (lost == null) {
            lost = new UnsafeBuffer(new byte[2 * Long.BYTES]);
        }
        if (counter != null) {
            counter.error();
        }
        lost.putLong(0, firstPosition, ByteOrder.LITTLE_ENDIAN);
        lost.putLong(Long.BYTES, lastPosition, ByteOrder.LITTLE_ENDIAN);
        completions.error(
            completionIndex, mayOverrun ? 0 : CompletionQueueDescriptor.FLAG_DRIVER_SHARE, 0,
            Flags.RECV | Flags.MULTICAST, 0, 0, 0, 0, source(from) & 0xFFFF_FFFFL, 0, FabricErrno.ENODATA,
            FabricErrno.ENODATA, lost);
        return true;
    }

    private boolean takeSlot() {
        DriverQuota quota = completions.driverQuota();
        if (!isMember) {
            isMember = true;
            quota.open(this);
        }
        boolean isFree = quota.hasFree();
        if (isFree == waits) {
            waits = !isFree;
            if (waits) {
                quota.waits();
            } else {
                quota.waitsNoMore();
            }
        }
        if (isFree) {
            quota.takeAndUse();
        }
        return isFree;
    }

    /** The link asks again in each cycle. */
    @Override
    public int retry() {
        return 0;
    }

    /** The endpoint closes. */
    void close() {
        if (isMember) {
            completions.driverQuota().close(this, 0, waits);
        }
    }

    /** The source address of a sender for completion entries. */
    long source(PeerReceives from) {
        return sources && from != null ? from.peer().sourceAddress() : FabricAddress.ADDR_NOTAVAIL;
    }
}
