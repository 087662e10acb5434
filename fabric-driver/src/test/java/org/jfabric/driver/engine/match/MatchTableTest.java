package org.jfabric.driver.engine.match;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

class MatchTableTest {
    private static final int CAPACITY = 1024;

    @Test
    void shouldSpreadKeysWhenTagsDifferInAnyBitsOnly() {
        for (int shift = 0; shift <= Long.SIZE - 10; shift++) {
            int bits = shift;
            assertSpread("shift " + shift, i -> i << bits);
            assertSpread("shift " + shift + " with constant bits", i -> i << bits ^ 0x5A5A_0000_1234_0000L);
            assertSpread("shift " + shift + " with complement", i -> ~(i << bits));
        }
        assertSpread("same upper and lower half", i -> i << 32 | i);
        assertSpread("upper and lower half", i -> (i >>> 5) << 32 | i & 31);
        assertSpread("upper and lower byte", i -> (i >>> 5) << 56 | i & 31);
        assertSpread("multiples of a cache line", i -> i * 64);
        assertSpread("multiples of a prime", i -> i * 1_000_003);
    }

    @Test
    void shouldSpreadKeysWhenOnlySourcesDiffer() {
        MatchTable table = new MatchTable(CAPACITY);
        int[] keys = new int[table.bucketCount()];
        for (int source = -1; source < CAPACITY - 1; source++) {
            keys[table.bucketOf(7, source)]++;
        }
        assertSpread("sources", keys);
        keys = new int[table.bucketCount()];
        for (int source = 0; source < 32; source++) {
            for (int tag = 0; tag < 32; tag++) {
                keys[table.bucketOf(tag, source)]++;
            }
        }
        assertSpread("sources and tags", keys);
    }

    @Test
    void shouldKeepEachKeyInOrderWhenAllCollideInOneBucket() {
        MatchTable table = new MatchTable(1);
        long[] tags = collidingTags(table, 4);
        Node[][] nodes = new Node[tags.length][5];
        for (int i = 0; i < 5; i++) {
            for (int key = 0; key < tags.length; key++) {
                nodes[key][i] = new Node(tags[key]);
                table.add(nodes[key][i]);
            }
        }
        // Youngest, one in the middle and oldest of each key leave in turn; the others keep their order.
        for (int key = 0; key < tags.length; key++) {
            assertSame(nodes[key][0], table.find(tags[key], 0));
            table.remove(nodes[key][4]);
            table.remove(nodes[key][2]);
            table.remove(nodes[key][0]);
            assertSame(nodes[key][1], table.find(tags[key], 0));
            table.add(nodes[key][0]);
        }
        for (int key = tags.length - 1; key >= 0; key--) {
            for (int i : new int[] {1, 3, 0}) {
                assertSame(nodes[key][i], table.find(tags[key], 0));
                table.remove(nodes[key][i]);
                assertUnlinked(nodes[key][i]);
            }
            assertNull(table.find(tags[key], 0));
        }
    }

    @Test
    void shouldKeepOtherKeysWhenKeyLeavesFromAnyPlaceInChain() {
        MatchTable table = new MatchTable(1);
        long[] tags = collidingTags(table, 3);
        for (int leaving = 0; leaving < tags.length; leaving++) {
            Node[] nodes = new Node[tags.length];
            for (int key = 0; key < tags.length; key++) {
                nodes[key] = new Node(tags[key]);
                table.add(nodes[key]);
            }
            table.remove(nodes[leaving]);
            for (int key = 0; key < tags.length; key++) {
                assertSame(key == leaving ? null : nodes[key], table.find(tags[key], 0));
            }
            for (int key = 0; key < tags.length; key++) {
                if (key != leaving) {
                    table.remove(nodes[key]);
                }
                assertUnlinked(nodes[key]);
            }
        }
    }

    @Test
    void shouldDistinguishSourcesWhenTagIsTheSame() {
        MatchTable table = new MatchTable(CAPACITY);
        Node any = new Node(7);
        any.keySource = TagMatcher.ANY_SOURCE;
        Node directed = new Node(7);
        table.add(any);
        table.add(directed);
        assertNotSame(table.find(7, TagMatcher.ANY_SOURCE), table.find(7, 0));
        assertSame(any, table.find(7, TagMatcher.ANY_SOURCE));
        assertNull(table.find(7, 1));
    }

    @Test
    void shouldBoundBucketsWhenCapacityIsExtreme() {
        assertEquals(16, new MatchTable(0).bucketCount());
        assertEquals(1 << 20, new MatchTable(Integer.MAX_VALUE).bucketCount());
        assertEquals(4096, new MatchTable(1025).bucketCount());
    }

    private static void assertSpread(String what, LongUnaryOperator tagOf) {
        MatchTable table = new MatchTable(CAPACITY);
        int[] keys = new int[table.bucketCount()];
        for (int i = 0; i < CAPACITY; i++) {
            keys[table.bucketOf(tagOf.applyAsLong(i), TagMatcher.ANY_SOURCE)]++;
        }
        assertSpread(what, keys);
    }

    /** Random placement of n keys in n buckets gives 1.5 steps per search; 2.5 still is a good hash. */
    private static void assertSpread(String what, int[] keys) {
        long steps = 0;
        for (int n : keys) {
            steps += (long) n * (n + 1) / 2;
        }
        double stepsPerSearch = (double) steps / CAPACITY;
        assertTrue(stepsPerSearch < 2.5, what + ": " + stepsPerSearch + " steps per search");
    }

    private static long[] collidingTags(MatchTable table, int count) {
        long[] tags = new long[count];
        int found = 0;
        for (long tag = 0; found < count; tag++) {
            if (table.bucketOf(tag, 0) == 3) {
                tags[found++] = tag;
            }
        }
        return tags;
    }

    private static void assertUnlinked(MatchNode node) {
        assertNull(node.chainNext);
        assertNull(node.chainPrev);
        assertNull(node.sameNext);
        assertNull(node.samePrev);
    }

    private static final class Node extends MatchNode {
        Node(long tag) {
            this.tag = tag;
        }
    }
}
