package org.jfabric;

import org.agrona.DirectBuffer;
import org.jfabric.client.DriverState;
import org.jfabric.client.PeekFlags;

/**
 * What all data-path calls of an endpoint share: its state, its two halves and the flags that each call carries.
 *
 * <p>The calls are in one class for each family of libfabric; {@link Endpoint} is the only object that they make.
 *
 * <p>Owner: the one submitting thread of the completion queue; control calls under the fabric's lock.
 */
abstract sealed class EndpointCalls permits MessageCalls {
    static final int OPEN = 0;
    static final int ENABLED = 1;
    static final int CLOSED = 2;

    final long context;
    final DriverState driver;
    int state;
    /** Null while a claim is open, so that the other calls find out without a test of their own. */
    TransmitSide transmit;
    private TransmitSide claimed;
    /** Of a connection-oriented endpoint while it is not connected, else null. */
    private TransmitSide unconnected;
    ReceiveSide receive;
    /** The same where messages have tags, else null. */
    ReceiveSide taggedReceive;
    /** Carried by sends without flags of their own. */
    long sendFlags;
    /** Carried by receives without flags of their own. */
    long recvFlags;
    /** Carried by untagged receives without flags of their own, besides. */
    long untaggedRecvFlags;
    /** What untagged receives with flags of their own may carry. */
    long untaggedRecvCall;
    /** What sends with flags of their own may carry. */
    long sendCall = OperationFlags.SEND_CALL;
    /** What receives may carry that look at messages which wait. */
    long peekCall = OperationFlags.PEEK_CALL;
    /** Least free room of multi-receive buffers that are posted from now on. */
    long minMultiRecvBytes = EndpointOptions.DEFAULT_MIN_MULTI_RECV;
    /** Carried by sends with flags of their own, besides these. */
    long alwaysForSends;
    /** Carried by receives with flags of their own, besides these. */
    long alwaysForRecvs;
    /** Where messages are received with {@link Mode#BUFFERED_RECV}, or null. */
    ReceiveSlab slab;
    /** Whether the entries of receives can tell that a peek has copied data. */
    boolean peeksData;

    EndpointCalls(long context, DriverState driver) {
        this.context = context;
        this.driver = driver;
    }

    final int post(long flags, long buf, long len, long destAddr, long tag, long data, long opContext) {
        // read once: the end of a connection takes it away, on the client's thread
        TransmitSide side = transmit;
        if (!isUsable() || side == null) {
            return refused();
        }
        return (flags & Flags.INJECT) != 0 ? side.postCopied(flags, buf, len, destAddr, tag, data, opContext)
            : side.post(flags, buf, len, destAddr, tag, data, opContext);
    }

    final int post(long flags, IoVec iov, long destAddr, long tag, long data, long opContext) {
        TransmitSide side = transmit;
        if (!isUsable() || side == null) {
            return refused();
        }
        if (iov == null || !iov.isValid()) {
            return -FabricErrno.EINVAL;
        }
        if (iov.count() <= 1) {
            return post(flags, iov.firstAddress(), iov.lengthBytes(), destAddr, tag, data, opContext);
        }
        return (flags & Flags.INJECT) != 0
            ? side.postCopied(flags, iov.pieces(), iov.count(), iov.lengthBytes(), destAddr, tag, data, opContext)
            : side.post(flags, iov, destAddr, tag, data, opContext);
    }

    final int postInject(long flags, DirectBuffer source, int offset, int len, long destAddr, long tag, long data) {
        TransmitSide side = transmit;
        if (!isUsable() || side == null) {
            return refused();
        }
        return side.postInject(flags, source, offset, len, destAddr, tag, data, context);
    }

    final int postRecv(
        ReceiveSide side, long flags, long buf, long len, long srcAddr, long tag, long ignore, long opContext) {
        if (!isUsable() || side == null) {
            return refused();
        }
        return slab != null ? postTag(flags, srcAddr, tag, ignore, opContext)
            : side.post(flags, buf, len, srcAddr, tag, ignore, opContext);
    }

    /** With driver-owned buffers a receive gives only a tag, so an untagged one has no use. */
    private int postTag(long flags, long srcAddr, long tag, long ignore, long opContext) {
        return (flags & Flags.TAGGED) == 0 ? -FabricErrno.EOPNOTSUPP
            : receive.post(flags, 0, 0, srcAddr, tag, ignore, opContext);
    }

    final int postRecv(
        ReceiveSide side, long flags, IoVec iov, long srcAddr, long tag, long ignore, long opContext) {
        if (!isUsable() || side == null) {
            return refused();
        }
        if (slab != null) {
            return postTag(flags, srcAddr, tag, ignore, opContext);
        }
        if (iov == null || !iov.isValid()) {
            return -FabricErrno.EINVAL;
        }
        return iov.count() <= 1
            ? side.post(flags, iov.firstAddress(), iov.lengthBytes(), srcAddr, tag, ignore, opContext)
            : side.post(flags, iov, srcAddr, tag, ignore, opContext);
    }

