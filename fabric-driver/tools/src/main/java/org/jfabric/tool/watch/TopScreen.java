package org.jfabric.tool.watch;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.Terminal.Signal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;
import org.jline.utils.NonBlockingReader;

/**
 * The terminal of {@code fabric top}: draws frames and obeys keys until it is left. The terminal is then as it was,
 * also after Ctrl-C. Owner: one thread; signals only set a flag.
 */
final class TopScreen {
    private static final String KEYS = "< > sort  r reverse  / filter  p peers  space pause  q quit";
    private static final int ESCAPE = 27;
    private static final int DELETE = 127;
    /** Signals are noticed after this time at most. */
    private static final long LONGEST_WAIT_MS = 100;
    /** The rest of what an arrow key sends comes in this time. */
    private static final long SEQUENCE_MS = 50;
    private static final int CTRL_C = 3;
    private static final int CTRL_D = 4;

    private final Terminal terminal;
    private final Supplier<Sample> samples;
    private final long intervalNs;
    private volatile boolean isResized = true;
    private volatile boolean isEnded;
    private TopView view;
    private boolean isPaused;
    /** The text of a filter while it is typed; otherwise null. */
    private StringBuilder typed;

    /**
     * Creates a screen.
     *
     * @param terminal   stays open.
     */
    TopScreen(Terminal terminal, Supplier<Sample> samples, TopView view, long intervalMs) {
        this.terminal = terminal;
        this.samples = samples;
        this.view = view;
        this.intervalNs = intervalMs * 1_000_000;
    }

    /** Shows it in the terminal of this process until the user leaves. */
    static void show(Supplier<Sample> samples, TopView view, long intervalMs) throws IOException {
        try (Terminal terminal = TerminalBuilder.builder().name("fabric top").system(true).build()) {
            new TopScreen(terminal, samples, view, intervalMs).run();
        }
    }

    /** Draws and obeys until it is left. */
    void run() throws IOException {
        Attributes attributes = terminal.enterRawMode();
        Terminal.SignalHandler atInterrupt = terminal.handle(Signal.INT, signal -> isEnded = true);
        Terminal.SignalHandler atResize = terminal.handle(Signal.WINCH, signal -> isResized = true);
        // a process that is ended by a signal must not leave the screen behind
        Thread hook = new Thread(() -> leave(attributes));
        Runtime.getRuntime().addShutdownHook(hook);
        terminal.puts(Capability.enter_ca_mode);
        terminal.puts(Capability.cursor_invisible);
        terminal.puts(Capability.keypad_xmit);
        try {
            loop();
        } finally {
            terminal.handle(Signal.INT, atInterrupt);
            terminal.handle(Signal.WINCH, atResize);
            if (removed(hook)) {
                leave(attributes);
            }
        }
    }

    private static boolean removed(Thread hook) {
        try {
            return Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException alreadyEnding) {
            return false;
        }
    }

    private void leave(Attributes attributes) {
        terminal.puts(Capability.keypad_local);
        terminal.puts(Capability.cursor_normal);
        terminal.puts(Capability.exit_ca_mode);
        terminal.flush();
        terminal.setAttributes(attributes);
    }

    private void loop() throws IOException {
        Display display = new Display(terminal, true);
        NonBlockingReader reader = terminal.reader();
        Sample sample = samples.get();
        long nextNs = System.nanoTime() + intervalNs;
        boolean isDirty = true;
        while (!isEnded) {
            if (isResized) {
                isResized = false;
                Size size = terminal.getSize();
                display.resize(Size.of(columns(size), rows(size)));
                display.clear();
                isDirty = true;
            }
            if (!isPaused && nextNs - System.nanoTime() <= 0) {
                nextNs = System.nanoTime() + intervalNs;
                sample = samples.get();
                isDirty = true;
            }
            if (isDirty) {
                draw(display, sample);
            }
            isDirty = obey(reader, Math.max(1, (nextNs - System.nanoTime()) / 1_000_000));
        }
    }

