package org.jfabric.info;

/**
 * Commands of the control calls of queues, counters and endpoints.
 *
 * <p>Use: {@code PortedCalls.control(queue, ControlCommand.GETWAIT.code(), handle)}.
 *
 * <p>Source: fi_cq(3) and fi_endpoint(3), section fi_control; codes of libfabric 1.18. An unknown command answers
 * {@link FabricErrno#ENOSYS}.
 */
public enum ControlCommand {
    /** Reads the flags of an object. */
    GETFIDFLAG(0),

    /** Sets the flags of an object. */
    SETFIDFLAG(1),

    /** Reads the default operation flags of one direction. */
    GETOPSFLAG(2),

    /** Replaces the default operation flags of one direction. */
    SETOPSFLAG(3),

    /** Opens an alias with its own default operation flags. */
    ALIAS(4),

    /** Retrieves the wait object. */
    GETWAIT(5),

    /** Enables an endpoint or memory region. */
    ENABLE(6),

    /** Sets how many connection requests may wait at a passive endpoint. */
    BACKLOG(7),

    /** Reads the raw key of a memory region. */
    GET_RAW_MR(8),

    /** Maps a raw key of a peer. */
    MAP_RAW_MR(9),

    /** Releases a mapped key. */
    UNMAP_KEY(10),

    /** Queues deferred work on a domain. */
    QUEUE_WORK(11),

    /** Cancels deferred work. */
    CANCEL_WORK(12),

    /** Cancels all deferred work. */
    FLUSH_WORK(13),

    /** Updates a region after its memory changed. */
    REFRESH(14),

    /** Duplicates an object. */
    DUP(15),

    /** Asks which kind of wait object is in use. */
    GETWAITOBJ(16),

    /** Reads a provider-specific value. */
    GET_VAL(17),

    /** Sets a provider-specific value. */
    SET_VAL(18),

    /** Exports an object to another provider. */
    EXPORT_FID(19);

    private static final ControlCommand[] VALUES = values();

    private final int code;

    ControlCommand(int code) {
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
    public static ControlCommand of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("ControlCommand", code, VALUES);
        }
        return VALUES[code];
    }
}
