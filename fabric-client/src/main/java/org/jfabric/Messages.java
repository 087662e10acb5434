package org.jfabric;

import org.agrona.DirectBuffer;
import org.jfabric.client.PeekFlags;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;

/**
 * The further forms of an endpoint's sends and receives: with flags of their own, with remote data, of several pieces,
 * lent. Each is there for tagged messages, and without the {@code t} before its name, without tag and ignored bits, for
 * untagged ones.
 *
 * <pre>{@code
 * // a send that ends when the peer has matched it
 * endpoint.messages().tsendmsg(memory.address(), 64, 0, peer, 7, 2, Flags.COMPLETION | Flags.MATCH_COMPLETE);
 * }</pre>
 *
 * <p>{@link #sendmsg}, {@link #tsendmsg}, {@link #recvmsg} and {@link #trecvmsg} take flags that replace the endpoint's
 * defaults as a whole, except that a queue without {@link Flags#SELECTIVE_COMPLETION} still gets every entry. All other
 * calls follow the defaults: {@code op_flags} of the attributes, later {@link Endpoint#setOpFlags}; injects have no
 * level. Of several levels the strongest counts. The guarantees of each level are in {@code docs/completion-levels.md}.
 *
 * <p>With {@link Mode#BUFFERED_RECV} {@link #recvmsg} and {@link #trecvmsg} with {@link Flags#CLAIM} or
 * {@link Flags#DISCARD} and the {@code opContext} of an entry claim or discard its message, {@code -FI_EINVAL} if that
 * is not open.
 *
 * <p>Calls return 0 or a negative errno and do not block; order of arguments, codes and threads are those of
 * {@link Endpoint}. Source: fi_msg(3), fi_tagged(3); levels and fence: fi_cq(3), section Completion Event Semantics.
 */
public final class Messages {
    private final Endpoint endpoint;
    private final boolean receives;
    /** Flags that calls of untagged receives of one piece may give. */
    private long untaggedRecvCall;
    private long taggedRecvCall;
    /** Flags that calls of sends may give. */
    private long sendCall = OperationFlags.SEND_CALL;
    /** Flags that calls may give that peek at unexpected messages. */
    private long peekCall = OperationFlags.PEEK_CALL;
    /** Carried by sends with flags of their own, besides these. */
    private long alwaysForSends;
    /** Carried by receives with flags of their own, besides these. */
    private long alwaysForRecvs;
    /** Whether the format of the entries has a field for the buffer into which a peek has copied data. */
    private boolean peeksData;

    Messages(Endpoint endpoint, Info info) {
        this.endpoint = endpoint;
        this.receives = info.receives();
    }

    /**
     * Posts a tagged send of several pieces, which go as one message, in order.
     *
     * @param iov       pieces of registered memory; the bytes belong to the driver until the entry is read, the object
     *                  is the caller's again at the return.
     * @param destAddr  destination, from the address vector.
     * @param tag       the message's tag.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int tsendv(IoVec iov, long destAddr, long tag, long opContext) {
        return post(endpoint.sendFlags() | Flags.TAGGED, iov, destAddr, tag, 0, opContext);
    }

    /** As {@link #tsendv}, without a tag. */
    public int sendv(IoVec iov, long destAddr, long opContext) {
        return post(endpoint.sendFlags() | Flags.MSG, iov, destAddr, 0, 0, opContext);
    }

    /**
     * Posts a tagged send with data for the peer's entry.
     *
     * @param buf      as for {@link Endpoint#tsend}.
     * @param len      bytes.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA}.
     * @param destAddr destination.
     * @param tag      the message's tag.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int tsenddata(long buf, long len, long data, long destAddr, long tag, long opContext) {
        return post(
            endpoint.sendFlags() | Flags.TAGGED | Flags.REMOTE_CQ_DATA, buf, len, destAddr, tag, data, opContext);
    }

    /** As {@link #tsenddata}, without a tag. */
    public int senddata(long buf, long len, long data, long destAddr, long opContext) {
        return post(endpoint.sendFlags() | Flags.MSG | Flags.REMOTE_CQ_DATA, buf, len, destAddr, 0, data, opContext);
    }

