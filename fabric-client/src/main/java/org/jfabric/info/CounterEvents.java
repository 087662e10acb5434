package org.jfabric.info;

/**
 * The kind of events that a counter counts.
 *
 * <p>Use: {@code new CounterAttr().events(CounterEvents.COMP)}.
 *
 * <p>Source: fi_cntr(3), section fi_cntr_open; codes of libfabric 1.18 and 2.x.
 */
public enum CounterEvents implements Coded {
    /** Completed operations. */
    COMP(0),

    /** API version 2.0 and later: bytes of completed operations, without CQ data; an error still counts as one. */
    BYTES(1);

    private static final CounterEvents[] VALUES = values();

    private final int code;

    CounterEvents(int code) {
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
    public static CounterEvents of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("CounterEvents", code, VALUES);
        }
        return VALUES[code];
    }
}