    final int claim(int length, SendClaim claim) {
        TransmitSide side = transmit;
        if (!isUsable() || side == null) {
            return refused();
        }
        return claim == null ? -FabricErrno.EINVAL : claim.open(this, side, length);
    }

    /** A claim is open: where one thread posts nothing else gets through; several are kept apart under their lock. */
    final void onClaimed(TransmitSide side) {
        if (!side.isShared()) {
            claimed = side;
            transmit = null;
        }
    }

    final void onClaimEnded() {
        if (claimed != null) {
            transmit = unconnected == null ? claimed : null;
            claimed = null;
        }
    }

    /** Sends are refused with {@code -FI_ENOTCONN} from now on; the receiving half stays. */
    final void disconnectTransmit(TransmitSide side) {
        unconnected = side;
        transmit = null;
    }

    /** Sends are taken from now on. */
    final void connectTransmit() {
        // in this order, so that whoever looks for the half finds it
        transmit = unconnected;
        unconnected = null;
    }

    final boolean hasOpenClaim() {
        return claimed != null;
    }

    /** The transmitting half, also while a claim is open or nothing connected; null if the endpoint only receives. */
    final TransmitSide transmitSide() {
        TransmitSide side = transmit;
        if (side != null) {
            return side;
        }
        return claimed != null ? claimed : unconnected;
    }

    /** A receive with one of {@link PeekFlags#ANY}: what cannot be is refused, what is not looked at is not sent. */
    final int postPeek(long flags, long buf, long len, long srcAddr, long tag, long ignore, long opContext, long kind) {
        if ((flags & ~peekCall) != 0) {
            return badFlags();
        }
        if (slab != null) {
            return postClaim(flags, null, buf, len, opContext, kind);
        }
        int refusal = PeekFlags.check(flags, opContext);
        if (refusal != 0) {
            return isUsable() ? refusal : refused();
        }
        boolean takesBuffer = (flags & Flags.DISCARD) == 0 && (peeksData || (flags & Flags.PEEK) == 0);
        return postRecv(side(kind), flags | alwaysForRecvs | kind, takesBuffer ? buf : 0, takesBuffer ? len : 0,
            srcAddr, tag, ignore, opContext);
    }

    private ReceiveSide side(long kind) {
        return (kind & Flags.TAGGED) != 0 ? taggedReceive : receive;
    }

    /** As the call of one piece; a claim is received into the pieces, a peek copies nothing into several. */
    final int postPeek(long flags, IoVec iov, long srcAddr, long tag, long ignore, long opContext, long kind) {
        boolean takesBuffers = (flags & Flags.DISCARD) == 0;
        if (takesBuffers && (iov == null || !iov.isValid())) {
            return isUsable() ? -FabricErrno.EINVAL : refused();
        }
        boolean onePiece = takesBuffers && iov.count() <= 1;
        if (onePiece || !takesBuffers || (flags & Flags.PEEK) != 0) {
            return postPeek(flags, onePiece ? iov.firstAddress() : 0, onePiece ? iov.lengthBytes() : 0, srcAddr, tag,
                ignore, opContext, kind);
        }
        if ((flags & ~peekCall) != 0) {
            return badFlags();
        }
        if (slab != null) {
            return postClaim(flags, iov, 0, 0, opContext, kind);
        }
        int refusal = PeekFlags.check(flags, opContext);
        return refusal == 0 || !isUsable()
            ? postRecv(side(kind), flags | alwaysForRecvs | kind, iov, srcAddr, tag, ignore, opContext) : refusal;
    }

    /** Claims or discards what an entry has handed out; there is nothing else to look at. */
    private int postClaim(long flags, IoVec iov, long buf, long len, long opContext, long kind) {
        if ((flags & Flags.PEEK) != 0) {
            return badFlags();
        }
        if (!isUsable() || receive == null) {
            return refused();
        }
        boolean takesBuffer = (flags & Flags.DISCARD) == 0;
        return slab.claim(
            flags | alwaysForRecvs | kind, iov, takesBuffer ? buf : 0, takesBuffer ? len : 0, opContext);
    }

    final int badFlags() {
        return isUsable() ? -FabricErrno.EBADFLAGS : refused();
    }

    /** Enabled, and not put back to disabled by the one critical error there is: the end of the driver. */
    final boolean isUsable() {
        return state == ENABLED && !driver.isGone();
    }

    final int refused() {
        if (!isUsable()) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (unconnected != null) {
            return -FabricErrno.ENOTCONN;
        }
        return claimed != null ? -FabricErrno.EBUSY : -FabricErrno.EOPNOTSUPP;
    }
}