    /**
     * Posts a tagged send with flags of its own.
     *
     * @param buf      as for {@link Endpoint#tsend}.
     * @param len      bytes.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA} only.
     * @param destAddr destination.
     * @param tag      the message's tag.
     * @param opContext returned in the entry.
     * @param flags    any of {@link Flags#COMPLETION}, {@link Flags#REMOTE_CQ_DATA}, {@link Flags#MORE} (a hint),
     *                 {@link Flags#FENCE}, {@link Flags#INJECT} (the payload, at most {@link Endpoint#injectSize()}
     *                 bytes, is copied before the return; there is an entry as for other sends) and the levels
     *                 {@link Flags#INJECT_COMPLETE}, {@link Flags#TRANSMIT_COMPLETE},
     *                 {@link Flags#DELIVERY_COMPLETE}, {@link Flags#MATCH_COMPLETE}; with {@link Flags#MULTICAST}
     *                 among the capabilities also {@link Flags#COMMIT_COMPLETE} and {@link Flags#RECORDED}, which
     *                 complete with {@code FI_EBADFLAGS} unless the destination is a recorded group.
     * @return 0 or a negative errno of this class; {@code -FI_EBADFLAGS} for every other flag.
     */
    public int tsendmsg(long buf, long len, long data, long destAddr, long tag, long opContext, long flags) {
        return (flags & ~sendCall) != 0 ? badFlags()
            : post(flags | alwaysForSends | Flags.TAGGED, buf, len, destAddr, tag, data, opContext);
    }

    /** As {@link #tsendmsg(long, long, long, long, long, long, long)}, without a tag. */
    public int sendmsg(long buf, long len, long data, long destAddr, long opContext, long flags) {
        return (flags & ~sendCall) != 0 ? badFlags()
            : post(flags | alwaysForSends | Flags.MSG, buf, len, destAddr, 0, data, opContext);
    }

    /**
     * Posts a tagged send of several pieces with flags of its own.
     *
     * @param iov      as for {@link #tsendv}.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA} only.
     * @param destAddr destination.
     * @param tag      the message's tag.
     * @param opContext returned in the entry.
     * @param flags    as for the call of one piece.
     * @return 0 or a negative errno of this class.
     */
    public int tsendmsg(IoVec iov, long data, long destAddr, long tag, long opContext, long flags) {
        return (flags & ~sendCall) != 0 ? badFlags()
            : post(flags | alwaysForSends | Flags.TAGGED, iov, destAddr, tag, data, opContext);
    }

    /** As {@link #tsendmsg(IoVec, long, long, long, long, long)}, without a tag. */
    public int sendmsg(IoVec iov, long data, long destAddr, long opContext, long flags) {
        return (flags & ~sendCall) != 0 ? badFlags()
            : post(flags | alwaysForSends | Flags.MSG, iov, destAddr, 0, data, opContext);
    }

    /**
     * Posts a tagged send with flags of its own, whose arguments are named.
     *
     * @param request may be reused by the caller after the return.
     * @return as the call with positional arguments; {@code -FI_EINVAL} for null.
     */
    public int tsendmsg(SendRequest request) {
        return request == null ? -FabricErrno.EINVAL : request.post(endpoint, Flags.TAGGED);
    }

    /** As {@link #tsendmsg(SendRequest)}, without a tag. */
    public int sendmsg(SendRequest request) {
        return request == null ? -FabricErrno.EINVAL : request.post(endpoint, Flags.MSG);
    }

    /**
     * Posts a tagged send with data for the peer's entry, whose payload may be reused at once; there is no entry unless
     * it fails.
     *
     * @param source   as for {@link Endpoint#tinject}.
     * @param offset   as for {@link Endpoint#tinject}.
     * @param len      as for {@link Endpoint#tinject}.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA}.
     * @param destAddr destination.
     * @param tag      the message's tag.
     * @return 0 or a negative errno of this class.
     */
    public int tinjectdata(DirectBuffer source, int offset, int len, long data, long destAddr, long tag) {
        return endpoint.inject(
            Flags.TAGGED | Flags.INJECT | Flags.REMOTE_CQ_DATA, source, offset, len, destAddr, tag, data);
    }

    /** As {@link #tinjectdata}, without a tag. */
    public int injectdata(DirectBuffer source, int offset, int len, long data, long destAddr) {
        return endpoint.inject(Flags.MSG | Flags.INJECT | Flags.REMOTE_CQ_DATA, source, offset, len, destAddr, 0, data);
    }

