package org.jfabric.driver.engine.match;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * What a match costs: how many entries are compared, however many are posted or wait. Not on average: each single one.
 */
class ComparisonCountTest {
    private static final int[] DEPTHS = {1, 2, 8, 100, 1_000, 10_000, 100_000};
    private static final int SOURCES = 8;
    private static final int WILDCARDS = 16;
    private static final long WILDCARD_BITS = 0xFF;
    private static final long WILDCARD_TAG = 1L << 62;
    /** For the entry of any source and that of the message's source. */
    private static final int MOST = 2;

    /** Tags of all receives or messages, all different. */
    enum Tags {
        SEQUENTIAL, IN_STEPS_OF_256, UPPER_HALF, UPPER_BITS, LOWER_BITS_EQUAL, BOTH_HALVES_EQUAL, COMPLEMENT,
        MULTIPLES_OF_A_PRIME, BITS_REVERSED, RANDOM;

        long[] of(int count) {
            Random random = new Random(count);
            long[] tags = new long[count];
            for (int i = 0; i < count; i++) {
                tags[i] = switch (this) {
                    case SEQUENTIAL -> i;
                    case IN_STEPS_OF_256 -> (long) i << 8;
                    case UPPER_HALF -> (long) i << 32;
                    case UPPER_BITS -> (long) i << 44;
                    case LOWER_BITS_EQUAL -> (long) i << 20 | 0xA_5A5A;
                    case BOTH_HALVES_EQUAL -> (long) i << 32 | i;
                    case COMPLEMENT -> ~((long) i << 3);
                    case MULTIPLES_OF_A_PRIME -> i * 1_000_003L;
                    case BITS_REVERSED -> Long.reverse(i) >>> 3;
                    case RANDOM -> random.nextLong() & ~WILDCARD_TAG;
                };
            }
            return tags;
        }
    }

