package org.jfabric.driver.engine;

import org.jfabric.Flags;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.Words;

/**
 * One receive from its posting to its completion, or one message in a multi-receive buffer. The records of an endpoint
 * are made with it and used again.
 *
 * <p>Owner: progress agent.
 */
final class ReceiveOperation extends MatchedReceive {
    static final int FREE = 0;
    static final int POSTED = 1;
    /** The bytes of a streamed message go straight into the buffer. */
    static final int STREAMING = 2;
    /** Waits for the rest of a streamed message that goes into the unexpected store. */
    static final int FILLING = 3;
    /** The link fetches the announced payload. */
    static final int PULLING = 4;
    /** The peer has yet to be asked for segments. */
    static final int WANTS_SEGMENTS = 5;
    /** Segments arrive. */
    static final int SEGMENTS = 6;
    /** The entry is written; the peer has yet to be told that its payload was taken. */
    static final int FINISHING = 7;
    /** A multi-receive buffer that takes messages. */
    static final int BUFFER = 8;
    /** A multi-receive buffer that takes no more; it ends when all its messages have entries. */
    static final int ENDING = 9;
    /** A peek has claimed its message and has yet to say so. */
    static final int CLAIMED = 10;
    /** The message is placed or lost; the entry waits for those of messages that were matched before. */
    static final int ENDED = 11;
    /** The same of an announced message: its sender is told behind the entry. */
    static final int ENDED_TO_TELL = 12;

    /** Next receive that takes an announced payload of the same peer; {@link Peer}'s list. */
    ReceiveOperation nextPull;
    /** Previous in {@link Peer}'s list. */
    ReceiveOperation previousPull;
    /** Next receive with something to tell the peer; {@link Peer}'s list. */
    ReceiveOperation nextControl;

    final PieceList vector = new PieceList();
    /** There is room for another receive already, {@link ReceivePool}. */
    boolean madeRoom;
    /** The message whose payload still streams into the store, in the state {@link #FILLING}. */
    StoredMessage filling;

    /** Next in {@link EntryOrder}. */
    ReceiveOperation nextInOrder;
    /** Whether it is in the {@link EntryOrder} of its peer. */
    boolean inOrder;
    /** Its place in that order; 0 while none was needed. */
    long matchedNumber;
    /** How it ended, while its entry waits: 0 or a positive fabric errno. */
    int endedErrno;
    /** Bytes placed of a message that is lost, while its entry waits. */
    long endedPlaced;

    // of an announced message
    long remoteOperation;
    /** Bytes fetched. */
    long received;
    int finishErrno;

    // of a multi-receive buffer
    /** Bytes from its start that messages take, with the gaps that align them. */
    long used;
    /** It ends when fewer bytes than this are free behind a message. */
    long minFree;
    /** The oldest message in it without an entry. */
    ReceiveOperation firstPart;
    ReceiveOperation lastPart;

    // of one message in a multi-receive buffer
    ReceiveOperation buffer;
    ReceiveOperation nextPart;
    long endPlaced;
    boolean written;
    boolean released;

    ReceiveOperation(int index, boolean isPart) {
        super(index, isPart);
    }

    /** Whether it is a buffer for many messages. */
    boolean isBuffer() {
        return (flags & Flags.MULTI_RECV) != 0;
    }

    /** Whether only its entry is missing, which waits for its turn. */
    boolean isEnded() {
        return state >= ENDED;
    }

    /** Whether it fetches only the begin of a message, which stays with its sender. */
    boolean isPreview() {
        return cell != null && cell.message != null;
    }

    void posted(long newFlags, long newBuf, long newLength, long newContext) {
        state = POSTED;
        flags = newFlags;
        context = newContext;
        buf = newBuf;
        length = newLength;
        endErrno = 0;
        message(null, newFlags & (Flags.TAGGED | Flags.MSG), 0, 0, 0);
    }

    /** Takes the one piece that a request names, if it is registered, and holds it. */
    boolean attach(RegionTable regions) {
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
        return buffer == null ? region : buffer.region;
    }

    /** Takes the pieces that a request names, if all of them are registered, and holds them. */
    boolean scatterOver(RegionTable regions, long[] requested, int count) {
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

    void message(Peer newPeer, long newFlags, long newTag, long newData, long newLength) {
        peer = newPeer;
        messageFlags = newFlags;
        messageTag = newTag;
        messageData = newData;
        messageLength = newLength;
    }

    /** Copies bytes of the message into the buffer: none beyond {@link #placedBytes()}. */
    void place(long offset, long source, long bytes) {
        if (pieces == null) {
            Words.copy(source, address + offset, bytes);
        } else {
            pieces.copyFrom(offset, source, bytes);
        }
    }

    /** Gives back the memory of the buffer. */
    void releaseMemory() {
        if (region != null) {
            region.release();
            region = null;
        } else if (pieces != null) {
            pieces.release();
            pieces = null;
        }
    }

    /** Bytes of the message that fit. */
    long placedBytes() {
        return Math.min(messageLength, length);
    }
}
