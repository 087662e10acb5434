package org.jfabric;

import org.agrona.DirectBuffer;
import org.jfabric.client.WorkRequest;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * Reads and writes of peers' registered memory, without a receive there (fi_rma(3)).
 *
 * <pre>{@code
 * MemoryRegion book = domain.allocate(4096, new MemoryRegionAttr().access(Flags.REMOTE_WRITE).requestedKey(7));
 * // and at a peer of that domain
 * int result = endpoint.remoteMemory().write(memory.address(), 64, peer, 0, 7, 1);
 * }</pre>
 *
 * <p>The peer's memory is named by the key of its region and an offset in it. Its driver checks key, rights and range
 * on every access. An access that it refuses touches no byte and ends with an error entry: {@code FI_EKEYREJECTED} for
 * a key that no open region of the peer's domain has, {@code FI_EACCES} for rights that the region or the endpoint does
 * not give, {@code FI_EFAULT} for a range that is not inside the region. If the region is closed meanwhile, part of the
 * range may have been accessed. Over tcp and rxm, whose wire is libfabric's, a refused access ends the connection
 * instead, and the operations to that peer end with {@code FI_ECONNRESET} or {@code FI_ESHUTDOWN}.
 *
 * <p>A success entry of a read says that its bytes are here, one of a write that its bytes are in the peer's memory:
 * {@code FI_DELIVERY_COMPLETE} in both cases. Over tcp and rxm that holds for writes that ask for it or for
 * {@code FI_TRANSMIT_COMPLETE}; the default there is {@code FI_INJECT_COMPLETE}. The peer gets no entry, except for a
 * write with data, or if its endpoint has {@link Flags#RMA_EVENT}. Operations take effect in the order of posting,
 * messages to the same peer included, as far as {@code msg_order} of the match says: all of it over loopback and shm.
 *
 * <p>Over verbs the card of the peer is the target. There the place is a virtual address
 * ({@link MemoryRegion#remoteAddress()} and the offset), a write with data takes a posted receive, success means
 * {@code FI_TRANSMIT_COMPLETE}, and an access that the card refuses ends with {@code FI_EKEYREJECTED} and takes the
 * connection with it; see docs/verbs.md.
 *
 * <p>Calls return 0 or a negative errno and do not block; the codes are those of {@link Endpoint}, and
 * {@code -FI_EOPNOTSUPP} if the endpoint lacks the capability. Owner: the submitting thread of the endpoint's transmit
 * completion queue.
 */
public final class RemoteMemory {
    private static final long READ = Flags.RMA | Flags.READ;
    private static final long WRITE = Flags.RMA | Flags.WRITE;
    /** Flags that a call may carry. */
    private static final long READ_CALL = Flags.COMPLETION | Flags.MORE | Flags.FENCE | OperationFlags.ACCESS_LEVELS;
    private static final long WRITE_CALL = READ_CALL | Flags.REMOTE_CQ_DATA | Flags.INJECT;

    private final Endpoint endpoint;
    /** {@code Flags.READ}, {@code Flags.WRITE} or both. */
    private final long offered;
    /** Flags that a call of {@link #writemsg} may carry. */
    private final long writeCall;

    private final long maxRanges;

    RemoteMemory(Endpoint endpoint, long caps, long maxRanges) {
        this.endpoint = endpoint;
        this.maxRanges = maxRanges;
        this.offered = (caps & Flags.RMA) == 0 ? 0 : Info.directions(caps) & (Flags.READ | Flags.WRITE);
        this.writeCall = WRITE_CALL | ((caps & Flags.RMA_PMEM) != 0 ? Flags.COMMIT_COMPLETE : 0);
    }

    /**
     * Posts a read.
     *
     * @param buf        address in registered memory, where the bytes go; it belongs to the driver until the entry is
     *                   read.
     * @param len        bytes.
     * @param srcAddr    the peer, from the address vector; a connected endpoint ignores it.
     * @param remoteAddr {@link MemoryRegion#remoteAddress()} of the peer's region, plus the offset of the first byte.
     * @param key        key of that region.
     * @param opContext  returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int read(long buf, long len, long srcAddr, long remoteAddr, long key, long opContext) {
        return post(defaults(READ), buf, len, srcAddr, remoteAddr, key, 0, opContext);
    }

    /**
     * Posts a read into several pieces of local memory.
     *
     * @param iov        pieces of registered memory; the bytes belong to the driver until the entry is read, the object
     *                   is the caller's again at the return.
     * @param srcAddr    as for {@link #read}.
     * @param remoteAddr as for {@link #read}.
     * @param key        as for {@link #read}.
     * @param opContext  as for {@link #read}.
     * @return 0 or a negative errno of this class.
     */
    public int readv(IoVec iov, long srcAddr, long remoteAddr, long key, long opContext) {
        return post(defaults(READ), iov, srcAddr, remoteAddr, key, 0, opContext);
    }

    /**
     * Posts a read whose arguments are named.
     *
     * @param request may be reused by the caller after the return; flags may be {@link Flags#COMPLETION}, {@link
     *                Flags#MORE}, {@link Flags#FENCE} and completion levels.
     * @return 0 or a negative errno of this class; {@code -FI_EINVAL} for null and for ranges
     *     that are too many or not as long as the local memory, {@code -FI_EBADFLAGS} for other flags.
     */
    public int readmsg(RemoteRequest request) {
        return postMsg(request, READ);
    }

    /**
     * Posts a write.
     *
     * @param buf        address in registered memory of the bytes; they belong to the driver until the entry is read.
     * @param len        bytes.
     * @param destAddr   the peer, from the address vector; a connected endpoint ignores it.
     * @param remoteAddr {@link MemoryRegion#remoteAddress()} of the peer's region, plus the offset of the first byte.
     * @param key        key of that region.
     * @param opContext  returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int write(long buf, long len, long destAddr, long remoteAddr, long key, long opContext) {
        return post(defaults(WRITE), buf, len, destAddr, remoteAddr, key, 0, opContext);
    }

    /**
     * Posts a write from several pieces of local memory.
     *
     * @param iov        as for {@link #readv}.
     * @param destAddr   as for {@link #write}.
     * @param remoteAddr as for {@link #write}.
     * @param key        as for {@link #write}.
     * @param opContext  as for {@link #write}.
     * @return 0 or a negative errno of this class.
     */
    public int writev(IoVec iov, long destAddr, long remoteAddr, long key, long opContext) {
        return post(defaults(WRITE), iov, destAddr, remoteAddr, key, 0, opContext);
    }

    /**
     * Posts a write with data for an entry of the peer, which it gets when the bytes are in its memory.
     *
     * @param buf        as for {@link #write}.
     * @param len        as for {@link #write}.
     * @param data       shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA} and {@link Flags#REMOTE_WRITE}.
     * @param destAddr   as for {@link #write}.
     * @param remoteAddr as for {@link #write}.
     * @param key        as for {@link #write}.
     * @param opContext  as for {@link #write}.
     * @return 0 or a negative errno of this class.
     */
    public int writedata(
        long buf, long len, long data, long destAddr, long remoteAddr, long key, long opContext) {
        return post(
            defaults(WRITE) | Flags.REMOTE_CQ_DATA, buf, len, destAddr, remoteAddr, key, data, opContext);
    }

    /**
     * Posts a write whose arguments are named.
     *
     * @param request may be reused by the caller after the return; flags as for {@link #readmsg}, and
     *                {@link Flags#INJECT}, {@link Flags#REMOTE_CQ_DATA} and, with the capability {@link
     *                Flags#RMA_PMEM}, {@link Flags#COMMIT_COMPLETE}: the write ends when its bytes are on stable
     *                storage at the peer, and not before does the peer get an entry or count it. The peer's region
     *                must be persistent, or it ends with {@code FI_EOPNOTSUPP}. {@code FI_EIO}: the bytes may be lost
     *                in a power failure, and all further commits to that region fail. Over tcp and tls the connection
     *                ends instead in both cases.
     * @return as {@link #readmsg}.
     */
    public int writemsg(RemoteRequest request) {
        return postMsg(request, WRITE);
    }

    /**
     * Posts a write whose bytes may be reused at once; there is no entry unless it fails.
     *
     * @param source     any buffer.
     * @param offset     of the bytes in it.
     * @param len        bytes, at most {@link Endpoint#injectSize()}.
     * @param destAddr   as for {@link #write}.
     * @param remoteAddr as for {@link #write}.
     * @param key        as for {@link #write}.
     * @return 0 or a negative errno of this class.
     */
    public int injectWrite(DirectBuffer source, int offset, int len, long destAddr, long remoteAddr, long key) {
        return inject(0, source, offset, len, destAddr, remoteAddr, key, 0);
    }

    /**
     * Posts a write with data for an entry of the peer, whose bytes may be reused at once; there is no entry here
     * unless it fails.
     *
     * @param source     as for {@link #injectWrite}.
     * @param offset     as for {@link #injectWrite}.
     * @param len        as for {@link #injectWrite}.
     * @param data       as for {@link #writedata}.
     * @param destAddr   as for {@link #write}.
     * @param remoteAddr as for {@link #write}.
     * @param key        as for {@link #write}.
     * @return 0 or a negative errno of this class.
     */
    public int injectWritedata(
        DirectBuffer source, int offset, int len, long data, long destAddr, long remoteAddr, long key) {
        return inject(Flags.REMOTE_CQ_DATA, source, offset, len, destAddr, remoteAddr, key, data);
    }

    private int post(
        long flags, long buf, long len, long destAddr, long remoteAddr, long key, long data, long opContext) {
        Submission accesses = accesses(flags);
        if (accesses == null) {
            return refused();
        }
        accesses.enter();
        try {
            WorkRequest work = accesses.transmit(WorkRequest.ACCESS);
            work.piece(buf, len);
            fill(work, flags, destAddr, remoteAddr, key, data, opContext);
            return accesses.post(work);
        } finally {
            accesses.exit();
        }
    }

    private int post(long flags, IoVec iov, long destAddr, long remoteAddr, long key, long data, long opContext) {
        Submission accesses = accesses(flags);
        if (accesses == null) {
            return refused();
        }
        if (iov == null || !iov.isValid()) {
            return -FabricErrno.EINVAL;
        }
        accesses.enter();
        try {
            WorkRequest work = accesses.transmit(WorkRequest.ACCESS);
            work.count = iov.copyTo(work.pieces);
            fill(work, flags, destAddr, remoteAddr, key, data, opContext);
            return accesses.post(work);
        } finally {
            accesses.exit();
        }
    }

    private static void fill(
        WorkRequest work, long flags, long destAddr, long remoteAddr, long key, long data, long opContext) {
        work.flags = flags;
        work.address = destAddr;
        work.remoteAddr = remoteAddr;
        work.key = key;
        work.rangeCount = 0;
        work.data = data;
        work.context = opContext;
    }

    private int postMsg(RemoteRequest request, long kind) {
        return request == null ? -FabricErrno.EINVAL : post(request, kind, request.trigger(), null);
    }

    /** Posts an access; work is null unless it is deferred, and the condition unless a counter starts it. */
    int post(RemoteRequest request, long kind, TriggeredContext trigger, DeferredWork work) {
        Submission accesses = accesses(kind);
        if (accesses == null) {
            return refused();
        }
        boolean isTriggered = work != null || request.isTriggered();
        long flags = EndpointTriggers.flags(request.flags(), work);
        long callFlags = kind == READ ? READ_CALL : isTriggered ? WRITE_CALL : writeCall;
        if ((flags & ~callFlags) != 0 || isTriggered && endpoint.triggers() == null) {
            return -FabricErrno.EBADFLAGS;
        }
        accesses.enter();
        try {
            WorkRequest posted = accesses.transmit(WorkRequest.ACCESS);
            if (isTriggered && !endpoint.triggers().fill(posted, trigger, work) || !request.fill(posted, maxRanges)) {
                return -FabricErrno.EINVAL;
            }
            posted.flags = flags | kind | (work == null ? endpoint.messages().alwaysForSends() : 0);
            return accesses.post(posted);
        } finally {
            accesses.exit();
        }
    }

    private int inject(
        long flags, DirectBuffer source, int offset, int len, long destAddr, long remoteAddr, long key, long data) {
        Submission accesses = accesses(WRITE);
        if (accesses == null) {
            return refused();
        }
        accesses.enter();
        try {
            WorkRequest work = accesses.transmit(WorkRequest.ACCESS);
            fill(work, flags | WRITE | Flags.INJECT, destAddr, remoteAddr, key, data, endpoint.context());
            return accesses.inject(work, source, offset, len);
        } finally {
            accesses.exit();
        }
    }

    /** Flags of a call without flags of its own: the endpoint's defaults, as far as they apply. */
    private long defaults(long kind) {
        return endpoint.sendFlags() & (kind == READ ? READ_CALL : WRITE_CALL) | kind;
    }

    private Submission accesses(long flags) {
        return (flags & offered) == 0 ? null : endpoint.accesses();
    }

    private int refused() {
        int refusal = endpoint.refused();
        return refusal == 0 ? -FabricErrno.EOPNOTSUPP : refusal;
    }
}
