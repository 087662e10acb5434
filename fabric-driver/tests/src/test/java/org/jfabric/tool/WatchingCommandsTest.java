package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class WatchingCommandsTest {
    private final ToolDirectory directory = new ToolDirectory();
    private final Path path = directory.driver("watched");
    private FabricDriver driver;

    @BeforeEach
    void launch() {
        driver = FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(path).threadingMode(ThreadingMode.SHARED).build());
    }

    @AfterEach
    void close() {
        driver.close();
        directory.close();
    }

    @Test
    void shouldShowCountersOfARunningDriver() {
        try (Fabric fabric = driver.fabric()) {
            assertTrue(fabric.isOpen());
            ToolRun run = ToolRun.of("stat", "--dir", path.toString());

            assertEquals(0, run.status(), run.err());
            assertTrue(run.out().startsWith(
                "driver " + path + ", process " + ProcessHandle.current().pid() + ", running for "), run.out());
            assertTrue(run.out().lines().anyMatch(line -> line.matches(" +0 +1 +clients")), run.out());
        }
    }

    @Test
    void shouldCountAndNameClientsThatDiedAndNoneThatClosed() {
        for (int i = 0; i < 100; i++) {
            Fabric.connect(new FabricConfig().directory(path).clientName("quotes")).close();
        }
        // as the kernel closes the socket of a killed process: nothing is said before
        new ControlClient(path, Thread::onSpinWait).close();
        long deadline = System.nanoTime() + Deadline.ns(10);
        String stat;
        do {
            stat = ToolRun.of("stat", "--dir", path.toString()).out();
        } while (!stat.matches("(?s).* 0 +clients\n.* [1-9][0-9]* +clients that died\n.*")
            && System.nanoTime() - deadline < 0);
        assertTrue(stat.matches("(?s).* 1 +clients that died\n.*"), stat);
        String errors = ToolRun.of("errors", "--dir", path.toString()).out();
        assertTrue(errors.contains("test") && errors.contains("process " + ProcessHandle.current().pid()), errors);
        assertTrue(errors.matches("(?s).*1 time\\(s\\), first 20\\d\\d-.*, last 20\\d\\d-.*"), errors);
        assertFalse(errors.contains("quotes"), errors);
    }

    @Test
    void shouldNotProposeADriverWhereFilesOfOthersAre() throws IOException {
        Path others = Files.createDirectory(directory.driver("others"));
        Files.writeString(others.resolve("id_rsa"), "mine");
        for (String command : List.of("stat", "info", "errors", "queues")) {
            ToolRun run = ToolRun.of(command, "--dir", others.toString());
            assertEquals(1, run.status());
            assertFalse(run.err().contains("driver --dir"), run.err());
            assertTrue(run.err().contains("no driver's directory"), run.err());
        }
    }

    @Test
    void shouldShowCountersAsJson() {
        ToolRun run = ToolRun.of("stat", "--dir", path.toString(), "--json", "--watch=0.1", "--times", "3");

        assertEquals(0, run.status(), run.err());
        assertEquals(3, run.out().lines().count());
        for (String line : run.out().lines().toList()) {
            Map<String, Object> object = JsonText.object(line);
            assertEquals(path.toString(), object.get("directory"));
            assertEquals(true, object.get("running"));
            assertEquals(String.valueOf(FileHeaderDescriptor.VERSION), object.get("layoutVersion"));
            Map<?, ?> first = (Map<?, ?>) ((List<?>) object.get("counters")).getFirst();
            assertEquals(Map.of("id", 0.0, "type", 0.0, "label", "clients", "value", 0.0), first);
        }
    }

    /** The number of cycles never falls otherwise. It can have risen again before it is read. */
    @Test
    void shouldBeginTheTimesOfCyclesAnew() {
        Deadline.await("fewer cycles than before", () -> cycles() > cycles("--reset"), this::cycles);
        assertEquals(1, ToolRun.of("stat", "--dir", directory.driver("none").toString(), "--reset").status());
    }

    private double cycles(String... options) {
        List<String> command = new ArrayList<>(List.of("stat", "--dir", path.toString(), "--json"));
        command.addAll(List.of(options));
        ToolRun run = ToolRun.of(command.toArray(new String[0]));
        assertEquals(0, run.status(), run.err());
        return ((List<?>) JsonText.object(run.out()).get("metrics")).stream().map(each -> (Map<?, ?>) each)
            .filter(each -> each.get("name").equals("jfabric_driver_cycle_seconds"))
            .mapToDouble(each -> (Double) each.get("count")).sum();
    }

    @Test
    void shouldShowMetricsAsNumbersWithStableNames() {
        try (Fabric fabric = Fabric.connect(new FabricConfig().directory(path).clientName("a \"b\" \\ c"))) {
            assertTrue(fabric.isOpen());
            Map<String, Object> json = JsonText.object(ToolRun.of("stat", "--dir", path.toString(), "--json").out());
            Map<String, Map<?, ?>> byName = new TreeMap<>();
            for (Object each : (List<?>) json.get("metrics")) {
                Map<?, ?> metric = (Map<?, ?>) each;
                boolean isHistogram = metric.get("type").equals("histogram");
                assertEquals(isHistogram ? Set.of("name", "type", "unit", "labels", "sum", "count", "buckets")
                    : Set.of("name", "type", "unit", "labels", "value"), metric.keySet());
                assertTrue(metric.get(isHistogram ? "sum" : "value") instanceof Double, metric::toString);
                byName.put((String) metric.get("name"), metric);
            }
            assertEquals(Map.of("name", "jfabric_driver_clients", "type", "gauge", "unit", "", "labels", Map.of(),
                "value", 1.0), byName.get("jfabric_driver_clients"));
            assertEquals("bytes", byName.get("jfabric_driver_mapped_bytes").get("unit"));
            assertEquals("a \"b\" \\ c", ((Map<?, ?>) byName.get("jfabric_client").get("labels")).get("name"));
            List<?> buckets = (List<?>) byName.get("jfabric_driver_cycle_seconds").get("buckets");
            assertEquals(0.000000128, ((Map<?, ?>) buckets.getFirst()).get("le"));
            assertNull(((Map<?, ?>) buckets.getLast()).get("le"));
        }
    }

    @Test
    void shouldEndWithAnErrorWhenTheWatchedDriverEnds() throws InterruptedException {
        Thread ending = new Thread(() -> driver.close());
        ending.start();

        ToolRun run = ToolRun.of("stat", "--dir", path.toString(), "--watch=0.1");

        ending.join();
        assertEquals(1, run.status());
        assertTrue(run.err().contains("has ended") || run.err().contains("No driver runs in"), run.err());
    }

    @Test
    void shouldShowNoErrorsWhenThereWereNone() {
        ToolRun text = ToolRun.of("errors", "--dir", path.toString());
        ToolRun json = ToolRun.of("errors", "--dir", path.toString(), "--json");

        assertEquals("No errors of the driver in " + path + System.lineSeparator(), text.out());
        assertEquals(0, text.status());
        assertEquals(
            Map.of("directory", path.toString(), "running", true, "errors", List.of(), "kept", List.of()),
            JsonText.object(json.out()));
    }

    @Test
    void shouldShowLogsKeptOfEarlierDrivers() throws IOException {
        Files.writeString(path.resolve("errors-20250101-000000-000.log"), "3 times\nsomething broke\n");

        ToolRun running = ToolRun.of("errors", "--dir", path.toString());
        driver.close();
        ToolRun ended = ToolRun.of("errors", "--dir", path.toString());

        for (ToolRun run : List.of(running, ended)) {
            assertEquals(0, run.status(), run.err());
            assertTrue(run.out().contains("Kept of an earlier driver: " + path), run.out());
            assertTrue(run.out().contains("something broke"), run.out());
        }
        assertTrue(ended.out().contains("which is not running"), ended.out());
    }

    @Test
    void shouldShowWhatTheLinksOfTheDriverOffer() {
        ToolRun text = ToolRun.of("info", "--dir", path.toString());
        ToolRun json = ToolRun.of("info", "--dir", path.toString(), "--json", "--link", "shm");

        assertEquals(0, text.status(), text.err());
        assertTrue(text.out().contains("loopback\n") && text.out().contains("shm\n"), text.out());
        assertTrue(text.out().contains("domain        watched"), text.out());
        List<?> matches = (List<?>) JsonText.object(json.out()).get("matches");
        assertEquals(1, matches.size());
        assertEquals("shm", ((Map<?, ?>) matches.getFirst()).get("link"));
    }

    @Test
    void shouldExplainEachRejectionWhenNothingMatches() {
        ToolRun run = ToolRun.of("info", "--dir", path.toString(), "--why", "--caps", "TAGGED,COLLECTIVE");

        assertEquals(1, run.status());
        assertTrue(run.out().contains("No link offers all of this."), run.out());
        assertTrue(run.out().contains("loopback: rejected; caps: seen"), run.out());
        assertTrue(run.out().contains("shm: rejected; caps: seen"), run.out());
        assertTrue(run.out().contains("needed COLLECTIVE"), run.out());
    }

    @Test
    void shouldNameLinksThatAreNotEnabledAndWhatWasProbablyMeant() {
        ToolRun all = ToolRun.of("info", "--dir", path.toString(), "--why");
        for (String link : List.of("rxm", "tls", "tlsrxm", "udp", "dtls", "packet", "verbs", "verbsrxm", "verbsud")) {
            assertTrue(all.out().contains("\n  " + link + ": rejected; enabled: seen no, needed yes. Add " + link
                + " to jfabric.link.enabled of the driver.\n"), all.out());
        }
        assertFalse(all.out().contains("  tcp: rejected; enabled"), all.out());

        ToolRun one = ToolRun.of("info", "--dir", path.toString(), "--why", "--link", "rxm");
        assertEquals("""
            No link offers all of this.
            verdicts
              rxm: rejected; enabled: seen no, needed yes. Add rxm to jfabric.link.enabled of the driver.
            """, one.out());
        ToolRun wrong = ToolRun.of("info", "--dir", path.toString(), "--why", "--link", "tpc");
        assertTrue(wrong.out().endsWith(". Did you mean tcp?\n"), wrong.out());

        try (Fabric fabric = driver.fabric()) {
            InfoResult none = fabric.info(new Info().linkName("tpc"));
            FabricException refused = assertThrows(FabricException.class, none::best);
            assertTrue(refused.getMessage().contains("Did you mean tcp?"), refused.getMessage());
        }
    }

    @Test
    void shouldShowATimeOfDayAsOne() {
        String line = ToolRun.of("stat", "--dir", path.toString()).out().lines()
            .filter(each -> each.contains("time of the last slow")).findFirst().orElseThrow();
        assertTrue(line.matches(" *\\d+ +(never|20[0-9-]{8}T[0-9:]{8}Z) +time of the last slow duty cycle"), line);
    }

    /** A pipe whose reader has ended, as by {@code stat --watch 0.1 | head -1}. */
    @ParameterizedTest
    @ValueSource(strings = {"stat", "queues"})
    void shouldEndWhenItsReaderHasEnded(String command) {
        int[] written = new int[1];
        OutputStream pipe = new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                if (octet == '\n' && ++written[0] > 40) {
                    throw new IOException("Broken pipe");
                }
            }
        };
        StringWriter err = new StringWriter();

        int status = FabricTool.run(
            pipe, new PrintWriter(err, true), command, "--dir", path.toString(), "--watch", "0.1");

        assertEquals(1, status);
        assertEquals("fabric: the standard output cannot be written: Broken pipe\n", err.toString());
    }

    @Test
    void shouldDrawOnlyOnTerminalsThatKnowPlaces() {
        assertTrue(ToolTerminal.canDraw("xterm-256color"));
        assertFalse(ToolTerminal.canDraw("dumb"));
        assertFalse(ToolTerminal.canDraw(""));
        assertFalse(ToolTerminal.canDraw(null));
    }

    @Test
    void shouldSayWhichLinksReachAnAddress() {
        ToolRun run = ToolRun.of("info", "--dir", path.toString(), "--why", "--to", "jfabric://elsewhere/quotes");

        assertEquals(0, run.status());
        assertTrue(run.out().startsWith("shm"), run.out());
        assertTrue(run.out().contains("shm: chosen"), run.out());
        assertTrue(run.out().contains("loopback: rejected; destination: seen jfabric://elsewhere/quotes"), run.out());
    }

    @Test
    void shouldSayThatADriverRunsThereWhenAnotherIsStarted() {
        FabricException refused = assertThrows(FabricException.class,
            () -> FabricDriver.launch(DriverConfig.builder().directory(path).build()).close());

        assertEquals(FabricErrno.EBUSY, refused.errno());
        assertTrue(CncView.isRunning(path));
    }

    @ParameterizedTest
    @ValueSource(strings = {"stat", "errors", "info"})
    void shouldSayThatNoDriverRunsWhenTheDirectoryIsEmptyOrMissing(String command) throws IOException {
        Path missing = directory.driver("missing");
        ToolRun none = ToolRun.of(command, "--dir", missing.toString());
        Files.createDirectory(missing);
        ToolRun empty = ToolRun.of(command, "--dir", missing.toString());

        for (ToolRun run : List.of(none, empty)) {
            assertEquals(1, run.status());
            assertTrue(run.err().startsWith("fabric: No driver runs in " + missing + ": "), run.err());
            assertTrue(run.err().contains("Start one with 'fabric driver --dir " + missing + "'"), run.err());
        }
    }

    @Test
    void shouldSayWhatToDoWhereADirectoryCannotBeRead() throws IOException {
        Path file = Files.createFile(directory.driver("file"));
        ToolRun run = ToolRun.of("stat", "--dir", file.resolve("below").toString());

        assertEquals(1, run.status());
        assertTrue(run.err().contains("not a directory"), run.err());
        assertTrue(run.err().contains("Name the directory of a driver with --dir."), run.err());
        // a test may run as root, whom nothing is refused
        assertTrue(CncView.unreadable(file, FabricErrno.EACCES, "x").contains("run this as that user"));

        FabricException refused = assertThrows(FabricException.class,
            () -> Fabric.connect(new FabricConfig().directory(file.resolve("below"))));
        assertTrue(refused.getMessage().startsWith("ENOTDIR (20): cannot connect to " + file), refused.getMessage());
        assertTrue(refused.getMessage().endsWith("with jfabric.dir.base and jfabric.dir.name."), refused.getMessage());
    }

    @Test
    void shouldNameTheRangeOfPorts() {
        ToolRun run = ToolRun.of("info", "--dir", path.toString(), "--link", "tcp", "--why", "--to",
            "fi_sockaddr_in://127.0.0.1:99999");

        assertTrue(run.out().contains("seen fi_sockaddr_in://127.0.0.1:99999, needed"), run.out());
        assertTrue(run.out().contains("port 0 to 65535"), run.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"stat", "errors"})
    void shouldRefuseAnotherLayoutVersion(String command) throws IOException {
        Path other = copyOfCnc();
        poke(other, FileHeaderDescriptor.VERSION_OFFSET, 7);

        ToolRun run = ToolRun.of(command, "--dir", other.toString());

        assertEquals(1, run.status());
        assertTrue(run.err().contains(
            "layout version 7, this program reads version " + FileHeaderDescriptor.VERSION), run.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"stat", "errors"})
    void shouldRefuseAFileThatWasCut(String command) throws IOException {
        Path other = copyOfCnc();
        try (RandomAccessFile file = new RandomAccessFile(other.resolve(CncDescriptor.FILE_NAME).toFile(), "rw")) {
            file.setLength(8_192);
        }

        ToolRun run = ToolRun.of(command, "--dir", other.toString());

        assertEquals(1, run.status());
        assertTrue(run.err().contains("has 8192 bytes, its header says "), run.err());
    }

    @Test
    void shouldRefuseLengthsThatCannotBe() throws IOException {
        Path other = copyOfCnc();
        poke(other, CncDescriptor.VALUES_LENGTH_OFFSET + 3, 0x80);

        ToolRun run = ToolRun.of("stat", "--dir", other.toString());

        assertEquals(1, run.status());
        assertTrue(run.err().contains("the length of the counters' values is -"), run.err());
    }

    @Test
    void shouldShowWhatAKilledDriverLeft() throws IOException {
        Path other = copyOfCnc();

        ToolRun stat = ToolRun.of("stat", "--dir", other.toString());
        ToolRun info = ToolRun.of("info", "--dir", other.toString());

        assertEquals(0, stat.status(), stat.err());
        assertTrue(stat.out().contains("NOT RUNNING"), stat.out());
        assertFalse(CncView.isRunning(other));
        assertEquals(1, info.status());
        assertTrue(info.err().startsWith("fabric: No driver runs in " + other), info.err());
    }

    @Test
    void shouldRefuseADirectoryOfAnotherUser() throws IOException {
        Path other = copyOfCnc();
        try {
            Files.setAttribute(other, "unix:uid", 65_534);
        } catch (IOException notAllowed) {
            Assumptions.abort("giving a directory to another user needs root: " + notAllowed);
        }

        ToolRun run = ToolRun.of("stat", "--dir", other.toString());

        assertEquals(1, run.status());
        assertTrue(run.err().contains(other + " belongs to user 65534, this command runs as user "), run.err());
    }

    @Test
    void shouldRefuseALinkInPlaceOfTheFile() throws IOException {
        Path other = directory.driver("linked");
        Files.createDirectory(other);
        Files.createSymbolicLink(other.resolve(CncDescriptor.FILE_NAME), path.resolve(CncDescriptor.FILE_NAME));

        ToolRun run = ToolRun.of("stat", "--dir", other.toString());

        assertEquals(1, run.status());
        assertTrue(run.err().contains("FI_ELOOP") || run.err().contains("ELOOP"), run.err());
    }

    private Path copyOfCnc() throws IOException {
        Path other = directory.driver("copy");
        Files.createDirectory(other);
        Files.copy(path.resolve(CncDescriptor.FILE_NAME), other.resolve(CncDescriptor.FILE_NAME));
        return other;
    }

    private static void poke(Path directory, int offset, int value) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(
            directory.resolve(CncDescriptor.FILE_NAME).toFile(), "rw")) {
            file.seek(offset);
            file.write(value);
        }
    }
}
