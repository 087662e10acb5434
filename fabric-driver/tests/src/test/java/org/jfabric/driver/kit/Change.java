package org.jfabric.driver.kit;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * One change to bytes that a parser is to read.
 *
 * @param at    position, counted from the begin again where the bytes end.
 * @param value of the change.
 * @param kind  0 replaces a byte, 1 turns a bit over, 2 cuts, 3 repeats the begin.
 */
public record Change(int at, int value, int kind) {
    /** Bytes with the change; the argument stays as it is. */
    public byte[] apply(byte[] bytes) {
        int index = bytes.length == 0 ? 0 : at % bytes.length;
        return switch (kind) {
            case 0 -> replace(bytes, index, (byte) value);
            case 1 -> replace(bytes, index, (byte) (bytes[index] ^ 1 << (value & 7)));
            case 2 -> Arrays.copyOf(bytes, index);
            default -> {
                byte[] longer = Arrays.copyOf(bytes, bytes.length + index);
                System.arraycopy(bytes, 0, longer, bytes.length, index);
                yield longer;
            }
        };
    }

    /** One to four changes, most of them to single bytes in front, which decide most. */
    public static byte[] some(byte[] bytes, SplittableRandom random) {
        byte[] changed = bytes;
        for (int i = random.nextInt(4); i >= 0 && changed.length > 0; i--) {
            int at = random.nextInt(random.nextBoolean() ? Math.min(48, changed.length) : changed.length);
            int dice = random.nextInt(20);
            changed = new Change(at, random.nextInt(256), dice < 2 ? dice + 2 : dice & 1).apply(changed);
        }
        return changed;
    }

    private static byte[] replace(byte[] bytes, int index, byte value) {
        byte[] changed = bytes.clone();
        if (changed.length > 0) {
            changed[index] = value;
        }
        return changed;
    }
}
