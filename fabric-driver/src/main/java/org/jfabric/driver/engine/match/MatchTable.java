package org.jfabric.driver.engine.match;

import org.agrona.BitUtil;

/**
 * Hash from (tag, source) to the oldest node of that key; its number of buckets never changes.
 *
 * <p>A bucket is a chain of <em>keys</em>, each represented by its oldest node; the younger nodes of a key form a
 * ring behind it. A thousand nodes of one tag are thus one step for a search of any other tag in that bucket, and
 * each operation takes as many steps as there are colliding keys, however many nodes are held.
 *
 * <pre>
 *  buckets[i] ──▶ A1 ──chain──▶ B1 ──chain──▶ C1
 *                 ⇅ same        ⇅ same
 *                 A2            B2
 *                 ⇅
 *                 A3 (and back to A1)
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class MatchTable {
    private static final int MIN_BUCKETS = 16;
    private static final int MAX_BUCKETS = 1 << 20;
    private static final long TAG_MULTIPLIER = 0x9E37_79B9_7F4A_7C15L;
    private static final long SOURCE_MULTIPLIER = 0xD6E8_FEB8_6659_FD93L;

    private final MatchNode[] buckets;
    private final int shift;
    /** Nodes compared with a key so far; counted where assertions are enabled, so that a test sees the price. */
    private long comparisons;

    /**
     * Creates an empty table.
     *
     * @param capacity number of nodes expected at most; more are held all the same, in longer chains. There are twice
     *                 as many buckets, so that a key that is not there, too, is mostly found to be missing at once.
     */
    MatchTable(int capacity) {
        int count = BitUtil.findNextPositivePowerOfTwo(Math.clamp(2L * capacity, MIN_BUCKETS, MAX_BUCKETS));
        buckets = new MatchNode[count];
        shift = Long.SIZE - Integer.numberOfTrailingZeros(count);
    }

    /**
     * Bucket of a key.
     *
     * <p>Applications put ranks and kinds into the upper or the lower bits of a tag and leave the others constant.
     * Folding the upper half onto the lower one before the multiplication lets every input bit reach the top bits of
     * the product, which are the ones used.
     *
     * @param tag    of the key.
     * @param source of the key.
     * @return index into the buckets.
     */
    int bucketOf(long tag, int source) {
        long key = tag + source * SOURCE_MULTIPLIER;
        return (int) (((key ^ (key >>> 32)) * TAG_MULTIPLIER) >>> shift);
    }

    /**
     * Number of buckets.
     *
     * @return a power of two.
     */
    int bucketCount() {
        return buckets.length;
    }

    /**
     * Oldest node of a key.
     *
     * @param tag    of the key.
     * @param source of the key.
     * @return the node, or null if the key has none.
     */
    MatchNode find(long tag, int source) {
        return findInChain(buckets[bucketOf(tag, source)], tag, source);
    }

    /**
     * Adds a node as the youngest of its key.
     *
     * @param node with tag and key source set, standing in no table.
     */
    void add(MatchNode node) {
        int bucket = bucketOf(node.tag, node.keySource);
        MatchNode first = buckets[bucket];
        MatchNode oldest = findInChain(first, node.tag, node.keySource);
        node.bucket = bucket;
        if (oldest == null) {
            if (first != null) {
                first.chainPrev = node;
                node.chainNext = first;
            }
            buckets[bucket] = node;
        } else {
            MatchNode youngest = oldest.samePrev == null ? oldest : oldest.samePrev;
            node.samePrev = youngest;
            node.sameNext = oldest;
            youngest.sameNext = node;
            oldest.samePrev = node;
        }
    }

    /**
     * Removes a node wherever it stands.
     *
     * @param node standing in this table.
     */
    void remove(MatchNode node) {
        MatchNode younger = node.sameNext;
        if (younger == null) {
            replaceInChain(node, node.chainNext);
            return;
        }
        if (node.chainPrev != null || buckets[node.bucket] == node) {
            MatchNode chainNext = node.chainNext;
            younger.chainNext = chainNext;
            if (chainNext != null) {
                chainNext.chainPrev = younger;
            }
            replaceInChain(node, younger);
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

    /**
     * Nodes that were compared with a key so far.
     *
     * @return a count; 0 where assertions are disabled.
     */
    long comparisons() {
        return comparisons;
    }

    private MatchNode findInChain(MatchNode first, long tag, int source) {
        MatchNode node = first;
        while (node != null) {
            assert ++comparisons > 0;
            if (node.tag == tag && node.keySource == source) {
                break;
            }
            node = node.chainNext;
        }
        return node;
    }

    /** Lets the chain's previous element, or the bucket, point to the successor, and clears the node's chain links. */
    private void replaceInChain(MatchNode node, MatchNode successor) {
        MatchNode previous = node.chainPrev;
        if (previous == null) {
            buckets[node.bucket] = successor;
        } else {
            previous.chainNext = successor;
            node.chainPrev = null;
        }
        if (successor != null) {
            successor.chainPrev = previous;
        }
        if (node.chainNext != null) {
            node.chainNext = null;
        }
    }
}
