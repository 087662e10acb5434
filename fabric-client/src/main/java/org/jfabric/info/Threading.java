package org.jfabric.info;

/**
 * Which calls the application keeps from running at the same time.
 *
 * <p>Use: {@code hints.domainAttr().threading(Threading.SAFE)}.
 *
 * <p>Source: fi_domain(3), section Threading; codes of libfabric 1.18.
 */
public enum Threading implements Coded {
    /** In hints: any. */
    UNSPEC(0),

    /** None: any thread may call anything. */
    SAFE(1),

    /** Calls on one object. */
    FID(2),

    /** Calls on all objects of one domain. */
    DOMAIN(3),

    /** Calls on all objects that are bound to one completion queue or counter. */
    COMPLETION(4),

    /** Calls on one endpoint, with its queues. */
    ENDPOINT(5);

    private static final Threading[] VALUES = values();

    private final int code;

    Threading(int code) {
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
    public static Threading of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("Threading", code, VALUES);
        }
        return VALUES[code];
    }
}
