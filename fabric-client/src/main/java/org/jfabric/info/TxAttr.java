package org.jfabric.info;

/**
 * Attributes of a transmit context.
 *
 * <p>Use: {@code hints.txAttr().opFlags(Flags.DELIVERY_COMPLETE)}.
 *
 * <p>In hints 0 is a wildcard; a new object is all wildcards. Source: fi_endpoint(3), section Transmit Context
 * Attributes. Owner: the thread that fills it in; a call that takes it reads it before it returns.
 */
public final class TxAttr {
    private long caps;
    private long mode;
    private long opFlags;
    private long msgOrder;
    private long compOrder;
    private long injectSize;
    private long size;
    private long iovLimit;
    private long rmaIovLimit;
    private int tclass;

    /**
     * Attributes with every member at its default.
     */
    public TxAttr() {
    }

    private TxAttr(TxAttr from) {
        caps = from.caps;
        mode = from.mode;
        opFlags = from.opFlags;
        msgOrder = from.msgOrder;
        compOrder = from.compOrder;
        injectSize = from.injectSize;
        size = from.size;
        iovLimit = from.iovLimit;
        rmaIovLimit = from.rmaIovLimit;
        tclass = from.tclass;
    }

    /**
     * Capabilities of transmit operations, a subset of those of the endpoint; 0 takes over the applicable ones of
     * {@link Info#caps()}. Default 0.
     */
    public long caps() {
        return caps;
    }

    /** Sets {@link #caps()}; returns this object. */
    public TxAttr caps(long caps) {
        this.caps = caps;
        return this;
    }

    /**
     * {@link Mode} bits of transmit operations; 0 takes over those of {@link Info#mode()}. Default 0.
     */
    public long mode() {
        return mode;
    }

    /** Sets {@link #mode()}; returns this object. */
    public TxAttr mode(long mode) {
        this.mode = mode;
        return this;
    }

    /**
     * Flags of calls without a flags argument. In hints 0 is any; a returned one names the default completion level:
     * {@link Flags#INJECT_COMPLETE} over tcp, rxm and verbsrxm, {@link Flags#TRANSMIT_COMPLETE} over all other links.
     * Default 0.
     */
    public long opFlags() {
        return opFlags;
    }

    /** Sets {@link #opFlags()}; returns this object. */
    public TxAttr opFlags(long opFlags) {
        this.opFlags = opFlags;
        return this;
    }

    /** {@link Order} bits of messages; 0 asks for the default of the provider. Default 0. */
    public long msgOrder() {
        return msgOrder;
    }

    /** Sets {@link #msgOrder()}; returns this object. */
    public TxAttr msgOrder(long msgOrder) {
        this.msgOrder = msgOrder;
        return this;
    }

    /**
     * {@link Order} bits of completions. With {@link Order#NONE}, the default, a send is reported when it has ended: a
     * short one perhaps before an earlier long one to the same peer, which waits for its receive. With
     * {@link Order#STRICT}, which every link offers where it is asked for, sends are reported in the order of posting,
     * whatever their destinations: each waits for all earlier ones.
     */
    public long compOrder() {
        return compOrder;
    }

    /** Sets {@link #compOrder()}; returns this object. */
    public TxAttr compOrder(long compOrder) {
        this.compOrder = compOrder;
        return this;
    }

    /** Largest transfer of inject calls in bytes. Default 0. */
    public long injectSize() {
        return injectSize;
    }

    /** Sets {@link #injectSize()}; returns this object. */
    public TxAttr injectSize(long injectSize) {
        this.injectSize = injectSize;
        return this;
    }

    /** Operations that may be outstanding; fewer may be possible at times. Default 0. */
    public long size() {
        return size;
    }

    /** Sets {@link #size()}; returns this object. */
    public TxAttr size(long size) {
        this.size = size;
        return this;
    }

    /** Most scatter-gather elements of one operation. Default 0. */
    public long iovLimit() {
        return iovLimit;
    }

    /** Sets {@link #iovLimit()}; returns this object. */
    public TxAttr iovLimit(long iovLimit) {
        this.iovLimit = iovLimit;
        return this;
    }

    /** Most remote elements of one RMA or atomic operation. Default 0. */
    public long rmaIovLimit() {
        return rmaIovLimit;
    }

    /** Sets {@link #rmaIovLimit()}; returns this object. */
    public TxAttr rmaIovLimit(long rmaIovLimit) {
        this.rmaIovLimit = rmaIovLimit;
        return this;
    }

    /**
     * Traffic class: a {@link TrafficClass} code or a code point of {@link TrafficClass#dscpSet(int)}; 0 takes that of
     * the domain. The links tcp, rxm and udp mark the packets of their sockets with it, verbs and verbsrxm those of
     * connections that they ask for; see {@link TrafficClass} for the marks. Links on one host have one way for
     * everything and keep it as a hint. No class needs a privilege. Default 0.
     */
    public int tclass() {
        return tclass;
    }

    /** Sets {@link #tclass()}; returns this object. */
    public TxAttr tclass(int tclass) {
        this.tclass = tclass;
        return this;
    }

    /** An independent copy, nested objects included; changing one does not change the other. */
    public TxAttr copy() {
        return new TxAttr(this);
    }

    @Override
    public String toString() {
        return "TxAttr{caps=" + Flags.toString(caps, Flags.Kind.CAPABILITY) + ", mode=" + Mode.toString(mode)
            + ", opFlags=" + Flags.toString(opFlags, Flags.Kind.OPERATION)
            + ", msgOrder=" + Order.toString(msgOrder) + ", compOrder=" + Order.toString(compOrder)
            + ", injectSize=" + injectSize + ", size=" + size + ", iovLimit=" + iovLimit
            + ", rmaIovLimit=" + rmaIovLimit + ", tclass=" + Codes.hex(tclass) + '}';
    }
}
