package org.jfabric.driver.engine.match;

import static org.jfabric.driver.engine.match.TagMatcher.ANY_SOURCE;
import static org.jfabric.driver.engine.match.TagMatcher.UNKNOWN_SOURCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Random schedules of all operations on a {@link TagMatcher} and on a naive model: linear lists, formula of the pages.
 *
 * <p>{@code -Djfabric.test.seed=N} repeats the schedule that a failure printed.
 */
class TagMatcherModelTest {
    private static final int SCHEDULES = 300;
    private static final int STEPS = 3_000;

    @Test
    void shouldBehaveLikeNaiveModelWhenSchedulesAreRandom() {
        Long repeated = Long.getLong("jfabric.test.seed");
        if (repeated != null) {
            runSchedule(repeated);
            return;
        }
        long firstSeed = System.nanoTime();
        for (int i = 0; i < SCHEDULES; i++) {
            runSchedule(firstSeed + i);
        }
    }

    private static void runSchedule(long seed) {
        Schedule schedule = new Schedule(seed);
        int step = 0;
        try {
            for (; step < STEPS; step++) {
                schedule.step();
            }
            schedule.drain();
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("-Djfabric.test.seed=" + seed + " step " + step + ": " + e.getMessage(), e);
        }
    }

    private static final class Schedule {
        private final SplittableRandom random;
        private final TagMatcher matcher;
        private final boolean directed;
        private final long[] tags;
        private final long[] masks;
        private final int sources;
        private final int maxHeld;
        private final List<PostedReceive> posted = new ArrayList<>();
        private final List<UnexpectedMessage> waiting = new ArrayList<>();
        private final List<UnexpectedMessage> claimed = new ArrayList<>();
        private final ArrayDeque<PostedReceive> freeReceives = new ArrayDeque<>();
        private final ArrayDeque<UnexpectedMessage> freeMessages = new ArrayDeque<>();
        private final int wildcardPercent;
        private final int postPercent;

        Schedule(long seed) {
            random = new SplittableRandom(seed);
            directed = random.nextInt(4) != 0;
            matcher = new TagMatcher(random.nextInt(1, 64), random.nextInt(1, 64), directed);
            tags = new long[random.nextInt(1, 12)];
            int tagShift = random.nextInt(61);
            for (int i = 0; i < tags.length; i++) {
                tags[i] = (long) i << tagShift ^ (random.nextInt(4) == 0 ? random.nextLong() : 0);
            }
            masks = new long[] {-1, 1L << tagShift, 3L << tagShift, random.nextLong(), ~(1L << tagShift)};
            sources = random.nextInt(1, 5);
            maxHeld = random.nextInt(1, 200);
            wildcardPercent = random.nextInt(4) * 20;
            postPercent = random.nextInt(30, 71);
        }

        void step() {
            int kind = random.nextInt(100);
            if (kind < 70) {
                if (random.nextInt(100) < postPercent) {
                    post();
                } else {
                    arrive();
                }
            } else if (kind < 78) {
                cancel();
            } else if (kind < 86) {
                peek();
            } else if (kind < 90) {
                releaseClaimed();
            } else if (kind < 94) {
                findAndTake();
            } else if (kind < 96) {
                discardAnywhere();
            } else if (kind < 97) {
                forgetSource();
            } else if (kind < 98) {
                failSource();
            } else {
                checkViews();
            }
            checkCounts();
        }

        void drain() {
            checkViews();
            while (!posted.isEmpty()) {
                cancel();
            }
            while (!claimed.isEmpty()) {
                releaseClaimed();
            }
            while (!waiting.isEmpty()) {
                discardAnywhere();
            }
            checkCounts();
            checkViews();
        }

        private void post() {
            if (posted.size() >= maxHeld) {
                return;
            }
            PostedReceive receive = receive();
            UnexpectedMessage expected = oldestMessage(receive.tag(), receive.ignore(), receive.source());
            assertSame(expected, matcher.postReceive(receive));
            if (expected == null) {
                posted.add(receive);
            } else {
                waiting.remove(expected);
                freeMessages.add(expected);
                freeReceives.add(receive);
            }
        }

        private void arrive() {
            long tag = tag();
            int source = random.nextInt(8) == 0 ? UNKNOWN_SOURCE : random.nextInt(sources);
            PostedReceive expected = oldestReceive(tag, source);
            assertSame(expected, matcher.findPosted(tag, source));
            assertSame(expected, matcher.arrive(tag, source));
            if (expected != null) {
                assertTrue(expected.accepts(tag, source));
                posted.remove(expected);
                freeReceives.add(expected);
            } else if (waiting.size() < maxHeld) {
                UnexpectedMessage message = freeMessages.isEmpty() ? new UnexpectedMessage() : freeMessages.poll();
                message.arrived(tag, source);
                matcher.addUnexpected(message);
                waiting.add(message);
            }
        }

        private void cancel() {
            if (!posted.isEmpty()) {
                PostedReceive receive = posted.remove(random.nextInt(posted.size()));
                assertTrue(matcher.cancel(receive));
                assertTrue(!matcher.cancel(receive));
                freeReceives.add(receive);
            }
        }

