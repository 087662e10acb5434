package org.jfabric;

import org.jfabric.client.WorkRequest;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/**
 * The arguments of one send, each set by its name, so that no two of them can be swapped (struct fi_msg and
 * fi_msg_tagged). Made once and used again and again: setting and posting allocate nothing.
 *
 * <pre>{@code
 * request.memory(region.address(), 64).destAddr(peer).tag(7).opContext(1).flags(Flags.COMPLETION);
 * int result = endpoint.messages().tsendmsg(request);
 * }</pre>
 *
 * <p>The endpoint copies the arguments, so the object may be changed as soon as the call returns; the memory that it
 * names belongs to the driver until the entry is read. Owner: one thread at a time. Source: fi_msg(3), section
 * fi_sendmsg; fi_tagged(3), section fi_tsendmsg.
 */
public final class SendRequest {
    private long buf;
    private long len;
    /** Replaces the one piece of memory, unless it is null. */
    private IoVec iov;
    private long destAddr;
    private long tag;
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
    public SendRequest() {
        clear();
    }

    /**
     * Sets every argument back: no memory, no destination, no data, and 0 for the others.
     *
     * @return this.
     */
    public SendRequest clear() {
        buf = 0;
        len = 0;
        iov = null;
        destAddr = FabricAddress.ADDR_UNSPEC;
        tag = 0;
        data = 0;
        dataFlag = 0;
        opContext = 0;
        flags = 0;
        trigger = null;
        triggerFlag = 0;
        return this;
    }

    /**
     * Where the message is.
     *
     * @param address     in registered memory, as of {@link MemoryRegion#address(long)}.
     * @param lengthBytes bytes.
     * @return this.
     */
    public SendRequest memory(long address, long lengthBytes) {
        buf = address;
        len = lengthBytes;
        iov = null;
        return this;
    }

    /**
     * Where the message is: one slice.
     *
     * @param slice of registered memory.
     * @return this.
     */
    public SendRequest memory(MemorySlice slice) {
        return memory(slice.address(), slice.lengthBytes());
    }

    /**
     * Where the message is: several pieces, which go as one message, in order.
     *
     * @param pieces read when the request is posted; null for the memory that was set before.
     * @return this.
     */
    public SendRequest memory(IoVec pieces) {
        iov = pieces;
        return this;
    }

    /**
     * The peer. A connected endpoint ignores it.
     *
     * @param fiAddr destination, from the address vector.
     * @return this.
     */
    public SendRequest destAddr(long fiAddr) {
        destAddr = fiAddr;
        return this;
    }

    /**
     * The message's tag. Untagged sends ignore it.
     *
     * @param newTag any value.
     * @return this.
     */
    public SendRequest tag(long newTag) {
        tag = newTag;
        return this;
    }

    /**
     * Data for the peer's entry: adds {@link Flags#REMOTE_CQ_DATA} to the flags, until {@link #clear()}.
     *
     * @param cqData any value, which is sent, 0 too. A request without this call carries none, as one of libfabric
     *               without the flag, whatever its field {@code data} is.
     * @return this.
     */
    public SendRequest remoteCqData(long cqData) {
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
    public SendRequest opContext(long newContext) {
        opContext = newContext;
        return this;
    }

    /**
     * Flags of this send, which replace the endpoint's defaults.
     *
     * @param newFlags as {@link Messages#tsendmsg(long, long, long, long, long, long, long)} takes them.
     * @return this.
     */
    public SendRequest flags(long newFlags) {
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
    public SendRequest trigger(TriggeredContext condition) {
        trigger = condition;
        triggerFlag = condition == null ? 0 : Flags.TRIGGER;
        return this;
    }

    long flags() {
        return flags | dataFlag | triggerFlag;
    }

    private boolean isTriggered() {
        return ((flags | triggerFlag) & Flags.TRIGGER) != 0;
    }

    /** Fills a request that a counter starts; false if the pieces are not valid. */
    boolean fill(WorkRequest work) {
        work.count = IoVec.fill(work.pieces, iov, buf, len);
        work.address = destAddr;
        work.tag = tag;
        work.data = data;
        work.context = opContext;
        return work.count >= 0;
    }

    /** Posts it as a message of a kind, {@link Flags#MSG} or {@link Flags#TAGGED}. */
    int post(Endpoint endpoint, long kind) {
        Messages messages = endpoint.messages();
        if (isTriggered()) {
            return endpoint.triggers() == null ? messages.badFlags()
                : endpoint.triggers().send(this, kind, trigger, null);
        }
        if (kind == Flags.MSG) {
            return iov != null ? messages.sendmsg(iov, data, destAddr, opContext, flags | dataFlag)
                : messages.sendmsg(buf, len, data, destAddr, opContext, flags | dataFlag);
        }
        return iov != null ? messages.tsendmsg(iov, data, destAddr, tag, opContext, flags | dataFlag)
            : messages.tsendmsg(buf, len, data, destAddr, tag, opContext, flags | dataFlag);
    }
}
