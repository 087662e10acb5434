package org.jfabric.info;

import org.jfabric.info.Attribute.Format;
import org.jfabric.info.Attribute.Rule;

/**
 * Attributes of a receive context.
 *
 * <p>Use: {@code hints.rxAttr().size(256)}.
 *
 * <p>In hints 0 is a wildcard; a new object is all wildcards. Source: fi_endpoint(3), section Receive Context
 * Attributes. Owner: the thread that fills it in; a call that takes it reads it before it returns.
 */
public final class RxAttr extends AttributeStructure<RxAttr> {
    private static final AttributeTable TABLE = new AttributeTable("rx_attr.");
    private static final Attribute<Long> CAPS = TABLE.caps();
    private static final Attribute<Long> MODE = TABLE.mode();
    private static final Attribute<Long> OP_FLAGS = TABLE.add("op_flags", Rule.BITS, 0L, Format.OPERATION);
    private static final Attribute<Long> MSG_ORDER = TABLE.order("msg_order");
    private static final Attribute<Long> COMP_ORDER = TABLE.order("comp_order");
    private static final Attribute<Long> TOTAL_BUFFERED_RECV = TABLE.add("total_buffered_recv", 0L);
    private static final Attribute<Long> SIZE = TABLE.limit("size");
    private static final Attribute<Long> IOV_LIMIT = TABLE.limit("iov_limit");

    /**
     * Attributes with every member at its default.
     */
    public RxAttr() {
        super(TABLE);
    }

    /**
     * Capabilities of receives, a subset of those of the endpoint; 0 takes over the applicable ones of
     * {@link Info#caps()}. Default 0.
     */
    public long caps() {
        return get(CAPS);
    }

    /** Sets {@link #caps()}; returns this object. */
    public RxAttr caps(long caps) {
        return set(CAPS, caps);
    }

    /** {@link Mode} bits of receives; 0 takes over those of {@link Info#mode()}. Default 0. */
    public long mode() {
        return get(MODE);
    }

    /** Sets {@link #mode()}; returns this object. */
    public RxAttr mode(long mode) {
        return set(MODE, mode);
    }

    /**
     * Flags of calls without a flags argument. In hints 0 is any; a returned one names the default completion level.
     * Default 0.
     */
    public long opFlags() {
        return get(OP_FLAGS);
    }

    /** Sets {@link #opFlags()}; returns this object. */
    public RxAttr opFlags(long opFlags) {
        return set(OP_FLAGS, opFlags);
    }

    /** {@link Order} bits of messages; 0 asks for the default of the provider. Default 0. */
    public long msgOrder() {
        return get(MSG_ORDER);
    }

    /** Sets {@link #msgOrder()}; returns this object. */
    public RxAttr msgOrder(long msgOrder) {
        return set(MSG_ORDER, msgOrder);
    }

    /**
     * {@link Order} bits of completions. With {@link Order#NONE}, the default, entries of one sender's messages come in
     * the order of matching, but a message longer than the eager limit may be overtaken by shorter ones. With
     * {@link Order#STRICT}, which every link offers where it is asked for, nothing of one sender is overtaken. The
     * bytes of a payload are written in no order, so {@link Order#DATA} is refused.
     */
    public long compOrder() {
        return get(COMP_ORDER);
    }

    /** Sets {@link #compOrder()}; returns this object. */
    public RxAttr compOrder(long compOrder) {
        return set(COMP_ORDER, compOrder);
    }

    /** Bytes wanted for messages without a matching receive, a hint. Default 0. */
    public long totalBufferedRecv() {
        return get(TOTAL_BUFFERED_RECV);
    }

    /** Sets {@link #totalBufferedRecv()}; returns this object. */
    public RxAttr totalBufferedRecv(long totalBufferedRecv) {
        return set(TOTAL_BUFFERED_RECV, totalBufferedRecv);
    }

    /** Receives that may be outstanding; fewer may be possible at times. Default 0. */
    public long size() {
        return get(SIZE);
    }

    /** Sets {@link #size()}; returns this object. */
    public RxAttr size(long size) {
        return set(SIZE, size);
    }

    /** Most scatter-gather elements of one receive. Default 0. */
    public long iovLimit() {
        return get(IOV_LIMIT);
    }

    /** Sets {@link #iovLimit()}; returns this object. */
    public RxAttr iovLimit(long iovLimit) {
        return set(IOV_LIMIT, iovLimit);
    }
}
