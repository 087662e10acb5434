package org.jfabric;

import org.jfabric.info.Flags;

/**
 * How memory is registered.
 *
 * <p>Use: {@code domain.allocate(4096, new MemoryRegionAttr().access(Flags.REMOTE_WRITE).requestedKey(7))}.
 *
 * <p>A new object is for local use only: no peer can access the region. Source: fi_mr(3), section fi_mr_reg. Owner: the
 * thread that fills it in; a call that takes it reads it before it returns.
 */
public final class MemoryRegionAttr {
    private long access;
    private long requestedKey;
    private long flags;
    private long context;

    /** Attributes with every member at its default. */
    public MemoryRegionAttr() {
    }

    /**
     * What the region is used for: {@link Flags#REMOTE_READ} and {@link Flags#REMOTE_WRITE} let peers read and write
     * it. {@link Flags#SEND}, {@link Flags#RECV}, {@link Flags#READ} and {@link Flags#WRITE} are allowed always and may
     * be left out. Default 0.
     *
     * @return the bits.
     */
    public long access() {
        return access;
    }

    /**
     * Sets {@link #access()}.
     *
     * @param access the bits.
     * @return this object.
     */
    public MemoryRegionAttr access(long access) {
        this.access = access;
        return this;
    }

    /**
     * The key by which peers name the region, if they may access it; unique in its domain. Ignored where the card
     * chooses keys ({@link org.jfabric.info.MrMode#PROV_KEY}). Default 0.
     *
     * @return any value.
     */
    public long requestedKey() {
        return requestedKey;
    }

    /**
     * Sets {@link #requestedKey()}.
     *
     * @param requestedKey any value.
     * @return this object.
     */
    public MemoryRegionAttr requestedKey(long requestedKey) {
        this.requestedKey = requestedKey;
        return this;
    }

    /**
     * Flags of the registration (the argument flags of fi_mr_reg). {@link Flags#RMA_EVENT}: the region is registered
     * disabled, so that counters and endpoints can be bound to it; peers can access it after {@link
     * MemoryRegion#enable()}. The owner's own operations can use it at once. Refused
     * with {@code FI_EOPNOTSUPP} where a card chooses the keys. Default 0: enabled from the start.
     *
     * @return the bits.
     */
    public long flags() {
        return flags;
    }

    /**
     * Sets {@link #flags()}.
     *
     * @param flags the bits.
     * @return this object.
     */
    public MemoryRegionAttr flags(long flags) {
        this.flags = flags;
        return this;
    }

    /**
     * Context of the region itself, returned by {@link MemoryRegion#context()}. Default 0.
     *
     * @return the application's value.
     */
    public long context() {
        return context;
    }

    /**
     * Sets {@link #context()}.
     *
     * @param context the application's value.
     * @return this object.
     */
    public MemoryRegionAttr context(long context) {
        this.context = context;
        return this;
    }

    MemoryRegionAttr copy() {
        return new MemoryRegionAttr().access(access).requestedKey(requestedKey).flags(flags)
            .context(context);
    }

    /** Whether peers may do anything with the region. */
    boolean isRemote() {
        return (access & (Flags.REMOTE_READ | Flags.REMOTE_WRITE)) != 0;
    }

    /** Whether the region is enabled later, when it is bound. */
    boolean isBindable() {
        return (flags & Flags.RMA_EVENT) != 0;
    }

    @Override
    public String toString() {
        return "MemoryRegionAttr{access=" + Flags.toString(access, Flags.Kind.MR_ACCESS) + ", requestedKey="
            + requestedKey + ", flags=" + Flags.toString(flags, Flags.Kind.MR_REGISTER) + ", context=" + context + '}';
    }
}
