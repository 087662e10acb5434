package org.jfabric.info;

/**
 * Events of an event queue.
 *
 * <p>Use: {@code entry.event() == EventType.CONNECTED.code()}.
 *
 * <p>Source: fi_eq(3), section fi_eq_read; codes of libfabric 1.18.
 */
public enum EventType {
    /** Something about the object changed. */
    NOTIFY(0),

    /** A peer asks for a connection. */
    CONNREQ(1),

    /** A connection is established. */
    CONNECTED(2),

    /** A connection has ended. */
    SHUTDOWN(3),

    /** A registration has finished. */
    MR_COMPLETE(4),

    /** An insertion into an address vector has finished. */
    AV_COMPLETE(5),

    /** Joining a multicast group has finished. */
    JOIN_COMPLETE(6);

    private static final EventType[] VALUES = values();

    private final int code;

    EventType(int code) {
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
    public static EventType of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("EventType", code, VALUES);
        }
        return VALUES[code];
    }

    /**
     * The constant of a code.
     *
     * @param code any number.
     * @return null if it is a number of the application.
     */
    public static EventType ofOrNull(int code) {
        return code < 0 || code >= VALUES.length ? null : VALUES[code];
    }
}
