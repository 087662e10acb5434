package org.jfabric.info;

/**
 * Element types of atomic operations.
 *
 * <p>Use: {@code endpoint.atomics().atomicvalid(AtomicDatatype.UINT64, AtomicOperation.MAX)}.
 *
 * <p>Source: fi_atomic(3), section Atomic Data Types; codes of libfabric 1.18.
 */
public enum AtomicDatatype {
    /** Signed 8-bit integer. */
    INT8(0, 1),

    /** Unsigned 8-bit integer. */
    UINT8(1, 1),

    /** Signed 16-bit integer. */
    INT16(2, 2),

    /** Unsigned 16-bit integer. */
    UINT16(3, 2),

    /** Signed 32-bit integer. */
    INT32(4, 4),

    /** Unsigned 32-bit integer. */
    UINT32(5, 4),

    /** Signed 64-bit integer. */
    INT64(6, 8),

    /** Unsigned 64-bit integer. */
    UINT64(7, 8),

    /** 32-bit floating point. */
    FLOAT(8, 4),

    /** 64-bit floating point. */
    DOUBLE(9, 8),

    /** Two 32-bit floating point numbers. */
    FLOAT_COMPLEX(10, 8),

    /** Two 64-bit floating point numbers. */
    DOUBLE_COMPLEX(11, 16),

    /** The long double of C, 16 bytes on LP64. */
    LONG_DOUBLE(12, 16),

    /** Two long doubles of C. */
    LONG_DOUBLE_COMPLEX(13, 32),

    /** Signed 128-bit integer. */
    INT128(14, 16),

    /** Unsigned 128-bit integer. */
    UINT128(15, 16);

    private static final AtomicDatatype[] VALUES = values();

    private final int code;
    private final int sizeBytes;

    AtomicDatatype(int code, int sizeBytes) {
        this.code = code;
        this.sizeBytes = sizeBytes;
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
    public static AtomicDatatype of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("AtomicDatatype", code, VALUES);
        }
        return VALUES[code];
    }

    /**
     * Size of one element in memory.
     *
     * @return size in bytes on LP64.
     */
    public int sizeBytes() {
        return sizeBytes;
    }
}
