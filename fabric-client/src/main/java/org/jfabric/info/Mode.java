package org.jfabric.info;

/**
 * Mode bits: what a provider demands of the application, without the {@code FI_} prefix.
 *
 * <p>Use: {@code hints.mode(Mode.BUFFERED_RECV)}.
 *
 * <p>In hints a set bit says that the application is able to fulfil the demand; in a returned {@link Info} a set bit
 * says that it must. A provider only ever clears bits. Source: fi_getinfo(3), section Mode; bits of libfabric 1.18.
 * Constants only; any thread.
 */
public final class Mode {
    /**
     * Bit 59. Each operation must be given memory of 32 bytes as its context, which the provider uses until
     * completion. No link of JFabric needs it: it is cleared in matches. An endpoint that is opened with it all the
     * same refuses other contexts ({@code OperationContext}).
     */
    public static final long CONTEXT = 0x800_0000_0000_0000L;

    /**
     * Bit 58. Each send and receive buffer starts with a prefix of msg_prefix_size bytes for the provider; it counts in
     * the completion length. No link of JFabric needs it: it is granted to hints with a {@code msg_prefix_size}, and
     * cleared otherwise.
     */
    public static final long MSG_PREFIX = 0x400_0000_0000_0000L;

    /** Bit 57. The scatter list itself must stay unchanged until the operation completes. */
    public static final long ASYNC_IOV = 0x200_0000_0000_0000L;

    /**
     * Bit 56. Transfers with CQ data consume a posted receive at the target, RMA writes included.
     */
    public static final long RX_CQ_DATA = 0x100_0000_0000_0000L;

    /** Bit 55. Local buffers must be registered; older form of {@link MrMode#LOCAL}. */
    public static final long LOCAL_MR = 0x80_0000_0000_0000L;

    /**
     * Bit 54. Completion flags may be cleared except those needed for notification. No link of JFabric needs it: it is
     * cleared in matches, and entries of an endpoint opened with it have all their flags.
     */
    public static final long NOTIFY_FLAGS_ONLY = 0x40_0000_0000_0000L;

    /** Bit 53. Only endpoints with the same capabilities may share a completion queue or counter. */
    public static final long RESTRICTED_COMP = 0x20_0000_0000_0000L;

    /**
     * Bit 52. Each operation must be given memory of 64 bytes as its context, which the provider uses until
     * completion; as {@link #CONTEXT}.
     */
    public static final long CONTEXT2 = 0x10_0000_0000_0000L;

    /**
     * Bit 51. The provider owns receive buffers; the application claims or discards each message.
     */
    public static final long BUFFERED_RECV = 0x8_0000_0000_0000L;

    private static final String[] NAMES = new String[Long.SIZE];

    static {
        NAMES[Long.numberOfTrailingZeros(CONTEXT)] = "CONTEXT";
        NAMES[Long.numberOfTrailingZeros(MSG_PREFIX)] = "MSG_PREFIX";
        NAMES[Long.numberOfTrailingZeros(ASYNC_IOV)] = "ASYNC_IOV";
        NAMES[Long.numberOfTrailingZeros(RX_CQ_DATA)] = "RX_CQ_DATA";
        NAMES[Long.numberOfTrailingZeros(LOCAL_MR)] = "LOCAL_MR";
        NAMES[Long.numberOfTrailingZeros(NOTIFY_FLAGS_ONLY)] = "NOTIFY_FLAGS_ONLY";
        NAMES[Long.numberOfTrailingZeros(RESTRICTED_COMP)] = "RESTRICTED_COMP";
        NAMES[Long.numberOfTrailingZeros(CONTEXT2)] = "CONTEXT2";
        NAMES[Long.numberOfTrailingZeros(BUFFERED_RECV)] = "BUFFERED_RECV";
    }

    private Mode() {
    }

    /**
     * Names of the bits set in a word, for messages and logs; allocates, so not for the data path.
     *
     * @param mode the word.
     * @return names joined by {@code |}, {@code 0} for none; an undefined bit is shown by its number.
     */
    public static String toString(long mode) {
        return Flags.names(mode, NAMES);
    }
}
