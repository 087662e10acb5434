package org.jfabric.driver.link.tcp;

/**
 * The messages sent on one connection that the peer has not acknowledged yet, the oldest first. Acknowledgements carry
 * no id and arrive in the order of the messages.
 *
 * <p>The list grows to the largest number of messages that were outstanding at once, which the size of the endpoint's
 * transmit queue limits. Owner: progress agent.
 */
final class AwaitedAcks {
    private long[] operations = new long[16];
    private long[] levels = new long[16];
    private int first;
    private int count;

    AwaitedAcks() {
    }

    boolean isEmpty() {
        return count == 0;
    }

    /**
     * Appends a message.
     *
     * @param level     level that the engine awaits from the peer, 0 if the link itself reports the completion.
     */
    void add(long operation, long level) {
        if (count == operations.length) {
            grow();
        }
        int index = first + count & operations.length - 1;
        operations[index] = operation;
        levels[index] = level;
        count++;
    }

    /** Id of the oldest. */
    long operation() {
        return operations[first];
    }

    /** Levels awaited for the oldest. */
    long levels() {
        return levels[first];
    }

    /** Removes the oldest. */
    void remove() {
        first = first + 1 & operations.length - 1;
        count--;
    }

    private void grow() {
        long[] moreOperations = new long[2 * count];
        long[] moreLevels = new long[2 * count];
        for (int i = 0; i < count; i++) {
            moreOperations[i] = operations[first + i & count - 1];
            moreLevels[i] = levels[first + i & count - 1];
        }
        operations = moreOperations;
        levels = moreLevels;
        first = 0;
    }
}
