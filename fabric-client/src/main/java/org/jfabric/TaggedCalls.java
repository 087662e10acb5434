package org.jfabric;

import org.agrona.DirectBuffer;
import org.jfabric.client.DriverState;
import org.jfabric.client.PeekFlags;

/**
 * Tagged messages (fi_tagged). What the calls answer is described in {@link Endpoint}.
 *
 * <p>Owner: as {@link Endpoint}.
 */
abstract sealed class TaggedCalls extends MessageCalls permits ConnectionCalls {
    TaggedCalls(long context, DriverState driver) {
        super(context, driver);
    }

    /**
     * Posts a tagged send.
     *
     * @param buf      address in registered memory; the bytes belong to the driver until the entry is read.
     * @param len      bytes.
     * @param destAddr destination, from the address vector.
     * @param tag      the message's tag.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int tsend(long buf, long len, long destAddr, long tag, long opContext) {
        return post(sendFlags | Flags.TAGGED, buf, len, destAddr, tag, 0, opContext);
    }

    /**
     * Posts a tagged send of several pieces, which go as one message, in order.
     *
     * @param iov      as for {@link #sendv}.
     * @param destAddr destination.
     * @param tag      the message's tag.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int tsendv(IoVec iov, long destAddr, long tag, long opContext) {
        return post(sendFlags | Flags.TAGGED, iov, destAddr, tag, 0, opContext);
    }

    /**
     * Posts a tagged send with data for the peer's entry.
     *
     * @param buf      as for {@link #tsend}.
     * @param len      bytes.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA}.
     * @param destAddr destination.
     * @param tag      the message's tag.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int tsenddata(long buf, long len, long data, long destAddr, long tag, long opContext) {
        return post(sendFlags | Flags.TAGGED | Flags.REMOTE_CQ_DATA, buf, len, destAddr, tag, data, opContext);
    }

    /**
     * Posts a tagged send with flags of its own.
     *
     * @param buf      as for {@link #tsend}.
     * @param len      bytes.
     * @param destAddr destination.
     * @param tag      the message's tag.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA} only.
     * @param opContext returned in the entry.
     * @param flags    any of {@link Flags#COMPLETION}, {@link Flags#REMOTE_CQ_DATA}, {@link Flags#MORE} (a hint),
     *                 {@link Flags#FENCE}, {@link Flags#INJECT} (the payload, at most {@link Endpoint#injectSize()}
     *                 bytes, is copied before the return; there is an entry as for other sends) and the levels
     *                 {@link Flags#INJECT_COMPLETE}, {@link Flags#TRANSMIT_COMPLETE},
     *                 {@link Flags#DELIVERY_COMPLETE}, {@link Flags#MATCH_COMPLETE}.
     * @return 0 or a negative errno of this class; {@code -FI_EBADFLAGS} for {@link Flags#COMMIT_COMPLETE}, which no
     *     link gives, and for every other flag.
     */
    public int tsendmsg(long buf, long len, long destAddr, long tag, long data, long opContext, long flags) {
        return (flags & ~sendCall) != 0 ? badFlags()
            : post(flags | alwaysForSends | Flags.TAGGED, buf, len, destAddr, tag, data, opContext);
    }

    /**
     * Posts a tagged send of several pieces with flags of its own.
     *
     * @param iov      as for {@link #sendv}.
     * @param destAddr destination.
     * @param tag      the message's tag.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA} only.
     * @param opContext returned in the entry.
     * @param flags    as for the call of one piece.
     * @return 0 or a negative errno of this class.
     */
    public int tsendmsg(IoVec iov, long destAddr, long tag, long data, long opContext, long flags) {
        return (flags & ~sendCall) != 0 ? badFlags()
            : post(flags | alwaysForSends | Flags.TAGGED, iov, destAddr, tag, data, opContext);
    }

    /**
     * Posts a tagged send whose payload may be reused at once; there is no entry unless it fails.
     *
     * @param source   any buffer.
     * @param offset   of the payload in it.
     * @param len      bytes, at most {@link Endpoint#injectSize()}.
     * @param destAddr destination, from the address vector.
     * @param tag      the message's tag.
     * @return 0 or a negative errno of this class.
     */
    public int tinject(DirectBuffer source, int offset, int len, long destAddr, long tag) {
        return postInject(Flags.TAGGED | Flags.INJECT, source, offset, len, destAddr, tag, 0);
    }

    /**
     * Posts a tagged send with data for the peer's entry, whose payload may be reused at once; there is no entry unless
     * it fails.
     *
     * @param source   as for {@link #tinject}.
     * @param offset   as for {@link #tinject}.
     * @param len      as for {@link #tinject}.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA}.
     * @param destAddr destination.
     * @param tag      the message's tag.
     * @return 0 or a negative errno of this class.
     */
    public int tinjectdata(DirectBuffer source, int offset, int len, long data, long destAddr, long tag) {
        return postInject(
            Flags.TAGGED | Flags.INJECT | Flags.REMOTE_CQ_DATA, source, offset, len, destAddr, tag, data);
    }

