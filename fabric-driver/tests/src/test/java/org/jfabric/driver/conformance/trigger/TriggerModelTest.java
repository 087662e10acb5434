package org.jfabric.driver.conformance.trigger;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jfabric.Counter;
import org.jfabric.DeferredWork;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Random work for three counters, which are changed at random, beside a model that does everything in sequence: after
 * each step the same work has started, that of each counter in the order of the model, and the counters are equal.
 */
@Tag("conformance")
@Tag("link")
@Timeout(180)
class TriggerModelTest {
    private static final long ANY = -1L;
    private static final int COUNTERS = 3;
    private static final int STEPS = 300;
    private static final int MOST_WAITING = 60;
    /** Greatest lead of a threshold before the value. */
    private static final int LEAD = 12;

    /** Work in the model: a message, or an addition to a counter. */
    private record Work(
        int trigger, long threshold, int number, boolean isDeferred, int target, long value, DeferredWork queued) {
        boolean isMessage() {
            return target < 0;
        }

        /** Within these the order is defined. */
        int order() {
            return 2 * trigger + (isDeferred ? 1 : 0);
        }
    }

    private final List<Work> waiting = new ArrayList<>();
    private final long[] values = new long[COUNTERS];
    private final long[] errors = new long[COUNTERS];
    private final Counter[] counters = new Counter[COUNTERS];
    private final TriggeredContext trigger = new TriggeredContext();
    private final SendRequest send = new SendRequest();
    private final Map<Integer, List<Integer>> expected = new HashMap<>();
    private final Map<Integer, List<Integer>> seen = new HashMap<>();
    private final Map<Integer, Integer> orderOf = new HashMap<>();
    private int started;
    private int arrived;
    private int lastNumber;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-044")
    void shouldStartWhatTheModelStarts(Setup setup) {
        long seed = System.nanoTime();
        try (TriggerPair pair = new TriggerPair(setup)) {
            for (int i = 0; i < COUNTERS; i++) {
                counters[i] = pair.a.domain.openCounter(new CounterAttr());
            }
            SplittableRandom random = new SplittableRandom(seed);
            for (int step = 0; step < STEPS; step++) {
                step(pair, random);
                settle();
                compare(pair);
            }
            assertEquals(0, pair.a.domain.flushWork());
            pair.quietEnd();
        } catch (AssertionError | RuntimeException failure) {
            throw new AssertionError("seed " + seed, failure);
        }
    }

    private void step(TriggerPair pair, SplittableRandom random) {
        int counter = random.nextInt(COUNTERS);
        switch (random.nextInt(10)) {
            case 0, 1, 2, 3 -> {
                if (waiting.size() < MOST_WAITING) {
                    queue(pair, random, counter);
                }
            }
            case 4, 5, 6 -> {
                long added = random.nextInt(4);
                values[counter] += added;
                assertEquals(0, counters[counter].add(added));
            }
            case 7 -> {
                errors[counter]++;
                assertEquals(0, counters[counter].addErr(1));
            }
            case 8 -> {
                values[counter] = Math.max(0, values[counter] + random.nextInt(9) - 4);
                assertEquals(0, counters[counter].set(values[counter]));
            }
            default -> cancel(pair, random);
        }
    }

    private void queue(TriggerPair pair, SplittableRandom random, int counter) {
        int number = ++lastNumber;
        long threshold = Math.max(0, values[counter] + random.nextInt(LEAD) - 2);
        boolean isMessage = random.nextInt(3) != 0;
        boolean isDeferred = !isMessage || random.nextBoolean();
        DeferredWork work = isDeferred ? new DeferredWork().trigger(counters[counter], threshold) : null;
        int target = isMessage ? -1 : random.nextInt(COUNTERS);
        long value = 1 + random.nextInt(3);
        send.clear().memory(pair.a.memory.address(), 8).destAddr(pair.toB).tag(number).opContext(number);
        if (!isDeferred) {
            assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                send.trigger(trigger.threshold(counters[counter], threshold))));
        } else if (isMessage) {
            assertEquals(0, pair.a.domain.queueWork(work.tsend(pair.a.endpoint, send)));
        } else {
            assertEquals(0, pair.a.domain.queueWork(work.counterAdd(counters[target], value)));
        }
        Work queued = new Work(counter, threshold, number, isDeferred, target, value, work);
        orderOf.put(number, queued.order());
        waiting.add(queued);
    }

    /** Cancels work that is known to wait. */
    private void cancel(TriggerPair pair, SplittableRandom random) {
        if (waiting.isEmpty()) {
            return;
        }
        Work work = waiting.remove(random.nextInt(waiting.size()));
        if (work.isDeferred()) {
            assertEquals(0, pair.a.domain.cancelWork(work.queued()));
        } else {
            assertEquals(0, pair.a.endpoint.cancel(work.number()));
        }
        if (work.isMessage()) {
            FabricNode.Entry entry = null;
            while (entry == null || entry.err() == 0) {
                entry = pair.a.await();
            }
            assertEquals(FabricErrno.ECANCELED, entry.err());
            assertEquals(work.number(), entry.context());
        }
    }

    /** The model: of all that is due the work with the lowest threshold, then number, until nothing is due. */
    private void settle() {
        Comparator<Work> order = Comparator.comparingLong(Work::threshold).thenComparingInt(Work::number);
        while (true) {
            Work next = waiting.stream().filter(this::isDue).min(order).orElse(null);
            if (next == null) {
                return;
            }
            waiting.remove(next);
            if (next.isMessage()) {
                expected.computeIfAbsent(next.order(), key -> new ArrayList<>()).add(next.number());
                started++;
            } else {
                values[next.target()] += next.value();
            }
        }
    }

    private boolean isDue(Work work) {
        return values[work.trigger()] + (work.isDeferred() ? errors[work.trigger()] : 0) >= work.threshold();
    }

    private void compare(TriggerPair pair) {
        while (arrived < started) {
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 0, -1L, 1));
            int number = (int) pair.nextTag();
            seen.computeIfAbsent(orderOf.get(number), key -> new ArrayList<>()).add(number);
            arrived++;
        }
        assertEquals(expected, seen);
        for (int i = 0; i < COUNTERS; i++) {
            int index = i;
            pair.await("value " + values[i] + " of counter " + i, () -> counters[index].read() == values[index],
                () -> counters[index]);
            assertEquals(errors[i], counters[i].readErr());
        }
    }
}
