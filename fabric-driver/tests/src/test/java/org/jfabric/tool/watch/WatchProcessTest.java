package org.jfabric.tool.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.jfabric.tool.FabricTool;
import org.jfabric.tool.JsonText;
import org.jfabric.tool.ToolRun;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The commands top and web as processes, with a daemon that has traffic. */
@Tag("slow")
@Timeout(120)
class WatchProcessTest {
    private static final Path SCRIPT = Path.of("/usr/bin/script");
    private static final String ESCAPE = "\u001b";

    private static Path base;
    private static Path directory;
    private static DriverProcess driver;
    private static Talk talk;

    @BeforeAll
    static void start() {
        base = TestDirectory.create();
        directory = base.resolve("watched");
        driver = DriverProcess.start(directory, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
        talk = new Talk(directory);
        talk.start();
    }

    @AfterAll
    static void close() {
        talk.close();
        driver.close();
        TestDirectory.delete(base);
    }

    private List<String> command(String... arguments) {
        return TestJvm.command(List.of(), FabricTool.class, arguments);
    }

    @Test
    void shouldPrintOneFrameWhereTheOutputIsNoTerminal() {
        Map<String, Object> json = JsonText.object(
            ToolRun.of("top", "--dir", directory.toString(), "--interval", "0.1", "--once", "--json").out());
        assertEquals("watched", ((Map<?, ?>) ((List<?>) json.get("drivers")).getFirst()).get("name"));
        String[] widest = {"top", "--dir", directory.toString(), "--interval", "0.5", "--width", "200"};
        String frame = TestProcess.run(command(widest).toArray(String[]::new)).succeeded();
        assertTrue(frame.matches("(?s).*\nwatched +(running|parked) +.*"), frame);
        assertTrue(frame.matches("(?s).*\njfabric://watched/quotes +flowing quotes +[1-9][0-9.kM]* .*"), frame);
        assertTrue(frame.matches("(?s).*\n  > jfabric://watched/orders +flowing loopback +[1-9].*"), frame);
        assertFalse(frame.contains(ESCAPE), frame);
    }

    /** A terminal of the kernel, which the program script makes; its shell shows the terminal's flags afterwards. */
    @Test
    void shouldShowFramesInATerminalAndRestoreItAtControlC() throws IOException {
        Assumptions.assumeTrue(Files.isExecutable(SCRIPT), SCRIPT + " is not installed");
        String top = String.join(" ", command("top", "--dir", directory.toString(), "--interval", "0.2"));
        String shell = "stty rows 30 cols 120; stty -g; " + top + "; echo ended $?; stty -g";
        Path shown = Files.createFile(base.resolve("shown"));
        ProcessBuilder builder = new ProcessBuilder(SCRIPT.toString(), "-qefc", shell, shown.toString());
        builder.environment().put("TERM", "xterm");
        try (TestProcess terminal = TestProcess.start(builder)) {
            // the frames have no line ends
            Deadline.awaitParked(() -> read(shown), () -> read(shown).contains("q quit")
                && read(shown).contains("flowing") || !terminal.isAlive());
            terminal.say("\u0003");
            terminal.succeeded();
            String output = read(shown);
            assertTrue(output.contains(ESCAPE + "[?1049h"), output);
            assertTrue(output.contains("ended 0"), output);
            List<String> flags = output.lines().map(line -> line.replaceAll("^.*" + ESCAPE + "[^:]*", ""))
                .filter(line -> line.matches("[0-9a-f]+(:[0-9a-f]+){10,}")).toList();
            assertEquals(2, flags.size(), output);
            assertEquals(flags.getFirst(), flags.getLast());
            assertTrue(output.lastIndexOf(ESCAPE + "[?1049l") > output.lastIndexOf("q quit"), output);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Test
    void shouldServeThePageUntilItIsInterrupted() throws Exception {
        // a build in the background of a script ignores this signal, and its children with it
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT"));
        command.addAll(command("web", "--dir", directory.toString()));
        try (TestProcess web = TestProcess.start(command)) {
            String url = web.awaitLine("http://127.0.0.1:");
            String state = "";
            try (HttpClient client = HttpClient.newHttpClient()) {
                HttpRequest request = HttpRequest.newBuilder(URI.create(url.replaceFirst("#.*", "api/state")))
                    .header("Authorization", "Bearer " + url.replaceFirst(".*#", "")).build();
                Deadline deadline = Deadline.usual();
                while (!state.matches(".*\"sent_messages\":[1-9].*")) {
                    deadline.check("rates", state::toString);
                    state = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
                }
            }
            assertTrue(state.contains("\"name\":\"watched\",\"directory\":\"" + directory + '"'), state);
            TestProcess.signal(web.process(), "INT");
            web.ended();
        }
    }
}
