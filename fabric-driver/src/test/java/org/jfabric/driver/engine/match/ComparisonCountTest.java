package org.jfabric.driver.engine.match;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;
import java.util.function.IntToLongFunction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a match costs: how many entries are compared, however many are posted or wait. */
class ComparisonCountTest {
    private static final int WILDCARDS = 16;
    /** Of the keys that meet in one bucket; the same for a hundred and for a hundred thousand. */
    private static final int LONGEST = 12;
    private static final long WILDCARD_BITS = 0xFF;
    private static final long WILDCARD_TAG = 1L << 62;

    /** The receives of a context that is full, as posted: receives of any source, of one source, and wildcards. */
    @ParameterizedTest
    @CsvSource({"1, 0", "1, 8", "100, 20", "10000, 0", "10000, 40", "100000, 0", "100000, 32"})
    void shouldCompareTwoPostedReceivesOnAverage(int depth, int shift) {
        PostedReceives posted = new PostedReceives(depth + WILDCARDS);
        for (int i = 0; i < WILDCARDS; i++) {
            posted.add(receive(WILDCARD_TAG + (i << 8), WILDCARD_BITS, TagMatcher.ANY_SOURCE));
        }
        PostedReceive[] receives = new PostedReceive[depth];
        for (int i = 0; i < depth; i++) {
            receives[i] = receive((long) i << shift, 0, i % 2 == 0 ? TagMatcher.ANY_SOURCE : 3);
            posted.add(receives[i]);
        }
        long before = posted.comparisons();
        long most = 0;
        for (int i = 0; i < depth; i++) {
            long start = posted.comparisons();
            assertEquals(receives[i], posted.find((long) i << shift, 3));
            most = Math.max(most, posted.comparisons() - start);
        }
        // both kinds are looked up; each look-up ends at its entry, or at an empty or short bucket
        assertFew(depth, posted.comparisons() - before, most);
        assertEquals(WILDCARDS, posted.wildcardCount());
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "100, 8", "10000, 20", "100000, 0", "100000, 32"})
    void shouldCompareTwoWaitingMessagesOnAverage(int depth, int shift) {
        UnexpectedMessages messages = new UnexpectedMessages(depth, true);
        for (int i = 0; i < depth; i++) {
            UnexpectedMessage message = new UnexpectedMessage();
            message.arrived((long) i << shift, i & 7);
            messages.add(message);
        }
        for (int source : new int[] {TagMatcher.ANY_SOURCE, 0}) {
            long before = messages.comparisons();
            long most = 0;
            for (int i = 0; i < depth; i++) {
                long start = messages.comparisons();
                assertNotNull(messages.peek((long) i << shift, 0, source < 0 ? source : i & 7));
                most = Math.max(most, messages.comparisons() - start);
            }
            assertFew(depth, messages.comparisons() - before, most);
        }
    }

    /** A thousand messages of one tag are one entry. */
    @ParameterizedTest
    @ValueSource(ints = {1, 1000, 100_000})
    void shouldCompareOneWhenAllHaveTheSameTag(int depth) {
        UnexpectedMessages messages = new UnexpectedMessages(64, true);
        PostedReceives posted = new PostedReceives(64);
        for (int i = 0; i < depth; i++) {
            UnexpectedMessage message = new UnexpectedMessage();
            message.arrived(7, 3);
            messages.add(message);
            posted.add(receive(7, 0, TagMatcher.ANY_SOURCE));
        }
        long before = messages.comparisons();
        assertNotNull(messages.peek(7, 0, TagMatcher.ANY_SOURCE));
        assertEquals(1, messages.comparisons() - before);
        before = posted.comparisons();
        assertNotNull(posted.find(7, 3));
        assertEquals(1, posted.comparisons() - before);
    }

    /** Tags without structure meet in the hash by chance: two on average, and no chain is long. */
    @ParameterizedTest
    @ValueSource(ints = {100, 10_000, 100_000})
    void shouldCompareTwoOnAverageWhenTagsAreRandom(int depth) {
        Random random = new Random(depth);
        long[] tags = random.longs(depth).toArray();
        IntToLongFunction tag = i -> tags[i];
        PostedReceives posted = new PostedReceives(depth);
        for (int i = 0; i < depth; i++) {
            posted.add(receive(tag.applyAsLong(i), 0, TagMatcher.ANY_SOURCE));
        }
        long before = posted.comparisons();
        long most = 0;
        for (int i = 0; i < depth; i++) {
            long start = posted.comparisons();
            assertNotNull(posted.find(tag.applyAsLong(i), 3));
            most = Math.max(most, posted.comparisons() - start);
        }
        assertFew(depth, posted.comparisons() - before, most);
    }

    private static void assertFew(int depth, long all, long most) {
        assertTrue(all <= 2L * depth, all + " comparisons for " + depth + " matches");
        assertTrue(most <= LONGEST, "compared " + most + " of " + depth + ", all " + all);
    }

    private static PostedReceive receive(long tag, long ignore, int source) {
        PostedReceive receive = new PostedReceive();
        receive.accept(tag, ignore, source);
        return receive;
    }
}
