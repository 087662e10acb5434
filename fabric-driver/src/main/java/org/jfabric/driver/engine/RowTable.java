package org.jfabric.driver.engine;

/**
 * Sums of records with equal keys in a bounded number of rows: the rows with the oldest records, and one sum for all
 * other records, the rest.
 *
 * <p>A row that is replaced by an older one is added to the rest. If a later record of that key is older than another
 * row, the key gets a row again, which then lacks the part that was added to the rest before. All rows and the rest
 * together are always complete. Owner: progress agent.
 */
final class RowTable {
    private final long[] tags;
    private final long[] ignores;
    private final long[] sources;
    private final int[] kinds;
    private final Object[] owners;
    private final Sum[] sums;
    private final Sum rest = new Sum();
    private int size;

    /** Numbers that are added up. */
    static final class Sum {
        long count;
        long bytes;
        long moreCount;
        long moreBytes;
        long sinceNs;

        private void clear() {
            count = 0;
            bytes = 0;
            moreCount = 0;
            moreBytes = 0;
        }

        private boolean isEmpty() {
            return count + moreCount == 0;
        }

        private void add(boolean more, long lengthBytes, long since) {
            older(since);
            if (more) {
                moreCount++;
                moreBytes += lengthBytes;
            } else {
                count++;
                bytes += lengthBytes;
            }
        }

        private void add(Sum other) {
            older(other.sinceNs);
            count += other.count;
            bytes += other.bytes;
            moreCount += other.moreCount;
            moreBytes += other.moreBytes;
        }

        private void older(long since) {
            if (isEmpty() || since - sinceNs < 0) {
                sinceNs = since;
            }
        }
    }

    RowTable(int capacity) {
        tags = new long[capacity];
        ignores = new long[capacity];
        sources = new long[capacity];
        kinds = new int[capacity];
        owners = new Object[capacity];
        sums = new Sum[capacity];
        for (int i = 0; i < capacity; i++) {
            sums[i] = new Sum();
        }
    }

    /**
     * Adds a record to the row of its key.
     *
     * @param owner       part of the key, by identity; or null.
     * @param more        whether it counts among the second kind of records.
     * @param sinceNs     the oldest is kept.
     */
    void add(
        int kind,
        long tag,
        long ignore,
        long source,
        Object owner,
        boolean more,
        long lengthBytes,
        long sinceNs) {
        int row = find(kind, tag, ignore, source, owner);
        if (row < 0) {
            row = place(sinceNs);
            if (row < 0) {
                rest.add(more, lengthBytes, sinceNs);
                return;
            }
            kinds[row] = kind;
            tags[row] = tag;
            ignores[row] = ignore;
            sources[row] = source;
            owners[row] = owner;
        }
        sums[row].add(more, lengthBytes, sinceNs);
    }

    void clear() {
        for (int i = 0; i < size; i++) {
            owners[i] = null;
            sums[i].clear();
        }
        size = 0;
        rest.clear();
    }

    int size() {
        return size;
    }

    int kind(int row) {
        return kinds[row];
    }

    long tag(int row) {
        return tags[row];
    }

    long ignore(int row) {
        return ignores[row];
    }

    long source(int row) {
        return sources[row];
    }

    Object owner(int row) {
        return owners[row];
    }

    Sum sum(int row) {
        return sums[row];
    }

    Sum rest() {
        return rest;
    }

    private int find(int kind, long tag, long ignore, long source, Object owner) {
        for (int i = 0; i < size; i++) {
            if (tags[i] == tag && ignores[i] == ignore && sources[i] == source && kinds[i] == kind
                && owners[i] == owner) {
                return i;
            }
        }
        return -1;
    }

    /** Returns an empty row; if all are in use, the youngest row is replaced, or -1 returned if none is younger. */
    private int place(long sinceNs) {
        if (size < sums.length) {
            return size++;
        }
        int youngest = 0;
        for (int i = 1; i < size; i++) {
            if (sums[i].sinceNs - sums[youngest].sinceNs > 0) {
                youngest = i;
            }
        }
        if (sinceNs - sums[youngest].sinceNs >= 0) {
            return -1;
        }
        rest.add(sums[youngest]);
        sums[youngest].clear();
        return youngest;
    }
}
