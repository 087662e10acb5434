package org.jfabric.info;

/**
 * The object on which a thread may block until a queue or counter has a new entry or value.
 *
 * <p>Use: {@code new CompletionQueueAttr().waitObject(WaitObject.FD)}.
 *
 * <p>Source: fi_cq(3), section fi_cq_open, wait_obj; codes of libfabric 1.18.
 */
public enum WaitObject implements Coded {
    /** No blocking; blocking reads are refused. The default. */
    NONE(0),

    /** Blocking through fabric calls only, by a mechanism of the provider. */
    UNSPEC(1),

    /** A wait set, which must exist when the queue is opened. */
    SET(2),

    /** A file descriptor for poll, select and epoll. */
    FD(3),

    /** A mutex and condition variable. */
    MUTEX_COND(4),

    /** No object: blocking calls yield the processor on every round. */
    YIELD(5),

    /** An array of file descriptors with their events, for wait sets. */
    POLLFD(6),

    /**
     * Windows critical section and condition variable. The code is outside of the range of libfabric, where 5 is
     * {@link #YIELD}; opening with it is refused with {@link FabricErrno#ENOSYS}.
     */
    CRITSEC_COND(0x7f00_0005);

    private static final WaitObject[] VALUES = values();

    private final int code;

    WaitObject(int code) {
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
    public static WaitObject of(int code) {
        for (int i = 0; i < VALUES.length; i++) {
            if (VALUES[i].code == code) {
                return VALUES[i];
            }
        }
        throw Codes.unknown("WaitObject", code, VALUES);
    }

    /**
     * Whether the operating systems that JFabric runs on have this kind of object at all.
     *
     * @return false for {@link #CRITSEC_COND} only; an open with it answers {@link FabricErrno#ENOSYS}.
     */
    public boolean existsHere() {
        return this != CRITSEC_COND;
    }

    /**
     * Whether a thread may block in a call of the queue or counter itself.
     *
     * @return true if calls such as {@code sread} wait with this object.
     */
    public boolean blocksCalls() {
        return switch (this) {
            case UNSPEC, FD, MUTEX_COND, YIELD -> true;
            default -> false;
        };
    }
}
