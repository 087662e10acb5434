package org.jfabric.simulation;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** What nodes open is closed again, whatever fails. */
@Isolated("counts the descriptors and mappings of the process")
@Tag("slow")
class LeaksTest {
    private static final Duration SHORT = Duration.ofMillis(2);
    private static final int SEEDS = 12;

    @Test
    void shouldHaveAsManyDescriptorsAndMappingsAsBefore() throws InterruptedException {
        // the first one opens what the process keeps
        Simulate.run(SEEDS + 1, SHORT, (String) null);
        Leaks before = Leaks.count();
        for (long seed = 1; seed <= SEEDS; seed++) {
            Simulate.run(seed, SHORT, seed % 2 == 0 ? "shm" : null);
        }
        Leaks after = before.await();
        assertTrue(after.isLike(before), () -> before + " before, " + after);
    }
}
