package org.jfabric.driver.scale;

import java.io.IOException;
import org.jfabric.driver.kit.Effort;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A small part of what {@code ./fabric torture --peers 1000} runs. */
@Timeout(180)
class ScaleTest {
    @Test
    void shouldServeHundredsOfPeersThatComeAndGoTogether() throws IOException {
        try (ScaleRun run = new ScaleRun(Effort.rounds(10, 20), Effort.rounds(200, 500), System.out)) {
            run.run();
        }
    }
}
