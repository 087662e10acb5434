package org.jfabric.tool;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PingPongResultTest {
    private static final PingPongPlan PLAN = PingPongPlan.of("shm", "embedded", List.of(64L), 2);
    private static final PingPongResult RESULT = PingPongResult.of(
        PLAN, 64, 1_000_000, 2_000_000, 142_600_000, new PingPongResult.Latency(70.5, 90, 120.5, 2_000, 123_456.5),
        new MachineLoad.Seen(0.05, 0.5, 2));

    @Test
    void shouldTakeTheMeanFromTheTotalTimeOverTwiceTheCount() {
        assertEquals(71.3, RESULT.meanNs(), 1e-9);
        assertEquals(2e6 / 0.1426, RESULT.messagesPerSecond(), 1e-3);
    }

    @Test
    void shouldPrintOneObjectWithTheAgreedNames() {
        assertEquals("{\"link\":\"shm\",\"mode\":\"embedded\",\"sizeBytes\":64,\"count\":1000000,\"verified\":2000000,"
            + "\"spinning\":true,\"halfRoundTripNs\":{\"mean\":71.3,\"p50\":70.5,\"p99\":90.0,\"p99.9\":120.5,"
            + "\"p99.99\":2000.0,\"max\":123456.5},\"messagesPerSecond\":14025245.4,"
            + "\"busy\":false,\"othersCores\":0.05,\"stolenPercent\":0.5}", RESULT.toJson());
    }

    /** In ticks of 10 ms, as the kernel has them: what the processes of the run have used is no load. */
    @Test
    void shouldSayWhenTheMachineWasBusyWithTheFigures(@TempDir Path proc) throws IOException {
        AtomicLong clock = new AtomicLong();
        stat(proc, 1_000, 10, 200, 300);
        MachineLoad load = new MachineLoad(proc, List.of(7L), 2, clock::get);
        clock.set(2_000_000_000L);
        stat(proc, 1_420, 14, 300, 380);
        MachineLoad.Seen seen = load.seen();

        // 420 of 2 s in all, 180 of ours; 4 of 400 by the host
        assertEquals(1.2, seen.othersCores(), 1e-9);
        assertEquals(1, seen.stolenPercent(), 1e-9);
        assertTrue(seen.isBusy());
        PingPongResult busy = PingPongResult.of(
            PLAN, 64, 1_000_000, 2_000_000, 142_600_000, RESULT.latencyNs(), seen);
        assertTrue(busy.toText().contains("other processes used 1.2 of 2 cores, the host took 1.0 %"), busy.toText());
        assertTrue(busy.toJson().contains("\"busy\":true,\"othersCores\":1.20,\"stolenPercent\":1.0"), busy.toJson());
        assertFalse(RESULT.toText().contains("machine busy"), RESULT.toText());

        clock.set(100_000_000L);
        assertFalse(load.seen().isBusy(), "too short to say anything");
    }

    private static void stat(Path proc, int user, int steal, int self, int child) throws IOException {
        Files.writeString(proc.resolve("stat"), "cpu  " + user + " 0 0 9000 5 6 7 " + steal + " 0 0\n"
            + "cpu0 1 0 0 1 0 0 0 1 0 0\ncpu1 1 0 0 1 0 0 0 1 0 0\nintr 5\n");
        for (Map.Entry<String, Integer> each : Map.of("self", self, "7", child).entrySet()) {
            Files.createDirectories(proc.resolve(each.getKey()));
            Files.writeString(proc.resolve(each.getKey()).resolve("stat"),
                each.getKey() + " (a (b) c) S 1 2 3 4 5 6 7 8 9 10 " + each.getValue() + " 0 0 0 20 0\n");
        }
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