    /**
     * Posts a tagged send that hands its bytes over by reference: an application with buffered receives reads them
     * where they are, and the entry comes when it has given the message back. Until then they must not be changed. To
     * all other receives the message is an ordinary one.
     *
     * <p>Only one piece of a region in a file can be read there, as {@link Domain#allocate} makes them, over the links
     * shm and loopback, by the driver's user. Other messages are copied, with the same entries.
     *
     * @param buf      address in registered memory; the bytes belong to the receiver until the entry is read.
     * @param len      bytes.
     * @param destAddr destination, from the address vector.
     * @param tag      the message's tag.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int tsendLent(long buf, long len, long destAddr, long tag, long opContext) {
        return post(lentFlags() | Flags.TAGGED, buf, len, destAddr, tag, 0, opContext);
    }

    /** As {@link #tsendLent}, without a tag. */
    public int sendLent(long buf, long len, long destAddr, long opContext) {
        return post(lentFlags() | Flags.MSG, buf, len, destAddr, 0, 0, opContext);
    }

    /**
     * Posts a receive of a tagged message that is scattered over several pieces, in order.
     *
     * @param iov       as for {@link #tsendv}.
     * @param srcAddr   as for {@link Endpoint#trecv}.
     * @param tag       tag of the messages wanted.
     * @param ignore    bits of the tag that do not count.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int trecvv(IoVec iov, long srcAddr, long tag, long ignore, long opContext) {
        return postRecv(endpoint.recvFlags() | Flags.TAGGED, iov, srcAddr, tag, ignore, opContext);
    }

    /**
     * As {@link #trecvv}, for messages without a tag; {@code -FI_EBADFLAGS} with {@link Flags#MULTI_RECV} among the
     * default flags: such a buffer is of one piece.
     */
    public int recvv(IoVec iov, long srcAddr, long opContext) {
        return endpoint.untaggedRecvFlags() != 0 ? badFlags()
            : postRecv(endpoint.recvFlags() | Flags.MSG, iov, srcAddr, 0, 0, opContext);
    }

    /**
     * Posts a receive of a tagged message with flags of its own, or peeks at unexpected messages
     * ({@code docs/tagged-messages.md}).
     *
     * <p>Flags of a peek:
     * <ul>
     * <li>{@link Flags#PEEK}: an entry for the oldest unexpected message that a receive would take; the message stays.
     *     The entry's length is that of the message. Where the queue's format has the buffer and the payload is here,
     *     the bytes that fit are copied and the entry's buffer is {@code buf}, else it is 0;</li>
     * <li>{@code PEEK | CLAIM}: reserves it besides, under the operation context;</li>
     * <li>{@code PEEK | DISCARD}: drops it; {@code buf} and {@code len} are ignored;</li>
     * <li>{@link Flags#CLAIM}: receives what was claimed under this context; source, tag and ignore are
     *     ignored;</li>
     * <li>{@code CLAIM | DISCARD}: drops it.</li>
     * </ul>
     *
     * <p>All but {@code CLAIM} alone write an entry in any case. Error entries have {@link FabricErrno#ENOMSG}: no such
     * message; {@link FabricErrno#EINVAL}: nothing is claimed under this context by a call of this family;
     * {@link FabricErrno#EBUSY}: the context holds a claim already; {@link FabricErrno#ENOSPC}: as many messages are
     * claimed as receives may be outstanding; {@link FabricErrno#EFAULT}: memory that is not registered, and a claim
     * stays.
     *
     * @param buf     as for {@link Endpoint#trecv}.
     * @param len     bytes.
     * @param srcAddr as for {@link Endpoint#trecv}.
     * @param tag     tag of the messages wanted.
     * @param ignore  bits of the tag that do not count.
     * @param opContext returned in the entry.
     * @param flags   any of {@link Flags#COMPLETION} and {@link Flags#MORE} (a hint), and perhaps those of one peek.
     * @return 0 or a negative errno of this class; {@code -FI_EINVAL} for {@code DISCARD} alone, all three together, or
     *     {@code CLAIM} with the context 0; {@code -FI_EBADFLAGS} for every other flag, also for {@link Flags#FENCE},
     *     which is for sends, and {@link Flags#MULTI_RECV} without {@link Flags#TAGGED_MULTI_RECV}: with that
     *     capability the buffer takes messages with such tags, as one of {@link #recvmsg} takes untagged ones.
     */
    public int trecvmsg(long buf, long len, long srcAddr, long tag, long ignore, long opContext, long flags) {
        if ((flags & PeekFlags.ANY) != 0) {
            return postPeek(flags, buf, len, srcAddr, tag, ignore, opContext, Flags.TAGGED);
        }
        if ((flags & Flags.MULTI_RECV) != 0 && (flags & ~taggedRecvCall) == 0) {
            Submission posted = endpoint.usableReceives(Flags.TAGGED);
            return posted == null ? endpoint.refused() : posted.receiveTaggedBuffer(
                flags | alwaysForRecvs | Flags.TAGGED, buf, len, endpoint.minMultiRecvBytes(), srcAddr, tag, ignore,
                opContext);
        }
        return (flags & ~OperationFlags.RECV_CALL) != 0 ? badFlags()
            : postRecv(flags | alwaysForRecvs | Flags.TAGGED, buf, len, srcAddr, tag, ignore, opContext);
    }

