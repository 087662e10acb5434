package org.jfabric.driver.link;

import org.jfabric.Flags;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.layout.Words;

/**
 * One send from its posting to its completion. The records of an endpoint are made with it and used again and again.
 *
 * <p>Fields are public on purpose: the engine and the links of one progress thread read them on every message.
 * Owner: progress agent.
 */
public final class TransmitOperation {
    /** State: in the pool. */
    public static final int FREE = 0;
    /** State: waits in its peer's queue. */
    public static final int QUEUED = 1;
    /** State: the link owns it. */
    public static final int IN_LINK = 2;
    /** State: announced, the payload waits for the peer. */
    public static final int ANNOUNCED = 3;
    /** State: the peer asked for segments. */
    public static final int SEGMENTING = 4;
    /** State: sent, or taken by the peer, which has yet to acknowledge a level. */
    public static final int AWAITING = 5;
    /** State: over, but its entry waits for those of sends that were posted before (FI_ORDER_STRICT). */
    public static final int ENDED = 6;

    /** In {@link #awaited}: the link itself has yet to report that the message is on its way. */
    public static final long LINK = 1L;

    private static final long ACKNOWLEDGED = Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE;

    /** Low 32 bits: index in the endpoint's pool; high: how often the record was used. */
    public long id;
    /** One of the states. */
    public int state;
    /** The application's context. */
    public long context;
    /** Operation flags with {@code Flags.TAGGED} or {@code Flags.MSG}. */
    public long flags;
    /** The tag, 0 for untagged messages. */
    public long tag;
    /** Remote CQ data, if the flags say so. */
    public long data;
    /** Native address of the payload; not looked at where it is in several pieces. */
    public long address;
    /** Bytes of the payload. */
    public long length;
    /** Levels not reached yet, of a send that the peer acknowledges; 0 and not looked at for all others. */
    public long awaited;
    /** Why a level will not be reached, a positive fabric errno. */
    public int failure;
    /** Its entry is written, or it was retired; what is left is to give the record back. */
    public boolean reported;
    /** Region of the payload, or null: it was copied into the record's own memory, or is in several pieces. */
    public RegisteredRegion region;
    /** The payload's pieces, or null: it is in one. */
    public PieceList pieces;
    /** The engine's side of the channel to the peer. */
    public ChannelHandler peer;
    /** The peer's id for segments. */
    public long sink;
    /** Bytes asked for in segments. */
    public long segmentEnd;
    /** Bytes sent in segments so far. */
    public long sent;
    /** Time of the cycle in which it began to wait for its turn, or was announced; for those who look. */
    public long sinceNs;
    /** Next in whatever list the record is in. */
    public TransmitOperation next;
    /** Next send of the endpoint that was posted later, where entries keep that order. */
    public TransmitOperation nextSubmitted;
    /** Previous in the list of operations that a peer's failure must find. */
    public TransmitOperation previous;
    /** Native address of the record's own memory for injected payloads. */
    public final long injectAddress;
    /** What {@link #pieces} refers to when there are several. */
    public final PieceList vector = new PieceList();

    /**
     * A free record.
     *
     * @param index         index in the pool.
     * @param injectAddress native address of its own memory.
     */
    public TransmitOperation(int index, long injectAddress) {
        this.id = index;
        this.injectAddress = injectAddress;
    }

    /**
     * The id under which a peer names this use of the record.
     *
     * @return index and use count.
     */
    public long id() {
        return id;
    }

    /**
     * Whether the peer is asked to acknowledge the message.
     *
     * @return true for levels beyond the link's own.
     */
    public boolean isAcknowledged() {
        return (flags & ACKNOWLEDGED) != 0;
    }

    /**
     * What the peer is asked to acknowledge.
     *
     * @return {@code Flags.DELIVERY_COMPLETE} or {@code Flags.MATCH_COMPLETE}, {@code Flags.FENCE}.
     */
    public long awaitedOfPeer() {
        return awaited & ~LINK;
    }

    /**
     * The peer's id for segments.
     *
     * @return the id from its request.
     */
    public long sink() {
        return sink;
    }

    /**
     * Copies a part of the payload.
     *
     * @param offset of its first byte.
     * @param dest   native address.
     * @param bytes  how many, not beyond the end of the payload.
     */
    public void copyTo(long offset, long dest, long bytes) {
        if (pieces == null) {
            Words.copy(address + offset, dest, bytes);
        } else {
            pieces.copyTo(offset, dest, bytes);
        }
    }

    /** The operation outlives its posting call: what it sends must stay mapped. */
    public void retainMemory() {
        if (region != null) {
            region.retain();
        } else if (pieces != null) {
            pieces.retain();
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
    }

    /** Ends this use of the record: an id seen before does not name it any more. */
    public void retire() {
        id += 1L << 32;
        state = FREE;
        reported = false;
        region = null;
        peer = null;
        if (pieces != null) {
            pieces.forget();
            pieces = null;
        }
    }
}
