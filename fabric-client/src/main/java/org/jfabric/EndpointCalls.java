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
    TransmitSide transmit;
    ReceiveSide receive;
    /** Carried by sends without flags of their own. */
    long sendFlags;
    /** Carried by receives without flags of their own. */
    long recvFlags;
    /** Carried by untagged receives without flags of their own, besides. */
    long untaggedRecvFlags;
    /** What untagged receives with flags of their own may carry. */
    long untaggedRecvCall;
    /** Least free room of multi-receive buffers that are posted from now on. */
    long minMultiRecvBytes = EndpointOptions.DEFAULT_MIN_MULTI_RECV;
    /** Carried by sends with flags of their own, besides these. */
    long alwaysForSends;
    /** Carried by receives with flags of their own, besides these. */
    long alwaysForRecvs;
    /** Whether the entries of receives can tell that a peek has copied data (AMB-51). */
    boolean peeksData;

    EndpointCalls(long context, DriverState driver) {
        this.context = context;
        this.driver = driver;
    }

    final int post(long flags, long buf, long len, long destAddr, long tag, long data, long opContext) {
        if (state != ENABLED || driver.isGone() || transmit == null) {
            return refused();
        }
        return transmit.post(flags, buf, len, destAddr, tag, data, opContext);
    }

    final int postInject(long flags, DirectBuffer source, int offset, int len, long destAddr, long tag) {
        if (state != ENABLED || driver.isGone() || transmit == null) {
            return refused();
        }
        return transmit.postInject(flags, source, offset, len, destAddr, tag, context);
    }

    final int postRecv(long flags, long buf, long len, long srcAddr, long tag, long ignore, long opContext) {
        if (state != ENABLED || driver.isGone() || receive == null) {
            return refused();
        }
        return receive.post(flags, buf, len, srcAddr, tag, ignore, opContext);
    }

    /** A receive with one of {@link PeekFlags#ANY}: what cannot be is refused, what is not looked at is not sent. */
    final int postPeek(long flags, long buf, long len, long srcAddr, long tag, long ignore, long opContext, long kind) {
        if ((flags & ~OperationFlags.PEEK_CALL) != 0) {
            return badFlags();
        }
        int refusal = PeekFlags.check(flags, opContext);
        if (refusal != 0) {
            return state != ENABLED || driver.isGone() ? refused() : refusal;
        }
        boolean takesBuffer = (flags & Flags.DISCARD) == 0 && (peeksData || (flags & Flags.PEEK) == 0);
        return postRecv(flags | alwaysForRecvs | kind, takesBuffer ? buf : 0, takesBuffer ? len : 0, srcAddr, tag,
            ignore, opContext);
    }

    final int badFlags() {
        return state != ENABLED || driver.isGone() ? refused() : -FabricErrno.EBADFLAGS;
    }

    final int refused() {
        if (state != ENABLED) {
            return -FabricErrno.EOPBADSTATE;
        }
        return driver.isGone() ? -FabricErrno.ENODEV : -FabricErrno.EOPNOTSUPP;
    }
}
