package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.EngineConfig;
import org.jfabric.driver.config.LogConfig;
import org.jfabric.driver.config.MetricsConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.OtherUser;
import org.jfabric.driver.log.AgentLog;
import org.jfabric.driver.log.DriverLog;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.log.EventRecord;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.layout.EventRecordDescriptor;
import org.jfabric.layout.OwnerId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The record of a driver's last events, from its writers to the command. */
@Timeout(60)
class RecordCommandTest {
    private static final int EVENTS = 16;

    private final ToolDirectory directory = new ToolDirectory();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private int fd;

    @BeforeEach
    void open() {
        fd = Libc.openDirectory(directory.base);
    }

    @AfterEach
    void close() {
        Libc.close(fd);
        directory.close();
    }

    private EventRecord record() {
        DriverConfig config = DriverConfig.builder().directory(directory.driver("d"))
            .set(LogConfig.RECORD_EVENTS, EVENTS).build();
        return EventRecord.create(fd, OwnerId.random(), config, errors::add);
    }

    private DriverLog log(EventRecord record) {
        return DriverLog.open(DriverConfig.builder().directory(directory.driver("d")).build(),
            false, errors::add, System.err, record);
    }

    private List<RecordView.Event> events() {
        return RecordView.read(directory.base, EventRecordDescriptor.FILE_NAME).events();
    }

    @Test
    void shouldKeepTheLastEventsOfEachAgentInTheOrderOfTheirTimes() {
        try (EventRecord record = record(); DriverLog log = log(record)) {
            AgentLog conductor = log.agent("conductor", false);
            AgentLog progress = log.agent("progress-0", true);
            conductor.client(EventKind.CLIENT_CAME, 3, "quotes", 77, "it is attached");
            for (int i = 1; i <= 3 * EVENTS + 5; i++) {
                progress.event(EventKind.SLOW_CYCLE, 0, 0, i, -i, "");
            }
            progress.event(EventKind.PEER_DOWN, 3, 4, FabricErrno.ECONNRESET, 9, "\u00e9".repeat(200));
            List<RecordView.Event> events = events();
            // many short ones do not drive out what happened before
            assertEquals(1 + EVENTS + 1, events.size(), events::toString);
            RecordView.Event came = events.getFirst();
            assertEquals("conductor client-came client=3 pid=77: quotes: it is attached",
                RecordCommand.line(came).split(" ", 2)[1]);
            assertEquals(LongStream.rangeClosed(2 * EVENTS + 6, 3 * EVENTS + 5).boxed().toList(),
                events.subList(1, EVENTS + 1).stream().map(RecordView.Event::first).toList());
            assertTrue(events.subList(1, EVENTS + 1).stream().allMatch(each -> each.second() == -each.first()
                && each.sequence() == each.first() && each.kind() == EventKind.SLOW_CYCLE));
            RecordView.Event down = events.getLast();
            assertEquals("\u00e9".repeat(EventRecordDescriptor.MAX_TEXT_LENGTH / 2), down.text());
            assertEquals(List.of(3L, 4L, (long) FabricErrno.ECONNRESET, 9L),
                List.of(down.client(), down.object(), down.first(), down.second()));
            assertTrue(Math.abs(down.epochNs() / 1e9 - System.currentTimeMillis() / 1e3) < 60, down::toString);
            assertTrue(down.thread() > 0 && down.thread() == came.thread(), events::toString);
        }
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldShowWholeEventsOnlyWhileTheyAreWritten() throws InterruptedException {
        int rounds = 200_000;
        try (EventRecord record = record(); DriverLog log = log(record)) {
            AgentLog progress = log.agent("progress-0", true);
            Thread writer = Thread.ofPlatform().start(() -> {
                for (long i = 1; i <= rounds; i++) {
                    progress.event(EventKind.SLOW_CYCLE, i, i, i, i, Long.toString(i));
                }
            });
            long seen = 0;
            while (writer.isAlive()) {
                for (RecordView.Event event : events()) {
                    long i = event.sequence();
                    assertTrue(event.client() == i && event.object() == i && event.first() == i && event.second() == i
                        && event.text().equals(Long.toString(i)), event::toString);
                    seen++;
                }
            }
            writer.join();
            assertTrue(seen > 0);
            assertEquals(rounds, events().getLast().sequence());
        }
    }

    @Test
    void shouldHaveOneEventForAnErrorThatComesAgainAndAgain() {
        try (EventRecord record = record(); DriverLog log = log(record)) {
            AgentLog agent = log.agent("resource", false);
            for (int i = 0; i < 100; i++) {
                agent.onError(new FabricException(FabricErrno.EACCES, "refused", "Ask for the right."));
            }
            agent.onError(new IllegalStateException("another"));
            List<RecordView.Event> events = events();
            assertEquals(List.of((long) FabricErrno.EACCES, 0L),
                events.stream().map(RecordView.Event::first).toList(), events::toString);
            assertEquals("java.lang.IllegalStateException: another", events.getLast().text());
        }
        assertEquals(101, errors.size());
    }

    @Test
    void shouldStopRecordingWhenTheFileIsCut() throws IOException {
        try (EventRecord record = record(); DriverLog log = log(record)) {
            AgentLog agent = log.agent("progress-0", true);
            agent.event(EventKind.LISTENING, 1, 1, 0, 0, "before");
            try (FileChannel file = FileChannel.open(
                directory.base.resolve(EventRecordDescriptor.FILE_NAME), StandardOpenOption.WRITE)) {
                file.truncate(0);
            }
            agent.event(EventKind.LISTENING, 1, 1, 0, 0, "after");
            agent.event(EventKind.LISTENING, 1, 1, 0, 0, "later");
        }
        assertEquals(1, errors.size(), errors::toString);
        assertTrue(errors.getFirst().getMessage().contains("record was cut"), errors::toString);
    }

    @Test
    void shouldShowRootTheRecordOfAKilledDriverOfAnotherUser() throws IOException {
        OtherUser.require();
        try (EventRecord record = record(); DriverLog log = log(record)) {
            log.agent("conductor", false).client(EventKind.CLIENT_CAME, 3, "quotes", 77, "it is attached");
        }
        Files.setAttribute(directory.base, "unix:uid", 20001);
        System.setProperty(FabricConfig.DRIVER_USER_PROPERTY, "20001");
        try {
            assertEquals(1, events().size());
        } finally {
            System.clearProperty(FabricConfig.DRIVER_USER_PROPERTY);
        }
    }

    @Test
    void shouldShowWhatADriverHasDone() {
        Path path = directory.driver("driver");
        try (FabricDriver driver = FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(path).threadingMode(ThreadingMode.INVOKER).build())) {
            try (FabricNode node = new FabricNode(
                driver.fabric(), "loopback", new Info().caps(Flags.TAGGED | Flags.MSG), 64, 0, () -> { })) {
                long self = node.av.insert(node.endpoint.name());
                node.endpoint.trecv(node.memory.address(0), 8, -1L, 1, 0, 1);
                node.endpoint.tsend(node.memory.address(64), 8, self, 1, 2);
                node.await();
                node.await();
                List<String> kinds = kinds(path);
                assertTrue(kinds.containsAll(List.of("driver-ready", "client-came", "endpoint-enabled", "peer-up")),
                    kinds::toString);
                assertFalse(kinds.contains("endpoint-closed"), kinds::toString);
            }
            driver.cycle();
            List<String> kinds = kinds(path);
            assertTrue(kinds.containsAll(List.of("endpoint-closed", "client-left")), kinds::toString);
            ToolRun text = ToolRun.of("record", "--dir", path.toString());
            assertTrue(text.out().startsWith(path.resolve("record") + ": process " + ProcessHandle.current().pid()),
                text.out());
            assertTrue(text.out().lines().anyMatch(line -> line.matches(
                "20\\S+Z progress-0 endpoint-enabled client=\\d+ object=\\d+: \\S+driver\\S+")), text.out());
        }
        ToolRun gone = ToolRun.of("record", "--dir", path.toString());
        assertEquals(1, gone.status());
        assertTrue(gone.err().contains("No driver runs in " + path), gone.err());
    }

