package org.jfabric.tool;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PingPongResultTest {
    private static final PingPongPlan PLAN = PingPongPlan.of("shm", "embedded", List.of(64L), 2);
    private static final PingPongResult RESULT = PingPongResult.of(
        PLAN, 64, 1_000_000, 2_000_000, 142_600_000, new PingPongResult.Latency(70.5, 90, 120.5, 2_000, 123_456.5));

    @Test
    void shouldTakeTheMeanFromTheTotalTimeOverTwiceTheCount() {
        assertEquals(71.3, RESULT.meanNs(), 1e-9);
        assertEquals(2e6 / 0.1426, RESULT.messagesPerSecond(), 1e-3);
    }

    @Test
    void shouldPrintOneObjectWithTheAgreedNames() {
        assertEquals("{\"link\":\"shm\",\"mode\":\"embedded\",\"sizeBytes\":64,\"count\":1000000,\"verified\":2000000,"
            + "\"spinning\":true,\"halfRoundTripNs\":{\"mean\":71.3,\"p50\":70.5,\"p99\":90.0,\"p99.9\":120.5,"
            + "\"p99.99\":2000.0,\"max\":123456.5},\"messagesPerSecond\":14025245.4}", RESULT.toJson());
    }

    @Test
    void shouldSayEverythingToPeople() {
        String text = RESULT.toText();

        for (String part : new String[] {
            "shm, embedded", "64 bytes", "1,000,000", "2,000,000 messages", "spinning", "mean 71.3 ns", "p50 70.5",
            "p99.99 2000.0", "max 123,457 ns", "14,025,245 messages/s"}) {
            assertTrue(text.contains(part), part + " in\n" + text);
        }
    }
}
