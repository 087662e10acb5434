package org.jfabric;

/**
 * What starts a triggered operation.
 *
 * <p>Source: fi_trigger(3); codes of libfabric 1.18.
 */
public enum TriggerEvent {
    /** A counter has reached a value. */
    THRESHOLD(0),

    /** An accelerator has written a variable. */
    XPU(1);

    private static final TriggerEvent[] VALUES = values();

    private final int code;

    TriggerEvent(int code) {
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
    public static TriggerEvent of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("TriggerEvent", code, VALUES);
        }
        return VALUES[code];
    }
}
