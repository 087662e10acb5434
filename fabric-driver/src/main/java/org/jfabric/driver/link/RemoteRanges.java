package org.jfabric.driver.link;

/**
 * The ranges of registered memory that one request of a peer names, in order, on a wire whose requests may name
 * several. Nothing in them is checked. Lengths are bytes; those of atomic operations are elements
 * ({@link RemoteAccess#ranges()}).
 *
 * <p>Owner: progress agent.
 */
public final class RemoteRanges {
    /** Most ranges of one request. */
    public static final int MAX_RANGES = PieceList.MAX_PIECES;

    private static final int KEY = 0;
    private static final int ADDRESS = 1;
    private static final int LENGTH = 2;
    private static final int WORDS = 3;

    private final long[] ranges = new long[WORDS * MAX_RANGES];
    private int count;

    /** For links: without ranges. */
    public RemoteRanges() {
    }

    public void clear() {
        count = 0;
    }

    /** Takes the ranges of another list. */
    public void set(RemoteRanges other) {
        count = other.count;
        System.arraycopy(other.ranges, 0, ranges, 0, WORDS * count);
    }

    /**
     * Adds a range; there are at most {@link #MAX_RANGES}.
     *
     * @param key         of the region; any value.
     * @param address     offset of the first byte in the region; any value.
     * @param lengthBytes bytes; any value.
     */
    public void add(long key, long address, long lengthBytes) {
        int at = WORDS * count++;
        ranges[at + KEY] = key;
        ranges[at + ADDRESS] = address;
        ranges[at + LENGTH] = lengthBytes;
    }

    /** Number of ranges. Returns 0 to {@link #MAX_RANGES}. */
    public int count() {
        return count;
    }

    /** The key of a range's region. Returns any value. */
    public long key(int range) {
        return ranges[WORDS * range + KEY];
    }

    /** The place of a range in its region. Returns the offset in bytes; any value. */
    public long address(int range) {
        return ranges[WORDS * range + ADDRESS];
    }

    /** The length of a range. Returns the bytes; any value. */
    public long lengthBytes(int range) {
        return ranges[WORDS * range + LENGTH];
    }

    /** Whether an earlier range lies in the same region. */
    public boolean isNamedBefore(int range) {
        for (int i = 0; i < range; i++) {
            if (key(i) == key(range)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The length of a range together with the later ones in the same region, in the unit of the ranges; meaningless
     * unless they were found to be inside their regions.
     */
    public long lengthInRegion(int range) {
        long sum = 0;
        for (int i = range; i < count; i++) {
            sum += key(i) == key(range) ? lengthBytes(i) : 0;
        }
        return sum;
    }

    /**
     * The length of all ranges. Returns the bytes; meaningless unless the ranges were found to be inside their regions.
     */
    public long totalBytes() {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += ranges[WORDS * i + LENGTH];
        }
        return sum;
    }
}