    @Test
    void shouldShowSlowCyclesAndWaitsForCredit() {
        Path path = directory.driver("driver");
        int length = 1 << 18;
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(path)
            .threadingMode(ThreadingMode.INVOKER).set(EngineConfig.ANNOUNCEMENT_LIMIT, 1)
            .set(MetricsConfig.SLOW_CYCLE_NS, 1_000L).build());
            FabricNode node = new FabricNode(
                driver.fabric(), "loopback", new Info().caps(Flags.TAGGED | Flags.MSG), 64, 0, () -> { })) {
            long self = node.av.insert(node.endpoint.name());
            for (int i = 0; i < 3; i++) {
                assertEquals(0, node.endpoint.tsend(node.memory.address(0), length, self, i, 1));
            }
            assertNull(node.poll());
            assertTrue(kinds(path).contains("credit-wait-began"), () -> kinds(path).toString());
            assertFalse(kinds(path).contains("credit-wait-ended"), () -> kinds(path).toString());
            for (int i = 0; i < 3; i++) {
                assertEquals(0, node.endpoint.trecv(node.memory.address(length), length, -1L, i, 0, 2));
                node.await();
                node.await();
            }
            RecordView.Event wait = RecordView.read(path, EventRecordDescriptor.FILE_NAME).events().stream()
                .filter(each -> each.kind() == EventKind.CREDIT_WAIT_ENDED).findFirst().orElseThrow();
            assertTrue(wait.first() >= 100_000 && wait.text().contains("driver"), wait::toString);
            RecordView.Event slow = RecordView.read(path, EventRecordDescriptor.FILE_NAME).events().stream()
                .filter(each -> each.kind() == EventKind.SLOW_CYCLE).findFirst().orElseThrow();
            assertTrue(slow.first() > 1_000 && slow.second() >= 1, slow::toString);
        }
    }

    private static List<String> kinds(Path path) {
        ToolRun run = ToolRun.of("record", "--dir", path.toString(), "--json");
        assertEquals(0, run.status(), run.err());
        Map<String, Object> object = JsonText.object(run.out());
        assertEquals(true, object.get("running"));
        List<String> kinds = new ArrayList<>();
        for (Object event : (List<?>) ((Map<?, ?>) ((List<?>) object.get("records")).getFirst()).get("events")) {
            kinds.add((String) ((Map<?, ?>) event).get("kind"));
        }
        return kinds;
    }

    @Test
    void shouldSayThatADriverKeepsNoRecord() {
        Path path = directory.driver("driver");
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(path)
            .threadingMode(ThreadingMode.INVOKER).set(LogConfig.RECORD_EVENTS, 0).build())) {
            driver.cycle();
            assertNull(RecordView.read(path, EventRecordDescriptor.FILE_NAME));
            ToolRun run = ToolRun.of("record", "--dir", path.toString());
            assertEquals(1, run.status());
            assertTrue(run.err().contains("jfabric.log.recordEvents is 0"), run.err());
        }
    }
}
