package org.jfabric.info;

/**
 * Attributes of a receive context.
 *
 * <p>Use: {@code hints.rxAttr().size(256)}.
 *
 * <p>In hints 0 is a wildcard; a new object is all wildcards. Source: fi_endpoint(3), section Receive Context
 * Attributes. Owner: the thread that fills it in; a call that takes it reads it before it returns.
 */
public final class RxAttr {
    private long caps;
    private long mode;
    private long opFlags;
    private long msgOrder;
    private long compOrder;
    private long totalBufferedRecv;
    private long size;
    private long iovLimit;

    /**
     * Attributes with every member at its default.
     */
    public RxAttr() {
    }

    private RxAttr(RxAttr from) {
        caps = from.caps;
        mode = from.mode;
        opFlags = from.opFlags;
        msgOrder = from.msgOrder;
        compOrder = from.compOrder;
        totalBufferedRecv = from.totalBufferedRecv;
        size = from.size;
        iovLimit = from.iovLimit;
    }

    /**
     * Capabilities of receives, a subset of those of the endpoint; 0 takes over the applicable ones of
     * {@link Info#caps()}. Default 0.
     */
    public long caps() {
        return caps;
    }

    /** Sets {@link #caps()}; returns this object. */
    public RxAttr caps(long caps) {
        this.caps = caps;
        return this;
    }

    /** {@link Mode} bits of receives; 0 takes over those of {@link Info#mode()}. Default 0. */
    public long mode() {
        return mode;
    }

    /** Sets {@link #mode()}; returns this object. */
    public RxAttr mode(long mode) {
        this.mode = mode;
        return this;
    }

    /**
     * Flags of calls without a flags argument. In hints 0 is any; a returned one names the default completion level.
     * Default 0.
     */
    public long opFlags() {
        return opFlags;
    }

    /** Sets {@link #opFlags()}; returns this object. */
    public RxAttr opFlags(long opFlags) {
        this.opFlags = opFlags;
        return this;
    }

    /** {@link Order} bits of messages; 0 asks for the default of the provider. Default 0. */
    public long msgOrder() {
        return msgOrder;
    }

    /** Sets {@link #msgOrder()}; returns this object. */
    public RxAttr msgOrder(long msgOrder) {
        this.msgOrder = msgOrder;
        return this;
    }

    /**
     * {@link Order} bits of completions. With {@link Order#NONE}, the default, entries of one sender's messages come in
     * the order of matching, but a message longer than the eager limit may be overtaken by shorter ones. With
     * {@link Order#STRICT}, which every link offers where it is asked for, nothing of one sender is overtaken. The
     * bytes of a payload are written in no order, so {@link Order#DATA} is refused.
     */
    public long compOrder() {
        return compOrder;
    }

    /** Sets {@link #compOrder()}; returns this object. */
    public RxAttr compOrder(long compOrder) {
        this.compOrder = compOrder;
        return this;
    }

    /** Bytes wanted for messages without a matching receive, a hint. Default 0. */
    public long totalBufferedRecv() {
        return totalBufferedRecv;
    }

    /** Sets {@link #totalBufferedRecv()}; returns this object. */
    public RxAttr totalBufferedRecv(long totalBufferedRecv) {
        this.totalBufferedRecv = totalBufferedRecv;
        return this;
    }

    /** Receives that may be outstanding; fewer may be possible at times. Default 0. */
    public long size() {
        return size;
    }

    /** Sets {@link #size()}; returns this object. */
    public RxAttr size(long size) {
        this.size = size;
        return this;
    }

    /** Most scatter-gather elements of one receive. Default 0. */
    public long iovLimit() {
        return iovLimit;
    }

    /** Sets {@link #iovLimit()}; returns this object. */
    public RxAttr iovLimit(long iovLimit) {
        this.iovLimit = iovLimit;
        return this;
    }

    /** An independent copy, nested objects included; changing one does not change the other. */
    public RxAttr copy() {
        return new RxAttr(this);
    }

    @Override
    public String toString() {
        return toString(Flags.Kind.CAPABILITY);
    }

    /** The text, with the names that capabilities have in the version of an info. */
    String toString(Flags.Kind capabilities) {
        return "RxAttr{caps=" + Flags.toString(caps, capabilities) + ", mode=" + Mode.toString(mode)
            + ", opFlags=" + Flags.toString(opFlags, Flags.Kind.OPERATION)
            + ", msgOrder=" + Order.toString(msgOrder) + ", compOrder=" + Order.toString(compOrder)
            + ", totalBufferedRecv=" + totalBufferedRecv + ", size=" + size + ", iovLimit=" + iovLimit + '}';
    }
}
