package org.jfabric.info;

/**
 * The condition that releases a blocking read of a completion queue; always only a hint.
 *
 * <p>Use: {@code new CompletionQueueAttr().waitCondition(WaitCondition.THRESHOLD)}.
 *
 * <p>Source: fi_cq(3), section fi_cq_open, wait_cond; codes of libfabric 1.18.
 */
public enum WaitCondition implements Coded {
    /** Any new entry releases the reader. */
    NONE(0),

    /** The number of entries given to the blocking read releases the reader. */
    THRESHOLD(1);

    private static final WaitCondition[] VALUES = values();

    private final int code;

    WaitCondition(int code) {
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
    public static WaitCondition of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("WaitCondition", code, VALUES);
        }
        return VALUES[code];
    }
}
