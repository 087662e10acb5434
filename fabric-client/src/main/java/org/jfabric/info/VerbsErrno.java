package org.jfabric.info;

/**
 * Decodes {@code provErrno} of an error entry of an operation that an RDMA device failed: the status of the failing
 * work completion and the vendor's code, or the number of the asynchronous event.
 *
 * <p>Use: {@code VerbsErrno.describe(error.provErrno())}.
 *
 * <pre>
 *   bit 30       1: one of these codes; every other provErrno is a {@link FabricErrno} or
 *                {@link ProtocolErrno}
 *   bits 24..29  status of the work completion (enum ibv_wc_status); or 32 + number of the event (enum ibv_event_type)
 *   bits 0..23   the vendor's code (vendor_err of struct ibv_wc), its lower 24 bits; 0 with an event
 * </pre>
 *
 * <p>C programs find the bare status in {@code prov_errno} with libfabric's verbs provider: it is {@link #status}. A
 * bare one could not be distinguished from an errno here, where one queue may serve several links. Stateless; any
 * thread.
 */
public final class VerbsErrno {
    private static final int MARK = 1 << 30;
    private static final int STATUS_SHIFT = 24;
    private static final int STATUS_MASK = 0x3F;
    private static final int VENDOR_MASK = (1 << STATUS_SHIFT) - 1;
    private static final int EVENT = 32;

    private static final String[] STATUS_NAMES = {
        "SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR", "MW_BIND_ERR",
        "BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR", "RETRY_EXC_ERR",
        "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR", "REM_ABORT_ERR", "INV_EECN_ERR",
        "INV_EEC_STATE_ERR", "FATAL_ERR", "RESP_TIMEOUT_ERR", "GENERAL_ERR", "TM_ERR", "TM_RNDV_INCOMPLETE"};
    private static final String[] EVENT_NAMES = {
        "CQ_ERR", "QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR", "COMM_EST", "SQ_DRAINED", "PATH_MIG", "PATH_MIG_ERR",
        "DEVICE_FATAL", "PORT_ACTIVE", "PORT_ERR", "LID_CHANGE", "PKEY_CHANGE", "SM_CHANGE", "SRQ_ERR",
        "SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED", "CLIENT_REREGISTER", "GID_CHANGE", "WQ_FATAL"};

    private VerbsErrno() {
    }

    /**
     * The code of a failed work completion.
     *
     * @param status     of it, 0 to 31.
     * @param vendorCode of it, of which the lower 24 bits are kept.
     * @return positive code.
     */
    public static int ofCompletion(int status, int vendorCode) {
        return MARK | (status & EVENT - 1) << STATUS_SHIFT | vendorCode & VENDOR_MASK;
    }

    /**
     * The code of an asynchronous event that ended operations.
     *
     * @param event its number, 0 to 31.
     * @return positive code.
     */
    public static int ofEvent(int event) {
        return MARK | (EVENT | event & EVENT - 1) << STATUS_SHIFT;
    }

    /**
     * Whether an RDMA device has said it.
     *
     * @param provErrno of an error entry, of either sign.
     * @return false for those that are a {@link FabricErrno} or a {@link ProtocolErrno}.
     */
    public static boolean isVerbs(int provErrno) {
        return Math.abs(provErrno) >= MARK;
    }

    /**
     * The status of the work completion.
     *
     * @param provErrno of an error entry, of either sign.
     * @return number of enum ibv_wc_status, or -1 if it was none.
     */
    public static int status(int provErrno) {
        int field = field(provErrno);
        return field < EVENT ? field : -1;
    }

    /**
     * The asynchronous event.
     *
     * @param provErrno of an error entry, of either sign.
     * @return number of enum ibv_event_type, or -1 if it was none.
     */
    public static int event(int provErrno) {
        int field = field(provErrno);
        return field < EVENT ? -1 : field - EVENT;
    }

    /**
     * The vendor's code.
     *
     * @param provErrno of an error entry, of either sign.
     * @return lower 24 bits of it; 0 if it was no work completion.
     */
    public static int vendorCode(int provErrno) {
        return isVerbs(provErrno) ? Math.abs(provErrno) & VENDOR_MASK : 0;
    }

    private static int field(int provErrno) {
        return isVerbs(provErrno) ? Math.abs(provErrno) >> STATUS_SHIFT & STATUS_MASK : -1;
    }

    /**
     * One sentence with the names that the C headers have.
     *
     * @param provErrno for which {@link #isVerbs} is true.
     * @return the sentence, never empty.
     */
    public static String describe(int provErrno) {
        int event = event(provErrno);
        if (event >= 0) {
            return name("IBV_EVENT_", EVENT_NAMES, event) + ": the device has reported this event, which ends what was"
                + " under way.";
        }
        int status = status(provErrno);
        return name("IBV_WC_", STATUS_NAMES, status) + ": " + reason(status) + " (vendor's code 0x"
            + Integer.toHexString(vendorCode(provErrno)) + ").";
    }

    private static String name(String prefix, String[] names, int number) {
        return prefix + (number < names.length ? names[number] : "unknown") + " (" + number + ')';
    }

    private static String reason(int status) {
        return switch (status) {
            case 1 -> "A message is longer than the memory that was given for it";
            case 2 -> "The queue pair cannot do what the work request asks for";
            case 4 -> "The memory of the work request is not registered under its key";
            case 5 -> "The queue pair was in error before the work request's turn came";
            case 7 -> "The peer's card answered what cannot be understood";
            case 8 -> "The work request's memory may not be used in that way";
            case 9 -> "The peer's card refuses the request, for instance because its receive is too short";
            case 10 -> "The peer's card refuses access to its memory";
            case 11 -> "The peer's card could not complete the request";
            case 12 -> "The peer's card does not answer: it is gone, or the way to it";
            case 13 -> "The peer had no receive posted for too long";
            case 16 -> "The peer's card has aborted the operation";
            case 19 -> "The card reports a fatal error";
            case 20 -> "The answer took too long";
            default -> "The card has ended the work request with this status";
        };
    }
}
