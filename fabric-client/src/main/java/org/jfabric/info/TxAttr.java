package org.jfabric.info;

import org.jfabric.info.Attribute.Format;
import org.jfabric.info.Attribute.Rule;

/**
 * Attributes of a transmit context.
 *
 * <p>Use: {@code hints.txAttr().opFlags(Flags.DELIVERY_COMPLETE)}.
 *
 * <p>In hints 0 is a wildcard; a new object is all wildcards. Source: fi_endpoint(3), section Transmit Context
 * Attributes. Owner: the thread that fills it in; a call that takes it reads it before it returns.
 */
public final class TxAttr extends AttributeStructure<TxAttr> {
    private static final AttributeTable TABLE = new AttributeTable("tx_attr.");
    private static final Attribute<Long> CAPS = TABLE.caps();
    private static final Attribute<Long> MODE = TABLE.mode();
    private static final Attribute<Long> OP_FLAGS = TABLE.add("op_flags", Rule.BITS, 0L, Format.OPERATION);
    private static final Attribute<Long> MSG_ORDER = TABLE.order("msg_order");
    private static final Attribute<Long> COMP_ORDER = TABLE.order("comp_order");
    private static final Attribute<Long> INJECT_SIZE = TABLE.limit("inject_size");
    private static final Attribute<Long> SIZE = TABLE.limit("size");
    private static final Attribute<Long> IOV_LIMIT = TABLE.limit("iov_limit");
    private static final Attribute<Long> RMA_IOV_LIMIT = TABLE.limit("rma_iov_limit");
    private static final Attribute<Integer> TCLASS = TABLE.trafficClass();

    /**
     * Attributes with every member at its default.
     */
    public TxAttr() {
        super(TABLE);
    }

    /**
     * Capabilities of transmit operations, a subset of those of the endpoint; 0 takes over the applicable ones of
     * {@link Info#caps()}. Default 0.
     */
    public long caps() {
        return get(CAPS);
    }

    /** Sets {@link #caps()}; returns this object. */
    public TxAttr caps(long caps) {
        return set(CAPS, caps);
    }

    /**
     * {@link Mode} bits of transmit operations; 0 takes over those of {@link Info#mode()}. Default 0.
     */
    public long mode() {
        return get(MODE);
    }

    /** Sets {@link #mode()}; returns this object. */
    public TxAttr mode(long mode) {
        return set(MODE, mode);
    }

    /**
     * Flags of calls without a flags argument. In hints 0 is any; a returned one names the default completion level:
     * {@link Flags#INJECT_COMPLETE} over tcp, rxm and verbsrxm, {@link Flags#TRANSMIT_COMPLETE} over all other links.
     * Default 0.
     */
    public long opFlags() {
        return get(OP_FLAGS);
    }

    /** Sets {@link #opFlags()}; returns this object. */
    public TxAttr opFlags(long opFlags) {
        return set(OP_FLAGS, opFlags);
    }

    /** {@link Order} bits of messages; 0 asks for the default of the provider. Default 0. */
    public long msgOrder() {
        return get(MSG_ORDER);
    }

    /** Sets {@link #msgOrder()}; returns this object. */
    public TxAttr msgOrder(long msgOrder) {
        return set(MSG_ORDER, msgOrder);
    }

    /**
     * {@link Order} bits of completions. With {@link Order#NONE}, the default, a send is reported when it has ended: a
     * short one perhaps before an earlier long one to the same peer, which waits for its receive. With
     * {@link Order#STRICT}, which every link offers where it is asked for, sends are reported in the order of posting,
     * whatever their destinations: each waits for all earlier ones.
     */
    public long compOrder() {
        return get(COMP_ORDER);
    }

    /** Sets {@link #compOrder()}; returns this object. */
    public TxAttr compOrder(long compOrder) {
        return set(COMP_ORDER, compOrder);
    }

    /** Largest transfer of inject calls in bytes. Default 0. */
    public long injectSize() {
        return get(INJECT_SIZE);
    }

    /** Sets {@link #injectSize()}; returns this object. */
    public TxAttr injectSize(long injectSize) {
        return set(INJECT_SIZE, injectSize);
    }

    /** Operations that may be outstanding; fewer may be possible at times. Default 0. */
    public long size() {
        return get(SIZE);
    }

    /** Sets {@link #size()}; returns this object. */
    public TxAttr size(long size) {
        return set(SIZE, size);
    }

    /** Most scatter-gather elements of one operation. Default 0. */
    public long iovLimit() {
        return get(IOV_LIMIT);
    }

    /** Sets {@link #iovLimit()}; returns this object. */
    public TxAttr iovLimit(long iovLimit) {
        return set(IOV_LIMIT, iovLimit);
    }

    /** Most remote elements of one RMA or atomic operation. Default 0. */
    public long rmaIovLimit() {
        return get(RMA_IOV_LIMIT);
    }

    /** Sets {@link #rmaIovLimit()}; returns this object. */
    public TxAttr rmaIovLimit(long rmaIovLimit) {
        return set(RMA_IOV_LIMIT, rmaIovLimit);
    }

    /**
     * Traffic class: a {@link TrafficClass} code or a code point of {@link TrafficClass#dscpSet(int)}; 0 takes that of
     * the domain. The links tcp, rxm and udp mark the packets of their sockets with it, verbs and verbsrxm those of
     * connections that they ask for; see {@link TrafficClass} for the marks. Links on one host have one way for
     * everything and keep it as a hint. No class needs a privilege. Default 0.
     */
    public int tclass() {
        return get(TCLASS);
    }

    /** Sets {@link #tclass()}; returns this object. */
    public TxAttr tclass(int tclass) {
        return set(TCLASS, tclass);
    }
}
