package org.jfabric.driver.link;

import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.Flags;
import org.jfabric.layout.Words;

/**
 * One send from its posting to its completion. The records are allocated with their endpoint and reused.
 *
 * <p>The fields are public on purpose: the engine and the links of one progress thread access them for every message.
 * Owner: progress agent.
 */
public final class TransmitOperation {
    /** State: in the pool. */
    public static final int FREE = 0;
    /** State: queued for its peer. */
    public static final int QUEUED = 1;
    /** State: the link owns it. */
    public static final int IN_LINK = 2;
    /** State: announced; the payload waits until the peer fetches it. */
    public static final int ANNOUNCED = 3;
    /** State: the peer has requested segments. */
    public static final int SEGMENTING = 4;
    /** State: sent, or fetched by the peer; a level is not acknowledged yet. */
    public static final int AWAITING = 5;
    /** State: a remote access that the peer has yet to answer. */
    public static final int REMOTE = 7;
    /** State: ended, but its completion waits for those of sends that were posted before (FI_ORDER_STRICT). */
    public static final int ENDED = 6;

    /** State: waits for a counter, which starts it (FI_TRIGGER). */
    public static final int TRIGGERED = 8;

    /** Bit in {@link #awaited}: the link has not yet reported that the message was sent. */
    public static final long LINK = 1L;

    private static final long ACKNOWLEDGED = Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE;

    /** Low 32 bits: index in the endpoint's pool; high 32 bits: how often the record was used. */
    public long id;
    public int state;
    /** The application's context. */
    public long context;
    /** Operation flags with {@code Flags.TAGGED} or {@code Flags.MSG}. */
    public long flags;
    /** The tag, 0 for untagged messages. */
    public long tag;
    /** Remote CQ data, if the flags say so. */
    public long data;
    /** Native address of the payload; unused if the payload consists of several pieces. */
    public long address;
    /** Bytes of the payload. */
    public long length;
    /** Of a remote access: offset of its first byte in the peer's region. */
    public long remoteAddress;
    /** Of a remote access: key of the peer's region. */
    public long key;
    /** Of a remote access to several ranges, instead of the last two: the ranges. Else null, or anything. */
    public RemoteRanges ranges;
    /** Of a remote access: whether it is one to several {@link #ranges}. */
    public boolean hasRanges;
    /** Of atomic operations; null unless the endpoint has FI_ATOMIC. */
    public AtomicPart atomic;
    /** Of a remote access: later operations to the peer wait for its end. */
    public boolean isBarrier;
    /** Of a remote access: in a call that accesses memory; true afterwards if an access failed there. */
    public boolean isInHand;
    /** Of a remote write: its success is answered by a count of writes. */
    public boolean isCounted;
    /** Of a remote write: announced, so that the peer copies the bytes, or asks for them. */
    public boolean isAnnounced;
    /** Of a remote write: the peer cannot copy the bytes and has asked for them. */
    public boolean bytesRequested;
    /** Levels not reached yet, of a send that the peer acknowledges; 0 and unused for all other sends. */
    public long awaited;
    /** Why a level will not be reached, a positive fabric errno. */
    public int failure;
    /** The completion is written, or the operation was retired; only the record has to be given back. */
    public boolean reported;
    /** Region of the payload; null if it was copied into the record's own memory, or consists of several pieces. */
    public RegisteredRegion region;
    /** The payload's pieces; null if it is contiguous. */
    public PieceList pieces;
    /** The engine's side of the channel to the peer. */
    public ChannelHandler peer;
    /** The peer's id for segments. */
    public long sink;
    /** Bytes requested in segments. */
    public long segmentEnd;
    /** Bytes sent in segments so far; of a remote access, bytes before the next piece. */
    public long sent;
    /** Time of the cycle in which the operation was queued, announced or requested, in nanoseconds; for monitoring. */
    public long sinceNs;
    /** When a queued operation was taken from its client, in nanoseconds, if it is a sample of the stages; else 0. */
    public long sampledNs;
    /** Next in the list that holds the record. */
    public TransmitOperation next;
    /** Next send of the endpoint in the order of posting, if completions keep that order. */
    public TransmitOperation nextSubmitted;
    /** Previous in the list of operations that end when the peer fails. */
    public TransmitOperation previous;
    /** Native address of the record's own memory for injected payloads. */
    public final long injectAddress;
    /** The list to which {@link #pieces} refers if there are several pieces. */
    public final PieceList vector = new PieceList();

