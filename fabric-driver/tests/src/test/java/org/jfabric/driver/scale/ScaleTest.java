package org.jfabric.driver.scale;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A twentieth of what {@code ./fabric torture --peers 1000} runs. */
@Timeout(180)
class ScaleTest {
    @Test
    void shouldServeHundredsOfPeersThatComeAndGoTogether() throws IOException {
        try (ScaleRun run = new ScaleRun(20, 500, System.out)) {
            run.run();
        }
    }
}
