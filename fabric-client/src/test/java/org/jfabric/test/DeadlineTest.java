package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeadlineTest {

    @Test
    void shouldMultiplyByTheFactor() {
        double factor = Deadline.slowness();
        assertTrue(factor >= 1, () -> "factor " + factor);
        assertEquals((long) (3_000_000_000L * factor), Deadline.ns(3));
        // of the rounded nanoseconds: the product itself may be a little more
        assertEquals(Deadline.ns(3) / 1_000_000, Deadline.ms(3));
        assertEquals((long) Math.ceil(3 * factor), Deadline.s(3));
        assertEquals("-Djfabric.test.slowness=" + factor, Deadline.property());
        assertEquals(factor, Double.parseDouble(System.getProperty(Deadline.SLOWNESS)), "children are told the same");
        assertEquals(Deadline.property(), TestSession.properties().getFirst());
    }

    @Test
    void shouldEndWithTheConditionWhateverTheTime() {
        AtomicInteger left = new AtomicInteger(1000);
        Deadline.await("zero", () -> left.decrementAndGet() == 0, left::get);
        assertEquals(0, left.get());
        AtomicInteger rounds = new AtomicInteger();
        Deadline.in(20).until("10 rounds", () -> rounds.get() == 10, rounds::incrementAndGet, rounds::get);
        assertEquals(10, rounds.get());
    }

    @Test
    void shouldSayWhatWasAwaitedAndTheState() {
        Deadline over = Deadline.in(0);
        assertTrue(over.isOver());
        assertEquals(1, over.leftMs());
        AssertionError e = assertThrows(AssertionError.class,
            () -> over.until("rain", () -> false, Thread::yield, () -> "the sun shines"));
        assertEquals("waited 0 s in vain for rain: the sun shines", e.getMessage());
        assertFalse(Deadline.usual().isOver());
        over.until("what is there", () -> true, Thread::yield, () -> "never asked");
    }

    @Test
    void shouldMeasureWithinBounds() {
        for (int i = 0; i < 3; i++) {
            double measured = Slowness.measure();
            assertTrue(measured >= 1 && measured <= Slowness.MOST, () -> "measured " + measured);
        }
        assertEquals(1, Slowness.within(0.3));
        assertEquals(2.5, Slowness.within(2.5));
        assertEquals(Slowness.MOST, Slowness.within(1e9));
        assertEquals(Slowness.MOST, Slowness.within(Double.POSITIVE_INFINITY));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "0.9", "-1", "1001", "NaN", "quick", ""})
    void shouldTakeNoFactorThatMakesNoSense(String text) {
        assertThrows(IllegalArgumentException.class, () -> Slowness.parse(text));
    }
}
