package org.jfabric.info;

/**
 * Who drives operations forward.
 *
 * <p>Use: {@code hints.domainAttr().dataProgress(Progress.AUTO)}.
 *
 * <p>Source: fi_domain(3), section Progress Models; codes of libfabric 1.18 and 2.x.
 */
public enum Progress implements Coded {
    /** In hints: any. */
    UNSPEC(0),

    /** The provider, without any call of the application; a driver in its own process or thread. */
    AUTO(1),

    /** The calls of the application that read or wait; an embedded driver without threads. */
    MANUAL(2),

    /**
     * API version 2.0 and later: as {@link #MANUAL}, and the application never makes two calls at the same time that
     * drive data or control operations forward, so that none of them needs a lock.
     */
    CONTROL_UNIFIED(3);

    private static final Progress[] VALUES = values();

    private final int code;

    Progress(int code) {
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
    public static Progress of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("Progress", code, VALUES);
        }
        return VALUES[code];
    }
}
