package org.jfabric.info;

/**
 * Policy for transfers straight between devices.
 *
 * <p>Use: {@code endpoint.setopt(EndpointOption.FI_HMEM_P2P, HmemPeerToPeer.DISABLED.code())}.
 *
 * <p>Source: fi_endpoint(3), section fi_getopt / fi_setopt; codes of libfabric 1.18.
 */
public enum HmemPeerToPeer {
    /** The provider decides per transfer; the default. */
    ENABLED(0),

    /** Transfers that cannot go device to device fail. */
    REQUIRED(1),

    /** Device to device where possible, else through a copy. */
    PREFERRED(2),

    /** Never device to device. */
    DISABLED(3);

    private static final HmemPeerToPeer[] VALUES = values();

    private final int code;

    HmemPeerToPeer(int code) {
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
    public static HmemPeerToPeer of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("HmemPeerToPeer", code, VALUES);
        }
        return VALUES[code];
    }
}
