package org.jfabric.driver.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.jfabric.driver.kit.Effort;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A short one in each build; by hand for as long as one likes: {@code ./fabric torture}. */
@Tag("hostile")
@Timeout(300)
class TortureTest {
    private static final int WORLD_S = Effort.rounds(1, 2);

    @Test
    void shouldFindNoFaultInAShortRun() {
        List<Cell> cells = Stream.of("shm/daemon", "tcp/shared").map(Cell::parse).toList();
        try (TortureRun run = new TortureRun(cells, System.nanoTime(), System.out)) {
            run.noteTimesOnly();
            for (Cell each : cells) {
                assertEquals(0, run.run(each, WORLD_S), () -> "see above; " + run.tally());
            }
            assertEquals(cells.size(), run.tally().count("worlds"));
            assertTrue(run.tally().count("messages confirmed") > 0, () -> run.tally().toString());
            assertEquals(0, run.mutate(Effort.rounds(30, 100)), () -> "see above; " + run.tally());
        }
    }
}
