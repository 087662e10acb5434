package org.jfabric.driver.stream.net;

/**
 * What is missing of a stream. A place in it is a position and, within a message that comes in fragments, a byte.
 *
 * <pre>
 *   delivered ──┤ gap ├── arrived ──┤ gap ├── arrived ──┤ frontier: nothing has arrived from here on
 * </pre>
 *
 * <p>Gaps are half open, sorted, and never touch one another unless one of them is lost: the writer does not have its
 * messages any more. Owner: progress agent.
 */
final class Gaps {
    /** Time of the next request of a gap that other paths may still fill. */
    static final long LATER = Long.MAX_VALUE;
    /** More gaps are not noted: what makes them counts as not arrived. */
    static final int MOST = 1 << 11;
    private static final int PLACES = 2 * MOST;
    /** Gaps that one call makes at most. */
    private static final int MOST_MADE = 4;

    /** Index of the first gap: they end at the front, and the others are seldom moved. */
    private int from;
    /** Index behind the last one. */
    private int to;
    private final long[] firsts = new long[PLACES];
    private final int[] firstBytes = new int[PLACES];
    private final long[] ends = new long[PLACES];
    private final int[] endBytes = new int[PLACES];
    private final long[] sinceNs = new long[PLACES];
    private final long[] dueNs = new long[PLACES];
    /** How often it was asked for; -1 if it is lost. */
    private final int[] tries = new int[PLACES];
    private long frontier;
    private int frontierByte;

    /** Everything before a position has arrived, and nothing else. */
    void begin(long position) {
        from = 0;
        to = 0;
        frontier = position;
        frontierByte = 0;
    }

    static boolean isBefore(long position, int offset, long otherPosition, int otherOffset) {
        return position < otherPosition || position == otherPosition && offset < otherOffset;
    }

    int count() {
        return to - from;
    }

    /** Index of the first gap. */
    int from() {
        return from;
    }

    /** Index behind the last gap. */
    int to() {
        return to;
    }

    long frontier() {
        return frontier;
    }

    /** All messages before this position have arrived. */
    long completeUntil() {
        return from == to ? frontier : firsts[from];
    }

    /** Whether the place has not arrived. */
    boolean isMissing(long position, int offset) {
        if (!isBefore(position, offset, frontier, frontierByte)) {
            return true;
        }
        int i = find(position, offset);
        return i < to && !isBefore(position, offset, firsts[i], firstBytes[i]);
    }

