package org.jfabric.info;

/**
 * Operations on remote memory that are atomic per element.
 *
 * <p>Use: {@code request.operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1)}.
 *
 * <p>Source: fi_atomic(3), section Atomic Operations; codes of libfabric 1.18.
 */
public enum AtomicOperation {
    /** Minimum. */
    MIN(0),

    /** Maximum. */
    MAX(1),

    /** Sum. */
    SUM(2),

    /** Product. */
    PROD(3),

    /** Logical or. */
    LOR(4),

    /** Logical and. */
    LAND(5),

    /** Bitwise or. */
    BOR(6),

    /** Bitwise and. */
    BAND(7),

    /** Logical exclusive or. */
    LXOR(8),

    /** Bitwise exclusive or. */
    BXOR(9),

    /** Read without change. */
    ATOMIC_READ(10),

    /** Write without regard to the old value. */
    ATOMIC_WRITE(11),

    /** Swap if the compare value equals the target. */
    CSWAP(12),

    /** Swap if the compare value differs from the target. */
    CSWAP_NE(13),

    /** Swap if the compare value is less than or equal to the target. */
    CSWAP_LE(14),

    /** Swap if the compare value is less than the target. */
    CSWAP_LT(15),

    /** Swap if the compare value is greater than or equal to the target. */
    CSWAP_GE(16),

    /** Swap if the compare value is greater than the target. */
    CSWAP_GT(17),

    /** Swap the bits that are set in the compare value. */
    MSWAP(18);

    private static final AtomicOperation[] VALUES = values();

    private final int code;

    AtomicOperation(int code) {
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
    public static AtomicOperation of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("AtomicOperation", code, VALUES);
        }
        return VALUES[code];
    }
}
