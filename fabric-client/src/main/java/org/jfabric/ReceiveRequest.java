package org.jfabric;

import org.jfabric.client.WorkRequest;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/**
 * The arguments of one receive, each set by its name, so that no two of them can be swapped (struct fi_msg and
 * fi_msg_tagged). Made once and used again and again: setting and posting allocate nothing.
 *
 * <pre>{@code
 * request.memory(region.address(), 64).tag(7).ignore(0).opContext(1);
 * int result = endpoint.messages().trecvmsg(request);
 * }</pre>
 *
 * <p>The endpoint copies the arguments, so the object may be changed as soon as the call returns; the memory that it
 * names belongs to the driver until the entry is read. Owner: one thread at a time. Source: fi_msg(3), section
 * fi_recvmsg; fi_tagged(3), section fi_trecvmsg.
 */
public final class ReceiveRequest {
    private long buf;
    private long len;
    /** Replaces the one piece of memory, unless it is null. */
    private IoVec iov;
    private long srcAddr;
    private long tag;
    private long ignore;
    private long opContext;
    private long flags;
    /** When it starts; null at once. */
    private TriggeredContext trigger;
    /** {@link Flags#TRIGGER} if there is a condition, else 0. */
    private long triggerFlag;

    /** A request as after {@link #clear()}. */
    public ReceiveRequest() {
        clear();
    }

    /**
     * Sets every argument back: no memory, any source, and 0 for the others.
     *
     * @return this.
     */
    public ReceiveRequest clear() {
        buf = 0;
        len = 0;
        iov = null;
        srcAddr = FabricAddress.ADDR_UNSPEC;
        tag = 0;
        ignore = 0;
        opContext = 0;
        flags = 0;
        trigger = null;
        triggerFlag = 0;
        return this;
    }

    /**
     * Where the message goes.
     *
     * @param address     in registered memory, as of {@link MemoryRegion#address(long)}.
     * @param lengthBytes bytes.
     * @return this.
     */
    public ReceiveRequest memory(long address, long lengthBytes) {
        buf = address;
        len = lengthBytes;
        iov = null;
        return this;
    }

    /**
     * Where the message goes: one slice.
     *
     * @param slice of registered memory.
     * @return this.
     */
    public ReceiveRequest memory(MemorySlice slice) {
        return memory(slice.address(), slice.lengthBytes());
    }

    /**
     * Where the message goes: several pieces, in order.
     *
     * @param pieces read when the request is posted; null for the memory that was set before.
     * @return this.
     */
    public ReceiveRequest memory(IoVec pieces) {
        iov = pieces;
        return this;
    }

    /**
     * The source wanted.
     *
     * @param fiAddr as {@link Endpoint#recv} takes it; the default is {@link FabricAddress#ADDR_UNSPEC}, any source.
     * @return this.
     */
    public ReceiveRequest srcAddr(long fiAddr) {
        srcAddr = fiAddr;
        return this;
    }

    /**
     * The tag wanted. Untagged receives ignore it.
     *
     * @param newTag any value.
     * @return this.
     */
    public ReceiveRequest tag(long newTag) {
        tag = newTag;
        return this;
    }

    /**
     * Bits of the tag that do not count. Untagged receives ignore it.
     *
     * @param bits 0 to match the tag as a whole.
     * @return this.
     */
    public ReceiveRequest ignore(long bits) {
        ignore = bits;
        return this;
    }

    /**
     * The application's own value.
     *
     * @param newContext returned in the entry; of a claim the context of the peek.
     * @return this.
     */
    public ReceiveRequest opContext(long newContext) {
        opContext = newContext;
        return this;
    }

    /**
     * Flags of this receive, which replace the endpoint's defaults.
     *
     * @param newFlags as {@link Messages#recvmsg(long, long, long, long, long)} or
     *                 {@link Messages#trecvmsg(long, long, long, long, long, long, long)} takes them.
     * @return this.
     */
    public ReceiveRequest flags(long newFlags) {
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
    public ReceiveRequest trigger(TriggeredContext condition) {
        trigger = condition;
        triggerFlag = condition == null ? 0 : Flags.TRIGGER;
        return this;
    }

    long flags() {
        return flags | triggerFlag;
    }

    boolean isOnePiece() {
        return iov == null;
    }

    private boolean isTriggered() {
        return ((flags | triggerFlag) & Flags.TRIGGER) != 0;
    }

    /** Fills a request that a counter starts; false if the pieces are not valid. */
    boolean fill(WorkRequest work) {
        work.count = IoVec.fill(work.pieces, iov, buf, len);
        work.address = srcAddr;
        work.tag = tag;
        work.ignore = ignore;
        work.data = 0;
        work.context = opContext;
        return work.count >= 0;
    }

    /** Posts it for messages of a kind, {@link Flags#MSG} or {@link Flags#TAGGED}. */
    int post(Endpoint endpoint, long kind) {
        Messages messages = endpoint.messages();
        if (isTriggered()) {
            return endpoint.triggers() == null ? messages.badFlags()
                : endpoint.triggers().receive(this, kind, trigger, null);
        }
        if (kind == Flags.MSG) {
            return iov != null ? messages.recvmsg(iov, srcAddr, opContext, flags)
                : messages.recvmsg(buf, len, srcAddr, opContext, flags);
        }
        return iov != null ? messages.trecvmsg(iov, srcAddr, tag, ignore, opContext, flags)
            : messages.trecvmsg(buf, len, srcAddr, tag, ignore, opContext, flags);
    }
}
