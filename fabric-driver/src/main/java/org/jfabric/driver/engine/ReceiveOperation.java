package org.jfabric.driver.engine;

import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.Words;

/**
 * One receive from its posting to its completion. The records of an endpoint are allocated with it and reused.
 *
 * <p>These are the fields that every message touches: the state of the receive, its request, and its message. With very
 * many posted receives the number of cache lines decides the cost of a message, so rarely used fields are in {@link
 * LatePayload} and in subclasses.
 *
 * <p>Owner: progress agent.
 */
class ReceiveOperation extends PostedReceive {
    /** The bits of a message's flags that completion entries report. */
    static final long MESSAGE_BITS = Flags.TAGGED | Flags.MSG | Flags.MULTICAST | Flags.TIMESTAMP
        | ChannelHandler.WRITTEN;
    /** A message with any of these has more to be remembered than others. */
    static final long OF_FEW = Flags.MULTICAST | Flags.TIMESTAMP;

    /** Low 32 bits: index in the pool; high 32 bits: how often the record was used. */
    long id;
    /** Time of the cycle in which it was posted; for views. */
    long sinceNs;
    long context;
    long flags;
    long buf;
    /** Native address of the buffer; undefined if the buffer has several pieces. */
    long address;
    long length;

    // the matched message
    long messageFlags;
    long messageTag;
    long messageData;
    long messageLength;
    /** With FI_MULTICAST: in the log of its group, or -1. */
    long messagePosition;
    /** With FI_TIMESTAMP: when it arrived. */
    long messageTimeNs;
    /** Its number in {@link EntryOrder}; 0 if it has none. */
    long matchedNumber;

    /** One of {@link ReceiveState}. */
    int state;
    /**
     * The result of a multi-receive buffer, of a message in one, or of a claim that discards its message: 0 or a
     * positive fabric errno.
     */
    int endErrno;
    /**
     * The entry is written, or the operation was retired. For a message in a multi-receive buffer: its result is known.
     */
    boolean reported;
    /** Its slot in the receive queue is free already, {@link ReceivePool}. */
    boolean madeRoom;
    /** The driver has created it for a message without a posted receive; no client has submitted it. */
    final boolean isOfDriver;
    ReceiveMode mode;
    /** Counts the end of deferred work, which has FI_TRIGGER in its flags; else unused. */
    CounterWriter counter;
    RegisteredRegion region;
    /** The buffer's pieces, or null if it is contiguous. */
    PieceList pieces;
    /** The sender of the message. */
    PeerReceives from;
    /** The cell of the message on an endpoint with buffered receives, or null. */
    SlabCell cell;
    ReceiveOperation nextFree;
    final PieceList vector = new PieceList();
    final LatePayload late = new LatePayload();

    ReceiveOperation(int index, boolean isOfDriver) {
        this.id = index;
        this.isOfDriver = isOfDriver;
    }

    /** Returns whether it is a multi-receive buffer. */
    final boolean isBuffer() {
        return (flags & Flags.MULTI_RECV) != 0;
    }

    /** Returns whether only its entry is outstanding, which waits for its turn. */
    final boolean isEnded() {
        return state >= ReceiveState.ENDED;
    }

    /** Returns whether it fetches only the prefix of a message, which stays with its sender. */
    final boolean isPreview() {
        return cell != null && cell.message != null;
    }

    final void posted(long newFlags, long newBuf, long newLength, long newContext) {
        state = ReceiveState.POSTED;
        flags = newFlags;
        context = newContext;
        buf = newBuf;
        length = newLength;
        endErrno = 0;
        message(null, newFlags & (Flags.TAGGED | Flags.MSG), 0, 0, 0);
    }

    /** Resolves the contiguous buffer of a request and retains its region; returns false if it is not registered. */
    final boolean attach(RegionTable regions) {
        if (length != 0) {
            RegisteredRegion found = regions.find(buf, length);
            if (found == null) {
                found = regions.findCopied(buf, length);
                if (found == null) {
                    return false;
                }
                mode = mode.copied();
            }
            found.retain();
            region = found;
            address = found.address() + MemoryRegionDescriptor.offset(buf);
        }
        return true;
    }

    /** The region of a contiguous buffer; null if the buffer is empty or has several pieces. */
    RegisteredRegion region() {
        return region;
    }

    /** Resolves the pieces of a request and retains their regions; returns false if one is not registered. */
    final boolean scatterOver(RegionTable regions, long[] requested, int count) {
        if (!vector.resolve(regions, requested, count)) {
            return false;
        }
        if (vector.count() != 0) {
            vector.retain();
            pieces = vector;
            length = vector.lengthBytes();
            if (vector.isCopied()) {
                mode = mode.copied();
            }
        }
        return true;
    }

    final void message(PeerReceives newFrom, long newFlags, long newTag, long newData, long newLength) {
        from = newFrom;
        messageFlags = newFlags;
        messageTag = newTag;
        messageData = newData;
        messageLength = newLength;
        if ((newFlags & OF_FEW) != 0) {
            messagePosition = newFrom.position();
            messageTimeNs = newFrom.timeNs();
        }
    }

    /** Copies bytes of the message into the buffer: none beyond {@link #placedBytes()}. */
    final void place(long offset, long source, long bytes) {
        if (pieces == null) {
            Words.copy(source, address + offset, bytes);
        } else {
            pieces.copyFrom(offset, source, bytes);
        }
    }

    /** Copies the placed bytes to the client; only if its memory is copied. False if that memory is not there. */
    final boolean store() {
        long placed = placedBytes();
        RegisteredRegion of = region();
        return pieces != null ? pieces.store(placed) : of == null || of.store(address - of.address(), placed);
    }

    /** Releases the memory of the buffer. */
    final void releaseMemory() {
        if (region != null) {
            region.release();
            region = null;
        } else if (pieces != null) {
            pieces.release();
            pieces = null;
        }
    }

    /** Bytes of the message that fit. */
    final long placedBytes() {
        return Math.min(messageLength, length);
    }
}