    /**
     * Claims room for a tagged message that is to be encoded in place, and posted by {@link SendClaim#commit}. Until
     * then nothing else can be sent from this endpoint.
     *
     * @param lengthBytes bytes of the longest message that may be committed, 0 to {@link Endpoint#injectSize()}: that
     *                    much the driver can keep of each message that it cannot pass on at once.
     * @param claim       not open; opened if the call is accepted.
     * @return 0 or a negative errno of this class; {@code -FI_EBUSY} while this endpoint has an open claim, or if the
     *     object is open already.
     */
    public int tryClaim(int lengthBytes, SendClaim claim) {
        return claim(lengthBytes, claim);
    }

    /**
     * Posts a receive of a tagged message. A message matches if the bits of its tag that {@code ignore} leaves are
     * those of {@code tag}; of several receives that match, the one posted first takes it.
     *
     * @param buf     address in registered memory; it belongs to the driver until the entry is read.
     * @param len     bytes.
     * @param srcAddr as for {@link #recv}.
     * @param tag     tag of the messages wanted.
     * @param ignore  bits of the tag that do not count.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int trecv(long buf, long len, long srcAddr, long tag, long ignore, long opContext) {
        return postRecv(taggedReceive, recvFlags | Flags.TAGGED, buf, len, srcAddr, tag, ignore, opContext);
    }

    /**
     * Posts a receive of a tagged message that is scattered over several pieces, in order.
     *
     * @param iov     as for {@link #recvv}.
     * @param srcAddr as for {@link #recv}.
     * @param tag     tag of the messages wanted.
     * @param ignore  bits of the tag that do not count.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int trecvv(IoVec iov, long srcAddr, long tag, long ignore, long opContext) {
        return postRecv(taggedReceive, recvFlags | Flags.TAGGED, iov, srcAddr, tag, ignore, opContext);
    }

    /**
     * Posts a receive of a tagged message over several pieces with flags of its own.
     *
     * @param iov     as for {@link #recvv}.
     * @param srcAddr as for {@link #recv}.
     * @param tag     tag of the messages wanted.
     * @param ignore  bits of the tag that do not count.
     * @param opContext returned in the entry.
     * @param flags   as for the call of one piece.
     * @return 0 or a negative errno of this class.
     */
    public int trecvmsg(IoVec iov, long srcAddr, long tag, long ignore, long opContext, long flags) {
        if ((flags & PeekFlags.ANY) != 0) {
            return postPeek(flags, iov, srcAddr, tag, ignore, opContext, Flags.TAGGED);
        }
        return (flags & ~OperationFlags.RECV_CALL) != 0 ? badFlags()
            : postRecv(taggedReceive, flags | alwaysForRecvs | Flags.TAGGED, iov, srcAddr, tag, ignore, opContext);
    }

    /**
     * Posts a receive of a tagged message with flags of its own, or looks at messages that came before a receive for
     * them ({@code docs/tagged-messages.md}).
     *
     * <p>What the flags of a look mean:
     * <ul>
     * <li>{@link Flags#PEEK}: an entry for the oldest such message that a receive would take, which stays; its length
     *     is that of the message. Where the queue's format shows the buffer and the payload is here, the bytes that fit
     *     are copied and the entry's buffer is {@code buf}, else it is 0;</li>
     * <li>{@code PEEK | CLAIM}: reserves it besides, under the operation context;</li>
     * <li>{@code PEEK | DISCARD}: drops it; {@code buf} and {@code len} are not looked at;</li>
     * <li>{@link Flags#CLAIM}: receives what was claimed under this context; source, tag and ignore are not looked
     *     at;</li>
     * <li>{@code CLAIM | DISCARD}: drops it.</li>
     * </ul>
     *
     * <p>All but {@code CLAIM} alone write an entry in any case. Error entries have {@link FabricErrno#ENOMSG}: no such
     * message; {@link FabricErrno#EINVAL}: nothing is claimed under this context by a call of this family;
     * {@link FabricErrno#EBUSY}: the context holds a claim already; {@link FabricErrno#ENOSPC}: as many messages are
     * claimed as receives may be outstanding; {@link FabricErrno#EFAULT}: memory that is not registered, and a claim
     * stays.
     *
     * @param buf     as for {@link #trecv}.
     * @param len     bytes.
     * @param srcAddr as for {@link #recv}.
     * @param tag     tag of the messages wanted.
     * @param ignore  bits of the tag that do not count.
     * @param opContext returned in the entry.
     * @param flags   any of {@link Flags#COMPLETION} and {@link Flags#MORE} (a hint), and perhaps one of the looks.
     * @return 0 or a negative errno of this class; {@code -FI_EINVAL} for {@code DISCARD} alone, all three together, or
     *     {@code CLAIM} with the context 0; {@code -FI_EBADFLAGS} for every other flag, also for {@link Flags#FENCE},
     *     which is for sends, and {@link Flags#MULTI_RECV}.
     */
    public int trecvmsg(long buf, long len, long srcAddr, long tag, long ignore, long opContext, long flags) {
        if ((flags & PeekFlags.ANY) != 0) {
            return postPeek(flags, buf, len, srcAddr, tag, ignore, opContext, Flags.TAGGED);
        }
        return (flags & ~OperationFlags.RECV_CALL) != 0 ? badFlags()
            : postRecv(taggedReceive, flags | alwaysForRecvs | Flags.TAGGED, buf, len, srcAddr, tag, ignore, opContext);
    }
}
