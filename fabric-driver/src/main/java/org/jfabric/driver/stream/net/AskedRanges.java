package org.jfabric.driver.stream.net;

/**
 * Ranges of a stream that a reader has asked for and that are to be sent again, sorted; none touches another. Places
 * are those of {@link Gaps}. Owner: progress agent.
 */
final class AskedRanges {
    private static final int MOST = Gaps.MOST;

    private final long[] firsts = new long[MOST];
    private final int[] firstBytes = new int[MOST];
    private final long[] ends = new long[MOST];
    private final int[] endBytes = new int[MOST];
    /** Index of the first one: they are taken from the front. */
    private int head;
    private int tail;

    boolean isEmpty() {
        return head == tail;
    }

    /** Begin of the first range. */
    long first() {
        return firsts[head];
    }

    int firstByte() {
        return firstBytes[head];
    }

    /** End of the first range. */
    long end() {
        return ends[head];
    }

    int endByte() {
        return endBytes[head];
    }

    /** Adds a range to those that it touches; if there are too many it is not noted, and will be asked for again. */
    void add(long first, int firstByte, long end, int endByte) {
        int i = tail;
        while (i > head && !Gaps.isBefore(ends[i - 1], endBytes[i - 1], first, firstByte)) {
            i--;
        }
        // the ranges from i on end at the new one or behind it
        if (i == tail || Gaps.isBefore(end, endByte, firsts[i], firstBytes[i])) {
            insert(i, first, firstByte, end, endByte);
            return;
        }
        if (Gaps.isBefore(first, firstByte, firsts[i], firstBytes[i])) {
            firsts[i] = first;
            firstBytes[i] = firstByte;
        }
        int last = i;
        while (last + 1 < tail && !Gaps.isBefore(end, endByte, firsts[last + 1], firstBytes[last + 1])) {
            last++;
        }
        boolean isLonger = Gaps.isBefore(ends[last], endBytes[last], end, endByte);
        ends[i] = isLonger ? end : ends[last];
        endBytes[i] = isLonger ? endByte : endBytes[last];
        move(last + 1, i + 1);
    }

    private void insert(int at, long first, int firstByte, long end, int endByte) {
        int i = at;
        if (tail == MOST) {
            if (head == 0) {
                return;
            }
            i -= head;
            move(head, 0);
            head = 0;
        }
        move(i, i + 1);
        firsts[i] = first;
        firstBytes[i] = firstByte;
        ends[i] = end;
        endBytes[i] = endByte;
    }

    /** Moves all from an index on to another one. */
    private void move(int from, int to) {
        int number = tail - from;
        System.arraycopy(firsts, from, firsts, to, number);
        System.arraycopy(firstBytes, from, firstBytes, to, number);
        System.arraycopy(ends, from, ends, to, number);
        System.arraycopy(endBytes, from, endBytes, to, number);
        tail = to + number;
    }

    /** Takes away everything before a place. */
    void discard(long position, int offset) {
        while (head < tail && !Gaps.isBefore(position, offset, ends[head], endBytes[head])) {
            head++;
        }
        if (head < tail && Gaps.isBefore(firsts[head], firstBytes[head], position, offset)) {
            firsts[head] = position;
            firstBytes[head] = offset;
        }
    }
}