    /** The first gap that ends behind a place. */
    private int find(long position, int offset) {
        int low = from;
        int high = to;
        while (low < high) {
            int middle = low + high >>> 1;
            if (isBefore(position, offset, ends[middle], endBytes[middle])) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /**
     * A range has arrived.
     *
     * @param retryNs when the rest of a gap is asked for again from which a part has come.
     * @return false if there are too many gaps: then it is as if it had not.
     */
    boolean arrived(long position, int offset, long end, int endByte, long nowNs, long retryNs) {
        if (position == frontier && offset == frontierByte) {
            frontier = end;
            frontierByte = endByte;
            return true;
        }
        if (!isBefore(position, offset, frontier, frontierByte)) {
            if (count() == MOST) {
                return false;
            }
            passed(position, offset, nowNs);
        } else if (!cut(position, offset, end, endByte, retryNs)) {
            return false;
        }
        if (isBefore(frontier, frontierByte, end, endByte)) {
            frontier = end;
            frontierByte = endByte;
        }
        return true;
    }

    /** Everything before a place was sent. */
    void passed(long position, int offset, long nowNs) {
        if (isBefore(frontier, frontierByte, position, offset) && count() < MOST) {
            makeRoom();
            insert(to, frontier, frontierByte, position, offset);
            sinceNs[to - 1] = nowNs;
            dueNs[to - 1] = LATER;
            tries[to - 1] = 0;
            frontier = position;
            frontierByte = offset;
        }
    }

    /** Messages do not exist any more: what is missing of them is lost. */
    void lost(long first, long last) {
        makeRoom();
        int i = find(first, 0);
        while (i < to && firsts[i] <= last && count() < MOST - 1) {
            split(i, first, 0);
            if (isBefore(firsts[i], firstBytes[i], first, 0)) {
                i++;
                continue;
            }
            split(i, last + 1, 0);
            tries[i] = -1;
            i++;
        }
    }

    /** Divides a gap at a place within it. */
    private void split(int i, long position, int offset) {
        if (isBefore(firsts[i], firstBytes[i], position, offset)
            && isBefore(position, offset, ends[i], endBytes[i])) {
            insert(i + 1, position, offset, ends[i], endBytes[i]);
            sinceNs[i + 1] = sinceNs[i];
            dueNs[i + 1] = dueNs[i];
            tries[i + 1] = tries[i];
            ends[i] = position;
            endBytes[i] = offset;
        }
    }

    private boolean cut(long position, int offset, long end, int endByte, long retryNs) {
        makeRoom();
        int i = find(position, offset);
        while (i < to && isBefore(firsts[i], firstBytes[i], end, endByte)) {
            boolean beginsBefore = isBefore(firsts[i], firstBytes[i], position, offset);
            if (!isBefore(end, endByte, ends[i], endBytes[i])) {
                if (beginsBefore) {
                    ends[i] = position;
                    endBytes[i] = offset;
                    postpone(i++, retryNs);
                } else {
                    i = remove(i);
                }
                continue;
            }
            if (beginsBefore) {
                if (count() == MOST) {
                    return false;
                }
                split(i, position, offset);
                postpone(i++, retryNs);
            }
            firsts[i] = end;
            firstBytes[i] = endByte;
            postpone(i, retryNs);
            return true;
        }
        return true;
    }

    /** A repair of this gap is under way. */
    private void postpone(int i, long retryNs) {
        if (tries[i] > 0) {
            tries[i] = 1;
            dueNs[i] = Math.max(dueNs[i], retryNs);
        }
    }

    /** Forgets what is missing before a position. */
    void discard(long before) {
        while (from < to && !isBefore(before, 0, ends[from], endBytes[from])) {
            from++;
        }
        if (from < to && isBefore(firsts[from], firstBytes[from], before, 0)) {
            firsts[from] = before;
            firstBytes[from] = 0;
        }
        if (isBefore(frontier, frontierByte, before, 0)) {
            frontier = before;
            frontierByte = 0;
        }
    }

    /** Whether the first gap is lost; then {@link #lostUntil()}. */
    boolean isFirstLost() {
        return from < to && tries[from] < 0;
    }

    /** Last message of which something is lost with the first gap. */
    long lostUntil() {
        return endBytes[from] > 0 ? ends[from] : ends[from] - 1;
    }

    private void insert(int at, long position, int offset, long end, int endByte) {
        move(at, at + 1);
        firsts[at] = position;
        firstBytes[at] = offset;
        ends[at] = end;
        endBytes[at] = endByte;
    }

    /** Takes a gap away; the index of the one behind it. */
    private int remove(int at) {
        if (at == from) {
            return ++from;
        }
        move(at + 1, at);
        return at;
    }

    private void makeRoom() {
        if (to > PLACES - MOST_MADE) {
            move(from, 0);
            from = 0;
        }
    }

    /** Moves all gaps from an index on to another one. */
    private void move(int source, int target) {
        int number = to - source;
        System.arraycopy(firsts, source, firsts, target, number);
        System.arraycopy(firstBytes, source, firstBytes, target, number);
        System.arraycopy(ends, source, ends, target, number);
        System.arraycopy(endBytes, source, endBytes, target, number);
        System.arraycopy(sinceNs, source, sinceNs, target, number);
        System.arraycopy(dueNs, source, dueNs, target, number);
        System.arraycopy(tries, source, tries, target, number);
        to = target + number;
    }

    // ---- asking for them ----

    long first(int i) {
        return firsts[i];
    }

    int firstByte(int i) {
        return firstBytes[i];
    }

    long end(int i) {
        return ends[i];
    }

    int endByte(int i) {
        return endBytes[i];
    }

    /** Since when it is there. */
    long sinceNs(int i) {
        return sinceNs[i];
    }

    boolean isLost(int i) {
        return tries[i] < 0;
    }

    /** When it is asked for; {@link #LATER} if that is not decided. */
    long dueNs(int i) {
        return dueNs[i];
    }

    /** How often it was asked for. */
    int tries(int i) {
        return tries[i];
    }

    void ask(int i, long newDueNs) {
        dueNs[i] = newDueNs;
    }

    void asked(int i, long againNs) {
        tries[i]++;
        dueNs[i] = againNs;
    }
}
