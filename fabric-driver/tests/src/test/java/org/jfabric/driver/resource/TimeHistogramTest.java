package org.jfabric.driver.resource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.Test;

class TimeHistogramTest {
    private final long words = UnsafeApi.allocateMemory(1024);
    private final List<String> labels = new ArrayList<>();

    private TimeHistogram histogram(int firstBits, int stepBits) {
        labels.clear();
        UnsafeApi.setMemory(words, 1024, (byte) 0);
        return new TimeHistogram((type, label) -> {
            labels.add(label);
            return words + (labels.size() - 1) * (long) Long.BYTES;
        }, firstBits, stepBits, "times_seconds", "of", "tests");
    }

    @Property(tries = 2000)
    void shouldPutATimeIntoTheFirstBucketThatIsNotBelowIt(
        @ForAll @LongRange(min = 0, max = 1L << 36) long ns, @ForAll @IntRange(min = 0, max = 2) int stepBits) {
        TimeHistogram histogram = histogram(7, stepBits);
        int bucket = histogram.bucket(ns);
        if (bucket == histogram.buckets() - 1) {
            assertTrue(ns > 1L << 34);
            return;
        }
        assertTrue(ns <= histogram.boundNs(bucket), () -> ns + " in " + bucket);
        if (bucket > 0) {
            assertTrue(ns > histogram.boundNs(bucket - 1), () -> ns + " in " + bucket);
        }
    }

    @Test
    void shouldHaveFourBucketsForEachPowerOfTwo() {
        TimeHistogram histogram = histogram(7, 2);
        assertEquals(128, histogram.boundNs(0));
        assertEquals(160, histogram.boundNs(1));
        assertEquals(256, histogram.boundNs(4));
        assertEquals(320, histogram.boundNs(5));
        assertEquals(1L << 34, histogram.boundNs(histogram.buckets() - 2));
        assertEquals(histogram.buckets() - 1, histogram.bucket((1L << 34) + 1));
    }

    @Test
    void shouldAddToItsCountersWhenItPublishesAndBeginAnewWhenItIsReset() {
        TimeHistogram histogram = histogram(5, 0);
        assertEquals("times_seconds{of=\"tests\",le=\"0.000000032\"}", labels.getFirst());
        assertEquals("times_seconds{of=\"tests\",le=\"+Inf\"}", labels.get(histogram.buckets() - 1));
        assertEquals("times_seconds{of=\"tests\"}", labels.getLast());
        histogram.record(0);
        histogram.record(33);
        histogram.record(64);
        assertEquals(0, word(0));
        histogram.publish();
        assertEquals(List.of(1L, 2L, 0L), List.of(word(0), word(1), word(2)));
        assertEquals(97, word(histogram.buckets()));
        histogram.record(64);
        histogram.publish();
        assertEquals(3, word(1));
        histogram.record(1);
        histogram.reset();
        histogram.publish();
        assertEquals(List.of(0L, 0L, 0L), List.of(word(0), word(1), word(histogram.buckets())));
    }

    private long word(int index) {
        return UnsafeApi.getLong(words + (long) index * Long.BYTES);
    }
}
