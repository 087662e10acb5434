package org.jfabric.perf.compare;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jfabric.tool.ToolException;

/**
 * What {@link ResultJson} has written, as far as the published pages need it.
 *
 * @param sideBySide of older runs null.
 */
record SavedRun(Map<String, String> environment, List<Group> sideBySide, List<Verdict> targets,
    Collections garbageCollections, long messagesCompared, List<String> missing, List<String> notes) {

    private static final Pattern VERSION = Pattern.compile("\\d+(\\.\\d+)+");
    private static final Pattern PATH = Pattern.compile(", /\\S+ by \\w+|/\\S+");

    /** Systems that were measured in the same rounds. */
    record Group(String metric, int sizeBytes, int rounds, int validRounds, List<Value> systems) {
        Value of(String system) {
            return systems.stream().filter(value -> value.system.equals(system)).findFirst().orElse(null);
        }

        boolean isRate() {
            return metric.equals(CellMetric.MESSAGE_RATE.key());
        }

        /** A time in ns, or a rate in millions. */
        String text(double value) {
            return isRate() ? String.format(Locale.ROOT, "%.1f M", value / 1e6)
                : String.format(Locale.ROOT, "%,.0f", value);
        }

        /** As many rounds as a verdict needs. */
        boolean isJudged() {
            return validRounds >= Target.LEAST_VALID_ROUNDS;
        }
    }

    record Value(String system, double median, double firstQuartile, double thirdQuartile) {
    }

    /**
     * A target.
     *
     * @param ratio its median; null if it was not measured.
     */
    record Verdict(String what, String metric, String verdict, Double ratio, Double firstQuartile, Double thirdQuartile,
        Double own, Double other, String otherSystem, Double least, Double must, Double goal, double missedBy,
        int rounds, int validRounds, int neededRounds, String unfit) {
        boolean is(Target.Outcome outcome) {
            return verdict.equals(outcome.key());
        }
    }

    /** Of the pass that counts them. */
    record Collections(long messages, long collections) {
    }

    static SavedRun read(Path file) {
        try {
            return parse(Files.readString(file));
        } catch (IOException | JsonParseException ex) {
            throw new ToolException(file + " is no run that compare has written with --json: " + ex.getMessage(), ex);
        }
    }

    static SavedRun parse(String json) {
        SavedRun run = new Gson().fromJson(json, SavedRun.class);
        if (run == null || run.environment == null || run.targets == null || run.sideBySide == null) {
            throw new JsonParseException("it has no environment, no targets or nothing side by side");
        }
        return run;
    }

    /** A property of the machine, without folders of it; "unknown" if the run does not have it. */
    String environment(String name) {
        return withoutPaths(environment.getOrDefault(name, "unknown"));
    }

    static String withoutPaths(String text) {
        return PATH.matcher(text).replaceAll("").strip();
    }

    /** Name of a system for people, with its version if it is another one than JFabric. */
    String name(String system) {
        Matcher version = VERSION.matcher(environment.getOrDefault(Machine.VERSION + system, ""));
        return SideBySide.NAMES.get(system) + (!system.startsWith("jfabric") && version.find()
            ? ' ' + version.group() : "");
    }

    /** Why one of the systems is no peer, without a full stop; null if all are. */
    String unfit() {
        return targets.stream().map(Verdict::unfit).filter(Objects::nonNull).findFirst().map(SavedRun::withoutPaths)
            .orElse(null);
    }

    /** The systems of the chart that this run has measured. */
    List<String> systems() {
        return SideBySide.NAMES.keySet().stream()
            .filter(system -> sideBySide.stream().anyMatch(group -> group.of(system) != null)).toList();
    }

    /** Date, machine and commit in one line. */
    String origin() {
        String virtual = environment("virtual").equals("true") ? " in a virtual machine" : "";
        return environment("date").replaceFirst("T.*", "") + ", commit " + environment("commit") + ", "
            + environment("cores").replaceFirst(" usable.*", " cores of ") + environment("cpu") + virtual;
    }

    static String size(int bytes) {
        return bytes >= 1024 ? bytes / 1024 + " KiB" : bytes + " bytes";
    }
}
