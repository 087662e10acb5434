package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class FabricToolTest {
    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "pingpong --bogus; Unknown option: '--bogus'.",
        "pingpong --size -1; Invalid value for option '--size': -1 is not from 0 to 1073741824.",
        "pingpong --size 1073741825; Invalid value for option '--size': 1073741825 is not from 0 to 1073741824.",
        "pingpong --size 64,-1; Invalid value for option '--size': -1 is not from 0 to 1073741824.",
        "pingpong --size ten; Invalid value for option '--size' (BYTES): \"ten\" is no size; use bytes, or a whole"
            + " number with KiB, MiB or GiB.",
        "pingpong --count 0; Invalid value for option '--count': 0 is not from 1 to 10000000000.",
        "pingpong --count 1.5; Invalid value for option '--count': '1.5' is not a long.",
        "pingpong --link efa; Invalid value for option '--link': \"efa\" is not one of loopback, shm, best, tcp, tls,"
            + " tlsrxm, verbs.",
        "pingpong --mode both; Invalid value for option '--mode': \"both\" is not one of embedded, daemon.",
        "pingpong --link; Missing required parameter for option '--link' (LINK).",
        "pingpong more; Unmatched argument at index 1: 'more'.",
        "info --caps nonsense; Invalid value for option '--caps': \"nonsense\" is not one of MSG,",
        "stat --watch 0; Invalid value for option '--watch': 0.0 is not from 0.1 to 86400.",
        "queues --watch 0; Invalid value for option '--watch': 0.0 is not from 0.1 to 86400.",
        "queues --times 0; Invalid value for option '--times': 0 is less than 1.",
        "queues --timeout 0; Invalid value for option '--timeout': 0.0 is not from 0.1 to 3600.",
        "stat --times 0; Invalid value for option '--times': 0 is less than 1.",
        "driver --port 1; Unknown options: '--port', '1'.",
        "nonsense; Unmatched argument at index 0: 'nonsense'."
    })
    void shouldSayWhatIsWrongAndWhereToReadWhenTheCommandLineIsWrong(String commandLine, String expected) {
        ToolRun run = ToolRun.of(commandLine.split(" "));

        assertEquals(2, run.status());
        assertEquals("", run.out());
        assertTrue(run.err().startsWith("fabric: " + expected), run.err());
        assertTrue(run.err().contains("--help'."), run.err());
        assertFalse(run.err().contains("\tat "), run.err());
    }

    @Test
    void shouldRefuseAnEmptyCommandLine() {
        ToolRun run = ToolRun.of();

        assertEquals(2, run.status());
        assertTrue(run.err().startsWith("fabric: No command given."), run.err());
    }

    @Test
    void shouldExplainEachCommand() {
        ToolRun help = ToolRun.of("--help");

        assertEquals(0, help.status());
        assertFalse(help.out().contains(PingPongPeer.NAME), "internal command shown");
        FabricTool.commandLine().getSubcommands().forEach((command, line) -> {
            if (!line.getCommandSpec().usageMessage().hidden() && !command.equals("help")) {
                ToolRun own = ToolRun.of(command, "--help");

                assertTrue(help.out().contains("  " + command + " "), help.out());
                assertEquals(0, own.status(), command);
                assertTrue(own.out().startsWith("Usage: fabric " + command + " "), own.out());
            }
        });
    }

    /** Those of the script and of other modules, which are built when they are first used. */
    @Test
    void shouldExplainTheCommandsThatAreBuiltWhenUsedInTheSameWay() throws Exception {
        Set<String> named = new TreeSet<>();
        Matcher footer = Pattern.compile("(?m)^  ([a-z0-9-]+) +.*'\\./fabric ([a-z0-9-]+) --help'")
            .matcher(String.join("\n", FabricTool.commandLine().getCommandSpec().usageMessage().footer()));
        while (footer.find()) {
            assertEquals(footer.group(1), footer.group(2));
            named.add(footer.group(1));
        }
        Set<String> explained = new TreeSet<>();
        for (String type : List.of(
            "org.jfabric.simulation.SimulateCommand", "org.jfabric.driver.torture.TortureMain",
            "org.jfabric.driver.qualify.QualifyMain")) {
            explained.add(explains(new CommandLine(Class.forName(type)).getUsageMessage()));
        }
        for (String command : List.of("test-verbs", "test-aarch64", "jcstress")) {
            TestProcess run = TestProcess.run("../fabric", command, "--help");
            assertEquals(0, run.status(), run.output());
            explained.add(explains(run.output()));
        }
        String samples = Files.readString(Path.of("../samples/src/main/java/org/jfabric/samples/Samples.java"));
        explained.add(explains(samples.substring(samples.indexOf("Usage: fabric"))));
        Path services = Path.of("../perf/src/main/resources/META-INF/services/org.jfabric.tool.ToolCommand");
        for (String type : Files.readAllLines(services)) {
            String source = Files.readString(Path.of("../perf/src/main/java", type.replace('.', '/') + ".java"));
            Matcher name = Pattern.compile("@Command\\(\\s*name = \"([a-z-]+)\"").matcher(source);
            if (!source.contains("hidden = true")) {
                assertTrue(name.find() && source.contains("mixinStandardHelpOptions = true"), type);
                explained.add(name.group(1));
            }
        }
        assertEquals(named, explained);
    }

    private static String explains(String help) {
        Matcher usage = Pattern.compile("^Usage: fabric ([a-z0-9-]+) ").matcher(help);
        assertTrue(usage.find(), help);
        return usage.group(1);
    }

    @Test
    void shouldFailWhenTheOutputCannotBeWritten() {
        OutputStream full = new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                throw new IOException("No space left on device");
            }
        };
        for (String line : List.of("--help", "--version", "options", "options --json", "help stat", "info", "clean")) {
            StringWriter err = new StringWriter();
            int status = FabricTool.run(full, new PrintWriter(err, true), line.split(" "));

            assertEquals(1, status, line);
            assertEquals(1, err.toString().split("the standard output cannot be written: No space left on device", -1)
                .length - 1, err.toString());
            assertFalse(err.toString().contains("Exception"), err.toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--link best --traffic soak", "--link udp --traffic clients", "--link tpc", "--traffic all",
        "--seconds"})
    void shouldRefuseToSimulateWhatDoesNotRun(String arguments) throws Exception {
        CommandLine simulate = new CommandLine(Class.forName("org.jfabric.simulation.SimulateCommand"));
        simulate.setErr(new PrintWriter(new StringWriter()));

        assertEquals(2, simulate.execute(arguments.split(" ")));
    }

    @Test
    void shouldNameVersionAndLayout() {
        ToolRun run = ToolRun.of("--version");

        assertEquals(0, run.status());
        assertTrue(run.out().startsWith("JFabric "), run.out());
        assertTrue(run.out().contains("layout " + FileHeaderDescriptor.VERSION), run.out());
    }

    @Test
    void shouldPrintEffectiveOptions() {
        ToolRun text = ToolRun.of("options", "--dir", "/dev/shm/jfabric-x/other");
        ToolRun json = ToolRun.of("options", "--json");

        assertEquals(0, text.status());
        assertTrue(text.out().contains("* jfabric.dir.name "), text.out());
        assertTrue(text.out().contains("= other "), text.out());
        assertEquals(0, json.status());
        List<?> options = (List<?>) JsonText.object(json.out()).get("options");
        assertTrue(options.toString().contains("name=jfabric.queue.txSize, value=256.0, unit=count, default=256.0,"
            + " isDefault=true, where=default, origin=default, variable=JFABRIC_QUEUE_TX_SIZE"), options.toString());
    }

    /** The effective value is shown, not the mark that stands for "derived". */
    @Test
    void shouldPrintWhatDerivedOptionsComeTo() {
        ToolRun json = ToolRun.of("options", "--json", "--set", "jfabric.queue.cqSize=100", "--set",
            "jfabric.queue.txSize=1000");

        assertEquals(0, json.status(), json.err());
        assertTrue(json.out().contains("\"name\":\"jfabric.queue.cqDriverShare\",\"value\":25,"), json.out());
        assertTrue(json.out().contains("\"name\":\"jfabric.queue.tqLengthBytes\",\"value\":262144,"), json.out());
        assertFalse(json.out().contains("\"name\":\"jfabric.dir.reserveFreeBytes\",\"value\":-1"), json.out());
    }

    @Test
    void shouldExitWithOneWhenTheConfigurationIsWrong() {
        ToolRun run = ToolRun.of("options", "--config", "/nonexistent/jfabric.properties");

        assertEquals(1, run.status());
        assertTrue(run.err().startsWith("fabric: FI_EINVAL"), run.err());
        assertTrue(run.err().contains("/nonexistent/jfabric.properties does not exist"), run.err());
    }
}
