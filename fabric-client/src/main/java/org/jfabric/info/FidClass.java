package org.jfabric.info;

/**
 * Class of a fabric object.
 *
 * <p>Use: {@code fid.fidClass() == FidClass.EP}.
 *
 * <p>Source: the header fabric.h; codes of libfabric 1.18.
 */
public enum FidClass {
    /** None. */
    UNSPEC(0),

    /** Fabric. */
    FABRIC(1),

    /** Domain. */
    DOMAIN(2),

    /** Endpoint. */
    EP(3),

    /** Scalable endpoint. */
    SEP(4),

    /** Receive context. */
    RX_CTX(5),

    /** Shared receive context. */
    SRX_CTX(6),

    /** Transmit context. */
    TX_CTX(7),

    /** Shared transmit context. */
    STX_CTX(8),

    /** Passive endpoint. */
    PEP(9),

    /** Interface. */
    INTERFACE(10),

    /** Address vector. */
    AV(11),

    /** Memory region. */
    MR(12),

    /** Event queue. */
    EQ(13),

    /** Completion queue. */
    CQ(14),

    /** Counter. */
    CNTR(15),

    /** Wait set. */
    WAIT(16),

    /** Poll set. */
    POLL(17),

    /** Connection request. */
    CONNREQ(18),

    /** Multicast group. */
    MC(19);

    private static final FidClass[] VALUES = values();

    private final int code;

    FidClass(int code) {
        this.code = code;
    }

    /**
     * The number of libfabric for this constant.
     *
     * @return the code, as stored in queues and messages.
     */
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
    public static FidClass of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("FidClass", code, VALUES);
        }
        return VALUES[code];
    }
}
