package org.jfabric.driver.config;

import java.nio.file.Path;

/**
 * The log and the record of a driver's rare events.
 */
public final class LogConfig {
    static final OptionGroup GROUP = new OptionGroup("log", "Log and record of rare events");

    /** {@code jfabric.log.target}. */
    public static final Option<LogTarget> TARGET = GROUP.oneOf("jfabric.log.target", LogTarget.class)
        .defaultsTo(LogTarget.AUTO)
        .rule("AUTO, NONE, STDERR, FILE or LOGGER", target -> true)
        .why("AUTO is STDERR for a daemon and NONE for an embedded driver. FILE where no manager collects the standard "
            + "error; LOGGER has an application's System.Logger org.jfabric.driver write the lines of the driver that "
            + "it embeds. Only rare events are logged: clients that come, leave or die, and errors.");

    /** {@code jfabric.log.file}. */
    public static final Option<Path> FILE = GROUP.file("jfabric.log.file")
        .defaultsTo(Path.of("/var/log/jfabric/driver.log"))
        .rule("a path whose folder exists and can be written", path -> path.getFileName() != null)
        .why("With target FILE: the newest file has this name and .0 behind it, the one before .1. Two drivers of one "
            + "host need two names. New files get the rights that the umask leaves.");

    /** {@code jfabric.log.format}. */
    public static final Option<LogFormat> FORMAT = GROUP.oneOf("jfabric.log.format", LogFormat.class)
        .defaultsTo(LogFormat.TEXT)
        .rule("TEXT or JSON", format -> true)
        .why("JSON writes one object per line for programs that collect logs.");

    /** {@code jfabric.log.fileLengthBytes}. */
    public static final Option<Integer> FILE_LENGTH_BYTES = GROUP.intBytes("jfabric.log.fileLengthBytes")
        .defaultsTo(10 << 20)
        .range(1 << 10, 1 << 30)
        .why("With target FILE: the next file begins when one has reached this length. Together with fileCount it "
            + "limits the disk space.");

    /** {@code jfabric.log.fileCount}. */
    public static final Option<Integer> FILE_COUNT = GROUP.count("jfabric.log.fileCount")
        .defaultsTo(5)
        .range(2, 1000)
        .why("With target FILE: number of files that are kept; the oldest one is deleted for a new one.");

    /** {@code jfabric.log.recordEvents}. */
    public static final Option<Integer> RECORD_EVENTS = GROUP.count("jfabric.log.recordEvents")
        .defaultsTo(128)
        .rule("0, or a power of two up to 65536", count -> count >= 0 && count <= 1 << 16 && (count & count - 1) == 0)
        .why("The last events of each agent that the file record of the driver's directory keeps, also when the "
            + "driver is killed; fabric record shows them. 256 bytes each, in 2 rings for each progress thread and 3 "
            + "others; 0 makes no file.");

    private LogConfig() {
    }
}
