package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigInteger;
import java.util.SplittableRandom;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.layout.AtomicForm;
import org.jfabric.test.Requirement;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every operation that exists against a model: integers without a bound that are cut to their size, float and double
 * with Java's own arithmetic.
 */
class AtomicExecutorTest {
    private static final int ROUNDS = 2000;
    private static final int COUNT = 3;
    private static final int OPERANDS = 64;
    private static final int COMPARES = 128;
    private static final int RESULTS = 192;
    private static final byte UNTOUCHED = 0x3B;

    private final UnsafeBuffer memory = new UnsafeBuffer(BufferUtil.allocateDirectAligned(256, 64));

    @ParameterizedTest
    @EnumSource(AtomicDatatype.class)
    @Requirement("REF-042")
    void shouldComputeAsTheModel(AtomicDatatype type) {
        SplittableRandom random = new SplittableRandom(type.code());
        for (AtomicOperation operation : AtomicOperation.values()) {
            for (int form = AtomicForm.BASE; form <= AtomicForm.COMPARE; form++) {
                int size = AtomicExecutor.sizeBytes(form, type.code(), operation.code());
                assertEquals(type.compareTo(AtomicDatatype.DOUBLE) <= 0 && exists(form, type, operation), size != 0,
                    () -> type + " " + operation);
                for (int round = 0; size != 0 && round < ROUNDS; round++) {
                    check(type, operation, form, size, random);
                }
            }
        }
    }

    private static boolean exists(int form, AtomicDatatype type, AtomicOperation operation) {
        boolean isFloating = type == AtomicDatatype.FLOAT || type == AtomicDatatype.DOUBLE;
        return switch (operation) {
            case BOR, BAND, BXOR -> !isFloating && form != AtomicForm.COMPARE;
            case MSWAP -> !isFloating && form == AtomicForm.COMPARE;
            case ATOMIC_READ -> form == AtomicForm.FETCH;
            case CSWAP, CSWAP_NE, CSWAP_LE, CSWAP_LT, CSWAP_GE, CSWAP_GT -> form == AtomicForm.COMPARE;
            default -> form != AtomicForm.COMPARE;
        };
    }

    private void check(
        AtomicDatatype type, AtomicOperation operation, int form, int size, SplittableRandom random) {
        memory.setMemory(0, 256, UNTOUCHED);
        long[] olds = new long[COUNT];
        long[] nexts = new long[COUNT];
        for (int i = 0; i < COUNT; i++) {
            long old = value(type, random);
            long operand = value(type, random);
            long compare = random.nextInt(3) == 0 ? old : value(type, random);
            olds[i] = old;
            nexts[i] = next(type, operation, old, operand, compare);
            put(i * size, size, old);
            put(OPERANDS + i * size, size, operand);
            put(COMPARES + i * size, size, compare);
        }
        long base = memory.addressOffset();
        AtomicExecutor.execute(type.code(), operation.code(), COUNT, base, base + OPERANDS,
            form == AtomicForm.COMPARE ? base + COMPARES : 0, form == AtomicForm.BASE ? 0 : base + RESULTS);
        for (int i = 0; i < COUNT; i++) {
            String what = type + " " + operation + " of " + Long.toHexString(olds[i]);
            assertEquals(nexts[i], get(i * size, size), what);
            if (form != AtomicForm.BASE) {
                assertEquals(olds[i], get(RESULTS + i * size, size), what);
            }
        }
        assertEquals(UNTOUCHED, memory.getByte(COUNT * size));
        assertEquals(UNTOUCHED, memory.getByte(RESULTS + (form == AtomicForm.BASE ? 0 : COUNT * size)));
    }

