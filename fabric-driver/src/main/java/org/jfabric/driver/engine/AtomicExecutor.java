package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.layout.AtomicForm;

/**
 * Executes atomic operations on memory of this host (fi_atomic(3)).
 *
 * <p>Elements of 4 and 8 bytes are changed by compare-and-set, so that they are atomic also with respect to the
 * application that owns the memory, if it uses a {@code VarHandle}. Elements of 1 and 2 bytes are atomic among the
 * operations of this driver only. There is no complex type, no long double and no integer of 128 bits: Java cannot
 * compute with them exactly or change them at once.
 *
 * <p>Integers are computed as 64-bit values and cut to their size, which is exact for every operation; a float is
 * computed as a double and rounded once, which gives the same result as float arithmetic for one operation.
 */
public final class AtomicExecutor {
    private static final AtomicDatatype[] TYPES = AtomicDatatype.values();
    private static final AtomicOperation[] OPERATIONS = AtomicOperation.values();

    private AtomicExecutor() {
    }

    /**
     * The size of an element, if the operation exists.
     *
     * @param form      one of {@link AtomicForm}; any value.
     * @param datatype  code of the datatype; any value.
     * @param operation code of the operation; any value.
     * @return bytes; 0 if there is no such operation.
     */
    public static int sizeBytes(int form, int datatype, int operation) {
        if (datatype < 0 || datatype >= TYPES.length || operation < 0 || operation >= OPERATIONS.length
            || !AtomicForm.exists(form, TYPES[datatype], OPERATIONS[operation])) {
            return 0;
        }
        return TYPES[datatype].sizeBytes();
    }

    /**
     * Executes an operation on consecutive elements.
     *
     * @param datatype  code of a datatype for which {@link #sizeBytes} is not 0.
     * @param target    native address of the first, a multiple of its size.
     * @param operands  native address of the operands; not read by {@code ATOMIC_READ}.
     * @param compares  native address of the compare values; 0 for other forms.
     * @param results   native address for the old values; 0 if they are not wanted.
     */
    static void execute(
        int datatype, int operation, long count, long target, long operands, long compares, long results) {
        AtomicDatatype type = TYPES[datatype];
        AtomicOperation wanted = OPERATIONS[operation];
        int size = type.sizeBytes();
        for (long at = 0, end = count * size; at < end; at += size) {
            long operand = wanted == AtomicOperation.ATOMIC_READ ? 0 : plain(operands + at, size);
            long compare = compares == 0 ? 0 : plain(compares + at, size);
            long old;
            do {
                old = bits(target + at, size);
            } while (!replace(target + at, size, old, next(type, wanted, old, operand, compare)));
            if (results != 0) {
                put(results + at, size, old);
            }
        }
    }

    private static long next(AtomicDatatype type, AtomicOperation operation, long old, long operand, long compare) {
        return switch (type) {
            case FLOAT -> Float.floatToRawIntBits((float) apply(operation, floating(old), floating(operand),
                floating(compare)));
            case DOUBLE -> Double.doubleToRawLongBits(apply(operation, Double.longBitsToDouble(old),
                Double.longBitsToDouble(operand), Double.longBitsToDouble(compare)));
            default -> apply(operation, isUnsigned(type), wide(type, old), wide(type, operand), wide(type, compare));
        };
    }

    private static double floating(long bits) {
        return Float.intBitsToFloat((int) bits);
    }

    private static boolean isUnsigned(AtomicDatatype type) {
        return (type.code() & 1) != 0;
    }

    /** An integer's value in 64 bits; those of UINT64 are compared as unsigned. */
    private static long wide(AtomicDatatype type, long bits) {
        return switch (type) {
            case INT8 -> (byte) bits;
            case INT16 -> (short) bits;
            case INT32 -> (int) bits;
            default -> bits;
        };
    }

