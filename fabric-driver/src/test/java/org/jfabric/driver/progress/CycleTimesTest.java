package org.jfabric.driver.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class CycleTimesTest {
    @Property(tries = 2000)
    void shouldPutATimeIntoTheFirstBucketThatIsNotBelowIt(@ForAll @LongRange(min = 0, max = 1L << 36) long ns) {
        int bucket = CycleTimes.bucket(ns);
        if (bucket == CycleTimes.BUCKETS - 1) {
            assertTrue(ns > 1L << 34);
            return;
        }
        assertTrue(ns <= CycleTimes.boundNs(bucket), () -> ns + " in " + bucket);
        if (bucket > 0) {
            assertTrue(ns > CycleTimes.boundNs(bucket - 1), () -> ns + " in " + bucket);
        }
    }

    @Test
    void shouldHaveFourBucketsForEachPowerOfTwo() {
        assertEquals(128, CycleTimes.boundNs(0));
        assertEquals(160, CycleTimes.boundNs(1));
        assertEquals(256, CycleTimes.boundNs(4));
        assertEquals(320, CycleTimes.boundNs(5));
        assertEquals(1L << 34, CycleTimes.boundNs(CycleTimes.BUCKETS - 2));
        assertEquals(CycleTimes.BUCKETS - 1, CycleTimes.bucket((1L << 34) + 1));
    }
}
