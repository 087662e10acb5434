package org.jfabric.info;

import org.jfabric.ConnectionRequest;
import org.jfabric.PassiveEndpoint;
import org.jfabric.info.Attribute.Rule;

/**
 * Describes an endpoint and its fabric and domain: as an offer of discovery, or as hints the needs of an application.
 *
 * <p>Use: {@code fabric.info(new Info().caps(Flags.TAGGED)).best()}.
 *
 * <p>As hints, members that are set must be met, 0, UNSPEC, null and empty ones are wildcards, and {@link #mode()} says
 * what the application is able to fulfil. A result is complete and is what objects are opened with; edit a
 * {@link #copy()}. Source: fi_getinfo(3). Owner: the thread that fills it in; a call that takes it reads it before it
 * returns.
 */
public final class Info extends AttributeStructure<Info> {
    private static final long MESSAGES = Flags.SEND | Flags.RECV;
    private static final long ACCESSES = Flags.READ | Flags.WRITE | Flags.REMOTE_READ | Flags.REMOTE_WRITE;

    private static final AttributeTable TABLE = new AttributeTable("");
    private static final Attribute<Long> CAPS = TABLE.caps();
    private static final Attribute<Long> MODE = TABLE.mode();
    private static final Attribute<AddressFormat> ADDR_FORMAT =
        TABLE.add("addr_format", Rule.SAME, AddressFormat.UNSPEC);
    private static final Attribute<String> SRC_ADDR = TABLE.text("src_addr", Rule.FREE);
    private static final Attribute<String> DEST_ADDR = TABLE.text("dest_addr", Rule.FREE);
    private static final Attribute<String> LINK_NAME = TABLE.text("link_name", Rule.FREE);

    private EndpointSource handle;
    private TxAttr txAttr = new TxAttr();
    private RxAttr rxAttr = new RxAttr();
    private EndpointAttr epAttr = new EndpointAttr();
    private DomainAttr domainAttr = new DomainAttr();
    private FabricAttr fabricAttr = new FabricAttr();

    /**
     * Attributes with every member at its default.
     */
    public Info() {
        super(TABLE);
    }

    /** Capabilities, {@link Flags} of the kind {@link FabricAttr#capabilityKind()}. Default 0. */
    public long caps() {
        return get(CAPS);
    }

    /** Sets {@link #caps()}; returns this object. */
    public Info caps(long caps) {
        return set(CAPS, caps);
    }

    /**
     * {@link Mode} bits: in hints what the application is able to do, in a result what it must do. Default 0.
     */
    public long mode() {
        return get(MODE);
    }

    /** Sets {@link #mode()}; returns this object. */
    public Info mode(long mode) {
        return set(MODE, mode);
    }

    /** Format of addresses. Default {@link AddressFormat#UNSPEC}. */
    public AddressFormat addrFormat() {
        return get(ADDR_FORMAT);
    }

    /** Sets {@link #addrFormat()}; returns this object. */
    public Info addrFormat(AddressFormat addrFormat) {
        return set(ADDR_FORMAT, addrFormat);
    }

    /** Local address in the form of {@link #addrFormat()}, or null if not chosen yet. Default null. */
    public String srcAddr() {
        return get(SRC_ADDR);
    }

    /** Sets {@link #srcAddr()}; returns this object. */
    public Info srcAddr(String srcAddr) {
        return set(SRC_ADDR, srcAddr);
    }

    /** Address of the peer in the form of {@link #addrFormat()}, or null if none. Default null. */
    public String destAddr() {
        return get(DEST_ADDR);
    }

    /** Sets {@link #destAddr()}; returns this object. */
    public Info destAddr(String destAddr) {
        return set(DEST_ADDR, destAddr);
    }

    /**
     * Link that moves the data: loopback, shm, tcp, rxm, udp, verbs, verbsrxm or verbsud; null for any. Default null.
     *
     * <p>In hints it limits the matches to that link. A match has it only if one link alone serves the endpoint:
     * because the hints named it, or because its endpoints have socket addresses, of which each belongs to one link.
     * A match without it opens an endpoint with every link for addresses {@code jfabric://driver/endpoint}, so that
     * endpoints of the same driver and of other drivers are reached; {@link FabricAttr#provName()} is the link whose
     * attributes the match has. With the name shm, endpoints of the same driver are reached by loopback all the same;
     * with the name loopback, those of other drivers are not reached.
     */
    public String linkName() {
        return get(LINK_NAME);
    }

    /** Sets {@link #linkName()}; returns this object. */
    public Info linkName(String linkName) {
        return set(LINK_NAME, linkName);
    }

    /**
     * The object for which an endpoint is opened, or null: a {@link ConnectionRequest} that it is to accept, or a
     * {@link PassiveEndpoint} whose address it takes over. Default null.
     */
    public EndpointSource handle() {
        return handle;
    }

