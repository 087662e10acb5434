package org.jfabric.info;

/**
 * The end-to-end protocol of an endpoint; both sides must use the same one.
 *
 * <p>Source: fi_endpoint(3), section Endpoint Attributes, protocol; codes of libfabric 1.18. Codes with the top bit set
 * are provider specific; JFabric's own frames have such codes.
 *
 * <p>Use: {@code new Info().epAttr().protocol(Protocol.XNET)} in hints asks for the links that speak it.
 *
 * <p>This is the one place that defines the abilities of a protocol. Clients ask it, and know no link by name.
 */
public enum Protocol implements Coded {
    /** In hints: the provider chooses. */
    UNSPEC(0),

    /** Reliable-connection queue pairs set up by the RDMA connection manager. */
    RDMA_CM_IB_RC(1, AddressFormat.SOCKADDR),

    /** RDMA over TCP (iWARP). */
    IWARP(2),

    /** Unreliable-datagram queue pairs. */
    IB_UD(3, AddressFormat.ADDR_IB_UD),

    /** Intel PSM. */
    PSMX(4),

    /** Plain UDP datagrams, interoperable with sockets. */
    UDP(5, AddressFormat.SOCKADDR),

    /** The sockets provider over TCP. */
    SOCK_TCP(6, AddressFormat.SOCKADDR, Flags.MATCH_COMPLETE),

    /** Mellanox messaging. */
    MXM(7),

    /** Reliable datagrams over iWARP. */
    IWARP_RDM(8),

    /** Reliable datagrams over reliable-connection queue pairs. */
    IB_RDM(9),

    /** Cray GNI. */
    GNI(10),

    /** Reliable datagrams over message endpoints. */
    RXM(11, AddressFormat.SOCKADDR),

    /** Reliable datagrams over datagram endpoints. */
    RXD(12),

    /** Mellanox over UCX. */
    MLX(13),

    /** Microsoft Network Direct. */
    NETWORKDIRECT(14),

    /** Intel PSM2. */
    PSMX2(15),

    /** Shared memory in libfabric's own layout. */
    SHM(16),

    /** Several rails as one. */
    MRAIL(17),

    /** Stream over RDMA. */
    RSTREAM(18),

    /** Extended reliable-connection queue pairs. */
    RDMA_CM_IB_XRC(19),

    /** Amazon elastic fabric adapter. */
    EFA(20),

    /** Intel PSM3. */
    PSMX3(21),

    /** Reliable datagrams over the tcp provider. */
    RXM_TCP(22, AddressFormat.SOCKADDR,
        Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE),

    /** Cornelis Omni-Path. */
    OPX(23),

    /** HPE Slingshot. */
    CXI(24),

    /** The tcp provider, reliable datagrams over TCP. */
    XNET(25, AddressFormat.SOCKADDR, Flags.MATCH_COMPLETE),

    /** Collectives over another endpoint. */
    COLL(26),

    /** UCX. */
    UCX(27),

    /** Between endpoints of one JFabric driver; provider specific. */
    JFABRIC_LOOPBACK(0x8000_4a01),

    /** Between JFabric drivers of one host through shared memory; provider specific. */
    JFABRIC_SHM(0x8000_4a02),

    /** The best of several links for each peer, with the protocol of that link; provider specific. */
    JFABRIC_BEST(0x8000_4a03, AddressFormat.ADDR_STR, Flags.MATCH_COMPLETE);

    /** The bit of a code that marks a provider-specific protocol: the sign bit of the int. */
    public static final int PROVIDER_SPECIFIC = 0x8000_0000;

    private static final Protocol[] VALUES = values();

    private final int code;
    private final AddressFormat addressImage;
    private final long missingLevels;

    Protocol(int code) {
        this(code, AddressFormat.ADDR_STR);
    }

    Protocol(int code, AddressFormat addressImage) {
        this(code, addressImage, 0);
    }

    Protocol(int code, AddressFormat addressImage, long missingLevels) {
        this.code = code;
        this.addressImage = addressImage;
        this.missingLevels = missingLevels;
    }

    /**
     * The number of libfabric for this constant.
     *
     * @return the code, as stored in queues and messages.
     */
    @Override
    public int code() {
        return code;
    }

    /**
     * The constant of a code.
     *
     * @param code as returned by {@link #code()}.
     * @return the constant, never null.
     * @throws FabricException with {@link FabricErrno#EINVAL} if no constant has this code.
     */
    public static Protocol of(int code) {
        for (int i = 0; i < VALUES.length; i++) {
            if (VALUES[i].code == code) {
                return VALUES[i];
            }
        }
        throw Codes.unknown("Protocol", code, VALUES);
    }

    /**
     * Whether endpoints have several links, and addresses of both kinds: names in a driver and sockets.
     *
     * @return false for the protocol of one link.
     */
    public boolean hasSeveralLinks() {
        return this == JFABRIC_BEST;
    }

    /**
     * Whether the code is outside of the range that libfabric assigns.
     *
     * @return true if bit 31 of the code is set.
     */
    public boolean isProviderSpecific() {
        return (code & PROVIDER_SPECIFIC) != 0;
    }

    /**
     * The binary format of an address, whatever the format of its text.
     *
     * @return {@link AddressFormat#SOCKADDR} of sockets, {@link AddressFormat#ADDR_IB_UD} of queue pairs, or
     *     {@link AddressFormat#ADDR_STR}: they are the text itself.
     */
    public AddressFormat addressImage() {
        return addressImage;
    }

    /**
     * Completion levels of sends that no peer can report by this protocol.
     *
     * @return bits of {@link Flags}; 0 if there are all.
     */
    public long missingLevels() {
        return missingLevels;
    }
}
