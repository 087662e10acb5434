package org.jfabric.simulation;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The operations of the soak over simulated links. */
@Tag("slow")
class SoakSimulationTest {
    private static final Duration SHORT = Duration.ofMillis(2);

    @ParameterizedTest
    @ValueSource(strings = {"loopback", "shm", "tcp", "rxm"})
    void shouldAgreeWithTheNaiveModelAndRepeatEveryEvent(String link) {
        Simulate.Result first = run(4, link);
        assertTrue(first.sent() >= 1000, first.sent() + " operations were accepted");
        assertEquals(first.hash(), run(4, link).hash());
        assertNotEquals(first.hash(), run(5, link).hash());
    }

    private static Simulate.Result run(long seed, String link) {
        return Simulate.run(seed, SHORT, Simulate.plan(seed, SHORT, link, Simulate.SOAK));
    }
}
