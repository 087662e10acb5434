package org.jfabric.tool.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jfabric.test.Deadline;
import org.jline.terminal.Attributes.LocalFlag;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.Terminal.Signal;
import org.jline.terminal.TerminalBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The screen in a terminal that exists only in this process. */
@Timeout(60)
class TopScreenTest {
    private static final String ESCAPE = "\u001b";
    private static final String SCREEN_LEFT = ESCAPE + "[?1049l";
    private static final long NEVER_MS = 3_600_000;

    private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
    private final PipedOutputStream keyboard = new PipedOutputStream();
    private Terminal terminal;
    private FutureTask<Void> running;

    @BeforeEach
    void start() throws IOException {
        terminal = TerminalBuilder.builder().name("test").type("xterm").system(false)
            .streams(new PipedInputStream(keyboard), shown).encoding(StandardCharsets.UTF_8)
            .size(Size.of(100, 30)).build();
        TopScreen screen = new TopScreen(
            terminal, () -> Samples.of(1_200_000), new TopView(TopColumn.SENT, false, "", true), NEVER_MS);
        running = new FutureTask<>(() -> {
            screen.run();
            return null;
        });
        Thread.ofPlatform().daemon().start(running);
        awaitShown("SENT/Sv", "q quit");
    }

    @AfterEach
    void close() throws IOException {
        terminal.close();
    }

    private void press(String keys) throws IOException {
        keyboard.write(keys.getBytes(StandardCharsets.UTF_8));
        keyboard.flush();
    }

    private String output() {
        return shown.toString(StandardCharsets.UTF_8);
    }

    /** The lines that were drawn since a whole redraw, without signs for colours and places. */
    private String redrawn(int from) {
        return output().substring(from).replaceAll(ESCAPE + "\\[[0-9;?]*[a-zA-Z]|" + ESCAPE + "[=>]|"
            + ESCAPE + "\\(B", "\n").replaceAll("\\s*\n\\s*", "\n");
    }

    /** Draws anew until all of that is seen. */
    private String awaitShown(String... texts) {
        StringBuilder last = new StringBuilder();
        Deadline.awaitParked(() -> String.join(", ", texts) + " in " + last, () -> {
            int from = shown.size();
            terminal.raise(Signal.WINCH);
            Deadline.awaitParked(() -> "the last line in " + redrawn(from),
                () -> redrawn(from).contains(" quit") || redrawn(from).contains("filter: "));
            last.setLength(0);
            last.append(redrawn(from));
            return List.of(texts).stream().allMatch(text -> last.indexOf(text) >= 0);
        });
        return last.toString();
    }

    private void awaitEnd() throws Exception {
        running.get(Deadline.ns(20), TimeUnit.NANOSECONDS);
        assertTrue(output().endsWith(SCREEN_LEFT) || output().contains(SCREEN_LEFT), this::output);
        assertTrue(terminal.getAttributes().getLocalFlag(LocalFlag.ICANON));
        assertTrue(terminal.getAttributes().getLocalFlag(LocalFlag.ECHO));
    }

    @Test
    void shouldObeyKeys() throws Exception {
        assertFalse(terminal.getAttributes().getLocalFlag(LocalFlag.ICANON));
        assertTrue(awaitShown("SENT/Sv").contains("> jfabric://beta/b"));
        press(">");
        awaitShown("RECV/Sv");
        press(ESCAPE + "[D");
        awaitShown("SENT/Sv");
        press(ESCAPE + "OD");
        awaitShown("CLIENTv");
        press(ESCAPE + "OD");
        awaitShown("STATEv");
        press("r");
        awaitShown("STATE^");
        press("p");
        assertFalse(awaitShown("jfabric://alpha/slow").contains("> jfabric://beta/b"));
        press("/slot\bw");
        awaitShown("filter: slow_");
        press("\r");
        assertFalse(awaitShown("filter: slow", "quit").contains("middle"));
        press("/other" + ESCAPE);
        awaitShown("filter: slow", "quit");
        press(" ");
        awaitShown("PAUSED");
        press("q");
        awaitEnd();
    }

    @Test
    void shouldRestoreTheTerminalAtAnInterrupt() throws Exception {
        terminal.raise(Signal.INT);
        awaitEnd();
    }

    @Test
    void shouldEndWhereTheKeyboardEnds() throws Exception {
        keyboard.close();
        awaitEnd();
    }

    @Test
    void shouldFollowTheSizeOfTheTerminal() throws Exception {
        terminal.setSize(Size.of(60, 8));
        String narrow = awaitShown("SENT/S");
        assertFalse(narrow.contains("POSTED"), narrow);
        assertFalse(narrow.contains("jfabric://alpha/middle"), narrow);
        narrow.lines().forEach(line -> assertTrue(line.length() <= 60, line));
        terminal.setSize(Size.of(1, 1));
        terminal.raise(Signal.WINCH);
        press("r");
        terminal.setSize(Size.of(140, 30));
        awaitShown("POSTED", "CLIENT", "jfabric://alpha/middle");
        press("q");
        awaitEnd();
        assertEquals(1, output().split(Pattern.quote(SCREEN_LEFT), -1).length - 1);
    }
}
