package org.jfabric.driver.progress;

import org.jfabric.driver.progress.IdleWindow.Step;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class IdleWindowTest {
    private static final long LENGTH_NS = 100_000;
    private static final long CYCLE_NS = 500;
    private static final int MANY_CYCLES = 10_000;

    private final IdleWindow window = new IdleWindow(LENGTH_NS);
    private long nowNs = Long.MAX_VALUE - 50_000;

    @ParameterizedTest
    @ValueSource(longs = {90, 600, 5_000, 1_000_000})
    void shouldSleepAfterATimeHoweverLongCyclesAre(long cycleNs) {
        assertEquals(1 + Math.ceilDiv(LENGTH_NS, cycleNs), cyclesToSleep(window, cycleNs));
    }

    @Test
    void shouldSleepAtOnceWithoutAWindow() {
        IdleWindow none = new IdleWindow(0);
        assertEquals(Step.SLEEP, none.onIdle(nowNs));
        none.onWork(nowNs + CYCLE_NS);
        assertEquals(Step.SLEEP, none.onIdle(nowNs + 2 * CYCLE_NS));
    }

    @Test
    void shouldKeepTheCoreForAMoment() {
        long pollingNs = 0;
        while (pollingNs < LENGTH_NS && idle(CYCLE_NS) == Step.POLL) {
            pollingNs += CYCLE_NS;
        }
        assertEquals(IdleWindow.KEEPS_CORE_NS, pollingNs);
        assertEquals(Step.YIELD, idle(CYCLE_NS));
    }

    @Test
    void shouldBeginAnotherWindowAfterWork() {
        cyclesToSleep(window, CYCLE_NS);
        window.onWork(nowNs);
        assertEquals(Step.POLL, idle(CYCLE_NS));
        cyclesToSleep(window, CYCLE_NS);
        window.onWoken();
        assertEquals(Step.POLL, idle(CYCLE_NS));
    }

    @Test
    void shouldSleepAgainAfterASleepForNothing() {
        cyclesToSleep(window, CYCLE_NS);
        assertEquals(Step.SLEEP, idle(LENGTH_NS));
        assertEquals(Step.SLEEP, idle(CYCLE_NS));
    }

    @Test
    void shouldSleepEarlyWhereTheCoreWasLostForLong() {
        lose(IdleWindow.LOST_CORE_NS + 1);
        for (int i = 1; i < IdleWindow.EARLY_SLEEPS; i++) {
            window.onWork(nowNs);
            assertEquals(0, yieldsToSleep(), "yields of period " + i);
        }
        window.onWork(nowNs);
        assertTrue(yieldsToSleep() > 0);
    }

    @Test
    void shouldNotSleepEarlyWhereOthersRunShortly() {
        lose(IdleWindow.LOST_CORE_NS);
        window.onWork(nowNs);
        assertTrue(yieldsToSleep() > 0);
    }

    /** The thread lets others run and finds work when it is back. */
    private void lose(long awayNs) {
        for (int i = 0; i < MANY_CYCLES && idle(CYCLE_NS) != Step.YIELD; i++) {
            assertTrue(i < MANY_CYCLES - 1, "never lets others run");
        }
        nowNs += awayNs - CYCLE_NS;
        window.onWork(nowNs);
    }

    private int yieldsToSleep() {
        int yields = 0;
        for (int i = 0; i < MANY_CYCLES; i++) {
            Step step = idle(CYCLE_NS);
            if (step == Step.SLEEP) {
                return yields;
            }
            yields += step == Step.YIELD ? 1 : 0;
        }
        throw new AssertionError("never sleeps");
    }

    private long cyclesToSleep(IdleWindow waited, long cycleNs) {
        for (int cycles = 1; cycles <= MANY_CYCLES; cycles++) {
            if (waited.onIdle(nowNs) == Step.SLEEP) {
                return cycles;
            }
            nowNs += cycleNs;
        }
        throw new AssertionError("never sleeps");
    }

    /** One cycle without work, which the next one follows that much later. */
    private Step idle(long cycleNs) {
        Step step = window.onIdle(nowNs);
        nowNs += cycleNs;
        return step;
    }
}
