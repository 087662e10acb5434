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
import org.jfabric.simulation.model.Message;
import org.jfabric.simulation.model.NaiveMatcher;
import org.jfabric.simulation.model.Receive;
import org.junit.jupiter.api.Test;

/**
 * Random schedules of all operations on a {@link TagMatcher} and on the naive model.
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

    /** A receive of the model. */
    private static final class Posted extends Receive {
        PostedReceive receive;
    }

    /** A message of the model. */
    private static final class Waiting extends Message {
        UnexpectedMessage message;
    }

    private static final class Schedule {
        private final SplittableRandom random;
        private final TagMatcher matcher;
        private final boolean directed;
        private final long[] tags;
        private final long[] masks;
        private final int sources;
        private final int maxHeld;
        private final NaiveMatcher<Posted, Waiting> model = new NaiveMatcher<>();
        private final List<Waiting> claimed = new ArrayList<>();
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
            while (!model.posted().isEmpty()) {
                cancel();
            }
            while (!claimed.isEmpty()) {
                releaseClaimed();
            }
            while (!model.unexpected().isEmpty()) {
                discardAnywhere();
            }
            checkCounts();
            checkViews();
        }

        private void post() {
            if (model.posted().size() >= maxHeld) {
                return;
            }
            Posted posted = receive();
            Waiting expected = model.post(posted);
            assertSame(message(expected), matcher.postReceive(posted.receive));
            if (expected != null) {
                freeMessages.add(expected.message);
                freeReceives.add(posted.receive);
            }
        }

        private void arrive() {
            Waiting waiting = new Waiting();
            waiting.tagged = true;
            waiting.tag = tag();
            waiting.from = random.nextInt(8) == 0 ? UNKNOWN_SOURCE : random.nextInt(sources);
            Posted expected = model.arrive(waiting);
            PostedReceive receive = expected == null ? null : expected.receive;
            assertSame(receive, matcher.findPosted(waiting.tag, waiting.from));
            assertSame(receive, matcher.arrive(waiting.tag, waiting.from));
            if (expected != null) {
                assertTrue(receive.accepts(waiting.tag, waiting.from));
                freeReceives.add(receive);
            } else if (model.unexpected().size() <= maxHeld) {
                waiting.message = freeMessages.isEmpty() ? new UnexpectedMessage() : freeMessages.poll();
                waiting.message.arrived(waiting.tag, waiting.from);
                matcher.addUnexpected(waiting.message);
            } else {
                model.drop(waiting);
            }
        }

        private void cancel() {
            if (!model.posted().isEmpty()) {
                Posted posted = model.posted().get(random.nextInt(model.posted().size()));
                model.cancel(posted);
                assertTrue(matcher.cancel(posted.receive));
                assertTrue(!matcher.cancel(posted.receive));
                freeReceives.add(posted.receive);
            }
        }

        private void peek() {
            Posted wanted = wanted();
            int source = directed ? wanted.source : receiveSource();
            Waiting expected = model.find(wanted);
            assertSame(message(expected), matcher.peek(wanted.tag, wanted.ignore, source));
            if (expected != null) {
                switch (random.nextInt(3)) {
                    case 0 -> {
                        matcher.claim(expected.message);
                        model.drop(expected);
                        claimed.add(expected);
                    }
                    case 1 -> discard(expected);
                    default -> assertSame(expected.message, matcher.peek(wanted.tag, wanted.ignore, source));
                }
            }
        }

        private void releaseClaimed() {
            if (!claimed.isEmpty()) {
                UnexpectedMessage message = claimed.remove(random.nextInt(claimed.size())).message;
                assertTrue(message.isClaimed());
                assertTrue(matcher.removeUnexpected(message));
                assertTrue(!matcher.removeUnexpected(message));
                freeMessages.add(message);
            }
        }

        private void findAndTake() {
            Posted posted = receive();
            Waiting expected = model.find(posted);
            assertSame(message(expected), matcher.takeUnexpected(posted.receive));
            if (expected != null) {
                model.drop(expected);
                freeMessages.add(expected.message);
            }
            freeReceives.add(posted.receive);
        }

        private void discardAnywhere() {
            if (!model.unexpected().isEmpty()) {
                discard(model.unexpected().get(random.nextInt(model.unexpected().size())));
            }
        }

        private void discard(Waiting waiting) {
            assertTrue(matcher.removeUnexpected(waiting.message));
            assertTrue(!matcher.removeUnexpected(waiting.message));
            assertTrue(model.drop(waiting));
            freeMessages.add(waiting.message);
        }

        private void forgetSource() {
            int source = random.nextInt(sources);
            int expected = 0;
            for (List<Waiting> all : List.of(model.unexpected(), claimed)) {
                for (Waiting waiting : all) {
                    if (waiting.from == source) {
                        expected++;
                        waiting.from = UNKNOWN_SOURCE;
                    }
                }
            }
            assertEquals(expected, matcher.forgetSource(source));
            for (Waiting waiting : model.unexpected()) {
                assertEquals(waiting.from, waiting.message.source());
            }
        }

        private void failSource() {
            int source = random.nextInt(sources);
            PostedReceive receive = matcher.nextDirected(null, source);
            for (Posted expected : List.copyOf(model.posted())) {
                if (expected.receive.source() == source) {
                    assertSame(expected.receive, receive);
                    receive = matcher.nextDirected(expected.receive, source);
                    assertTrue(matcher.cancel(expected.receive));
                    model.cancel(expected);
                    freeReceives.add(expected.receive);
                }
            }
            assertNull(receive);
        }

        private void checkViews() {
            PostedReceive receive = matcher.firstPosted();
            for (Posted expected : model.posted()) {
                assertSame(expected.receive, receive);
                receive = matcher.nextPosted(receive);
            }
            assertNull(receive);
            assertMessages(messages(model.unexpected()), true, matcher.firstUnexpected());
            assertMessages(messages(claimed), false, matcher.firstClaimed());
            // Nothing that waits on one side is accepted by what waits on the other.
            for (Posted posted : model.posted()) {
                assertNull(model.find(posted));
            }
        }

        private void assertMessages(List<UnexpectedMessage> expected, boolean inOrder, UnexpectedMessage first) {
            UnexpectedMessage message = first;
            for (UnexpectedMessage it : expected) {
                assertNotNull(message);
                if (inOrder) {
                    assertSame(it, message);
                }
                assertTrue(expected.contains(message));
                message = matcher.nextUnexpected(message);
            }
            assertNull(message);
        }

        private void checkCounts() {
            assertEquals(model.posted().size(), matcher.postedCount());
            assertEquals(model.unexpected().size(), matcher.unexpectedCount());
            assertEquals(claimed.size(), matcher.claimedCount());
            int wildcards = 0;
            for (Posted posted : model.posted()) {
                wildcards += posted.ignore != 0 ? 1 : 0;
            }
            assertEquals(wildcards, matcher.wildcardCount());
        }

        private static UnexpectedMessage message(Waiting waiting) {
            return waiting == null ? null : waiting.message;
        }

        private static List<UnexpectedMessage> messages(List<Waiting> all) {
            return all.stream().map(each -> each.message).toList();
        }

        private Posted receive() {
            Posted posted = wanted();
            posted.receive = freeReceives.isEmpty() ? new PostedReceive() : freeReceives.poll();
            posted.receive.accept(posted.tag, posted.ignore, directed ? posted.source : receiveSource());
            return posted;
        }

        private Posted wanted() {
            Posted posted = new Posted();
            posted.tagged = true;
            posted.tag = tag();
            posted.ignore = ignore();
            posted.source = directed ? receiveSource() : ANY_SOURCE;
            return posted;
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
