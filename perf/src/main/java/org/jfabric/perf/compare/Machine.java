package org.jfabric.perf.compare;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.ffi.Affinity;

/** Properties of the machine that the figures depend on. */
final class Machine {
    /** In front of the name of a system whose version it is. */
    static final String VERSION = "version.";

    private static final String HOME_VARIABLE = "JFABRIC_HOME";

    private static final String UNKNOWN = "unknown";
    private static final Path CPU_INFO = Path.of("/proc/cpuinfo");

    private Machine() {
    }

    /** Collects the properties. */
    static Map<String, String> environment(RigSettings settings, List<Contender> contenders)
        throws InterruptedException {
        Map<String, String> found = new LinkedHashMap<>();
        found.put("date", OffsetDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.SECONDS).toString());
        found.put("cpu", cpu());
        found.put("cores", Runtime.getRuntime().availableProcessors() + " usable, " + Affinity.cpus());
        String flags = valueOf("flags");
        found.put("virtual",
            flags.equals(UNKNOWN) ? UNKNOWN : Boolean.toString((flags + ' ').contains(" hypervisor ")));
        found.put("kernel", System.getProperty("os.name") + ' ' + System.getProperty("os.version") + ' '
            + System.getProperty("os.arch"));
        found.put("kernelCommandLine", text(Path.of("/proc/cmdline")));
        found.put("governor", text(Path.of("/sys/devices/system/cpu/cpu" + settings.pingCpu()
            + "/cpufreq/scaling_governor")));
        found.put("transparentHugePages", text(Path.of("/sys/kernel/mm/transparent_hugepage/enabled")));
        found.put("jdk", System.getProperty("java.vm.name") + ' ' + System.getProperty("java.vm.version"));
        found.put("jvmOptions", String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments()));
        found.put("commit", commit());
        for (Contender contender : contenders) {
            found.put(VERSION + contender.id(), contender.version());
        }
        found.put("logFolder", fileSystem(settings.directory().resolve(RunDirectory.DISK)));
        found.put("measuringCpu", Integer.toString(settings.pingCpu()));
        found.put("answeringCpu", Integer.toString(settings.pongCpu()));
        found.put("nativeProgramsBound", Boolean.toString(Programs.find("taskset") != null));
        found.put("spinning", Boolean.toString(settings.spinning()));
        found.put("loadBefore", text(Path.of("/proc/loadavg")));
        return found;
    }

    /** The average number of threads that wanted a core in the last minute. */
    static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    private static String fileSystem(Path folder) {
        try {
            return folder.toRealPath() + ", " + Files.getFileStore(folder).type();
        } catch (IOException ex) {
            return "none";
        }
    }

    private static String commit() throws InterruptedException {
        String home = System.getenv(HOME_VARIABLE);
        Path folder = home == null ? null : Path.of(home);
        String commit = Programs.output(folder, List.of("git", "rev-parse", "--short=12", "HEAD"));
        if (commit.isEmpty()) {
            return UNKNOWN;
        }
        boolean changed = !Programs.output(folder, List.of("git", "status", "--porcelain", "-uno")).isEmpty();
        return changed ? commit + ", with changes" : commit;
    }

    /** On aarch64 the kernel has only numbers for it. */
    private static String cpu() {
        String name = valueOf("model name");
        String part = valueOf("CPU part");
        return !name.equals(UNKNOWN) || part.equals(UNKNOWN) ? name
            : "implementer " + valueOf("CPU implementer") + ", part " + part;
    }

    private static String valueOf(String name) {
        for (String line : text(CPU_INFO).split("\\R")) {
            int colon = line.indexOf(':');
            if (colon > 0 && line.substring(0, colon).strip().equals(name)) {
                return line.substring(colon + 1).strip();
            }
        }
        return UNKNOWN;
    }

    private static String text(Path file) {
        try {
            return Files.isReadable(file) ? Files.readString(file).strip() : UNKNOWN;
        } catch (IOException ex) {
            return UNKNOWN;
        }
    }
}
