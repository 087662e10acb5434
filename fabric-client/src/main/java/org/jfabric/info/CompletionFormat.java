package org.jfabric.info;

/**
 * Which members the entries of a completion queue have, fixed when it is opened.
 *
 * <p>Use: {@code new CompletionQueueAttr().format(CompletionFormat.TAGGED)}.
 *
 * <p>Source: fi_cq(3), section fi_cq_open, format; codes and layouts of libfabric 1.18.
 */
public enum CompletionFormat implements Coded {
    /**
     * The provider chooses; the opened queue returns what it chose. JFabric chooses {@link #TAGGED}.
     */
    UNSPEC(0, 0),

    /** Context only. */
    CONTEXT(1, 8),

    /** Context, flags and length. */
    MSG(2, 24),

    /** Context, flags, length, buffer position and CQ data. */
    DATA(3, 40),

    /** As {@link #DATA}, and the tag. */
    TAGGED(4, 48);

    private static final CompletionFormat[] VALUES = values();

    private final int code;
    private final int entryLengthBytes;

    CompletionFormat(int code, int entryLengthBytes) {
        this.code = code;
        this.entryLengthBytes = entryLengthBytes;
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
    public static CompletionFormat of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("CompletionFormat", code, VALUES);
        }
        return VALUES[code];
    }

    /**
     * Stride of the entries that a copying read stores back to back.
     *
     * @return length in bytes; 0 for {@link #UNSPEC}, which has no layout of its own.
     */
    public int entryLengthBytes() {
        return entryLengthBytes;
    }

    /**
     * The concrete format that this one stands for.
     *
     * @return {@link #TAGGED} for {@link #UNSPEC}, which is a superset of the others; else this format.
     */
    public CompletionFormat resolved() {
        return this == UNSPEC ? TAGGED : this;
    }
}
