package org.jfabric.driver.engine;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * The short path of sends to the same destination and from the same region as the previous send, if they are short
 * enough to be sent eagerly. Such a send is complete when the call returns, so it needs no record. All other sends take
 * the general path in {@link Sender}, which prepares the short path for the next send.
 *
 * <p>Owner: progress agent.
 */
final class ShortSends {
    /** A send with any of these takes the general path. */
    private static final long NOT_SHORT = AcknowledgedSends.NOT_PLAIN | Flags.REMOTE_CQ_DATA;
    private static final long KIND = Flags.TAGGED | Flags.MSG;

    private static final int NOTHING = 0;
    private static final int SENDING = 1;
    private static final int REPORTING = 2;

    private final boolean enabled;
    private final RegionTable regions;
    private final TransmitPool pool;
    private final CompletionWriter completions;
    private final int completionIndex;
    private final CompletedCount completed;
    private final LinkFailure failure;
    private final Traffic own;
    private long dest;
    private Peer peer;
    /** Null while there is no short path. */
    private FrameChannel channel;
    private RegisteredRegion region;
    /** The upper 24 bits of the region's addresses. */
    private long regionKey;
    /** The step that a send is in; if an access to memory fails there, {@link #recover()} ends the send. */
    private int inHand = NOTHING;
    private long inHandFlags;
    private long inHandContext;
    /** {@link CompletionWriter#ended()} before the report. */
    private long endedBefore;

    ShortSends(
        boolean enabled, RegionTable regions, TransmitPool pool, CompletionWriter completions, int completionIndex,
        CompletedCount completed, LinkFailure failure, Traffic own) {
        this.enabled = enabled;
        this.regions = regions;
        this.pool = pool;
        this.completions = completions;
        this.completionIndex = completionIndex;
        this.completed = completed;
        this.failure = failure;
        this.own = own;
    }

    /** Prepares the short path to a peer that a message was just sent to. */
    void prepare(long destAddr, Peer newPeer) {
        // recovery still needs the fields of a send that a fault interrupted
        if (enabled && inHand == NOTHING && newPeer.frames() != null) {
            dest = destAddr;
            peer = newPeer;
            channel = newPeer.frames();
        }
    }

    /** The destination, its channel or the endpoint has changed, or an access to memory failed. */
    void forget() {
        peer = null;
        channel = null;
        region = null;
        regionKey = 0;
    }

    /** Sends a message; returns false if it must take the general path. */
    boolean send(long flags, long buf, long len, long destAddr, long tag, long context) {
        FrameChannel way = channel;
        if (way == null || destAddr != dest || (flags & (NOT_SHORT | Flags.INJECT)) != 0) {
            return false;
        }
        RegisteredRegion of = region;
        if (buf >>> 40 != regionKey || of == null || of.isClosed()) {
            of = find(buf, len);
            if (of == null) {
                return false;
            }
        }
        long offset = MemoryRegionDescriptor.offset(buf);
        return len > 0 && len <= of.lengthBytes() - offset
            && send(way, flags, of.address() + offset, len, tag, context);
    }

    /** As {@link #send}, from memory of any kind, which the caller may reuse when the call returns. */
    boolean inject(long flags, long address, int len, long destAddr, long tag, long context) {
        FrameChannel way = channel;
        return way != null && destAddr == dest && (flags & NOT_SHORT) == 0 && len > 0
            && send(way, flags, address, len, tag, context);
    }

    private boolean send(FrameChannel way, long flags, long address, long len, long tag, long context) {
        Peer to = peer;
        if (!to.canSendShort(way, len) || !pool.hasFree()) {
            return false;
        }
        inHandFlags = flags;
        inHandContext = context;
        inHand = SENDING;
        if (way.sendShort(flags & KIND, tag, address, (int) len, to.grant()) != Channel.DONE) {
            inHand = NOTHING;
            to.grantNotSent();
            return false;
        }
        // false if the peer went down inside the call
        boolean isSent = to.isUp();
        if (isSent) {
            to.spend(len);
        }
        // a fault must not be raised during the report, or the send would be counted twice
        FaultPoint.pass();
        endedBefore = completions.ended();
        inHand = REPORTING;
        completed.increment();
        if (!isSent) {
            fail(flags, context, FabricErrno.ECONNRESET);
        } else if ((flags & Flags.COMPLETION) != 0) {
            completions.success(completionIndex, 0, context, Flags.SEND | flags & KIND, 0, 0, 0, 0, -1L);
        } else {
            completions.retire();
        }
        inHand = NOTHING;
        return true;
    }

    private RegisteredRegion find(long buf, long len) {
        RegisteredRegion found = len <= 0 ? null : regions.find(buf, len);
        if (found != null) {
            region = found;
            regionKey = buf >>> 40;
        }
        return found;
    }

    /** Ends the send that was being processed when an access to memory failed. */
    void recover() {
        int was = inHand;
        inHand = NOTHING;
        if (was == SENDING) {
            completed.increment();
            fail(inHandFlags, inHandContext, FabricErrno.EIO);
        } else if (was == REPORTING && completions.ended() == endedBefore) {
            fail(inHandFlags, inHandContext, FabricErrno.EIO);
        }
    }

    /**
     * Closes with the endpoint.
     *
     * @return number of sends that end without an entry.
     */
    int close() {
        int left = inHand == SENDING ? 1 : 0;
        inHand = NOTHING;
        forget();
        return left;
    }

    private void fail(long flags, long context, int errno) {
        own.failed();
        completions.error(completionIndex, 0, context, Flags.SEND | flags & KIND, 0, 0, 0, 0, -1L, 0, errno,
            failure.of(errno), null);
    }
}