    /** Awaits a key; returns whether there was one. */
    private boolean obey(NonBlockingReader reader, long waitMs) throws IOException {
        int next = reader.read(isPaused ? LONGEST_WAIT_MS : Math.min(waitMs, LONGEST_WAIT_MS));
        if (next == NonBlockingReader.READ_EXPIRED) {
            return false;
        }
        if (next < 0) {
            isEnded = true;
        } else if (typed != null) {
            type(next);
        } else {
            obey(next == ESCAPE ? arrow(reader) : next);
        }
        return true;
    }

    /** Reads the rest of what an arrow key sends; returns the sign with the same meaning, or 0. */
    private static int arrow(NonBlockingReader reader) throws IOException {
        int second = reader.read(SEQUENCE_MS);
        int third = second == '[' || second == 'O' ? reader.read(SEQUENCE_MS) : 0;
        return third == 'C' ? '>' : third == 'D' ? '<' : 0;
    }

    private void obey(int key) {
        switch (key) {
            case '<' -> view = view.sortedBy(neighbour(-1));
            case '>' -> view = view.sortedBy(neighbour(1));
            case 'r', 'R' -> view = view.reversed();
            case '/' -> typed = new StringBuilder();
            case 'p', 'P' -> view = view.withOrWithoutPeers();
            case ' ' -> isPaused = !isPaused;
            case 'q', 'Q', CTRL_C, CTRL_D -> isEnded = true;
            default -> { }
        }
    }

    private void type(int character) {
        if (character == '\r' || character == '\n') {
            view = view.filteredBy(typed.toString());
            typed = null;
        } else if (character == ESCAPE) {
            typed = null;
        } else if ((character == DELETE || character == '\b') && !typed.isEmpty()) {
            typed.setLength(typed.length() - 1);
        } else if (character >= ' ' && character != DELETE) {
            typed.appendCodePoint(character);
        }
    }

    private TopColumn neighbour(int step) {
        List<TopColumn> shown = TopColumn.fitting(columns(terminal.getSize()));
        return shown.get(Math.floorMod(shown.indexOf(view.sort()) + step, shown.size()));
    }

    private void draw(Display display, Sample sample) {
        Size size = terminal.getSize();
        List<AttributedString> lines = new ArrayList<>();
        for (TopFrame.Line line : TopFrame.of(sample, view, columns(size))) {
            if (lines.size() < rows(size) - 1) {
                lines.add(new AttributedString(line.text(), style(line.style())));
            }
        }
        while (lines.size() < rows(size) - 1) {
            lines.add(AttributedString.EMPTY);
        }
        String foot = typed != null ? "filter: " + typed + "_  (Enter: use it, Esc: leave it)"
            : (isPaused ? "PAUSED  " : "") + (view.filter().isEmpty() ? "" : "filter: " + view.filter() + "  ") + KEYS;
        lines.add(new AttributedString(TopColumn.cut(foot, columns(size)), AttributedStyle.INVERSE));
        display.update(lines, -1);
    }

    private static AttributedStyle style(TopFrame.Style style) {
        return switch (style) {
            case PLAIN -> AttributedStyle.DEFAULT;
            case TITLE -> AttributedStyle.BOLD;
            case HEADER -> AttributedStyle.DEFAULT.underline();
            case FLOWING -> AttributedStyle.DEFAULT.foreground(AttributedStyle.GREEN);
            case WAITING -> AttributedStyle.DEFAULT.foreground(AttributedStyle.YELLOW);
            case BAD -> AttributedStyle.BOLD.foreground(AttributedStyle.RED);
            case DIM -> AttributedStyle.DEFAULT.faint();
        };
    }

    /** A terminal that does not say its size has that of the oldest ones. */
    private static int rows(Size size) {
        return size.getRows() > 0 ? size.getRows() : 24;
    }

    private static int columns(Size size) {
        return size.getColumns() > 0 ? size.getColumns() : 80;
    }
}
