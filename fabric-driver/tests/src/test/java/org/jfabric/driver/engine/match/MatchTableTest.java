package org.jfabric.driver.engine.match;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

class MatchTableTest {
    private static final int CAPACITY = 1024;
    private static final long SEED = 1;

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
        MatchTable table = table(CAPACITY);
        int[] keys = new int[table.bucketCount()];
        for (int source = -1; source < CAPACITY - 1; source++) {
            keys[table.homeOf(7, source)]++;
        }
        assertSpread("sources", keys);
        keys = new int[table.bucketCount()];
        for (int source = 0; source < 32; source++) {
            for (int tag = 0; tag < 32; tag++) {
                keys[table.homeOf(tag, source)]++;
            }
        }
        assertSpread("sources and tags", keys);
    }

    /** Two keys stand in the home that all four share, two away from it. */
    @Test
    void shouldKeepEachKeyInOrderWhenAllHaveOneHome() {
        MatchTable table = table(1);
        long[] tags = tagsOfOneHome(table, 4);
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
        assertEquals(0, table.rebuilds());
    }

    @Test
    void shouldKeepOtherKeysWhenAnyKeyOfOneHomeLeaves() {
        MatchTable table = table(1);
        long[] tags = tagsOfOneHome(table, 5);
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
            // a slot at home is free again, or not: either way the key is found
            table.add(nodes[leaving]);
            assertSame(nodes[leaving], table.find(tags[leaving], 0));
            for (int key = 0; key < tags.length; key++) {
                table.remove(nodes[key]);
                assertUnlinked(nodes[key]);
                assertNull(table.find(tags[key], 0));
            }
        }
    }

    /** No displacement can give five keys the four slots of two buckets, so the table takes other seeds. */
    @Test
    void shouldBeRebuiltInTheSameLengthWhenFiveKeysHaveTheSameTwoBuckets() {
        MatchTable table = table(1);
        int buckets = table.bucketCount();
        Map<Long, List<Long>> tagsOfPair = new HashMap<>();
        List<Long> five = null;
        for (long tag = 0; five == null; tag++) {
            int home = table.homeOf(tag, 0);
            int other = table.otherOf(home, table.printOf(tag, 0));
            assertNotEquals(home, other);
            assertEquals(home, table.otherOf(other, table.printOf(tag, 0)));
            List<Long> tags = tagsOfPair.computeIfAbsent(
                (long) Math.min(home, other) << 32 | Math.max(home, other), pair -> new ArrayList<>());
            tags.add(tag);
            five = tags.size() == 5 ? tags : null;
        }
        List<Node> nodes = five.stream().map(Node::new).toList();
        List<Node> younger = five.stream().map(Node::new).toList();
        for (int i = 0; i < nodes.size(); i++) {
            assertEquals(0, table.rebuilds());
            table.add(nodes.get(i));
            table.add(younger.get(i));
        }
        assertEquals(1, table.rebuilds());
        assertEquals(buckets, table.bucketCount());
        for (List<Node> each : List.of(nodes, younger)) {
            for (Node node : each) {
                assertSame(node, table.find(node.tag, 0));
                table.remove(node);
                assertUnlinked(node);
            }
        }
    }

    /** Such keys cannot be told apart by what stands in the table. */
    @Test
    void shouldTakeOtherSeedsWhenTwoKeysHaveOneHomeAndOnePrint() {
        MatchTable table = table(1);
        Map<Long, Long> tags = new HashMap<>();
        SplittableRandom random = new SplittableRandom(SEED);
        long tag = random.nextLong();
        Long twin = null;
        while (twin == null) {
            tag = random.nextLong();
            twin = tags.put((long) table.homeOf(tag, 0) << 32 | table.printOf(tag, 0) & 0xFFFF_FFFFL, tag);
        }
        Node first = new Node(twin);
        Node second = new Node(tag);
        table.add(first);
        assertNull(table.find(tag, 0));
        table.add(second);
        assertEquals(1, table.rebuilds());
        assertSame(first, table.find(twin, 0));
        assertSame(second, table.find(tag, 0));
    }

    @Test
    void shouldGrowWhenMoreKeysComeThanItWasMadeFor() {
        MatchTable table = table(1);
        int buckets = table.bucketCount();
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < 100 * buckets; i++) {
            nodes.add(new Node((long) i << 7));
            table.add(nodes.get(i));
        }
        assertTrue(table.bucketCount() <= 128 * buckets, "buckets " + table.bucketCount());
        assertTrue(table.rebuilds() <= 10, "rebuilds " + table.rebuilds());
        for (Node node : nodes) {
            assertSame(node, table.find(node.tag, 0));
            assertNull(table.find(node.tag + 1, 0));
        }
        for (Node node : nodes) {
            table.remove(node);
            assertNull(table.find(node.tag, 0));
        }
    }

    @Test
    void shouldPlaceKeysBySeedsOnly() {
        MatchTable table = table(CAPACITY);
        MatchTable same = table(CAPACITY);
        MatchTable another = new MatchTable(CAPACITY, new SplittableRandom(SEED + 1));
        int equal = 0;
        for (int tag = 0; tag < CAPACITY; tag++) {
            assertEquals(table.homeOf(tag, 3), same.homeOf(tag, 3));
            equal += table.homeOf(tag, 3) == another.homeOf(tag, 3) ? 1 : 0;
        }
        assertTrue(equal < CAPACITY / 16, equal + " homes are the same with other seeds");
    }

    @Test
    void shouldDistinguishSourcesWhenTagIsTheSame() {
        MatchTable table = table(CAPACITY);
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
        assertEquals(128, table(0).bucketCount());
        assertEquals(1 << 20, table(Integer.MAX_VALUE).bucketCount());
        assertEquals(1024, table(1024).bucketCount());
        assertEquals(2048, table(1025).bucketCount());
    }

    private static MatchTable table(int capacity) {
        return new MatchTable(capacity, new SplittableRandom(SEED));
    }

    private static void assertSpread(String what, LongUnaryOperator tagOf) {
        MatchTable table = table(CAPACITY);
        int[] keys = new int[table.bucketCount()];
        for (int i = 0; i < CAPACITY; i++) {
            keys[table.homeOf(tagOf.applyAsLong(i), TagMatcher.ANY_SOURCE)]++;
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

    private static long[] tagsOfOneHome(MatchTable table, int count) {
        long[] tags = new long[count];
        int found = 0;
        for (long tag = 0; found < count; tag++) {
            if (table.homeOf(tag, 0) == 3) {
                tags[found++] = tag;
            }
        }
        return tags;
    }

    private static void assertUnlinked(MatchNode node) {
        assertEquals(MatchNode.NO_SLOT, node.slot);
        assertNull(node.sameNext);
        assertNull(node.samePrev);
    }

    private static final class Node extends MatchNode {
        Node(long tag) {
            this.tag = tag;
        }
    }
}
