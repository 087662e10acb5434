package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Receives of a shared receive context, against a model. */
class EngineSharedTest {
    private static final int RECEIVES = 6;
    private static final int TAGS = 3;
    private static final int LENGTH = 8000;
    /** Of buffers, each for one operation. */
    private static final int PLACES = 24;

    /** One schedule: the n-th receive of a tag gets the n-th message of it, however few slots the queue has. */
    private static final class Run {
        private final Random random;
        private final Engines rig;
        private final Engines.Node sender;
        private final Engines.Node receiver;
        private final List<ArrayDeque<Integer>> receives = new ArrayList<>();
        private final List<ArrayDeque<Integer>> messages = new ArrayList<>();
        /** Receive by context, for those that have ended in the model: the message, or 0 if it was cancelled. */
        private final Map<Long, Integer> ended = new HashMap<>();
        private int nextReceive = 1;
        private int nextMessage = 1;

        Run(long seed, int driverShare) {
            random = new Random(seed);
            rig = new Engines(new Script(seed));
            rig.driverShare = driverShare;
            // messages without a receive must not keep later ones of other tags at the sender
            rig.settings = new EngineSettings(1 << 20, 1 << 17, 64, 4);
            sender = rig.add("a");
            rig.shared = true;
            rig.rxSize = RECEIVES;
            receiver = rig.add("b");
            for (int tag = 0; tag < TAGS; tag++) {
                receives.add(new ArrayDeque<>());
                messages.add(new ArrayDeque<>());
            }
        }

        void run() {
            for (int i = 0; i < 400; i++) {
                int tag = random.nextInt(TAGS);
                switch (random.nextInt(8)) {
                    case 0, 1 -> post(tag);
                    case 2 -> send(tag);
                    case 3 -> cancel(tag);
                    case 4 -> take(receiver.completions.take());
                    default -> rig.step();
                }
                sender.completions.takeAll();
            }
            for (int tag = 0; tag < TAGS; tag++) {
                while (!receives.get(tag).isEmpty()) {
                    cancel(tag);
                }
            }
            int waiting = messages.stream().mapToInt(ArrayDeque::size).sum();
            for (int i = 0; i <= waiting; i++) {
                drain();
                for (int tag = 0; tag < TAGS; tag++) {
                    if (!messages.get(tag).isEmpty()) {
                        post(tag);
                    }
                }
            }
            drain();
            assertEquals(Map.of(), ended, "seed " + rig.script.seed());
            rig.settle();
            sender.assertAtRest();
            receiver.assertAtRest();
            assertTrue(nextReceive > 5 * RECEIVES && nextMessage > 5 * RECEIVES);
            rig.close();
        }

        private void drain() {
            for (int i = 0; i < 20; i++) {
                rig.settle();
                CompletionReader.Entry entry = receiver.completions.take();
                for (; entry != null; entry = receiver.completions.take()) {
                    take(entry);
                }
                sender.completions.takeAll();
            }
        }

        private void post(int tag) {
            int number = nextReceive;
            long oldest = Stream.concat(receives.stream().flatMap(ArrayDeque::stream).map(Integer::longValue),
                ended.keySet().stream()).mapToLong(Long::longValue).min().orElse(number);
            if (number - oldest >= PLACES) {
                // the bytes of that one are compared when its entry is taken
                return;
            }
            int result = receiver.trecv(number % PLACES * LENGTH, LENGTH, tag, number);
            if (result != 0) {
                assertEquals(-FabricErrno.EAGAIN, result);
                int held = ended.size() + receives.stream().mapToInt(ArrayDeque::size).sum();
                assertTrue(held >= RECEIVES, () -> "only " + held + " are held, seed " + rig.script.seed());
                return;
            }
            nextReceive++;
            receives.get(tag).add(number);
            match(tag);
        }

        private void send(int tag) {
            int number = nextMessage;
            int length = 1 + number * 397 % LENGTH;
            int offset = number % PLACES * LENGTH;
            int oldest = Stream.concat(messages.stream().flatMap(ArrayDeque::stream),
                ended.values().stream().filter(message -> message != 0)).min(Integer::compare).orElse(number);
            if (number - oldest >= PLACES) {
                return;
            }
            sender.fill(offset, length, number);
            assertEquals(0, sender.tsend(receiver, offset, length, tag, number));
            nextMessage++;
            messages.get(tag).add(number);
            match(tag);
        }

        /** Cancels the last receive, which no message has found. */
        private void cancel(int tag) {
            Integer number = receives.get(tag).pollLast();
            if (number != null) {
                assertEquals(0, receiver.receives.cancel(number));
                ended.put((long) number, 0);
            }
        }

        private void match(int tag) {
            while (!receives.get(tag).isEmpty() && !messages.get(tag).isEmpty()) {
                ended.put((long) receives.get(tag).removeFirst(), messages.get(tag).removeFirst());
            }
        }

        private void take(CompletionReader.Entry entry) {
            if (entry == null) {
                return;
            }
            Integer message = ended.remove(entry.context());
            assertTrue(message != null, () -> entry + " was not expected, seed " + rig.script.seed());
            assertEquals(message == 0 ? FabricErrno.ECANCELED : 0, entry.errno());
            if (message != 0) {
                assertEquals(1 + message * 397 % LENGTH, entry.length());
                receiver.assertFilled((int) (entry.context() % PLACES) * LENGTH, (int) entry.length(), message);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 64})
    void shouldGiveEachMessageToTheReceiveOfItsTurn(int driverShare) {
        for (long seed = 1; seed <= 30; seed++) {
            new Run(seed, driverShare).run();
        }
    }

    @Test
    void shouldTakeAsManyReceivesAsItHoldsAgainAndAgain() {
        Engines rig = new Engines(new Script(1));
        Engines.Node sender = rig.add("a");
        rig.shared = true;
        rig.rxSize = RECEIVES;
        Engines.Node receiver = rig.add("b");
        for (int round = 0; round < 3; round++) {
            for (int i = 1; i <= RECEIVES; i++) {
                assertEquals(0, receiver.trecv(i * LENGTH, LENGTH, i, i));
            }
            assertEquals(-FabricErrno.EAGAIN, receiver.trecv(0, LENGTH, 1, 1));
            for (int i = 1; i <= RECEIVES; i++) {
                sender.tsend(receiver, 0, 10, i, 1);
                assertEquals(i, receiver.next().context());
            }
            assertNull(receiver.completions.take());
        }
        rig.settle();
        receiver.assertAtRest();
        rig.close();
    }
}
