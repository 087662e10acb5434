package org.jfabric.driver.config;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverConfigTest {

    private final Properties systemProperties = new Properties();

    @TempDir
    private Path folder;

    private DriverConfig.Builder builder() {
        return DriverConfig.builder().systemProperties(systemProperties);
    }

    private Path file(String text) throws IOException {
        Path file = folder.resolve("driver.properties");
        return Files.writeString(file, text);
    }

    private static String refusal(DriverConfig.Builder builder) {
        FabricException ex = assertThrows(FabricException.class, builder::build);
        assertEquals(FabricErrno.EINVAL, ex.errno());
        return ex.getMessage();
    }

    private static void assertContains(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), () -> "no \"" + part + "\" in: " + text);
        }
    }

    @Test
    void shouldHaveDocumentedDefaultsWhenNothingIsSet() {
        DriverConfig config = builder().build();
        assertAll(
            () -> assertEquals("default", config.get(DirectoryConfig.NAME)),
            () -> assertEquals(config.get(DirectoryConfig.BASE).resolve("default"), config.directory()),
            () -> assertEquals(ThreadingMode.SHARED, config.get(ThreadingConfig.MODE)),
            () -> assertEquals(-1, config.get(ThreadingConfig.PROGRESS_CPU)),
            () -> assertEquals(256, config.get(QueueConfig.TX_SIZE)),
            () -> assertEquals(1024, config.get(QueueConfig.RX_SIZE)),
            () -> assertEquals(128, config.get(QueueConfig.INJECT_SIZE_BYTES)),
            () -> assertEquals(8192, config.get(EngineConfig.EAGER_LIMIT_BYTES)),
            () -> assertEquals(4L << 20, config.get(EngineConfig.UNEXPECTED_BUDGET_BYTES)),
            () -> assertEquals(256L << 10, config.get(EngineConfig.CREDIT_WINDOW_BYTES)),
            () -> assertEquals(64, config.get(EngineConfig.ANNOUNCEMENT_LIMIT)),
            () -> assertEquals(1 << 20, config.get(ShmConfig.RING_LENGTH_BYTES)),
            () -> assertEquals(List.of("loopback", "shm", "tcp"), config.get(LinkConfig.ENABLED)),
            () -> assertEquals(LinkConfig.PIN_NONE, config.get(LinkConfig.PIN)));
        for (EffectiveValue value : config.effectiveValues()) {
            assertTrue(value.isDefault(), value.toString());
            assertEquals(Origin.DEFAULT, value.origin());
        }
    }

    @Test
    void shouldPreferCodeOverPropertyOverFileOverDefault() throws IOException {
        Path file = file("jfabric.queue.txSize=1\njfabric.queue.rxSize=2\njfabric.queue.cqSize=3\n");
        systemProperties.setProperty("jfabric.queue.rxSize", "20");
        systemProperties.setProperty("jfabric.queue.cqSize", "30");
        DriverConfig config = builder().set("jfabric.queue.cqSize", "300").load(file).build();
        assertEquals(1, config.get(QueueConfig.TX_SIZE));
        assertEquals(20, config.get(QueueConfig.RX_SIZE));
        assertEquals(300, config.get(QueueConfig.CQ_SIZE));
        assertEquals(128, config.get(QueueConfig.INJECT_SIZE_BYTES));
    }

    @Test
    void shouldPreferPropertyOverEnvironmentOverFileWhenAHostIsRead() throws IOException {
        Path host = file("jfabric.queue.txSize = 64\njfabric.queue.rxSize = 64\njfabric.engine.queuePollBatch = 3\n");
        Map<String, String> environment = Map.of(
            "JFABRIC_QUEUE_TX_SIZE", "128", "JFABRIC_QUEUE_RX_SIZE", " 128 ", "JFABRIC_THREADING_MODE", "");
        systemProperties.setProperty("jfabric.queue.txSize", "512");
        DriverConfig config = builder().host(environment, host).build();
        assertEquals(512, config.get(QueueConfig.TX_SIZE));
        assertEquals(128, config.get(QueueConfig.RX_SIZE));
        assertEquals(3, config.get(EngineConfig.QUEUE_POLL_BATCH));
        assertEquals(ThreadingMode.SHARED, config.get(ThreadingConfig.MODE));
        assertEquals(
            List.of("environment variable JFABRIC_QUEUE_RX_SIZE", "environment variable", "true"),
            config.effectiveValues().stream().filter(value -> value.option() == QueueConfig.RX_SIZE)
                .flatMap(value -> Stream.of(
                    value.where(), value.origin().text(), String.valueOf(value.origin() == Origin.ENVIRONMENT)))
                .toList());
        assertEquals(256, builder().systemProperties(new Properties()).build().get(QueueConfig.TX_SIZE),
            "an embedded driver does not read the host's settings");
    }

    @Test
    void shouldReadTheHostsFileOnlyWhenNoOtherIsNamed() throws IOException {
        Path host = file("jfabric.queue.txSize = 64\n");
        Path other = Files.writeString(folder.resolve("other.properties"), "jfabric.queue.rxSize = 64\n");
        Map<String, String> environment = Map.of(DriverConfig.FILE_VARIABLE, other.toString());

        DriverConfig named = builder().load(other).host(Map.of(), host).build();
        DriverConfig byVariable = builder().host(environment, host).build();

        for (DriverConfig config : List.of(named, byVariable)) {
            assertEquals(256, config.get(QueueConfig.TX_SIZE));
            assertEquals(64, config.get(QueueConfig.RX_SIZE));
        }
        assertEquals(256, builder().host(Map.of(), folder.resolve("missing")).build().get(QueueConfig.TX_SIZE));
        assertContains(
            refusal(builder().host(Map.of(DriverConfig.FILE_VARIABLE, folder + "/missing"), host)), "does not exist");
    }

    @Test
    void shouldRefuseUnknownVariablesAndLeaveThoseOfOthersAlone() {
        Map<String, String> environment = Map.of(
            "JFABRIC_QUEUE_TXSIZE", "128", "JFABRIC_QUEU_RX_SIZE", "1", "JFABRIC_QUEUE_CQ_SIZE", "some",
            "JFABRIC_JAVA_OPTS", "-Xmx1g", "JFABRIC_CLIENT_NAME", "x", "PATH", "/bin");
        assertContains(
            refusal(builder().host(environment, folder.resolve("missing"))),
            "3 options are wrong",
            "JFABRIC_QUEUE_TXSIZE: unknown environment variable; the nearest known name is JFABRIC_QUEUE_TX_SIZE",
            "JFABRIC_QUEU_RX_SIZE: unknown environment variable; the nearest known name is JFABRIC_QUEUE_RX_SIZE",
            "jfabric.queue.cqSize: value \"some\"", "it came from: environment variable JFABRIC_QUEUE_CQ_SIZE");
    }

    @Test
    void shouldNotMistakeVariablesOfAServiceOfKubernetesForOptions() {
        Map<String, String> environment = new HashMap<>(Map.of(
            "JFABRIC_SHM_SERVICE_HOST", "10.0.0.7", "JFABRIC_SHM_SERVICE_PORT", "80",
            "JFABRIC_SHM_SERVICE_PORT_HTTP", "80", "JFABRIC_SHM_PORT", "tcp://10.0.0.7:80",
            "JFABRIC_SHM_PORT_80_TCP_ADDR", "10.0.0.7"));
        builder().host(environment, folder.resolve("missing")).build();
        environment.remove("JFABRIC_SHM_SERVICE_HOST");
        assertContains(refusal(builder().host(environment, folder.resolve("missing"))), "JFABRIC_SHM_PORT:");
    }

    @Test
    void shouldGiveEachOptionAVariableOfItsOwn() {
        List<String> variables = DriverConfig.optionGroups().stream()
            .flatMap(group -> group.options().stream()).map(Option::variable).toList();
        assertEquals(variables.size(), Set.copyOf(variables).size(), variables::toString);
        variables.forEach(each -> assertTrue(each.matches("JFABRIC(_[A-Z0-9]+)+"), each));
        assertEquals("JFABRIC_SHM_RING_LENGTH_BYTES", ShmConfig.RING_LENGTH_BYTES.variable());
        assertEquals(
            List.of(DefaultDirectory.BASE_VARIABLE, DefaultDirectory.NAME_VARIABLE),
            List.of(DirectoryConfig.BASE.variable(), DirectoryConfig.NAME.variable()));
    }

    @Test
    void shouldPreferLaterFileWhenSeveralAreLoaded() throws IOException {
        Path second = Files.writeString(folder.resolve("second.properties"), "jfabric.queue.txSize=2");
        DriverConfig config = builder().load(file("jfabric.queue.txSize=1")).load(second).build();
        assertEquals(2, config.get(QueueConfig.TX_SIZE));
    }

    @Test
    void shouldReadSuffixesWhenValuesComeFromFile() throws IOException {
        DriverConfig config = builder()
            .load(file("jfabric.shm.connectTimeoutNs = 250ms\njfabric.shm.ringLengthBytes: 2 MiB  \n"))
            .build();
        assertEquals(250_000_000L, config.get(ShmConfig.CONNECT_TIMEOUT_NS));
        assertEquals(2 << 20, config.get(ShmConfig.RING_LENGTH_BYTES));
    }

    @Test
    void shouldSplitDirectoryIntoBaseAndName() {
        DriverConfig config = builder().directory(folder.resolve("left")).build();
        assertEquals(folder.toAbsolutePath(), config.get(DirectoryConfig.BASE));
        assertEquals("left", config.get(DirectoryConfig.NAME));
        assertEquals(folder.resolve("left").toAbsolutePath(), config.directory());
    }

    @Test
    void shouldRefuseRootAsDirectory() {
        assertThrows(FabricException.class, () -> builder().directory(Path.of("/")));
        assertContains(refusal(builder().set("jfabric.dir.base", "/")), "jfabric.dir.base", "\"/\"");
    }

    @Test
    void shouldTakeTypedValuesFromCode() {
        DriverConfig config = builder()
            .threadingMode(ThreadingMode.INVOKER)
            .set(EngineConfig.CREDIT_WINDOW_BYTES, 1L << 20)
            .set(LinkConfig.ENABLED, List.of("shm"))
            .set(LinkConfig.PIN, "shm")
            .build();
        assertEquals(ThreadingMode.INVOKER, config.get(ThreadingConfig.MODE));
        assertEquals(1L << 20, config.get(EngineConfig.CREDIT_WINDOW_BYTES));
        assertEquals(List.of("shm"), config.get(LinkConfig.ENABLED));
        assertEquals("shm", config.get(LinkConfig.PIN));
    }

    @Test
    void shouldNameValueRangeUnitAndSourceWhenValueIsRefused() throws IOException {
        Path file = file("jfabric.shm.ringLengthBytes=100000");
        assertContains(
            refusal(builder().load(file)),
            "jfabric.shm.ringLengthBytes", "\"100000\"", "64 KiB to 1 GiB", "a power of two", "bytes", file.toString());
        systemProperties.setProperty("jfabric.threading.mode", "fast");
        assertContains(
            refusal(builder()),
            "jfabric.threading.mode", "\"fast\"", "DEDICATED, SHARED", "INVOKER", "system property");
    }

    @Test
    void shouldReportEveryProblemAtOnce() throws IOException {
        systemProperties.setProperty("jfabric.queue.txSize", "0");
        String message = refusal(builder()
            .load(file("jfabric.engine.pollBatch=1"))
            .load(folder.resolve("missing.properties"))
            .set("jfabric.queue.rxSize", "many"));
        assertContains(
            message, "4 options are wrong", "jfabric.queue.txSize", "jfabric.engine.pollBatch",
            "missing.properties does not exist", "jfabric.queue.rxSize", "\"many\"", "code");
    }

    @Test
    void shouldSuggestNearestNameWhenOptionIsUnknown() {
        assertContains(
            refusal(builder().set("jfabric.queue.cqDrivrShare", "16")),
            "jfabric.queue.cqDrivrShare: unknown option, from code", "is jfabric.queue.cqDriverShare");
        assertContains(refusal(builder().set("jfabric.queue.txsize", "16")), "is jfabric.queue.txSize");
        assertContains(
            refusal(builder().set("jfabric.shm.eagerLimitBytes", "16")), "is jfabric.engine.eagerLimitBytes");
        assertContains(refusal(builder().set("jfabric.eagerLimit", "16")), "is jfabric.engine.eagerLimitBytes");
    }

    @Test
    void shouldRefuseUnknownSystemPropertyAndLeaveOthersAlone() {
        systemProperties.setProperty("java.vendor", "x");
        systemProperties.setProperty("jfabric.client.directory", "/x");
        systemProperties.setProperty("jfabric.test.seed", "1");
        builder().build();
        systemProperties.setProperty("jfabric.queue.txSizes", "1");
        assertContains(refusal(builder()), "jfabric.queue.txSizes", "system property", "jfabric.queue.txSize");
    }

    @Test
    void shouldRefuseForeignAndDoubleKeysInFile() throws IOException {
        String message = refusal(builder().load(file(
            "queue.txSize=1\njfabric.test.seed=1\njfabric.queue.rxSize=1\njfabric.queue.rxSize=2\n")));
        assertContains(
            message, "3 options are wrong", "queue.txSize: unknown", "jfabric.test.seed: unknown",
            "jfabric.queue.rxSize stands twice");
    }

    @Test
    void shouldReportFileThatIsNoPropertiesFile() throws IOException {
        assertContains(refusal(builder().load(folder)), folder.toString(), "cannot be read");
        assertContains(refusal(builder().load(file("a=\\u00zz"))), "cannot be read");
        Path binary = Files.write(folder.resolve("binary"), new byte[]{(byte) 0xff, (byte) 0xfe, 'a'});
        assertContains(refusal(builder().load(binary)), "cannot be read");
    }

    @Test
    void shouldRefuseValuesThatDoNotFitTogether() {
        assertContains(
            refusal(builder().set("jfabric.engine.creditWindowBytes", "4k")),
            "credit window", "jfabric.engine.creditWindowBytes = 4 KiB from code",
            "jfabric.engine.eagerLimitBytes = 8 KiB from default");
        assertContains(
            refusal(builder().set("jfabric.engine.unexpectedBudgetBytes", "64k")), "unexpected budget");
        assertContains(refusal(builder().set("jfabric.shm.segmentLengthBytes", "1m")), "segments");
        assertContains(
            refusal(builder().set("jfabric.shm.ringLengthBytes", "64k").set("jfabric.shm.segmentLengthBytes", "1k")
                .set("jfabric.engine.eagerLimitBytes", "16k")),
            "eager messages");
        assertContains(
            refusal(builder().set("jfabric.engine.eagerLimitBytes", "64")), "injected message");
        assertContains(
            refusal(builder().set("jfabric.queue.tqLengthBytes", "4k").set("jfabric.queue.injectSizeBytes", "4k")),
            "two records");
        assertContains(refusal(builder().set("jfabric.link.pin", "verbs")), "not enabled");
        DriverConfig.Builder sameCpu = builder()
            .set("jfabric.threading.progressCpu", "1").set("jfabric.threading.conductorCpu", "1");
        sameCpu.build();
        assertContains(refusal(sameCpu.threadingMode(ThreadingMode.DEDICATED)), "starve");
    }

    @Test
    void shouldNotJudgeAgainstStandInWhenOneOfTheValuesIsRefused() {
        String message = refusal(builder()
            .set("jfabric.engine.eagerLimitBytes", "lots").set("jfabric.engine.creditWindowBytes", "4k"));
        assertContains(message, "one option is wrong", "eagerLimitBytes: value \"lots\"");
    }

    @Test
    void shouldRefuseDirectoryWhenSocketPathWouldBeTooLong() {
        Path base = folder.resolve("b".repeat(60));
        assertContains(
            refusal(builder().set(DirectoryConfig.BASE, base).set(DirectoryConfig.NAME, "n".repeat(64))),
            "driver.sock", "107", "shorter");
    }

    @Test
    void shouldFallBackToTemporaryFolderWhenSharedMemoryIsMissing() {
        Path missing = folder.resolve("missing");
        assertEquals(folder.resolve("jfabric-7"), DefaultDirectory.shared(folder, missing, "7"));
        assertEquals(folder.resolve("jfabric-7"), DefaultDirectory.shared(missing, folder, "7"));
    }

    @Test
    void shouldTakeTheBaseFromTheEnvironmentWithoutOtherSettingsOfTheHost() {
        Map<String, String> environment = Map.of(
            DefaultDirectory.BASE_VARIABLE, folder + "/named", "JFABRIC_QUEUE_TX_SIZE", "2");
        DriverConfig config = builder().environment(environment).build();
        assertEquals(folder.resolve("named"), config.get(DirectoryConfig.BASE));
        assertEquals(256, config.get(QueueConfig.TX_SIZE));
        Path set = folder.resolve("set");
        assertEquals(
            set, builder().environment(environment).set(DirectoryConfig.BASE, set).build().get(DirectoryConfig.BASE));
    }

    @Test
    void shouldTakeTheUidOfTheKernel() throws IOException {
        Path mine = Files.createFile(folder.resolve("mine"));
        assertEquals(Files.getAttribute(mine, "unix:uid").toString(), DefaultDirectory.userId());
    }
}
