package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.config.CncConfig;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;

class DistinctErrorsTest {
    private static final int REFUSALS = 10_000;

    private final UnsafeBuffer buffer =
        new UnsafeBuffer(ByteBuffer.allocateDirect(Math.toIntExact(CncConfig.ERROR_LOG_LENGTH_BYTES.defaultValue())));
    private final DistinctErrors log = new DistinctErrors(buffer, () -> 4711);

    /** Texts without stacks, and how often each was observed. */
    private Map<String, Integer> read() {
        Map<String, Integer> read = new LinkedHashMap<>();
        ErrorRecords.read(buffer, (count, first, last, text) -> read.merge(text.lines().findFirst().orElse(""), count,
            Integer::sum));
        return read;
    }

    private static FabricException refusal(int port) {
        return new FabricException(FabricErrno.ECONNREFUSED, "peer 192.0.2.7:" + port + " was refused", "Nothing.");
    }

    @Test
    void shouldHaveRoomForOtherErrorsWhenOneKindComesWithManyTexts() {
        for (int i = 0; i < REFUSALS; i++) {
            assertTrue(log.record(refusal(i)), "the log is full at " + i);
        }
        assertTrue(log.record(new IllegalStateException("what matters")));
        assertTrue(log.record(refusal(3)));
        Map<String, Integer> read = read();
        assertEquals(16 + 1, read.size(), read::toString);
        assertEquals(1, read.get("java.lang.IllegalStateException: what matters"), read::toString);
        assertEquals(
            REFUSALS + 2, read.values().stream().mapToInt(Integer::intValue).sum(), "each one is counted");
    }

    @Test
    void shouldKeepErrorsOfDifferentPlacesAndTextsApart() {
        for (int i = 0; i < 3; i++) {
            log.record(refusal(1));
            log.record(refusal(2));
            log.record(new IllegalArgumentException("an argument"));
        }
        assertEquals(3, read().size(), read()::toString);
        assertTrue(read().values().stream().allMatch(count -> count == 3), read()::toString);
    }
}