    private static long apply(AtomicOperation operation, boolean unsigned, long old, long operand, long compare) {
        return switch (operation) {
            case MIN -> order(unsigned, operand, old) < 0 ? operand : old;
            case MAX -> order(unsigned, operand, old) > 0 ? operand : old;
            case SUM -> old + operand;
            case PROD -> old * operand;
            case LOR -> truth(old != 0 | operand != 0);
            case LAND -> truth(old != 0 & operand != 0);
            case LXOR -> truth(old != 0 ^ operand != 0);
            case BOR -> old | operand;
            case BAND -> old & operand;
            case BXOR -> old ^ operand;
            case ATOMIC_READ -> old;
            case ATOMIC_WRITE -> operand;
            case MSWAP -> operand & compare | old & ~compare;
            default -> swaps(operation, order(unsigned, compare, old)) ? operand : old;
        };
    }

    private static double apply(AtomicOperation operation, double old, double operand, double compare) {
        return switch (operation) {
            case MIN -> operand < old ? operand : old;
            case MAX -> operand > old ? operand : old;
            case SUM -> old + operand;
            case PROD -> old * operand;
            case LOR -> truth(old != 0 | operand != 0);
            case LAND -> truth(old != 0 & operand != 0);
            case LXOR -> truth(old != 0 ^ operand != 0);
            case ATOMIC_READ -> old;
            case ATOMIC_WRITE -> operand;
            // a value that is not a number is different from all and neither less nor greater
            case CSWAP_NE -> compare != old ? operand : old;
            default -> compare == compare && old == old && swaps(operation, Double.compare(compare + 0.0, old + 0.0))
                ? operand : old;
        };
    }

    private static int order(boolean unsigned, long first, long second) {
        return unsigned ? Long.compareUnsigned(first, second) : Long.compare(first, second);
    }

    private static boolean swaps(AtomicOperation operation, int compareToOld) {
        return switch (operation) {
            case CSWAP -> compareToOld == 0;
            case CSWAP_NE -> compareToOld != 0;
            case CSWAP_LE -> compareToOld <= 0;
            case CSWAP_LT -> compareToOld < 0;
            case CSWAP_GE -> compareToOld >= 0;
            case CSWAP_GT -> compareToOld > 0;
            default -> false;
        };
    }

    private static int truth(boolean value) {
        return value ? 1 : 0;
    }

    private static long bits(long address, int size) {
        return switch (size) {
            case Long.BYTES -> UnsafeApi.getLongVolatile(null, address);
            case Integer.BYTES -> UnsafeApi.getIntVolatile(null, address) & 0xFFFF_FFFFL;
            case Short.BYTES -> UnsafeApi.getShortVolatile(null, address) & 0xFFFFL;
            default -> UnsafeApi.getByteVolatile(null, address) & 0xFFL;
        };
    }

    /** As {@link #bits}, of memory that no other thread changes and that may be anywhere. */
    private static long plain(long address, int size) {
        return switch (size) {
            case Long.BYTES -> UnsafeApi.getLong(address);
            case Integer.BYTES -> UnsafeApi.getInt(address) & 0xFFFF_FFFFL;
            case Short.BYTES -> UnsafeApi.getShort(address) & 0xFFFFL;
            default -> UnsafeApi.getByte(address) & 0xFFL;
        };
    }

    private static boolean replace(long address, int size, long old, long next) {
        if (size == Long.BYTES) {
            return UnsafeApi.compareAndSetLong(null, address, old, next);
        }
        if (size == Integer.BYTES) {
            return UnsafeApi.compareAndSetInt(null, address, (int) old, (int) next);
        }
        // progress threads of one driver may change the same memory
        return size == Short.BYTES ? UnsafeApi.compareAndSetShort(null, address, (short) old, (short) next)
            : UnsafeApi.compareAndSetByte(null, address, (byte) old, (byte) next);
    }

    private static void put(long address, int size, long value) {
        switch (size) {
            case Long.BYTES -> UnsafeApi.putLongVolatile(null, address, value);
            case Integer.BYTES -> UnsafeApi.putIntVolatile(null, address, (int) value);
            case Short.BYTES -> UnsafeApi.putShortVolatile(null, address, (short) value);
            default -> UnsafeApi.putByteVolatile(null, address, (byte) value);
        }
    }
}
