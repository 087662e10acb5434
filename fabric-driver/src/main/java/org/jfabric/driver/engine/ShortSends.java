package org.jfabric.driver.engine;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * The short path of sends that are short enough to be sent eagerly, to any peer or group whose channel is up. Such a
 * send is complete when the call returns, so it needs no record. All other sends take the general path in
 * {@link Sender}.
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
    private final PeerTable peers;
    private final RegionTable regions;
    private final TransmitPool pool;
    private final CompletionWriter completions;
    private final int completionIndex;
    private final CompletedCount completed;
    private final LinkFailure failure;
    private final Traffic own;
    /** Whether there is a short path now. */
    private boolean open;
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
        boolean enabled, PeerTable peers, RegionTable regions, TransmitPool pool, CompletionWriter completions,
        int completionIndex, CompletedCount completed, Traffic own) {
        this.enabled = enabled;
        this.open = enabled;
        this.peers = peers;
        this.regions = regions;
        this.pool = pool;
        this.completions = completions;
        this.completionIndex = completionIndex;
        this.completed = completed;
        this.failure = peers.failure();
        this.own = own;
    }

    /** An access to memory has failed: {@link #recover} needs the fields of the send that it may have interrupted. */
    void shut() {
        open = false;
    }

    /** Sends a message; returns false if it must take the general path. */
    boolean send(long flags, long buf, long len, long destAddr, long tag, long context) {
        if (!open || (flags & (NOT_SHORT | Flags.INJECT)) != 0) {
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
            && send(peers.known(destAddr), flags, of.address() + offset, len, tag, context);
    }

    /** As {@link #send}, from memory of any kind, which the caller may reuse when the call returns. */
    boolean inject(long flags, long address, int len, long destAddr, long tag, long context) {
        return open && (flags & NOT_SHORT) == 0 && len > 0
            && send(peers.known(destAddr), flags, address, len, tag, context);
    }

    private boolean send(PeerSends to, long flags, long address, long len, long tag, long context) {
        if (to == null || !to.canSendShort(len) || !pool.hasFree()) {
            return false;
        }
        Channel way = to.peer().shorts();
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
        open = enabled;
        if (was == SENDING) {
            completed.increment();
            fail(inHandFlags, inHandContext, FabricErrno.EIO);
        } else if (was == REPORTING && completions.ended() == endedBefore) {
            fail(inHandFlags, inHandContext, FabricErrno.EIO);
        }
    }

    /** Closes with the endpoint. Returns the number of sends that end without an entry. */
    int close() {
        int left = inHand == SENDING ? 1 : 0;
        inHand = NOTHING;
        open = false;
        region = null;
        regionKey = 0;
        return left;
    }

    private void fail(long flags, long context, int errno) {
        own.failed();
        completions.error(completionIndex, 0, context, Flags.SEND | flags & KIND, 0, 0, 0, 0, -1L, 0, errno,
            failure.of(errno), null);
    }
}