    /**
     * As {@link #trecvmsg(long, long, long, long, long, long, long)}, for messages without a tag. Also takes
     * {@link Flags#MULTI_RECV}, with that capability: the buffer takes messages until less than
     * {@link EndpointOption#MIN_MULTI_RECV} is free in it, each with an entry whose {@code buf} says where it is, and
     * an entry whose only flag is MULTI_RECV gives it back.
     */
    public int recvmsg(long buf, long len, long srcAddr, long opContext, long flags) {
        if ((flags & PeekFlags.ANY) != 0) {
            return postPeek(flags, buf, len, srcAddr, 0, 0, opContext, Flags.MSG);
        }
        return (flags & ~untaggedRecvCall) != 0 ? badFlags() : postRecv(
            flags | alwaysForRecvs | Flags.MSG, buf, len, srcAddr, 0, endpoint.minMultiRecvBytes(), opContext);
    }

    /**
     * Posts a receive of a tagged message over several pieces with flags of its own.
     *
     * @param iov     as for {@link #trecvv}.
     * @param srcAddr as for {@link Endpoint#trecv}.
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
            : postRecv(flags | alwaysForRecvs | Flags.TAGGED, iov, srcAddr, tag, ignore, opContext);
    }

    /** As {@link #trecvmsg(IoVec, long, long, long, long, long)}, for messages without a tag. */
    public int recvmsg(IoVec iov, long srcAddr, long opContext, long flags) {
        if ((flags & PeekFlags.ANY) != 0) {
            return postPeek(flags, iov, srcAddr, 0, 0, opContext, Flags.MSG);
        }
        return (flags & ~OperationFlags.RECV_CALL) != 0 ? badFlags()
            : postRecv(flags | alwaysForRecvs | Flags.MSG, iov, srcAddr, 0, 0, opContext);
    }

    /**
     * Posts a receive of a tagged message with flags of its own, whose arguments are named.
     *
     * @param request may be reused by the caller after the return.
     * @return as the call with positional arguments; {@code -FI_EINVAL} for null.
     */
    public int trecvmsg(ReceiveRequest request) {
        return request == null ? -FabricErrno.EINVAL : request.post(endpoint, Flags.TAGGED);
    }

    /** As {@link #trecvmsg(ReceiveRequest)}, for messages without a tag. */
    public int recvmsg(ReceiveRequest request) {
        return request == null ? -FabricErrno.EINVAL : request.post(endpoint, Flags.MSG);
    }

    /** The endpoint is enabled, or has other default flags. */
    void onFlags(OperationFlags flags, EndpointBindings bindings) {
        alwaysForSends = OperationFlags.always(bindings.txSelective());
        alwaysForRecvs = OperationFlags.always(bindings.rxSelective());
        untaggedRecvCall = flags.untaggedRecvCall();
        taggedRecvCall = flags.taggedRecvCall();
        sendCall = flags.sendCall();
        peekCall = flags.peekCall();
        peeksData = receives && bindings.rxCq() != null
            && bindings.rxCq().format().compareTo(CompletionFormat.DATA) >= 0;
    }

    /** Flags that calls of sends may give. */
    long sendCall() {
        return sendCall;
    }

    /** Flags that an untagged receive call of one piece may carry. */
    long untaggedRecvCall() {
        return untaggedRecvCall;
    }

    /** Carried by sends with flags of their own, besides these. */
    long alwaysForSends() {
        return alwaysForSends;
    }

    /** Carried by receives with flags of their own, besides these. */
    long alwaysForRecvs() {
        return alwaysForRecvs;
    }

    /** The answer to flags that a call does not take. */
    int badFlags() {
        return refusal(-FabricErrno.EBADFLAGS);
    }

    private int refusal(int why) {
        return endpoint.isUsable() ? why : endpoint.refused();
    }

