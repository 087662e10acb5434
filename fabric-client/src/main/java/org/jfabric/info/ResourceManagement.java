package org.jfabric.info;

/**
 * Whether the provider keeps queues from overrunning.
 *
 * <p>Use: {@code hints.domainAttr().resourceManagement(ResourceManagement.ENABLED)}.
 *
 * <p>Source: fi_domain(3), section Resource Management; codes of libfabric 1.18.
 */
public enum ResourceManagement implements Coded {
    /** The default, which is enabled. */
    UNSPEC(0),

    /**
     * The application must keep completion queues from overrunning: posting takes no slot. Operations outstanding stay
     * limited by the endpoint's sizes, and receivers hold back senders as ever.
     */
    DISABLED(1),

    /** Full queues answer {@link FabricErrno#EAGAIN}, and receivers hold back senders. */
    ENABLED(2);

    private static final ResourceManagement[] VALUES = values();

    private final int code;

    ResourceManagement(int code) {
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
    public static ResourceManagement of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("ResourceManagement", code, VALUES);
        }
        return VALUES[code];
    }
}
