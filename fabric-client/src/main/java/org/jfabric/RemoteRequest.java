package org.jfabric;

import org.jfabric.client.WorkRequest;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/**
 * The arguments of one read or write of remote memory, each set by its name, so that no two of them can be swapped
 * (struct fi_msg_rma). Made once and used again and again: setting and posting allocate nothing.
 *
 * <pre>{@code
 * request.memory(region.address(), 64).destAddr(peer).remote(0, key).opContext(1).flags(Flags.COMPLETION);
 * int result = endpoint.remoteMemory().writemsg(request);
 * }</pre>
 *
 * <p>The endpoint copies the arguments, so the object may be changed as soon as the call returns; the memory that it
 * names belongs to the driver until the entry is read. Owner: one thread at a time. Source: fi_rma(3), section
 * fi_writemsg.
 */
public final class RemoteRequest {
    private long buf;
    private long len;
    /** Replaces the one piece of memory, unless it is null. */
    private IoVec iov;
    private long destAddr;
    private long remoteAddr;
    private long key;
    /** Replaces the one range of the peer's memory, unless it is null. */
    private RmaIoVec ranges;
    private long data;
    /** {@link Flags#REMOTE_CQ_DATA} if data was set, else 0. */
    private long dataFlag;
    private long opContext;
    private long flags;
    /** When it starts; null at once. */
    private TriggeredContext trigger;
    /** {@link Flags#TRIGGER} if there is a condition, else 0. */
    private long triggerFlag;

    /** A request as after {@link #clear()}. */
    public RemoteRequest() {
        clear();
    }

    /**
     * Sets every argument back: no memory, no peer, no data, and 0 for the others.
     *
     * @return this.
     */
    public RemoteRequest clear() {
        buf = 0;
        len = 0;
        iov = null;
        destAddr = FabricAddress.ADDR_UNSPEC;
        remoteAddr = 0;
        key = 0;
        ranges = null;
        data = 0;
        dataFlag = 0;
        opContext = 0;
        flags = 0;
        trigger = null;
        triggerFlag = 0;
        return this;
    }

    /**
     * The local memory.
     *
     * @param address     in registered memory, as of {@link MemoryRegion#address(long)}.
     * @param lengthBytes bytes.
     * @return this.
     */
    public RemoteRequest memory(long address, long lengthBytes) {
        buf = address;
        len = lengthBytes;
        iov = null;
        return this;
    }

    /**
     * The local memory, in several pieces.
     *
     * @param pieces read when the request is posted; null for the memory that was set before.
     * @return this.
     */
    public RemoteRequest memory(IoVec pieces) {
        iov = pieces;
        return this;
    }

    /**
     * The peer. A connected endpoint ignores it.
     *
     * @param fiAddr from the address vector.
     * @return this.
     */
    public RemoteRequest destAddr(long fiAddr) {
        destAddr = fiAddr;
        return this;
    }

    /**
     * The peer's memory.
     *
     * @param offset    of the first byte in the region.
     * @param regionKey key of the region, as of {@link MemoryRegion#key()} there.
     * @return this.
     */
    public RemoteRequest remote(long offset, long regionKey) {
        remoteAddr = offset;
        key = regionKey;
        ranges = null;
        return this;
    }

    /**
     * The peer's memory, in several ranges.
     *
     * @param newRanges read when the request is posted: 1 to {@code rma_iov_limit} of the endpoint's attributes, as
     *                  long together as the local memory; null for the range that was set before.
     * @return this.
     */
    public RemoteRequest remote(RmaIoVec newRanges) {
        ranges = newRanges;
        return this;
    }

    /**
     * Data for an entry of the peer, with a write: adds {@link Flags#REMOTE_CQ_DATA} to the flags, until
     * {@link #clear()}.
     *
     * @param cqData any value, which is sent, 0 too. A request without this call carries none, as one of libfabric
     *               without the flag, whatever its field {@code data} is.
     * @return this.
     */
    public RemoteRequest remoteCqData(long cqData) {
        data = cqData;
        dataFlag = Flags.REMOTE_CQ_DATA;
        return this;
    }

    /**
     * The application's own value.
     *
     * @param newContext returned in the entry.
     * @return this.
     */
    public RemoteRequest opContext(long newContext) {
        opContext = newContext;
        return this;
    }

    /**
     * Flags of this operation, which replace the endpoint's defaults.
     *
     * @param newFlags as {@link RemoteMemory#writemsg} takes them.
     * @return this.
     */
    public RemoteRequest flags(long newFlags) {
        flags = newFlags;
        return this;
    }

    /**
     * Lets a counter start the operation: adds {@link Flags#TRIGGER} to the flags, until {@link #clear()}. Needs an
     * endpoint with that capability.
     *
     * @param condition read when the request is posted; null takes the condition back.
     * @return this.
     */
    public RemoteRequest trigger(TriggeredContext condition) {
        trigger = condition;
        triggerFlag = condition == null ? 0 : Flags.TRIGGER;
        return this;
    }

    TriggeredContext trigger() {
        return trigger;
    }

    boolean isTriggered() {
        return ((flags | triggerFlag) & Flags.TRIGGER) != 0;
    }

    /** Fills the record; false if the pieces or the ranges are not valid. */
    boolean fill(WorkRequest work, long maxRanges) {
        work.rangeCount = 0;
        work.remoteAddr = remoteAddr;
        work.key = key;
        if (ranges != null) {
            if (ranges.count() == 0 || ranges.count() > maxRanges
                || ranges.lengthBytes() != (iov == null ? len : iov.lengthBytes())) {
                return false;
            }
            ranges.copyTo(work);
        }
        work.count = IoVec.fill(work.pieces, iov, buf, len);
        work.address = destAddr;
        work.data = data;
        work.context = opContext;
        return work.count >= 0;
    }

    long flags() {
        return flags | dataFlag | triggerFlag;
    }
}
