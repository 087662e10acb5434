package org.jfabric;

import org.agrona.DirectBuffer;
import org.jfabric.client.DriverState;
import org.jfabric.client.PeekFlags;

/**
 * Untagged messages (fi_msg). What the calls answer is described in {@link Endpoint}.
 *
 * <p>Owner: as {@link Endpoint}.
 */
abstract sealed class MessageCalls extends EndpointCalls permits TaggedCalls {
    MessageCalls(long context, DriverState driver) {
        super(context, driver);
    }

    /**
     * Posts an untagged send.
     *
     * @param buf      address in registered memory; the bytes belong to the driver until the entry is read.
     * @param len      bytes.
     * @param destAddr destination, from the address vector.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int send(long buf, long len, long destAddr, long opContext) {
        return post(sendFlags | Flags.MSG, buf, len, destAddr, 0, 0, opContext);
    }

    /**
     * Posts an untagged send of several pieces, which go as one message, in order.
     *
     * @param iov      pieces of registered memory; the bytes belong to the driver until the entry is read, the object
     *                 is the caller's again at the return.
     * @param destAddr destination.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int sendv(IoVec iov, long destAddr, long opContext) {
        return post(sendFlags | Flags.MSG, iov, destAddr, 0, 0, opContext);
    }

    /**
     * Posts an untagged send with data for the peer's entry.
     *
     * @param buf      as for {@link #send}.
     * @param len      bytes.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA}.
     * @param destAddr destination.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int senddata(long buf, long len, long data, long destAddr, long opContext) {
        return post(sendFlags | Flags.MSG | Flags.REMOTE_CQ_DATA, buf, len, destAddr, 0, data, opContext);
    }

    /**
     * Posts an untagged send with flags of its own.
     *
     * @param buf      as for {@link #send}.
     * @param len      bytes.
     * @param destAddr destination.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA} only.
     * @param opContext returned in the entry.
     * @param flags    as for {@link TaggedCalls#tsendmsg}.
     * @return 0 or a negative errno of this class.
     */
    public int sendmsg(long buf, long len, long destAddr, long data, long opContext, long flags) {
        return (flags & ~sendCall) != 0 ? badFlags()
            : post(flags | alwaysForSends | Flags.MSG, buf, len, destAddr, 0, data, opContext);
    }

    /**
     * Posts an untagged send of several pieces with flags of its own.
     *
     * @param iov      as for {@link #sendv}.
     * @param destAddr destination.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA} only.
     * @param opContext returned in the entry.
     * @param flags    as for {@link TaggedCalls#tsendmsg}.
     * @return 0 or a negative errno of this class.
     */
    public int sendmsg(IoVec iov, long destAddr, long data, long opContext, long flags) {
        return (flags & ~sendCall) != 0 ? badFlags()
            : post(flags | alwaysForSends | Flags.MSG, iov, destAddr, 0, data, opContext);
    }

    /**
     * Posts an untagged send whose payload may be reused at once; there is no entry unless it fails.
     *
     * @param source   any buffer.
     * @param offset   of the payload in it.
     * @param len      bytes, at most {@link Endpoint#injectSize()}.
     * @param destAddr destination, from the address vector.
     * @return 0 or a negative errno of this class.
     */
    public int inject(DirectBuffer source, int offset, int len, long destAddr) {
        return postInject(Flags.MSG | Flags.INJECT, source, offset, len, destAddr, 0, 0);
    }

    /**
     * Posts an untagged send with data for the peer's entry, whose payload may be reused at once; there is no entry
     * unless it fails.
     *
     * @param source   as for {@link #inject}.
     * @param offset   as for {@link #inject}.
     * @param len      as for {@link #inject}.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA}.
     * @param destAddr destination.
     * @return 0 or a negative errno of this class.
     */
    public int injectdata(DirectBuffer source, int offset, int len, long data, long destAddr) {
        return postInject(Flags.MSG | Flags.INJECT | Flags.REMOTE_CQ_DATA, source, offset, len, destAddr, 0, data);
    }

    /**
     * Posts a receive of an untagged message, or of many with {@link Flags#MULTI_RECV} among the default flags.
     *
     * @param buf     address in registered memory; it belongs to the driver until the entry is read.
     * @param len     bytes.
     * @param srcAddr only messages of this source, with {@link Flags#DIRECTED_RECV}; or
     *                {@link FabricAddress#ADDR_UNSPEC}.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int recv(long buf, long len, long srcAddr, long opContext) {
        return postRecv(
            receive, recvFlags | untaggedRecvFlags | Flags.MSG, buf, len, srcAddr, 0, minMultiRecvBytes, opContext);
    }

    /**
     * Posts a receive of an untagged message that is scattered over several pieces, in order.
     *
     * @param iov     pieces of registered memory; they belong to the driver until the entry is read, the object is the
     *                caller's again at the return.
     * @param srcAddr as for {@link #recv}.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class; {@code -FI_EBADFLAGS} with {@link Flags#MULTI_RECV} among the
     *     default flags: such a buffer is of one piece.
     */
    public int recvv(IoVec iov, long srcAddr, long opContext) {
        return untaggedRecvFlags != 0 ? badFlags()
            : postRecv(receive, recvFlags | Flags.MSG, iov, srcAddr, 0, 0, opContext);
    }

    /**
     * Posts a receive of an untagged message over several pieces with flags of its own.
     *
     * @param iov     as for {@link #recvv}.
     * @param srcAddr as for {@link #recv}.
     * @param opContext returned in the entry.
     * @param flags   as for {@link TaggedCalls#trecvmsg}.
     * @return 0 or a negative errno of this class.
     */
    public int recvmsg(IoVec iov, long srcAddr, long opContext, long flags) {
        if ((flags & PeekFlags.ANY) != 0) {
            return postPeek(flags, iov, srcAddr, 0, 0, opContext, Flags.MSG);
        }
        return (flags & ~OperationFlags.RECV_CALL) != 0 ? badFlags()
            : postRecv(receive, flags | alwaysForRecvs | Flags.MSG, iov, srcAddr, 0, 0, opContext);
    }

    /**
     * Posts a receive of an untagged message with flags of its own.
     *
     * @param buf     as for {@link #recv}.
     * @param len     bytes.
     * @param srcAddr as for {@link #recv}.
     * @param opContext returned in the entry.
     * @param flags   as for {@link TaggedCalls#trecvmsg}, and a claimed message is fetched by the call that claimed it;
     *                also {@link Flags#MULTI_RECV}, with that capability: the buffer takes messages until less than
     *                {@link EndpointOption#MIN_MULTI_RECV} is free in it, each with an entry whose {@code buf} says
     *                where it is, and an entry whose only flag is MULTI_RECV gives it back.
     * @return as {@link TaggedCalls#trecvmsg}.
     */
    public int recvmsg(long buf, long len, long srcAddr, long opContext, long flags) {
        if ((flags & PeekFlags.ANY) != 0) {
            return postPeek(flags, buf, len, srcAddr, 0, 0, opContext, Flags.MSG);
        }
        return (flags & ~untaggedRecvCall) != 0 ? badFlags() : postRecv(
            receive, flags | alwaysForRecvs | Flags.MSG, buf, len, srcAddr, 0, minMultiRecvBytes, opContext);
    }
}
