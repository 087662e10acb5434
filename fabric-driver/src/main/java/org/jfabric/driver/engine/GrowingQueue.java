package org.jfabric.driver.engine;

import java.util.Arrays;

/**
 * First in, first out: records of a fixed number of words in one array, which grows to the greatest number of records
 * that was ever queued and does not shrink. Records are read and changed in place.
 *
 * <p>Owner: progress agent; only {@link #add()} allocates, when the array is full.
 */
final class GrowingQueue {
    private static final int FIRST_RECORDS = 16;

    private final int recordWords;
    /** The records; its number of records is a power of two, or 0 before the first one. */
    private long[] words = new long[0];
    private int mask;
    private int head;
    private int count;

    GrowingQueue(int recordWords) {
        this.recordWords = recordWords;
        this.mask = -1;
    }

    /** The word at an index that {@link #add()} or {@link #first()} has returned, plus one within the record. */
    long get(int index) {
        return words[index];
    }

    /** Changes the word at an index as of {@link #get}. */
    void set(int index, long value) {
        words[index] = value;
    }

    int count() {
        return count;
    }

    /** Appends a record, all of whose words the caller sets; returns its first index. Other indices may end. */
    int add() {
        if (count > mask) {
            grow();
        }
        return (head + count++ & mask) * recordWords;
    }

    /** First index of the oldest record; there is one. */
    int first() {
        return head * recordWords;
    }

    void removeFirst() {
        head = head + 1 & mask;
        count--;
    }

    void clear() {
        head = 0;
        count = 0;
    }

    private void grow() {
        int length = words.length;
        long[] longer = Arrays.copyOf(words, Math.max(FIRST_RECORDS * recordWords, length * 2));
        int fromHead = length - head * recordWords;
        System.arraycopy(words, head * recordWords, longer, 0, fromHead);
        System.arraycopy(words, 0, longer, fromHead, head * recordWords);
        words = longer;
        head = 0;
        mask = longer.length / recordWords - 1;
    }
}
