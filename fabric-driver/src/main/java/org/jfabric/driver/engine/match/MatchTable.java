package org.jfabric.driver.engine.match;

import org.agrona.BitUtil;

import java.util.SplittableRandom;

/**
 * Hash from (tag, source) to the oldest node of that key. A lookup compares at most one node, however many
 * the table holds.
 *
 * <p>This is cuckoo hashing with prints. Two buckets of two slots each may hold a key: its <em>home</em>, and if that
 * is full the <em>other</em> one, which follows from home and print. The print is a hash of the key; the two prints of
 * a bucket are one word, so that a lookup reads one word, or two, and then only the node whose print is equal. The
 * table never holds two keys with the same home and the same print: it takes other seeds instead. While no key is away
 * from its home, the other buckets are not read. The younger nodes of a key form a ring with the oldest one and take no
 * slots.
 *
 * <pre>
 *           home of A, B and C          other bucket of C
 *  prints │ p(A)     │ p(B)     │   …   │ p(C), away │ 0    │
 *  slots  │ A1       │ B1       │   …   │ C1         │ null │
 *           ⇅ same
 *           A2 ⇄ A3 (and back to A1)
 * </pre>
 *
 * <p>Eight neighbouring tags have homes in one cache line. All other bits of a place depend on random seeds that no
 * sender knows, so no sender can choose tags that collide.
 *
 * <p><b>Costs.</b> Removing is constant. A new key usually finds a free slot in its home. If both its buckets are full,
 * keys move to their other buckets, {@value #MAX_MOVES} of them at most. If that does not help, the table is rebuilt
 * with other seeds, and twice as long if it is more than half full: each key is placed again, and memory is allocated.
 * Beyond the capacity given at first this happens each time the number of keys doubles. Up to it, one new key in some
 * millions causes it: five keys of the same two buckets in a small table, two of one home and print in a long one. The
 * table never gets shorter.
 *
 * <p>The first node of an empty table is kept outside the slots until a second one is added, so an application that
 * posts one receive at a time has no cost of hashing.
 *
 * <p>Owner: progress agent.
 */
final class MatchTable {
    /** Greatest number of keys that one new key may move. */
    static final int MAX_MOVES = 64;

    private static final int BUCKET_SLOTS = 2;
    private static final int MIN_BUCKETS = 128;
    private static final int MAX_FIRST_BUCKETS = 1 << 20;
    private static final int TRIES_PER_LENGTH = 4;
    /** Tags that differ in these bits only are neighbours. */
    private static final int NEIGHBOUR_BITS = 3;
    private static final int NEIGHBOUR_MASK = (1 << NEIGHBOUR_BITS) - 1;
    /** Set in each print, so that 0 is a free slot. */
    private static final int TAKEN = 1 << 31;
    /** Set in the print of a key that is in its other bucket. */
    private static final int AWAY = 1 << 30;
    private static final int FLAG_BITS = 2;
    private static final long HASH_MULTIPLIER = 0xD6E8_FEB8_6659_FD93L;
    private static final int PRINT_MULTIPLIER = 0x9E37_79B9;

    private final SplittableRandom seeds;
    /** A word for each bucket: the print of its first slot in the lower half, of its second one in the upper half. */
    private long[] prints;
    private MatchNode[] slots;
    private int homeShift;
    private long factor;
    private long sourceFactor;
    private int awayCount;
    /** The only node, in no slot; null while there is none, and once there were two. */
    private MatchNode lone;
    private int nodeCount;
    private int rebuilds;
    /** Nodes compared with a key, and keys moved; counted where assertions are enabled, for a test of the cost. */
    private long comparisons;
    private long moves;

    /**
     * Creates an empty table.
     *
     * @param capacity greatest expected number of keys; there are twice as many slots. With more keys the table grows.
     * @param seeds    determine the places of keys; must not be predictable for senders, which choose the tags.
     */
    MatchTable(int capacity, SplittableRandom seeds) {
        this.seeds = seeds;
        allocate(BitUtil.findNextPositivePowerOfTwo(Math.clamp(capacity, MIN_BUCKETS, MAX_FIRST_BUCKETS)));
        takeSeeds();
    }

    /** Number of buckets. Returns a power of two. */
    int bucketCount() {
        return prints.length;
    }

    /** Bucket in which a key is searched first. Returns the number from 0. */
    int homeOf(long tag, int source) {
        return home(hash(tag, source), tag);
    }

    /**
     * Print of a key. Returns a negative number, equal for two keys by chance only, and never for neighbouring tags.
     */
    int printOf(long tag, int source) {
        return print(hash(tag, source), tag);
    }

