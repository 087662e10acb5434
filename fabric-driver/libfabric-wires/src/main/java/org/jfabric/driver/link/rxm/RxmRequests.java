package org.jfabric.driver.link.rxm;

import java.util.Arrays;

/**
 * The peer's atomic operations that were not answered yet: what their answers repeat. The engine gets a number for
 * each.
 *
 * <p>Owner: progress agent.
 */
final class RxmRequests {
    private static final int FIRST_COUNT = 16;
    private static final int END = -1;
    private static final int IN_USE = -2;

    private long[] messages = new long[0];
    private byte[] ops = new byte[0];
    /** For a free number the next free one, negative at the end; {@link #IN_USE} for others. */
    private int[] next = new int[0];
    private int free = END;

    /** A table without requests. */
    RxmRequests() {
    }

    int add(long message, int op) {
        if (free == END) {
            grow();
        }
        int number = free;
        free = next[number];
        next[number] = IN_USE;
        messages[number] = message;
        ops[number] = (byte) op;
        return number;
    }

    long message(int number) {
        return messages[number];
    }

    int op(int number) {
        return ops[number];
    }

    /** Removes a request; false if there is none with that number. */
    boolean remove(int number) {
        if (number < 0 || number >= next.length || next[number] != IN_USE) {
            return false;
        }
        next[number] = free;
        free = number;
        return true;
    }

    private void grow() {
        int length = messages.length;
        int longer = Math.max(FIRST_COUNT, 2 * length);
        messages = Arrays.copyOf(messages, longer);
        ops = Arrays.copyOf(ops, longer);
        next = Arrays.copyOf(next, longer);
        for (int i = length; i < longer; i++) {
            next[i] = i + 1 < longer ? i + 1 : END;
        }
        free = length;
    }
}