    /**
     * A free record.
     *
     * @param injectAddress native address of its own memory.
     */
    public TransmitOperation(int index, long injectAddress) {
        this.id = index;
        this.injectAddress = injectAddress;
    }

    /** The id by which a peer names this use of the record. */
    public long id() {
        return id;
    }

    /** Whether it accesses the peer's memory instead of sending a message. */
    public boolean isRemote() {
        return (flags & (Flags.RMA | Flags.ATOMIC)) != 0;
    }

    public boolean isAtomic() {
        return (flags & Flags.ATOMIC) != 0;
    }

    /** Whether it is an atomic operation whose old values come back. */
    public boolean isFetch() {
        return (flags & (Flags.ATOMIC | Flags.READ)) == (Flags.ATOMIC | Flags.READ);
    }

    /** Whether it reads the peer's memory. */
    public boolean isRead() {
        return (flags & (Flags.RMA | Flags.READ)) == (Flags.RMA | Flags.READ);
    }

    /** The bytes of the peer's memory that a remote access reads or changes. Returns a length; 0 or more. */
    public long accessedBytes() {
        return isAtomic() ? Math.max(length, atomic.resultBytes) : length;
    }

    /** Whether the peer is requested to acknowledge the message. */
    public boolean isAcknowledged() {
        return (flags & ACKNOWLEDGED) != 0;
    }

    /**
     * The levels that the peer is requested to acknowledge. Returns {@code Flags.DELIVERY_COMPLETE} or {@code
     * Flags.MATCH_COMPLETE}, {@code Flags.FENCE}.
     */
    public long awaitedOfPeer() {
        return awaited & ~LINK;
    }

    /** The peer's id for segments. */
    public long sink() {
        return sink;
    }

    /**
     * Copies a range of the payload.
     *
     * @param offset of its first byte.
     * @param dest   native address.
     * @param bytes  length of the range, not beyond the end of the payload.
     */
    public void copyTo(long offset, long dest, long bytes) {
        if (pieces == null) {
            Words.copy(address + offset, dest, bytes);
        } else {
            pieces.copyTo(offset, dest, bytes);
        }
    }

    /**
     * Places bytes that were read from the peer's memory.
     *
     * @param offset of the first byte in the range.
     * @param source native address.
     * @param bytes  how many, not beyond the end of the range.
     */
    public void copyFrom(long offset, long source, long bytes) {
        if (pieces == null) {
            Words.copy(source, address + offset, bytes);
        } else {
            pieces.copyFrom(offset, source, bytes);
        }
    }

    /**
     * Copies what a read or a fetch has brought to the client, where its memory is not in place. Returns false if that
     * memory is not there any more.
     */
    public boolean store() {
        if (isAtomic()) {
            return !atomic.results.isCopied() || atomic.results.store(atomic.resultBytes);
        }
        if (pieces != null) {
            return !pieces.isCopied() || pieces.store(length);
        }
        return region == null || !region.isCopied() || region.store(address - region.address(), length);
    }

    /** The operation outlives the call that posted it: its payload must stay mapped. */
    public void retainMemory() {
        if (region != null) {
            region.retain();
        } else if (pieces != null) {
            pieces.retain();
        }
        if (isAtomic()) {
            atomic.results.retain();
            atomic.compares.retain();
        }
    }

    /** The operation has ended, after {@link #retainMemory()}. */
    public void releaseMemory() {
        if (region != null) {
            region.release();
            region = null;
        } else if (pieces != null) {
            pieces.release();
            pieces = null;
        }
        if (isAtomic()) {
            atomic.results.release();
            atomic.compares.release();
        }
    }

    /** Ends this use of the record: ids given out before do not name it any more. */
    public void retire() {
        id += 1L << 32;
        state = FREE;
        reported = false;
        isInHand = false;
        isCounted = false;
        isAnnounced = false;
        bytesRequested = false;
        hasRanges = false;
        region = null;
        peer = null;
        if (isAtomic()) {
            atomic.results.forget();
            atomic.compares.forget();
        }
        if (pieces != null) {
            pieces.forget();
            pieces = null;
        }
    }
}