        private void peek() {
            long tag = tag();
            long ignore = ignore();
            int source = receiveSource();
            UnexpectedMessage expected = oldestMessage(tag, ignore, source);
            assertSame(expected, matcher.peek(tag, ignore, source));
            if (expected != null) {
                switch (random.nextInt(3)) {
                    case 0 -> {
                        matcher.claim(expected);
                        waiting.remove(expected);
                        claimed.add(expected);
                    }
                    case 1 -> discard(expected);
                    default -> assertSame(expected, matcher.peek(tag, ignore, source));
                }
            }
        }

        private void releaseClaimed() {
            if (!claimed.isEmpty()) {
                UnexpectedMessage message = claimed.remove(random.nextInt(claimed.size()));
                assertTrue(message.isClaimed());
                assertTrue(matcher.removeUnexpected(message));
                assertTrue(!matcher.removeUnexpected(message));
                freeMessages.add(message);
            }
        }

        private void findAndTake() {
            PostedReceive receive = receive();
            UnexpectedMessage expected = oldestMessage(receive.tag(), receive.ignore(), receive.source());
            assertSame(expected, matcher.takeUnexpected(receive));
            if (expected != null) {
                waiting.remove(expected);
                freeMessages.add(expected);
            }
            freeReceives.add(receive);
        }

        private void discardAnywhere() {
            if (!waiting.isEmpty()) {
                discard(waiting.get(random.nextInt(waiting.size())));
            }
        }

        private void discard(UnexpectedMessage message) {
            assertTrue(matcher.removeUnexpected(message));
            assertTrue(!matcher.removeUnexpected(message));
            waiting.remove(message);
            freeMessages.add(message);
        }

        private void forgetSource() {
            int source = random.nextInt(sources);
            int expected = 0;
            for (UnexpectedMessage message : waiting) {
                expected += message.source() == source ? 1 : 0;
            }
            for (UnexpectedMessage message : claimed) {
                expected += message.source() == source ? 1 : 0;
            }
            assertEquals(expected, matcher.forgetSource(source));
            for (UnexpectedMessage message : waiting) {
                assertTrue(message.source() != source);
            }
        }

        private void failSource() {
            int source = random.nextInt(sources);
            PostedReceive receive = matcher.nextDirected(null, source);
            for (PostedReceive expected : List.copyOf(posted)) {
                if (expected.source() == source) {
                    assertSame(expected, receive);
                    receive = matcher.nextDirected(expected, source);
                    assertTrue(matcher.cancel(expected));
                    posted.remove(expected);
                    freeReceives.add(expected);
                }
            }
            assertNull(receive);
        }

        private void checkViews() {
            PostedReceive receive = matcher.firstPosted();
            for (PostedReceive expected : posted) {
                assertSame(expected, receive);
                receive = matcher.nextPosted(receive);
            }
            assertNull(receive);
            assertMessages(waiting, matcher.firstUnexpected());
            assertMessages(claimed, matcher.firstClaimed());
            // Nothing that waits on one side is accepted by what waits on the other.
            for (PostedReceive it : posted) {
                assertNull(oldestMessage(it.tag(), it.ignore(), it.source()));
            }
        }

        private void assertMessages(List<UnexpectedMessage> expected, UnexpectedMessage first) {
            UnexpectedMessage message = first;
            for (UnexpectedMessage it : expected) {
                assertNotNull(message);
                if (expected == waiting) {
                    assertSame(it, message);
                }
                assertTrue(expected.contains(message));
                message = matcher.nextUnexpected(message);
            }
            assertNull(message);
        }

        private void checkCounts() {
            assertEquals(posted.size(), matcher.postedCount());
            assertEquals(waiting.size(), matcher.unexpectedCount());
            assertEquals(claimed.size(), matcher.claimedCount());
            int wildcards = 0;
            for (PostedReceive receive : posted) {
                wildcards += receive.ignore() != 0 ? 1 : 0;
            }
            assertEquals(wildcards, matcher.wildcardCount());
        }

        private PostedReceive oldestReceive(long tag, int source) {
            for (PostedReceive receive : posted) {
                if (modelAccepts(receive.tag(), receive.ignore(), receive.source(), tag, source)) {
                    return receive;
                }
            }
            return null;
        }

        private UnexpectedMessage oldestMessage(long tag, long ignore, int source) {
            for (UnexpectedMessage message : waiting) {
                if (modelAccepts(tag, ignore, source, message.tag(), message.source())) {
                    return message;
                }
            }
            return null;
        }

        private boolean modelAccepts(long tag, long ignore, int source, long messageTag, int messageSource) {
            boolean tagEqual = (messageTag & ~ignore) == (tag & ~ignore);
            return tagEqual && (!directed || source == ANY_SOURCE || source == messageSource);
        }

        private PostedReceive receive() {
            PostedReceive receive = freeReceives.isEmpty() ? new PostedReceive() : freeReceives.poll();
            receive.accept(tag(), ignore(), receiveSource());
            return receive;
        }

        private int receiveSource() {
            return random.nextBoolean() ? ANY_SOURCE : random.nextInt(sources);
        }

        private long tag() {
            return tags[random.nextInt(tags.length)];
        }

        private long ignore() {
            return random.nextInt(100) < wildcardPercent ? masks[random.nextInt(masks.length)] : 0;
        }
    }
}
