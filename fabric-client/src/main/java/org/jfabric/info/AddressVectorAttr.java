package org.jfabric.info;

/**
 * How an address vector is opened.
 *
 * <p>Use: {@code domain.openAddressVector(new AddressVectorAttr().count(64))}.
 *
 * <p>A new object is the zeroed fi_av_attr of libfabric. Source: fi_av(3), section fi_av_open. Owner: the thread that
 * fills it in; a call that takes it reads it before it returns.
 */
public final class AddressVectorAttr {
    private AddressVectorType type = AddressVectorType.UNSPEC;
    private int rxCtxBits;
    private long count;
    private long epPerNode;
    private String name;
    private long flags;

    /**
     * Attributes with every member at its default.
     */
    public AddressVectorAttr() {
    }

    private AddressVectorAttr(AddressVectorAttr from) {
        type = from.type;
        rxCtxBits = from.rxCtxBits;
        count = from.count;
        epPerNode = from.epPerNode;
        name = from.name;
        flags = from.flags;
    }

    /** How addresses are numbered. Default {@link AddressVectorType#UNSPEC}. */
    public AddressVectorType type() {
        return type;
    }

    /** Sets {@link #type()}; returns this object. */
    public AddressVectorAttr type(AddressVectorType type) {
        this.type = Codes.required(type, "type");
        return this;
    }

    /**
     * Bits of an address that name a receive context of a scalable endpoint, 0 to
     * {@link FabricAddress#MAX_RX_CTX_BITS}; see {@link FabricAddress#rxAddr}. Default 0.
     */
    public int rxCtxBits() {
        return rxCtxBits;
    }

    /** Sets {@link #rxCtxBits()}; returns this object. */
    public AddressVectorAttr rxCtxBits(int rxCtxBits) {
        this.rxCtxBits = rxCtxBits;
        return this;
    }

    /** Number of addresses that the application expects to insert, a hint; 0 is unknown. Default 0. */
    public long count() {
        return count;
    }

    /** Sets {@link #count()}; returns this object. */
    public AddressVectorAttr count(long count) {
        this.count = count;
        return this;
    }

    /** Number of endpoints per host that the application expects, a hint; 0 is unknown. Default 0. */
    public long epPerNode() {
        return epPerNode;
    }

    /** Sets {@link #epPerNode()}; returns this object. */
    public AddressVectorAttr epPerNode(long epPerNode) {
        this.epPerNode = epPerNode;
        return this;
    }

    /** Name under which processes share the vector, or null if it is private. Default null. */
    public String name() {
        return name;
    }

    /** Sets {@link #name()}; returns this object. */
    public AddressVectorAttr name(String name) {
        this.name = name;
        return this;
    }

    /** Open flags: {@link Flags#EVENT}, {@link Flags#READ} and {@link Flags#SYMMETRIC}. Default 0. */
    public long flags() {
        return flags;
    }

    /** Sets {@link #flags()}; returns this object. */
    public AddressVectorAttr flags(long flags) {
        this.flags = flags;
        return this;
    }

    /** An independent copy, nested objects included; changing one does not change the other. */
    public AddressVectorAttr copy() {
        return new AddressVectorAttr(this);
    }

    @Override
    public String toString() {
        return "AddressVectorAttr{type=" + type + ", rxCtxBits=" + rxCtxBits + ", count=" + count
            + ", epPerNode=" + epPerNode + ", name=" + name
            + ", flags=" + Flags.toString(flags, Flags.Kind.AV_OPEN) + '}';
    }
}
