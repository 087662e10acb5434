package org.jfabric.info;

import org.jfabric.info.Attribute.Format;
import org.jfabric.info.Attribute.Rule;

/**
 * How an address vector is opened.
 *
 * <p>Use: {@code domain.openAddressVector(new AddressVectorAttr().count(64))}.
 *
 * <p>A new object is the zeroed fi_av_attr of libfabric. Source: fi_av(3), section fi_av_open. Owner: the thread that
 * fills it in; a call that takes it reads it before it returns.
 */
public final class AddressVectorAttr extends AttributeStructure<AddressVectorAttr> {
    private static final AttributeTable TABLE = new AttributeTable("av_attr.");
    private static final Attribute<AddressVectorType> TYPE = TABLE.add("type", AddressVectorType.UNSPEC);
    private static final Attribute<Integer> RX_CTX_BITS = TABLE.add("rx_ctx_bits", 0);
    private static final Attribute<Long> COUNT = TABLE.add("count", 0L);
    private static final Attribute<Long> EP_PER_NODE = TABLE.add("ep_per_node", 0L);
    private static final Attribute<String> NAME = TABLE.text("name", Rule.FREE);
    private static final Attribute<Long> FLAGS = TABLE.add("flags", Rule.FREE, 0L, Format.AV_OPEN);

    /**
     * Attributes with every member at its default.
     */
    public AddressVectorAttr() {
        super(TABLE);
    }

    /** How addresses are numbered. Default {@link AddressVectorType#UNSPEC}. */
    public AddressVectorType type() {
        return get(TYPE);
    }

    /** Sets {@link #type()}; returns this object. */
    public AddressVectorAttr type(AddressVectorType type) {
        return set(TYPE, type);
    }

    /**
     * Bits of an address that name a receive context of a scalable endpoint, 0 to
     * {@link FabricAddress#MAX_RX_CTX_BITS}; see {@link FabricAddress#rxAddr}. Default 0.
     */
    public int rxCtxBits() {
        return get(RX_CTX_BITS);
    }

    /** Sets {@link #rxCtxBits()}; returns this object. */
    public AddressVectorAttr rxCtxBits(int rxCtxBits) {
        return set(RX_CTX_BITS, rxCtxBits);
    }

    /** Number of addresses that the application expects to insert, a hint; 0 is unknown. Default 0. */
    public long count() {
        return get(COUNT);
    }

    /** Sets {@link #count()}; returns this object. */
    public AddressVectorAttr count(long count) {
        return set(COUNT, count);
    }

    /** Number of endpoints per host that the application expects, a hint; 0 is unknown. Default 0. */
    public long epPerNode() {
        return get(EP_PER_NODE);
    }

    /** Sets {@link #epPerNode()}; returns this object. */
    public AddressVectorAttr epPerNode(long epPerNode) {
        return set(EP_PER_NODE, epPerNode);
    }

    /** Name under which processes share the vector, or null if it is private. Default null. */
    public String name() {
        return get(NAME);
    }

    /** Sets {@link #name()}; returns this object. */
    public AddressVectorAttr name(String name) {
        return set(NAME, name);
    }

    /** Open flags: {@link Flags#EVENT}, {@link Flags#READ} and {@link Flags#SYMMETRIC}. Default 0. */
    public long flags() {
        return get(FLAGS);
    }

    /** Sets {@link #flags()}; returns this object. */
    public AddressVectorAttr flags(long flags) {
        return set(FLAGS, flags);
    }
}
