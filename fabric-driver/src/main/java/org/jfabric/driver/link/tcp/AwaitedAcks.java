package org.jfabric.driver.link.tcp;

/**
 * Our messages on one connection that the peer has yet to acknowledge, the oldest first: acknowledgements carry no name
 * and come in the order of the messages.
 *
 * <p>Grows to the greatest number that was ever outstanding, which the endpoint's size bounds. Owner: progress agent.
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
     * Adds the youngest.
     *
     * @param operation id.
     * @param level     that the engine awaits of the peer, 0 if the link itself tells of the end.
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

    /** What is awaited of the oldest. */
    long levels() {
        return levels[first];
    }

    /** Takes the oldest out. */
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
