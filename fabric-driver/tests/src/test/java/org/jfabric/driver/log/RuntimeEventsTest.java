package org.jfabric.driver.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** A driver's events in recordings of the Java runtime. */
@Timeout(60)
@Isolated("records the events of the whole process")
class RuntimeEventsTest {
    @TempDir
    private Path folder;

    private final List<Throwable> errors = new CopyOnWriteArrayList<>();

    private AgentLog log() {
        return new DriverLog(errors::add, null, System::nanoTime, null, RuntimeEvents.openIfPresent())
            .agent("progress-0", true);
    }

    private static void report(AgentLog log) {
        log.event(EventKind.PEER_UP, 1, 2, 7, 0, "jfabric://b/up");
        log.event(EventKind.PEER_DOWN, 1, 2, FabricErrno.ECONNRESET, 0, "jfabric://b/down");
        log.event(EventKind.CREDIT_WAIT_BEGAN, 1, 2, 5, 0, "jfabric://b/slow");
        log.event(EventKind.CREDIT_WAIT_ENDED, 1, 2, 3_000_000, 4, "jfabric://b/slow");
        log.event(EventKind.SLOW_CYCLE, 0, 0, 2_500_000, 32, "");
        log.event(EventKind.DRAIN_BEGAN, 9, 0, 1_000, 0, "");
        log.event(EventKind.DRAIN_ENDED, 9, 0, 6, 0, "given up");
        log.onError(new FabricException(FabricErrno.EIO, "the disk is gone", "Replace it."));
        log.client(EventKind.CLIENT_CAME, 3, "quotes", 77, "it is attached");
    }

    private static List<String> expected() {
        return List.of(
            "Connection peer-up 1 2 0 jfabric://b/up",
            "Connection peer-down 1 2 " + FabricErrno.ECONNRESET + " jfabric://b/down",
            "CreditWait credit-wait-began 1 2 jfabric://b/slow PT0S 5",
            "CreditWait credit-wait-ended 1 2 jfabric://b/slow PT0.003S 4",
            "SlowCycle PT0.0025S 32",
            "Drain drain-began -1",
            "Drain drain-ended 6",
            "Error " + FabricErrno.EIO + ' '
                + new FabricException(FabricErrno.EIO, "the disk is gone", "Replace it.").getMessage(),
            "Lifecycle client-came 3 0 quotes: it is attached");
    }

    private static String text(RecordedEvent event) {
        String name = event.getEventType().getName();
        String values = switch (name) {
            case "jfabric.Connection" -> event.getString("kind") + ' ' + event.getLong("client") + ' '
                + event.getLong("endpoint") + ' ' + event.getInt("errno") + ' ' + event.getString("peer");
            case "jfabric.CreditWait" -> event.getString("kind") + ' ' + event.getLong("client") + ' '
                + event.getLong("endpoint") + ' ' + event.getString("peer") + ' ' + event.getDuration("length") + ' '
                + event.getLong("sends");
            case "jfabric.SlowCycle" -> event.getDuration("length") + " " + event.getLong("cycles");
            case "jfabric.Drain" -> event.getString("kind") + ' ' + event.getLong("sends");
            case "jfabric.Error" -> event.getInt("errno") + " " + event.getString("text");
            default -> event.getString("kind") + ' ' + event.getLong("client") + ' ' + event.getLong("object") + ' '
                + event.getString("text");
        };
        return name.substring("jfabric.".length()) + ' ' + values;
    }

    @Test
    void shouldStandInARecordingWithAllTheirValues() throws IOException {
        AgentLog log = log();
        log.event(EventKind.SLOW_CYCLE, 0, 0, 1, 1, "");
        Path file = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            recording.start();
            report(log);
            recording.dump(file);
        }
        List<String> found = new ArrayList<>();
        try (RecordingFile recorded = new RecordingFile(file)) {
            while (recorded.hasMoreEvents()) {
                RecordedEvent event = recorded.readEvent();
                if (event.getEventType().getName().startsWith("jfabric.")) {
                    assertEquals(List.of("JFabric"), event.getEventType().getCategoryNames());
                    found.add(text(event));
                }
            }
        }
        assertEquals(expected(), found);
        assertEquals(1, errors.size());
    }

    @Test
    void shouldReachAStreamWithTheirTexts() throws InterruptedException {
        List<String> found = new CopyOnWriteArrayList<>();
        try (RecordingStream stream = new RecordingStream()) {
            stream.onEvent(event -> {
                if (event.getEventType().getName().startsWith("jfabric.")) {
                    found.add(text(event));
                }
            });
            stream.startAsync();
            report(log());
            stream.stop();
        }
        assertTrue(found.containsAll(expected()) && found.size() == expected().size(), found::toString);
    }
}
