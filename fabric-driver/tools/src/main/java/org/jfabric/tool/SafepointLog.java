package org.jfabric.tool;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Safepoints and collections of a virtual machine that was started with {@link #flag}. Its log has the times of
 * {@link System#nanoTime()}, which are the same in all processes of a host.
 */
final class SafepointLog {
    private static final Pattern SAFEPOINT = Pattern.compile(
        "\\[(\\d+)ns].*Safepoint \"([^\"]*)\",.* Total: +(\\d+) ns.*");
    private static final Pattern PAUSE = Pattern.compile("\\[(\\d+)ns].*GC\\(\\d+\\) (Pause .*) ([0-9.]+)ms");
    private static final double NS_PER_MS = 1e6;

    private SafepointLog() {
    }

    /** The option of the virtual machine for such a log. */
    static String flag(Path file) {
        return "-Xlog:safepoint=info,gc=info:file=" + file + ":timenanos:filecount=0";
    }

    /**
     * Reads a log.
     *
     * @return in the order of the lines; other lines are ignored.
     * @throws ToolException if it cannot be read.
     */
    static List<Cause> read(String who, Path file) {
        List<Cause> causes = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(file)) {
                Cause cause = cause(who, line);
                if (cause != null) {
                    causes.add(cause);
                }
            }
        } catch (MalformedInputException ex) {
            throw new ToolException(file + " is no log of a virtual machine.", ex);
        } catch (IOException ex) {
            throw new ToolException(file + " cannot be read: " + ex + '.', ex);
        }
        return causes;
    }

    /** Returns null for a line that is neither. */
    static Cause cause(String who, String line) {
        Matcher safepoint = SAFEPOINT.matcher(line);
        if (safepoint.matches()) {
            return cause(who, Cause.Kind.SAFEPOINT, safepoint.group(1), Long.parseLong(safepoint.group(3)),
                safepoint.group(2));
        }
        Matcher pause = PAUSE.matcher(line);
        return pause.matches() ? cause(who, Cause.Kind.COLLECTION, pause.group(1),
            Math.round(Double.parseDouble(pause.group(3)) * NS_PER_MS), pause.group(2)) : null;
    }

    /** The line is written at the end. */
    private static Cause cause(String who, Cause.Kind kind, String time, long ns, String detail) {
        long endNs = Long.parseLong(time);
        return new Cause(who, kind, endNs - ns, endNs, ns, detail);
    }
}