    /** The receives of a context that is full: of any source, of several sources, and wildcards before them. */
    @ParameterizedTest(name = "{0}")
    @EnumSource
    void shouldCompareTwoPostedReceivesAtMost(Tags kind) {
        for (int depth : DEPTHS) {
            PostedReceives posted = new PostedReceives(depth + WILDCARDS, seeds());
            for (int i = 0; i < WILDCARDS; i++) {
                posted.add(receive(WILDCARD_TAG + (i << 8), WILDCARD_BITS, TagMatcher.ANY_SOURCE));
            }
            long[] tags = kind.of(depth);
            PostedReceive[] receives = new PostedReceive[depth];
            for (int i = 0; i < depth; i++) {
                receives[i] = receive(tags[i], 0, sourceOf(i));
                posted.add(receives[i]);
            }
            for (int i = 0; i < depth; i++) {
                int source = i % 2 == 0 ? SOURCES + 1 : sourceOf(i);
                assertSame(receives[i], find(posted, tags[i], source));
            }
            for (int i = 0; i < depth; i++) {
                // nobody awaits these
                assertNull(find(posted, tags[i] ^ 1L << 61, 3));
            }
            assertEquals(WILDCARDS, posted.wildcardCount());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void shouldCompareTwoWaitingMessagesAtMost(Tags kind) {
        for (int depth : DEPTHS) {
            UnexpectedMessages messages = new UnexpectedMessages(depth, true, seeds());
            long[] tags = kind.of(depth);
            for (int i = 0; i < depth; i++) {
                messages.add(message(tags[i], i % SOURCES));
            }
            for (int i = 0; i < depth; i++) {
                assertNotNull(peek(messages, tags[i], TagMatcher.ANY_SOURCE));
                assertNotNull(peek(messages, tags[i], i % SOURCES));
                assertNull(peek(messages, tags[i], SOURCES));
                assertNull(peek(messages, tags[i] ^ 1L << 61, TagMatcher.ANY_SOURCE));
            }
        }
    }

    /** A thousand messages of one tag are one entry. */
    @ParameterizedTest
    @ValueSource(ints = {1, 1000, 100_000})
    void shouldCompareOneWhenAllHaveTheSameTag(int depth) {
        UnexpectedMessages messages = new UnexpectedMessages(64, true, seeds());
        PostedReceives posted = new PostedReceives(64, seeds());
        for (int i = 0; i < depth; i++) {
            messages.add(message(7, 3));
            posted.add(receive(7, 0, TagMatcher.ANY_SOURCE));
        }
        long before = messages.comparisons();
        assertNotNull(messages.peek(7, 0, TagMatcher.ANY_SOURCE));
        assertEquals(1, messages.comparisons() - before);
        before = posted.comparisons();
        assertNotNull(posted.find(7, 3));
        assertEquals(1, posted.comparisons() - before);
    }

    /** Receives come and go in random order, many more than it was made for; keys are moved and all placed anew. */
    @ParameterizedTest
    @ValueSource(ints = {4, 1_000, 50_000})
    void shouldCompareTwoAtMostWhileReceivesComeAndGo(int capacity) {
        SplittableRandom random = new SplittableRandom(capacity);
        PostedReceives posted = new PostedReceives(capacity, seeds());
        PostedReceive[] receives = new PostedReceive[2 * capacity];
        for (int i = 0; i < 600_000; i++) {
            int index = random.nextInt(receives.length);
            PostedReceive receive = receives[index];
            if (receive == null) {
                int shift = random.nextInt(45);
                receive = receive((long) index << shift | random.nextInt(4), 0, random.nextInt(-1, SOURCES));
                receives[index] = receive;
                posted.add(receive);
            } else {
                int source = receive.source() < 0 ? SOURCES : receive.source();
                PostedReceive found = find(posted, receive.tag(), source);
                assertNotNull(found, () -> "tag " + Long.toHexString(receives[index].tag()));
                assertTrue(found.accepts(receive.tag(), source));
                posted.remove(receive);
                receives[index] = null;
            }
        }
    }

    /** What a new key costs besides: keys that are moved, and in the worst case all. */
    @Test
    void shouldMoveFewKeysForANewOne() {
        for (Tags kind : Tags.values()) {
            for (int depth : DEPTHS) {
                long seed = kind.ordinal();
                MatchTable table = new MatchTable(depth, new SplittableRandom(seed));
                long most = 0;
                for (long tag : kind.of(depth)) {
                    long before = table.moves();
                    table.add(receive(tag, 0, TagMatcher.ANY_SOURCE));
                    most = Math.max(most, table.moves() - before);
                }
                String what = kind + " " + depth + ": at most " + most + " moves, in all " + table.moves()
                    + ", rebuilds " + table.rebuilds();
                assertEquals(0, table.rebuilds(), what);
                assertTrue(most <= MatchTable.MAX_MOVES, what);
                assertTrue(10 * table.moves() <= depth, what);
            }
        }
    }

    private static PostedReceive find(PostedReceives posted, long tag, int source) {
        long before = posted.comparisons();
        PostedReceive receive = posted.find(tag, source);
        long compared = posted.comparisons() - before;
        assertTrue(compared <= MOST, () -> "compared " + compared + " of " + posted.size());
        return receive;
    }

    private static UnexpectedMessage peek(UnexpectedMessages messages, long tag, int source) {
        long before = messages.comparisons();
        UnexpectedMessage message = messages.peek(tag, 0, source);
        long compared = messages.comparisons() - before;
        assertTrue(compared <= MOST, () -> "compared " + compared + " of " + messages.size());
        return message;
    }

    private static int sourceOf(int index) {
        return index % 2 == 0 ? TagMatcher.ANY_SOURCE : index % SOURCES;
    }

    private static SplittableRandom seeds() {
        return new SplittableRandom(42);
    }

    private static PostedReceive receive(long tag, long ignore, int source) {
        PostedReceive receive = new PostedReceive();
        receive.accept(tag, ignore, source);
        return receive;
    }

    private static UnexpectedMessage message(long tag, int source) {
        UnexpectedMessage message = new UnexpectedMessage();
        message.arrived(tag, source);
        return message;
    }
}
