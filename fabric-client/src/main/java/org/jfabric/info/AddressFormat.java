package org.jfabric.info;

/**
 * Format of raw addresses; one fabric uses a single one everywhere.
 *
 * <p>Use: {@code new Info().addrFormat(AddressFormat.SOCKADDR_IN6)}.
 *
 * <p>Source: fi_getinfo(3), section Addressing Formats; codes of libfabric 1.18. Excerpt: the formats of devices that
 * JFabric has no link for are left out.
 */
public enum AddressFormat implements Coded {
    /** In hints: any. */
    UNSPEC(0),

    /** A socket address of any family. */
    SOCKADDR(1),

    /** An IPv4 socket address. */
    SOCKADDR_IN(2),

    /** An IPv6 socket address. */
    SOCKADDR_IN6(3),

    /** An InfiniBand socket address. */
    SOCKADDR_IB(4),

    /** A string, as loopback and shm use it. */
    ADDR_STR(9),

    /** An address handle of unreliable datagram queue pairs. */
    ADDR_IB_UD(11);

    private static final AddressFormat[] VALUES = values();

    private final int code;

    AddressFormat(int code) {
        this.code = code;
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
    public static AddressFormat of(int code) {
        for (int i = 0; i < VALUES.length; i++) {
            if (VALUES[i].code == code) {
                return VALUES[i];
            }
        }
        throw Codes.unknown("AddressFormat", code, VALUES);
    }
}
