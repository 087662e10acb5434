package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.Option;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/** The files of the folder deploy name options, paths and flags that there are. */
class DeploymentTest {
    private static final Pattern VARIABLE = Pattern.compile("\\bJFABRIC_[A-Z0-9_]+");
    private static final String COMMAND = "/opt/jfabric/bin/fabric";
    /** Of the script that starts both. */
    private static final Set<String> OF_THE_LAUNCHER = Set.of("JFABRIC_JAVA", "JFABRIC_JAVA_OPTS");

    @TempDir
    private Path folder;

    private static Path root() {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("README.md"))) {
            root = root.getParent();
        }
        return root;
    }

    private static Path deploy(String name) {
        return root().resolve("deploy").resolve(name);
    }

    private static String text(String name) throws IOException {
        return Files.readString(deploy(name));
    }

    /** The words of a command that goes over several lines. */
    private static List<String> words(String text, String begin) {
        Matcher matcher = Pattern.compile("^" + begin + "((?:.*\\\\\n)*.*)$", Pattern.MULTILINE).matcher(text);
        assertTrue(matcher.find(), () -> begin + " in\n" + text);
        return List.of(matcher.group(1).replace("\\\n", " ").strip().split("\\s+"));
    }

    private static List<String> array(String text, String begin) {
        Object array = JsonText.parse(String.join("", words(text, begin)));
        return ((List<?>) array).stream().map(String.class::cast).toList();
    }

    private static Map<String, Object> yaml(String name) throws IOException {
        return new Yaml().load(text(name));
    }

    /** The value at the end of a path of names and positions. */
    private static Object at(Object value, Object... path) {
        Object current = value;
        for (Object step : path) {
            current = step instanceof Integer index ? ((List<?>) current).get(index) : ((Map<?, ?>) current).get(step);
            assertTrue(current != null, () -> step + " of " + List.of(path) + " in " + value);
        }
        return current;
    }

    @Test
    void shouldNameOnlyVariablesOfOptions() throws IOException {
        Set<String> known = new TreeSet<>(OF_THE_LAUNCHER);
        known.add(DriverConfig.FILE_VARIABLE);
        DriverConfig.optionGroups().forEach(
            group -> group.options().stream().map(Option::variable).forEach(known::add));
        List<String> unknown = new ArrayList<>();
        int found = 0;
        try (Stream<Path> files = Files.walk(root().resolve("deploy"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Matcher variables = VARIABLE.matcher(Files.readString(file));
                for (; variables.find(); found++) {
                    if (!known.contains(variables.group())) {
                        unknown.add(file + ": " + variables.group());
                    }
                }
            }
        }
        // "JFABRIC_…" in a comment is no name
        assertEquals(List.of(), unknown);
        assertTrue(found >= 8, found + " variables");
    }

    @Test
    void shouldHaveAFileOfOptionsThatADriverTakesWithEachLineSwitchedOn() throws IOException {
        String on = text("systemd/jfabric.properties").replace("\n#jfabric.", "\njfabric.");
        Path file = Files.writeString(folder.resolve("jfabric.properties"), on);
        DriverConfig config = DriverConfig.builder().load(file).build();
        assertEquals(List.of("loopback", "shm"), config.get(LinkConfig.ENABLED));
        assertEquals(4, config.effectiveValues().stream().filter(value -> value.where().contains("file ")).count());
    }

    /** config/package/check runs them. */
    @Test
    void shouldStartTheDriverOfTheArchiveInTheUnitAndInTheImage() throws IOException {
        assertEquals(List.of(COMMAND, "driver"), words(text("systemd/jfabric@.service"), "ExecStart="));
        String image = text("container/Dockerfile");
        assertEquals(List.of(COMMAND), array(image, "ENTRYPOINT "));
        assertEquals(List.of("driver"), array(image, "CMD "));
        assertEquals(List.of("target/package/jfabric", "/opt/jfabric"), words(image, "COPY "));
        assertTrue(text("container/Dockerfile.dockerignore").endsWith("!target/package/jfabric\n"));
        assertTrue(words(image, "FROM ").getFirst().startsWith("eclipse-temurin:25"), image);
        assertEquals(List.of("${UID}:${GID}"), words(image, "USER "));
    }

    @Test
    void shouldPromiseWhatTheUnitSays() throws IOException {
        List<String> lines = text("systemd/jfabric@.service").lines().toList();
        for (String line : List.of(
            "Type=notify", "NotifyAccess=main", "User=%i", "WatchdogSec=20", "Restart=on-failure",
            "LimitMEMLOCK=infinity", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict")) {
            assertTrue(lines.contains(line), line);
        }
        // the driver and its clients share /dev/shm and the names of processes; the virtual machine makes code
        for (String begin : List.of("PrivateIPC=", "PrivateUsers=", "DynamicUser=", "MemoryDenyWriteExecute=",
            "TemporaryFileSystem=", "PrivateNetwork=")) {
            assertTrue(lines.stream().noneMatch(each -> each.startsWith(begin)), begin);
        }
        assertTrue(text("systemd/cores.conf").contains("\nCPUAffinity="), "cores.conf");
        String group = words(text("systemd/group.conf"), "SupplementaryGroups=").getFirst();
        assertTrue(text("systemd/group.conf").contains("\nEnvironment=JFABRIC_DIR_GROUP=" + group + '\n'), group);
    }

    /** Slow: it starts processes. */
    @Tag("slow")
    @Test
    void shouldHaveAUnitThatSystemdTakes() throws IOException {
        Path analyze = Path.of("/usr/bin/systemd-analyze");
        Assumptions.assumeTrue(Files.isExecutable(analyze), "there is no systemd-analyze (Debian: systemd)");
        // the command has to exist, and what is checked is not what a host has installed
        Path unit = Files.writeString(folder.resolve("jfabric@root.service"),
            text("systemd/jfabric@.service").replace(COMMAND, TestJvm.java().toString()));
        Path cores = Files.createDirectory(folder.resolve("jfabric@root.service.d")).resolve("cores.conf");
        Files.copy(deploy("systemd/cores.conf"), cores);
        // the group has to exist
        Files.writeString(cores.resolveSibling("group.conf"),
            text("systemd/group.conf").replace("SupplementaryGroups=fabric", "SupplementaryGroups=root"));

        String verified = TestProcess.run(analyze.toString(), "verify", "--man=no", unit.toString()).succeeded();

        List<String> complaints = verified.lines().filter(line -> line.contains(folder.toString())).toList();
        assertEquals(List.of(), complaints);
        Files.writeString(unit, Files.readString(unit).replace("ProtectHome=yes", "ProtectHoem=yes"));
        String wrong = TestProcess.run(analyze.toString(), "verify", "--man=no", unit.toString()).output();
        assertTrue(wrong.contains("ProtectHoem"), wrong);
    }

    @Test
    void shouldShareMemoryAndUserBetweenDriverAndClientInTheCompositionOfContainers() throws IOException {
        Map<String, Object> compose = yaml("container/compose.yaml");
        Object driver = at(compose, "services", "driver");
        Object client = at(compose, "services", "client");
        assertEquals("shareable", at(driver, "ipc"));
        assertEquals("service:driver", at(client, "ipc"));
        assertEquals("256mb", at(driver, "shm_size"));
        assertEquals(at(driver, "image"), at(client, "image"));
        assertEquals(Map.of("soft", -1, "hard", -1), at(driver, "ulimits", "memlock"));
        assertEquals("service_healthy", at(client, "depends_on", "driver", "condition"));
        Path context = deploy("container").resolve((String) at(driver, "build", "context")).normalize();
        assertEquals(root(), context);
        assertTrue(Files.exists(context.resolve((String) at(driver, "build", "dockerfile"))));
        for (Object service : List.of(driver, client)) {
            assertEquals(List.of("ALL"), at(service, "cap_drop"));
            assertEquals(true, at(service, "read_only"));
        }
        Object user = at(driver, "build", "args");
        assertEquals(Map.of("UID", "1000", "GID", "1000"), user);
        assertEquals(0, ToolRun.of(((String) ((List<?>) at(client, "command")).getFirst()), "--help").status());
    }

    private static void assertWholeCores(Object container) {
        assertEquals(at(container, "resources", "requests"), at(container, "resources", "limits"));
        assertTrue(((String) at(container, "resources", "limits", "cpu")).matches("[1-9]\\d*"), container::toString);
    }

    @Test
    void shouldShareMemoryAndUserInPods() throws IOException {
        Object pod = at(yaml("kubernetes/sidecar.yaml"), "spec");
        Object sidecar = at(pod, "initContainers", 0);
        Object application = at(pod, "containers", 0);
        assertEquals("Always", at(sidecar, "restartPolicy"));
        assertEquals("Memory", at(pod, "volumes", 0, "emptyDir", "medium"));
        Map<String, String> shm = Map.of("name", (String) at(pod, "volumes", 0, "name"), "mountPath", "/dev/shm");
        for (Object container : List.of(sidecar, application)) {
            assertTrue(((List<?>) at(container, "volumeMounts")).contains(shm), container::toString);
            assertWholeCores(container);
            assertFalse(container.toString().contains("runAsUser"), container::toString);
        }
        Object set = at(yaml("kubernetes/daemonset.yaml"), "spec");
        Object node = at(set, "template", "spec");
        assertEquals(true, at(node, "hostIPC"));
        assertEquals(at(set, "selector", "matchLabels"), at(set, "template", "metadata", "labels"));
        assertWholeCores(at(node, "containers", 0));
        String socket = "/dev/shm/jfabric-" + at(node, "securityContext", "runAsUser") + "/default/driver.sock";
        assertEquals(List.of("test", "-S", socket), at(node, "containers", 0, "readinessProbe", "exec", "command"));
        assertEquals(List.of("test", "-S", socket), at(sidecar, "startupProbe", "exec", "command"));
        assertEquals(at(node, "securityContext", "runAsUser"), at(pod, "securityContext", "runAsUser"));
    }
}
