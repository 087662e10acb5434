package org.jfabric.driver.engine.match;

import static org.jfabric.driver.engine.match.TagMatcher.ANY_SOURCE;
import static org.jfabric.driver.engine.match.TagMatcher.UNKNOWN_SOURCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TagMatcherTest {
    private static final int PEER_A = 0;
    private static final int PEER_B = 1;

    private final TagMatcher matcher = new TagMatcher(16, 16, true);

    @Test
    void shouldMatchReceiveWithTagOfMessageWhenOthersArePosted() {
        PostedReceive five = post(5, 0, ANY_SOURCE);
        PostedReceive seven = post(7, 0, ANY_SOURCE);

        assertSame(seven, matcher.arrive(7, PEER_A));
        assertTrue(five.isPosted());
        assertFalse(seven.isPosted());
        assertEquals(1, matcher.postedCount());
    }

    @Test
    @Requirement("TAG-002")
    void shouldFollowMatchFormulaWhenTagsAndMasksAreRandom() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 20_000; i++) {
            long receiveTag = random.nextLong();
            long ignore = random.nextBoolean() ? random.nextLong() : -1L << random.nextInt(64);
            // Differ in ignored bits only, in one more bit, or anywhere.
            long sendTag = switch (random.nextInt(3)) {
                case 0 -> receiveTag ^ random.nextLong() & ignore;
                case 1 -> receiveTag ^ random.nextLong() & ignore ^ 1L << random.nextInt(64);
                default -> random.nextLong();
            };
            boolean expected = (sendTag & ~ignore) == (receiveTag & ~ignore);
            String what = "seed " + seed + " tag " + receiveTag + " ignore " + ignore + " sent " + sendTag;

            PostedReceive receive = post(receiveTag, ignore, ANY_SOURCE);
            assertSame(expected ? receive : null, matcher.arrive(sendTag, PEER_A), what);
            assertEquals(!expected, matcher.cancel(receive), what);

            UnexpectedMessage message = keep(sendTag, PEER_A);
            assertSame(expected ? message : null, matcher.peek(receiveTag, ignore, ANY_SOURCE), what);
            assertTrue(matcher.removeUnexpected(message));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 1, 1L << 31, 1L << 32, 1L << 62, Long.MIN_VALUE})
    @Requirement("TAG-003")
    void shouldComparePreciselyTheBitsNotIgnoredWhenMaskIsAtBoundary(long ignore) {
        long tag = 0xFEDC_BA98_7654_3210L;
        for (int bit = 0; bit < Long.SIZE; bit++) {
            long flipped = tag ^ 1L << bit;
            boolean ignored = (ignore >>> bit & 1) != 0;
            PostedReceive receive = post(tag, ignore, ANY_SOURCE);
            assertSame(ignored ? receive : null, matcher.arrive(flipped, PEER_A), "bit " + bit);
            matcher.cancel(receive);
        }
        PostedReceive receive = post(tag, ignore, ANY_SOURCE);
        assertSame(receive, matcher.arrive(tag, PEER_A));
    }

    @Test
    @Requirement("TAG-004")
    void shouldTakeReceivesInPostingOrderWhenSeveralKindsMatch() {
        List<PostedReceive> receives = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            receives.add(post(7, 0, ANY_SOURCE));
            receives.add(post(0, -1, ANY_SOURCE));
            receives.add(post(7, 0, PEER_A));
            receives.add(post(5, 2, PEER_A));
        }
        for (PostedReceive expected : receives) {
            assertSame(expected, matcher.arrive(7, PEER_A));
        }
        assertNull(matcher.arrive(7, PEER_A));
        assertEquals(0, matcher.postedCount());
        assertEquals(0, matcher.wildcardCount());
    }

    @Test
    void shouldTakeOldestOfEachKindWhenItIsPostedFirst() {
        long[][] kinds = {{7, 0, ANY_SOURCE}, {7, 0, PEER_A}, {6, 1, ANY_SOURCE}, {6, 1, PEER_A}};
        for (long[] first : kinds) {
            for (long[] second : kinds) {
                PostedReceive older = post(first[0], first[1], (int) first[2]);
                PostedReceive younger = post(second[0], second[1], (int) second[2]);
                assertSame(older, matcher.arrive(7, PEER_A));
                assertSame(younger, matcher.arrive(7, PEER_A));
                assertNull(matcher.arrive(7, PEER_A));
            }
        }
    }

    @Test
    void shouldMatchOnlyItsSourceWhenReceiveIsDirected() {
        PostedReceive exact = post(7, 0, PEER_A);
        PostedReceive wildcard = post(7, -1, PEER_A);

        assertNull(matcher.arrive(7, PEER_B));
        assertNull(matcher.arrive(7, UNKNOWN_SOURCE));
        assertSame(exact, matcher.arrive(7, PEER_A));
        assertSame(wildcard, matcher.arrive(8, PEER_A));
    }

    @Test
    void shouldMatchOnlyItsSourceWhenDirectedReceiveFindsUnexpectedMessages() {
        keep(7, UNKNOWN_SOURCE);
        keep(7, PEER_B);
        UnexpectedMessage first = keep(7, PEER_A);
        UnexpectedMessage second = keep(7, PEER_A);

        assertSame(first, matcher.postReceive(receive(7, 0, PEER_A)));
        assertSame(second, matcher.postReceive(receive(7, -1, PEER_A)));
        assertNull(matcher.postReceive(receive(7, 0, PEER_A)));
        assertEquals(2, matcher.unexpectedCount());
        assertEquals(1, matcher.postedCount());
    }

    @Test
    void shouldIgnoreSourceOfReceiveWhenEndpointIsNotDirected() {
        TagMatcher undirected = new TagMatcher(16, 16, false);
        PostedReceive receive = receive(7, 0, PEER_A);
        assertNull(undirected.postReceive(receive));
        assertSame(receive, undirected.arrive(7, PEER_B));

        UnexpectedMessage message = message(7, PEER_B);
        undirected.addUnexpected(message);
        assertSame(message, undirected.peek(7, 0, PEER_A));
        assertSame(message, undirected.peek(7, 1, PEER_A));
        assertSame(message, undirected.postReceive(receive(7, 0, PEER_A)));
    }

    @Test
    void shouldMatchOnlyAnySourceReceivesWhenSenderIsUnknown() {
        post(7, 0, PEER_A);
        post(7, -1, PEER_A);
        PostedReceive any = post(7, 0, ANY_SOURCE);
        PostedReceive anyWildcard = post(7, -1, ANY_SOURCE);

        assertSame(any, matcher.arrive(7, UNKNOWN_SOURCE));
        assertSame(anyWildcard, matcher.arrive(7, UNKNOWN_SOURCE));
        assertNull(matcher.arrive(7, UNKNOWN_SOURCE));

        UnexpectedMessage message = keep(7, UNKNOWN_SOURCE);
        assertNull(matcher.peek(7, 0, PEER_A));
        assertNull(matcher.peek(7, -1, PEER_A));
        assertSame(message, matcher.peek(7, 0, ANY_SOURCE));
    }

    @Test
    void shouldTakeOldestMessageWhenReceiveIsPostedLate() {
        UnexpectedMessage other = keep(5, PEER_A);
        UnexpectedMessage first = keep(7, PEER_B);
        UnexpectedMessage second = keep(7, PEER_A);
        UnexpectedMessage third = keep(7, PEER_A);

        assertSame(first, matcher.postReceive(receive(7, 0, ANY_SOURCE)));
        assertSame(second, matcher.postReceive(receive(7, 0, PEER_A)));
        assertSame(other, matcher.postReceive(receive(0, -1, ANY_SOURCE)));
        assertSame(third, matcher.postReceive(receive(0, -1, ANY_SOURCE)));
        assertNull(matcher.postReceive(receive(0, -1, ANY_SOURCE)));
        assertEquals(0, matcher.unexpectedCount());
        assertEquals(1, matcher.postedCount());
    }

    @Test
    void shouldLeaveMessageWhenItIsOnlyPeeked() {
        UnexpectedMessage first = keep(7, PEER_A);
        keep(7, PEER_A);

        assertSame(first, matcher.peek(7, 0, ANY_SOURCE));
        assertSame(first, matcher.peek(7, 0, PEER_A));
        assertSame(first, matcher.peek(6, 1, PEER_A));
        assertNull(matcher.peek(8, 0, ANY_SOURCE));
        assertNull(matcher.peek(7, 0, PEER_B));
        assertEquals(2, matcher.unexpectedCount());
        assertSame(first, matcher.postReceive(receive(7, 0, ANY_SOURCE)));
    }

    @Test
    void shouldHideMessageFromEverySearchWhenItIsClaimed() {
        UnexpectedMessage first = keep(7, PEER_A);
        UnexpectedMessage second = keep(7, PEER_A);
        matcher.claim(first);

        assertTrue(first.isClaimed());
        assertFalse(first.isWaiting());
        assertSame(second, matcher.peek(7, 0, ANY_SOURCE));
        assertSame(second, matcher.peek(7, 0, PEER_A));
        assertSame(second, matcher.peek(0, -1, ANY_SOURCE));
        assertSame(second, matcher.postReceive(receive(0, -1, ANY_SOURCE)));
        assertNull(matcher.postReceive(receive(7, 0, PEER_A)));
        assertEquals(1, matcher.claimedCount());
        assertEquals(0, matcher.unexpectedCount());
        assertSame(first, matcher.firstClaimed());

        assertTrue(matcher.removeUnexpected(first));
        assertFalse(matcher.removeUnexpected(first));
        assertEquals(0, matcher.claimedCount());
        assertNull(matcher.firstClaimed());
    }

    @Test
    void shouldKeepOrderOfOthersWhenMessageIsDiscarded() {
        for (int discarded = 0; discarded < 3; discarded++) {
            List<UnexpectedMessage> messages = new ArrayList<>(List.of(
                keep(7, PEER_A), keep(7, PEER_A), keep(7, PEER_A)));
            assertTrue(matcher.removeUnexpected(messages.remove(discarded)));
            assertSame(messages.get(0), matcher.postReceive(receive(7, 0, PEER_A)));
            assertSame(messages.get(1), matcher.postReceive(receive(7, 0, ANY_SOURCE)));
            assertEquals(0, matcher.unexpectedCount());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, -1})
    void shouldKeepOrderOfOthersWhenReceiveIsCancelled(long ignore) {
        for (int source = ANY_SOURCE; source <= PEER_A; source++) {
            for (int cancelled = 0; cancelled < 4; cancelled++) {
                List<PostedReceive> receives = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    receives.add(post(7, ignore, source));
                }
                PostedReceive gone = receives.remove(cancelled);
                assertTrue(matcher.cancel(gone));
                assertFalse(matcher.cancel(gone));
                // Used again at once, as the engine does with its records: now the youngest.
                assertNull(matcher.postReceive(gone));
                receives.add(gone);
                for (PostedReceive expected : receives) {
                    assertSame(expected, matcher.arrive(7, PEER_A));
                    assertFalse(matcher.cancel(expected));
                }
                assertNull(matcher.arrive(7, PEER_A));
            }
        }
    }

    @Test
    void shouldLeaveReceiveInPlaceWhenItIsOnlyFound() {
        PostedReceive first = post(7, 0, ANY_SOURCE);
        post(7, 0, ANY_SOURCE);

        assertSame(first, matcher.findPosted(7, PEER_A));
        assertSame(first, matcher.findPosted(7, PEER_B));
        assertTrue(first.isPosted());
        assertSame(first, matcher.arrive(7, PEER_A));
    }

    @Test
    void shouldTakeMessagesWithoutPostingWhenMultiReceiveBufferIsFilled() {
        UnexpectedMessage first = keep(0, PEER_A);
        UnexpectedMessage second = keep(0, PEER_B);
        PostedReceive buffer = receive(0, 0, ANY_SOURCE);

        assertSame(first, matcher.takeUnexpected(buffer));
        assertSame(second, matcher.takeUnexpected(buffer));
        assertNull(matcher.takeUnexpected(buffer));
        assertFalse(buffer.isPosted());
        assertNull(matcher.postReceive(buffer));
        assertTrue(buffer.isPosted());
    }

    @Test
    void shouldFindAllDirectedReceivesWhenPeerDies() {
        PostedReceive exact = post(7, 0, PEER_A);
        post(7, 0, PEER_B);
        PostedReceive wildcard = post(7, 3, PEER_A);
        post(7, 0, ANY_SOURCE);
        PostedReceive last = post(9, 0, PEER_A);

        List<PostedReceive> failed = new ArrayList<>();
        PostedReceive receive = matcher.nextDirected(null, PEER_A);
        while (receive != null) {
            PostedReceive next = matcher.nextDirected(receive, PEER_A);
            assertTrue(matcher.cancel(receive));
            failed.add(receive);
            receive = next;
        }
        assertEquals(List.of(exact, wildcard, last), failed);
        assertEquals(2, matcher.postedCount());
        assertNull(matcher.nextDirected(null, PEER_A));
    }

    @Test
    void shouldNotMatchNewPeerWhenSourceIndexWasForgotten() {
        UnexpectedMessage claimed = keep(7, PEER_A);
        matcher.claim(claimed);
        UnexpectedMessage old = keep(7, PEER_A);
        UnexpectedMessage other = keep(7, PEER_B);

        assertEquals(2, matcher.forgetSource(PEER_A));
        assertEquals(UNKNOWN_SOURCE, claimed.source());
        assertNull(matcher.peek(7, 0, PEER_A));
        assertNull(matcher.peek(7, -1, PEER_A));
        UnexpectedMessage young = keep(7, PEER_A);
        assertSame(young, matcher.postReceive(receive(7, 0, PEER_A)));
        assertSame(old, matcher.postReceive(receive(7, 0, ANY_SOURCE)));
        assertSame(other, matcher.postReceive(receive(7, 0, PEER_B)));
        assertTrue(matcher.removeUnexpected(claimed));
    }

    @Test
    void shouldReturnTagUnmodifiedWhenBitsAreIgnored() {
        PostedReceive receive = post(0xFEDC_BA98_7654_3210L, 0xFFFFL, PEER_A);
        assertEquals(0xFEDC_BA98_7654_3210L, receive.tag());
        assertEquals(0xFFFFL, receive.ignore());
        assertEquals(PEER_A, receive.source());
        UnexpectedMessage message = keep(0xFEDC_BA98_7654_3210L, PEER_B);
        assertEquals(0xFEDC_BA98_7654_3210L, message.tag());
        assertEquals(PEER_B, message.source());
    }

    @Test
    void shouldListReceivesAndMessagesInOrderWhenViewIsTaken() {
        List<PostedReceive> receives = List.of(
            post(1, 0, ANY_SOURCE), post(2, 4, PEER_A), post(1, 0, PEER_B), post(3, 0, ANY_SOURCE));
        List<PostedReceive> seenReceives = new ArrayList<>();
        for (PostedReceive it = matcher.firstPosted(); it != null; it = matcher.nextPosted(it)) {
            seenReceives.add(it);
        }
        assertEquals(receives, seenReceives);
        assertTrue(receives.get(0).sequence() < receives.get(3).sequence());

        List<UnexpectedMessage> messages = List.of(keep(9, PEER_A), keep(8, PEER_B), keep(9, PEER_A));
        List<UnexpectedMessage> seenMessages = new ArrayList<>();
        for (UnexpectedMessage it = matcher.firstUnexpected(); it != null; it = matcher.nextUnexpected(it)) {
            seenMessages.add(it);
        }
        assertEquals(messages, seenMessages);
        assertTrue(messages.get(0).sequence() < messages.get(1).sequence());
    }

    @Test
    void shouldMatchWhenMoreIsHeldThanTheCapacitySays() {
        List<PostedReceive> receives = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            receives.add(post(i / 2, 0, i % 3 - 1));
        }
        for (int i = receives.size() - 1; i >= 0; i -= 2) {
            assertTrue(matcher.cancel(receives.get(i)));
        }
        for (int i = 0; i < receives.size(); i += 2) {
            int source = receives.get(i).source() == ANY_SOURCE ? PEER_B : receives.get(i).source();
            assertSame(receives.get(i), matcher.arrive(i / 2, source));
        }
        assertEquals(0, matcher.postedCount());
    }

    private PostedReceive post(long tag, long ignore, int source) {
        PostedReceive receive = receive(tag, ignore, source);
        assertNull(matcher.postReceive(receive));
        return receive;
    }

    private UnexpectedMessage keep(long tag, int source) {
        UnexpectedMessage message = message(tag, source);
        matcher.addUnexpected(message);
        return message;
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
