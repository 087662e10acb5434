package org.jfabric.info;

/**
 * The service that an endpoint offers.
 *
 * <p>Use: {@code hints.epAttr().type(EndpointType.RDM)}.
 *
 * <p>Source: fi_endpoint(3), section Endpoint Attributes, type; codes of libfabric 1.18.
 */
public enum EndpointType implements Coded {
    /** In hints only: other attributes or the provider decide. */
    UNSPEC(0),

    /** Reliable, connection-oriented, flow-controlled messages. */
    MSG(1),

    /** Unreliable, connectionless datagrams. */
    DGRAM(2),

    /** Reliable, connectionless, flow-controlled messages. */
    RDM(3),

    /** Reliable, connection-oriented byte stream without message boundaries. */
    SOCK_STREAM(4),

    /** Unreliable, connectionless datagrams as with sockets. */
    SOCK_DGRAM(5);

    private static final EndpointType[] VALUES = values();

    private final int code;

    EndpointType(int code) {
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
    public static EndpointType of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("EndpointType", code, VALUES);
        }
        return VALUES[code];
    }
}
