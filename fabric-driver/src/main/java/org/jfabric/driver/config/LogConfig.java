package org.jfabric.driver.config;

import java.nio.file.Path;
import java.util.List;

/**
 * The log and the record of a driver's rare events. Immutable.
 */
public final class LogConfig {
    /** {@code jfabric.log.target}. */
    public static final Option<LogTarget> TARGET = Option.oneOf("jfabric.log.target", LogTarget.class)
        .defaultsTo(LogTarget.AUTO)
        .rule("AUTO, NONE, STDERR, FILE or LOGGER", target -> true)
        .why("AUTO is STDERR for a daemon and NONE for an embedded driver. FILE where no manager collects the standard "
            + "error; LOGGER has an application's System.Logger org.jfabric.driver write the lines of the driver that "
            + "it embeds. Only rare events are logged: clients that come, leave or die, and errors.");

    /** {@code jfabric.log.file}. */
    public static final Option<Path> FILE = Option.file("jfabric.log.file")
        .defaultsTo(Path.of("/var/log/jfabric/driver.log"))
        .rule("a path whose folder exists and can be written", path -> path.getFileName() != null)
        .why("With target FILE: the newest file has this name and .0 behind it, the one before .1. Two drivers of one "
            + "host need two names. New files get the rights that the umask leaves.");

    /** {@code jfabric.log.format}. */
    public static final Option<LogFormat> FORMAT = Option.oneOf("jfabric.log.format", LogFormat.class)
        .defaultsTo(LogFormat.TEXT)
        .rule("TEXT or JSON", format -> true)
        .why("JSON writes one object per line for programs that collect logs.");

    /** {@code jfabric.log.fileLengthBytes}. */
    public static final Option<Long> FILE_LENGTH_BYTES = Option.bytes("jfabric.log.fileLengthBytes")
        .defaultsTo(10L << 20)
        .range(1L << 10, 1L << 30)
        .why("With target FILE: the next file begins when one has reached this length. Together with fileCount it "
            + "limits the disk space.");

    /** {@code jfabric.log.fileCount}. */
    public static final Option<Integer> FILE_COUNT = Option.count("jfabric.log.fileCount")
        .defaultsTo(5)
        .range(2, 1000)
        .why("With target FILE: number of files that are kept; the oldest one is deleted for a new one.");

    /** {@code jfabric.log.recordEvents}. */
    public static final Option<Integer> RECORD_EVENTS = Option.count("jfabric.log.recordEvents")
        .defaultsTo(128)
        .rule("0, or a power of two up to 65536", count -> count >= 0 && count <= 1 << 16 && (count & count - 1) == 0)
        .why("The last events of each agent that the file record of the driver's directory keeps, also when the "
            + "driver is killed; fabric record shows them. 256 bytes each, in 2 rings for each progress thread and 3 "
            + "others; 0 makes no file.");

    static final OptionGroup GROUP = new OptionGroup("log", "Log and record of rare events",
        List.of(TARGET, FILE, FORMAT, FILE_LENGTH_BYTES, FILE_COUNT, RECORD_EVENTS));

    private final LogTarget target;
    private final Path file;
    private final LogFormat format;
    private final int fileLengthBytes;
    private final int fileCount;
    private final int recordEvents;

    LogConfig(ConfigSource source) {
        target = source.value(TARGET);
        file = source.value(FILE);
        format = source.value(FORMAT);
        fileLengthBytes = Math.toIntExact(source.value(FILE_LENGTH_BYTES));
        fileCount = source.value(FILE_COUNT);
        recordEvents = source.value(RECORD_EVENTS);
    }

    /**
     * Destination.
     *
     * @param isDaemon whether the driver is the purpose of its process.
     * @return anything but {@link LogTarget#AUTO}.
     */
    public LogTarget target(boolean isDaemon) {
        if (target != LogTarget.AUTO) {
            return target;
        }
        return isDaemon ? LogTarget.STDERR : LogTarget.NONE;
    }

    /**
     * Name of the files without their numbers.
     *
     * @return absolute path.
     */
    public Path file() {
        return file;
    }

    /**
     * Form of the lines.
     *
     * @return not null.
     */
    public LogFormat format() {
        return format;
    }

    /**
     * Length at which the next file begins.
     *
     * @return bytes, at least 1 KiB.
     */
    public int fileLengthBytes() {
        return fileLengthBytes;
    }

    /**
     * Files kept.
     *
     * @return 2 or more.
     */
    public int fileCount() {
        return fileCount;
    }

    /**
     * Events that each ring of the record keeps.
     *
     * @return a power of two; 0 if there is no record.
     */
    public int recordEvents() {
        return recordEvents;
    }
}