    /** Sets {@link #handle()}; returns this object. */
    public Info handle(EndpointSource handle) {
        this.handle = handle;
        return this;
    }

    /** Transmit attributes, never null. */
    public TxAttr txAttr() {
        return txAttr;
    }

    /** Sets {@link #txAttr()}; returns this object. */
    public Info txAttr(TxAttr txAttr) {
        this.txAttr = Codes.required(txAttr, "txAttr");
        return this;
    }

    /** Receive attributes, never null. */
    public RxAttr rxAttr() {
        return rxAttr;
    }

    /** Sets {@link #rxAttr()}; returns this object. */
    public Info rxAttr(RxAttr rxAttr) {
        this.rxAttr = Codes.required(rxAttr, "rxAttr");
        return this;
    }

    /** Endpoint attributes, never null. */
    public EndpointAttr epAttr() {
        return epAttr;
    }

    /** Sets {@link #epAttr()}; returns this object. */
    public Info epAttr(EndpointAttr epAttr) {
        this.epAttr = Codes.required(epAttr, "epAttr");
        return this;
    }

    /** Domain attributes, never null. */
    public DomainAttr domainAttr() {
        return domainAttr;
    }

    /** Sets {@link #domainAttr()}; returns this object. */
    public Info domainAttr(DomainAttr domainAttr) {
        this.domainAttr = Codes.required(domainAttr, "domainAttr");
        return this;
    }

    /** Fabric attributes, never null. */
    public FabricAttr fabricAttr() {
        return fabricAttr;
    }

    /** Sets {@link #fabricAttr()}; returns this object. */
    public Info fabricAttr(FabricAttr fabricAttr) {
        this.fabricAttr = Codes.required(fabricAttr, "fabricAttr");
        return this;
    }

    /**
     * Whether tagged receives may post buffers for several messages ({@link Flags#TAGGED_MULTI_RECV}).
     *
     * @return false before API version 2.0, whatever the bit is.
     */
    public boolean hasTaggedMultiReceive() {
        return fabricAttr.isVersion2() && (caps() & Flags.TAGGED_MULTI_RECV) != 0;
    }

    @Override
    public Info copy() {
        Info copy = super.copy();
        copy.txAttr = txAttr.copy();
        copy.rxAttr = rxAttr.copy();
        copy.epAttr = epAttr.copy();
        copy.domainAttr = domainAttr.copy();
        copy.fabricAttr = fabricAttr.copy();
        return copy;
    }

    @Override
    public String toString() {
        String members = super.toString(fabricAttr.capabilityKind());
        return members.substring(0, members.length() - 1) + ", handle=" + handle + ", txAttr=" + txAttr
            + ", rxAttr=" + rxAttr.toString(fabricAttr.capabilityKind())
            + ", epAttr=" + epAttr + ", domainAttr=" + domainAttr + ", fabricAttr=" + fabricAttr + '}';
    }

    /**
     * Whether the endpoint is connection-oriented.
     *
     * @return true for {@link EndpointType#MSG}.
     */
    public boolean connects() {
        return epAttr.type() == EndpointType.MSG;
    }

    /**
     * Whether messages can have tags: a datagram has no room for one.
     *
     * @return false for {@link EndpointType#DGRAM}.
     */
    public boolean hasTags() {
        return epAttr.type() != EndpointType.DGRAM;
    }

    /**
     * Whether the endpoint starts transfers: sends, reads or writes. Without direction bits it does both.
     *
     * @return true unless the direction bits of messages and of remote memory access leave none of them.
     */
    public boolean transmits() {
        return (directions(caps()) & (Flags.SEND | Flags.READ | Flags.WRITE)) != 0;
    }

    /**
     * Whether the endpoint is the target of transfers. Without direction bits it does both.
     *
     * @return true unless the direction bits of messages and of remote memory access leave none of them.
     */
    public boolean receives() {
        return (directions(caps()) & (Flags.RECV | Flags.REMOTE_READ | Flags.REMOTE_WRITE)) != 0;
    }

    /**
     * The directions that capabilities include. {@code SEND} and {@code RECV} belong to messages, {@code READ},
     * {@code WRITE}, {@code REMOTE_READ} and {@code REMOTE_WRITE} to remote memory access and atomic operations. A
     * group of which none is named is included as a whole (fi_getinfo(3), CAPABILITIES). Capabilities that name no kind
     * of transfer include messages.
     *
     * @param caps capabilities, bits of {@link Flags}.
     * @return the direction bits.
     */
    public static long directions(long caps) {
        boolean accesses = (caps & (Flags.RMA | Flags.ATOMIC)) != 0;
        boolean exchanges = !accesses || (caps & (Flags.MSG | Flags.TAGGED)) != 0;
        return (exchanges ? named(caps, MESSAGES) : 0) | (accesses ? named(caps, ACCESSES) : 0);
    }

    private static long named(long caps, long group) {
        return (caps & group) == 0 ? group : caps & group;
    }
}