    /**
     * The other bucket that may hold a key. Returns the number from 0; applied to the result, this method returns the
     * given bucket.
     */
    int otherOf(int bucket, int print) {
        // the lowest bit always differs, so the two are never the same
        return bucket ^ ((print << FLAG_BITS) * PRINT_MULTIPLIER >>> homeShift - Integer.SIZE | 1);
    }

    /** Oldest node of a key. Returns the node, or null if the key has none. */
    MatchNode find(long tag, int source) {
        MatchNode only = lone;
        if (only != null) {
            return isOf(only, tag, source) ? only : null;
        }
        long hash = hash(tag, source);
        int home = home(hash, tag);
        int print = print(hash, tag);
        int slot = home * BUCKET_SLOTS;
        if ((int) prints[home] != print) {
            slot = slotOf(home, print);
            if (slot < 0) {
                return null;
            }
        }
        MatchNode node = slots[slot];
        return isOf(node, tag, source) ? node : null;
    }

    /**
     * Adds a node as the youngest of its key.
     *
     * @param node with tag and key source set, in no table.
     */
    void add(MatchNode node) {
        if (nodeCount++ == 0) {
            lone = node;
            return;
        }
        MatchNode only = lone;
        if (only != null) {
            lone = null;
            insert(only);
        }
        insert(node);
    }

    private void insert(MatchNode node) {
        long hash = hash(node.tag, node.keySource);
        int home = home(hash, node.tag);
        int print = print(hash, node.tag);
        int slot = slotOf(home, print);
        if (slot >= 0) {
            addToKey(slots[slot], node);
            return;
        }
        long both = prints[home];
        if ((int) both == 0) {
            prints[home] = both | Integer.toUnsignedLong(print);
            slots[home * BUCKET_SLOTS] = node;
            node.slot = home * BUCKET_SLOTS;
        } else if (both >>> Integer.SIZE == 0) {
            prints[home] = both | (long) print << Integer.SIZE;
            slots[home * BUCKET_SLOTS + 1] = node;
            node.slot = home * BUCKET_SLOTS + 1;
        } else {
            addAway(node, home, print);
        }
    }

    /** Removes a node from any position. */
    void remove(MatchNode node) {
        nodeCount--;
        if (node == lone) {
            lone = null;
            return;
        }
        MatchNode younger = node.sameNext;
        int slot = node.slot;
        if (slot >= 0) {
            node.slot = MatchNode.NO_SLOT;
            slots[slot] = younger;
            if (younger == null) {
                free(slot);
                return;
            }
            younger.slot = slot;
        }
        MatchNode older = node.samePrev;
        if (older == younger) {
            younger.sameNext = null;
            younger.samePrev = null;
        } else {
            older.sameNext = younger;
            younger.samePrev = older;
        }
        node.sameNext = null;
        node.samePrev = null;
    }

    /** The number of nodes that were compared with a key so far. Returns a count; 0 where assertions are disabled. */
    long comparisons() {
        return comparisons;
    }

    /**
     * The number of keys that were moved to free a slot for another one so far. Returns a count; 0 where assertions are
     * disabled.
     */
    long moves() {
        return moves;
    }

    /** The number of times that all keys were placed again. */
    int rebuilds() {
        return rebuilds;
    }

    /**
     * Hash of a key without the lowest bits of its tag.
     *
     * <p>Applications put ranks and kinds into the upper or the lower bits of a tag and leave the others constant. The
     * two halves of a product of 128 bits carry each bit of the tag into the result. For tags in equal steps the
     * result is still a pattern; the second product breaks it. Without it small tables would be rebuilt a thousand
     * times as often.
     */
    private long hash(long tag, int source) {
        long key = tag >>> NEIGHBOUR_BITS ^ source * sourceFactor;
        return (Math.unsignedMultiplyHigh(key, factor) ^ key * factor) * HASH_MULTIPLIER;
    }

    /** From the upper bits of the hash, which each bit of the first product reaches. */
    private int home(long hash, long tag) {
        return (int) (hash >>> homeShift) ^ (int) tag & NEIGHBOUR_MASK;
    }

    /** From the lower bits; neighbours have different ones. */
    private static int print(long hash, long tag) {
        return ((int) hash ^ (int) tag & NEIGHBOUR_MASK) & ~AWAY | TAKEN;
    }

    private boolean isOf(MatchNode node, long tag, int source) {
        assert ++comparisons > 0;
        return node.tag == tag && node.keySource == source;
    }

    /** The slot with a print in one of the two buckets of a key; negative if there is none. */
    private int slotOf(int home, int print) {
        int slot = slotIn(home, print);
        return slot >= 0 || awayCount == 0 ? slot : slotIn(otherOf(home, print), print | AWAY);
    }