    /** Bits of a value, often one at an edge of the type. */
    private static long value(AtomicDatatype type, SplittableRandom random) {
        long bits = switch (random.nextInt(6)) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> 1L << (type.sizeBytes() * 8 - 1);
            case 3 -> (1L << (type.sizeBytes() * 8 - 1)) - 1;
            case 4 -> random.nextInt(4);
            default -> random.nextLong();
        };
        return switch (type) {
            case FLOAT -> Float.floatToRawIntBits(number(bits, random)) & 0xFFFF_FFFFL;
            case DOUBLE -> Double.doubleToRawLongBits(number(bits, random) * (1 + random.nextDouble()));
            default -> cut(bits, type.sizeBytes());
        };
    }

    private static float number(long bits, SplittableRandom random) {
        return random.nextBoolean() ? (int) bits % 5 : (float) (bits * random.nextDouble());
    }

    private static long cut(long bits, int size) {
        return size == Long.BYTES ? bits : bits & (1L << size * 8) - 1;
    }

    private static long next(AtomicDatatype type, AtomicOperation operation, long old, long operand, long compare) {
        if (type == AtomicDatatype.FLOAT) {
            float a = Float.intBitsToFloat((int) old);
            float b = Float.intBitsToFloat((int) operand);
            float c = Float.intBitsToFloat((int) compare);
            float result = switch (operation) {
                case SUM -> a + b;
                case PROD -> a * b;
                default -> (float) floating(operation, a, b, c);
            };
            return Float.floatToRawIntBits(result) & 0xFFFF_FFFFL;
        }
        if (type == AtomicDatatype.DOUBLE) {
            double a = Double.longBitsToDouble(old);
            double b = Double.longBitsToDouble(operand);
            double c = Double.longBitsToDouble(compare);
            double result = switch (operation) {
                case SUM -> a + b;
                case PROD -> a * b;
                default -> floating(operation, a, b, c);
            };
            return Double.doubleToRawLongBits(result);
        }
        return cut(integer(operation, wide(type, old), wide(type, operand), wide(type, compare)).longValue(),
            type.sizeBytes());
    }

    private static double floating(AtomicOperation operation, double a, double b, double c) {
        return switch (operation) {
            case MIN -> b < a ? b : a;
            case MAX -> b > a ? b : a;
            case LOR -> a != 0 || b != 0 ? 1 : 0;
            case LAND -> a != 0 && b != 0 ? 1 : 0;
            case LXOR -> (a != 0) != (b != 0) ? 1 : 0;
            case ATOMIC_READ -> a;
            case ATOMIC_WRITE -> b;
            case CSWAP -> c == a ? b : a;
            case CSWAP_NE -> c != a ? b : a;
            case CSWAP_LE -> c <= a ? b : a;
            case CSWAP_LT -> c < a ? b : a;
            case CSWAP_GE -> c >= a ? b : a;
            case CSWAP_GT -> c > a ? b : a;
            default -> throw new AssertionError(operation);
        };
    }

    private static BigInteger wide(AtomicDatatype type, long bits) {
        boolean isUnsigned = type.name().startsWith("U");
        BigInteger value = new BigInteger(Long.toUnsignedString(bits));
        int width = type.sizeBytes() * 8;
        return !isUnsigned && value.testBit(width - 1) ? value.subtract(BigInteger.ONE.shiftLeft(width)) : value;
    }

    private static BigInteger integer(AtomicOperation operation, BigInteger a, BigInteger b, BigInteger c) {
        boolean isA = a.signum() != 0;
        boolean isB = b.signum() != 0;
        int order = c.compareTo(a);
        return switch (operation) {
            case MIN -> a.min(b);
            case MAX -> a.max(b);
            case SUM -> a.add(b);
            case PROD -> a.multiply(b);
            case LOR -> BigInteger.valueOf(isA || isB ? 1 : 0);
            case LAND -> BigInteger.valueOf(isA && isB ? 1 : 0);
            case LXOR -> BigInteger.valueOf(isA != isB ? 1 : 0);
            case BOR -> a.or(b);
            case BAND -> a.and(b);
            case BXOR -> a.xor(b);
            case ATOMIC_READ -> a;
            case ATOMIC_WRITE -> b;
            case CSWAP -> order == 0 ? b : a;
            case CSWAP_NE -> order != 0 ? b : a;
            case CSWAP_LE -> order <= 0 ? b : a;
            case CSWAP_LT -> order < 0 ? b : a;
            case CSWAP_GE -> order >= 0 ? b : a;
            case CSWAP_GT -> order > 0 ? b : a;
            case MSWAP -> b.and(c).or(a.andNot(c));
        };
    }

    private void put(int index, int size, long value) {
        switch (size) {
            case Long.BYTES -> memory.putLong(index, value);
            case Integer.BYTES -> memory.putInt(index, (int) value);
            case Short.BYTES -> memory.putShort(index, (short) value);
            default -> memory.putByte(index, (byte) value);
        }
    }

    private long get(int index, int size) {
        return switch (size) {
            case Long.BYTES -> memory.getLong(index);
            case Integer.BYTES -> memory.getInt(index) & 0xFFFF_FFFFL;
            case Short.BYTES -> memory.getShort(index) & 0xFFFFL;
            default -> memory.getByte(index) & 0xFFL;
        };
    }
}
