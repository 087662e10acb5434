package org.jfabric.driver.log;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.FileHandler;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.StreamHandler;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LogConfig;
import org.jfabric.driver.config.LogFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/** Where lines are written. Owner: the log's thread. */
interface LogSink {
    /** A link to what it is, also if that has no name. */
    Path STANDARD_ERROR = Path.of("/proc/self/fd/2");

    /** Writes a line; may block. */
    void write(LogEntry entry);

    /** Ends writing. */
    void close();

    /** The logger of the process, which decides by its own configuration. */
    static LogSink logger(System.Logger logger) {
        return new LogSink() {
            @Override
            public void write(LogEntry entry) {
                logger.log(entry.level(), entry.toMessage());
            }

            @Override
            public void close() {
                // it is the application's
            }
        };
    }

    /**
     * Whether the standard error is a stream of the journal, as sd-daemon(3) says.
     *
     * @param stream the variable {@code JOURNAL_STREAM}, or null.
     */
    static boolean isJournal(String stream) {
        try {
            return stream != null && stream.equals(Files.getAttribute(STANDARD_ERROR, "unix:dev") + ":"
                + Files.getAttribute(STANDARD_ERROR, "unix:ino"));
        } catch (IOException | UnsupportedOperationException unknown) {
            return false;
        }
    }

    /**
     * A stream, which stays open.
     *
     * @param isJournal whether lines begin with their priority, which the journal takes away.
     */
    static LogSink stream(OutputStream stream, LogFormat format, boolean isJournal) {
        return handler(new StreamHandler(stream, new LineFormatter()) {
            @Override
            public synchronized void close() {
                flush();
            }
        }, format, isJournal);
    }

    /** Files that are rotated by size; the lines of an earlier driver stay in front. */
    static LogSink files(DriverConfig config) {
        Path file = config.get(LogConfig.FILE);
        try {
            if (!Files.isDirectory(file.getParent())) {
                throw new IOException("there is no folder " + file.getParent());
            }
            FileHandler files = new FileHandler(
                file.toString().replace("%", "%%") + ".%g", config.get(LogConfig.FILE_LENGTH_BYTES),
                config.get(LogConfig.FILE_COUNT), true);
            files.setFormatter(new LineFormatter());
            return handler(files, config.get(LogConfig.FORMAT), false);
        } catch (IOException | SecurityException ex) {
            throw new FabricException(FabricErrno.EACCES, "the log " + file + " cannot be written: " + ex.getMessage(),
                "Make the folder, or choose another place with jfabric.log.file or jfabric.log.target.", ex);
        }
    }

    private static LogSink handler(Handler handler, LogFormat format, boolean isJournal) {
        try {
            handler.setEncoding("UTF-8");
        } catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
        return new LogSink() {
            @Override
            public void write(LogEntry entry) {
                String line = format == LogFormat.JSON ? entry.toJson() : entry.toText();
                handler.publish(
                    new LogRecord(level(entry.level()), isJournal ? priority(entry.level()) + line : line));
                handler.flush();
            }

            @Override
            public void close() {
                handler.close();
            }
        };
    }

    private static String priority(Level level) {
        return switch (level) {
            case ERROR -> "<3>";
            case WARNING -> "<4>";
            default -> "<6>";
        };
    }

    private static java.util.logging.Level level(Level level) {
        return switch (level) {
            case ERROR -> java.util.logging.Level.SEVERE;
            case WARNING -> java.util.logging.Level.WARNING;
            default -> java.util.logging.Level.INFO;
        };
    }

    /** The line is complete already. */
    final class LineFormatter extends Formatter {
        @Override
        public String format(LogRecord record) {
            return record.getMessage() + '\n';
        }
    }
}