    private int slotIn(int bucket, int print) {
        long both = prints[bucket];
        if ((int) both == print) {
            return bucket * BUCKET_SLOTS;
        }
        return (int) (both >>> Integer.SIZE) == print ? bucket * BUCKET_SLOTS + 1 : -1;
    }

    private void addAway(MatchNode node, int home, int print) {
        MatchNode homeless = makeRoom(node, home, print);
        if (homeless != null) {
            rebuild(homeless);
        }
    }

    private void addToKey(MatchNode oldest, MatchNode node) {
        if (!isOf(oldest, node.tag, node.keySource)) {
            rebuild(node);
            return;
        }
        MatchNode youngest = oldest.samePrev == null ? oldest : oldest.samePrev;
        node.samePrev = youngest;
        node.sameNext = oldest;
        youngest.sameNext = node;
        oldest.samePrev = node;
    }

    /**
     * Places a key whose home is full, and moves other keys to their other buckets where needed. Returns null; or the
     * node of the one key that is left without a slot.
     */
    private MatchNode makeRoom(MatchNode node, int home, int print) {
        MatchNode homeless = node;
        int homelessPrint = print | AWAY;
        int bucket = otherOf(home, print);
        for (int i = 0; i < MAX_MOVES; i++) {
            if (putIfFree(homeless, bucket, homelessPrint)) {
                return null;
            }
            assert ++moves > 0;
            // either slot will do, but not always the same one, or keys would displace each other in a cycle
            int slot = bucket * BUCKET_SLOTS + (homelessPrint >>> i & 1);
            MatchNode moved = slots[slot];
            int movedPrint = printAt(slot);
            free(slot);
            put(homeless, slot, homelessPrint);
            homeless = moved;
            homelessPrint = movedPrint ^ AWAY;
            bucket = otherOf(bucket, movedPrint);
        }
        homeless.slot = MatchNode.NO_SLOT;
        return homeless;
    }

    private boolean putIfFree(MatchNode node, int bucket, int print) {
        int slot = slotIn(bucket, 0);
        if (slot < 0) {
            return false;
        }
        put(node, slot, print);
        return true;
    }

    private void put(MatchNode node, int slot, int print) {
        prints[slot >> 1] |= Integer.toUnsignedLong(print) << shiftOf(slot);
        slots[slot] = node;
        node.slot = slot;
        if ((print & AWAY) != 0) {
            awayCount++;
        }
    }

    private void free(int slot) {
        long print = Integer.toUnsignedLong(printAt(slot));
        prints[slot >> 1] ^= print << shiftOf(slot);
        if ((print & AWAY) != 0) {
            awayCount--;
        }
    }

    private int printAt(int slot) {
        return (int) (prints[slot >> 1] >>> shiftOf(slot));
    }

    /** Of the print of a slot in the word of its bucket. */
    private static int shiftOf(int slot) {
        return (slot & 1) << 5;
    }

    /** Places all keys again, with the one that has no slot, until each has one. */
    private void rebuild(MatchNode homeless) {
        MatchNode[] old = slots;
        int keys = 1;
        for (MatchNode node : old) {
            keys += node == null ? 0 : 1;
        }
        int buckets = keys > old.length / 2 ? bucketCount() * 2 : bucketCount();
        for (int tries = 1;; tries++) {
            allocate(buckets);
            takeSeeds();
            if (placeAll(old, homeless)) {
                break;
            }
            // only a table that is too full fails repeatedly
            buckets = tries % TRIES_PER_LENGTH == 0 ? buckets * 2 : buckets;
        }
        rebuilds++;
    }

    private boolean placeAll(MatchNode[] nodes, MatchNode homeless) {
        for (MatchNode node : nodes) {
            if (node != null && !place(node)) {
                return false;
            }
        }
        return place(homeless);
    }

    /** Returns false also if another key has the same home and print. */
    private boolean place(MatchNode node) {
        int home = homeOf(node.tag, node.keySource);
        int print = printOf(node.tag, node.keySource);
        return slotOf(home, print) < 0
            && (putIfFree(node, home, print) || makeRoom(node, home, print) == null);
    }

    private void allocate(int buckets) {
        prints = new long[buckets];
        slots = new MatchNode[buckets * BUCKET_SLOTS];
        awayCount = 0;
        homeShift = Long.SIZE - Integer.numberOfTrailingZeros(buckets);
    }

    private void takeSeeds() {
        factor = seeds.nextLong() | 1;
        sourceFactor = seeds.nextLong() | 1;
    }
}
