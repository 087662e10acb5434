package org.jfabric.driver.engine;

import org.jfabric.Flags;
import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.Words;

/**
 * One receive from its posting to its completion. The records of an endpoint are made with it and used again.
 *
 * <p>Here is what each message touches of the receive that it takes: where the receive is, what it asked for, and what
 * it got. With very many receives posted the cache lines of each decide what a message costs, so what few of them need
 * is in {@link LatePayload} and in subclasses.
 *
 * <p>Owner: progress agent.
 */
class ReceiveOperation extends PostedReceive {
    /** What is reported of a message's flags. */
    static final long MESSAGE_BITS = Flags.TAGGED | Flags.MSG | Flags.REMOTE_CQ_DATA | Flags.MULTICAST;

    /** Low 32 bits: index in the pool; high: how often the record was used. */
    long id;
    /** Time of the cycle in which it was posted; for views. */
    long sinceNs;
    long context;
    long flags;
    long buf;
    /** Native address of the buffer; without a meaning where the buffer is in several pieces. */
    long address;
    long length;

    // of the message that it took
    long messageFlags;
    long messageTag;
    long messageData;
    long messageLength;
    /** Its place in {@link EntryOrder}; 0 while none was needed. */
    long matchedNumber;

    /** One of {@link ReceiveState}. */
    int state;
    /** How it ended: a multi-receive buffer, a message in one, or a claim that gives its message up. */
    int endErrno;
    /** Its entry is written, or it was retired; in a multi-receive buffer: how it ended is known. */
    boolean reported;
    /** There is room for another receive already, {@link ReceivePool}. */
    boolean madeRoom;
    /** It stands for a message that took no posted receive: no client has submitted it. */
    final boolean isOfDriver;
    /** How it ends. */
    ReceiveMode mode;
    RegisteredRegion region;
    /** The buffer's pieces, or null: it is in one. */
    PieceList pieces;
    /** The sender of the message. */
    Peer peer;
    /** Where the message goes on an endpoint with buffered receives, or null. */
    SlabCell cell;
    ReceiveOperation nextFree;
    final PieceList vector = new PieceList();
    final LatePayload late = new LatePayload();

    ReceiveOperation(int index, boolean isOfDriver) {
        this.id = index;
        this.isOfDriver = isOfDriver;
    }

    /** Whether it was asked to be a buffer for many messages. */
    final boolean isBuffer() {
        return (flags & Flags.MULTI_RECV) != 0;
    }

    /** Whether only its entry is missing, which waits for its turn. */
    final boolean isEnded() {
        return state >= ReceiveState.ENDED;
    }

    /** Whether it fetches only the begin of a message, which stays with its sender. */
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

    /** Takes the one piece that a request names, if it is registered, and holds it. */
    final boolean attach(RegionTable regions) {
        if (length != 0) {
            RegisteredRegion found = regions.find(buf, length);
            if (found == null) {
                return false;
            }
            found.retain();
            region = found;
            address = found.address() + MemoryRegionDescriptor.offset(buf);
        }
        return true;
    }

    /** The region of the one piece that it has; null if it lies in none, or there are several. */
    RegisteredRegion region() {
        return region;
    }

    /** Takes the pieces that a request names, if all of them are registered, and holds them. */
    final boolean scatterOver(RegionTable regions, long[] requested, int count) {
        if (!vector.resolve(regions, requested, count)) {
            return false;
        }
        if (vector.count() != 0) {
            vector.retain();
            pieces = vector;
            length = vector.lengthBytes();
        }
        return true;
    }

    final void message(Peer newPeer, long newFlags, long newTag, long newData, long newLength) {
        peer = newPeer;
        messageFlags = newFlags;
        messageTag = newTag;
        messageData = newData;
        messageLength = newLength;
    }

    /** Copies bytes of the message into the buffer: none beyond {@link #placedBytes()}. */
    final void place(long offset, long source, long bytes) {
        if (pieces == null) {
            Words.copy(source, address + offset, bytes);
        } else {
            pieces.copyFrom(offset, source, bytes);
        }
    }

    /** Gives back the memory of the buffer. */
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