    /** A datagram is never lent. */
    private long lentFlags() {
        return endpoint.sendFlags() & ~Flags.INJECT | sendCall & Flags.LENT;
    }

    private int post(long flags, long buf, long len, long destAddr, long tag, long data, long opContext) {
        Submission sends = endpoint.sends();
        return sends != null ? sends.send(flags, buf, len, destAddr, tag, data, opContext) : endpoint.refused();
    }

    private int post(long flags, IoVec iov, long destAddr, long tag, long data, long opContext) {
        Submission sends = endpoint.sends();
        return sends != null ? sends.send(flags, iov, destAddr, tag, data, opContext) : endpoint.refused();
    }

    private int postRecv(long flags, long buf, long len, long srcAddr, long tag, long ignore, long opContext) {
        Submission posted = endpoint.usableReceives(flags);
        if (posted == null) {
            return endpoint.refused();
        }
        return endpoint.slab() != null ? postTag(posted, flags, srcAddr, tag, ignore, opContext)
            : posted.receive(flags, buf, len, srcAddr, tag, ignore, opContext);
    }

    private int postRecv(long flags, IoVec iov, long srcAddr, long tag, long ignore, long opContext) {
        Submission posted = endpoint.usableReceives(flags);
        if (posted == null) {
            return endpoint.refused();
        }
        return endpoint.slab() != null ? postTag(posted, flags, srcAddr, tag, ignore, opContext)
            : posted.receive(flags, iov, srcAddr, tag, ignore, opContext);
    }

    /** With driver-owned buffers a receive gives only a tag. */
    private static int postTag(Submission posted, long flags, long srcAddr, long tag, long ignore, long opContext) {
        return (flags & Flags.TAGGED) == 0 ? -FabricErrno.EOPNOTSUPP
            : posted.receive(flags, 0, 0, srcAddr, tag, ignore, opContext);
    }

    /** A receive with one of {@link PeekFlags#ANY}; a buffer that its flags ignore is not posted. */
    private int postPeek(
        long flags, long buf, long len, long srcAddr, long tag, long ignore, long opContext, long kind) {
        if ((flags & ~peekCall) != 0) {
            return badFlags();
        }
        if (endpoint.slab() != null) {
            return postClaim(flags, null, buf, len, opContext, kind);
        }
        int refusal = PeekFlags.check(flags, opContext);
        if (refusal != 0) {
            return refusal(refusal);
        }
        boolean takesBuffer = (flags & Flags.DISCARD) == 0 && (peeksData || (flags & Flags.PEEK) == 0);
        return postRecv(flags | alwaysForRecvs | kind, takesBuffer ? buf : 0, takesBuffer ? len : 0, srcAddr, tag,
            ignore, opContext);
    }

    /** As the call of one piece; a claim is received into the pieces, a peek copies nothing into several. */
    private int postPeek(long flags, IoVec iov, long srcAddr, long tag, long ignore, long opContext, long kind) {
        boolean takesBuffers = (flags & Flags.DISCARD) == 0;
        if (takesBuffers && (iov == null || !iov.isValid())) {
            return refusal(-FabricErrno.EINVAL);
        }
        boolean onePiece = takesBuffers && iov.count() <= 1;
        if (onePiece || !takesBuffers || (flags & Flags.PEEK) != 0) {
            return postPeek(flags, onePiece ? iov.firstAddress() : 0, onePiece ? iov.lengthBytes() : 0, srcAddr, tag,
                ignore, opContext, kind);
        }
        if ((flags & ~peekCall) != 0) {
            return badFlags();
        }
        if (endpoint.slab() != null) {
            return postClaim(flags, iov, 0, 0, opContext, kind);
        }
        int refusal = PeekFlags.check(flags, opContext);
        return refusal != 0 ? refusal(refusal)
            : postRecv(flags | alwaysForRecvs | kind, iov, srcAddr, tag, ignore, opContext);
    }

    /** Claims or discards what an entry has handed out; nothing else can be peeked at. */
    private int postClaim(long flags, IoVec iov, long buf, long len, long opContext, long kind) {
        if ((flags & Flags.PEEK) != 0) {
            return badFlags();
        }
        if (endpoint.usableReceives(Flags.MSG) == null) {
            return endpoint.refused();
        }
        boolean takesBuffer = (flags & Flags.DISCARD) == 0;
        return endpoint.slab().claim(
            flags | alwaysForRecvs | kind, iov, takesBuffer ? buf : 0, takesBuffer ? len : 0, opContext);
    }
}
