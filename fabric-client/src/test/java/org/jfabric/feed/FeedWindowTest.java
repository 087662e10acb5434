package org.jfabric.feed;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The window of a feed against sets that forget nothing. */
class FeedWindowTest {
    private static final int LENGTH = 128;

    private final List<Long> lost = new ArrayList<>();
    private final FeedWindow window = new FeedWindow(7, LENGTH, (of, first, count) -> {
        for (long i = first; i < first + count; i++) {
            lost.add(i);
        }
    });

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void shouldTellFirstRepeatedAndLateMessagesApart(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Set<Long> arrived = new HashSet<>();
        List<Long> expectedLost = new ArrayList<>();
        long first = random.nextInt(3) == 0 ? 0 : random.nextInt(1000);
        long latest = first - 1;
        long middle = first;
        for (int i = 0; i < 20_000; i++) {
            long sequence = i == 0 ? first : Math.max(0, middle + random.nextInt(2 * LENGTH) - LENGTH);
            middle += random.nextInt(2000) == 0 ? random.nextInt(5 * LENGTH) : random.nextInt(2);
            FeedWindow.Arrival expected = i > 0 && sequence <= latest - LENGTH ? FeedWindow.Arrival.LATE
                : arrived.add(sequence) ? FeedWindow.Arrival.FIRST : FeedWindow.Arrival.REPEATED;
            for (long left = Math.max(first, latest - LENGTH + 1); left <= sequence - LENGTH; left++) {
                if (!arrived.contains(left)) {
                    expectedLost.add(left);
                }
            }
            latest = Math.max(latest, sequence);
            assertEquals(expected, window.arrive(sequence), "arrival " + i + " of " + sequence + ", seed " + seed);
            assertEquals(expectedLost, lost, "behind arrival " + i + " of " + sequence + ", seed " + seed);
        }
    }

    @Test
    void shouldReportAJumpOfManyMessagesAsOneLoss() {
        List<Long> counts = new ArrayList<>();
        FeedWindow other = new FeedWindow(7, LENGTH, (of, first, count) -> counts.add(count));
        other.arrive(0);
        other.arrive(1L << 61);
        assertEquals(List.of((1L << 61) - LENGTH), counts);
        assertEquals(FeedWindow.Arrival.FIRST, other.arrive((1L << 61) - 1));
        assertEquals(FeedWindow.Arrival.LATE, other.arrive(1));
    }
}
