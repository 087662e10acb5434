package org.jfabric.driver.log;

import java.io.PrintStream;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.agrona.ErrorHandler;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LogConfig;
import org.jfabric.driver.config.LogTarget;
import org.jfabric.info.FabricException;

/**
 * The log of a driver's rare events, one line each, in the order in which they were handed over. Errors also go to the
 * distinct error log, which counts and keeps them with their stack traces.
 *
 * <p>Any thread; no call waits: a thread of the log's own writes the lines, because a disk or a pipe may block. If
 * {@value #CAPACITY} lines wait, further ones are counted and left out, and a line has their number. An error with the
 * same text as one of the last minute is counted too, and its next line has that count. Agents report to an
 * {@link AgentLog}.
 */
public final class DriverLog implements AutoCloseable {
    static final int CAPACITY = 1024;
    static final int KNOWN_ERRORS = 256;
    static final long REPEAT_NS = TimeUnit.MINUTES.toNanos(1);

    private static final long CLOSE_TIMEOUT_MS = 5_000;
    private static final LogEntry END = new LogEntry(Level.INFO, "end", "");

    /** When an error was written last, and how often it occurred since. */
    private static final class Known {
        private long writtenNs;
        private long since;
    }

    private final ErrorHandler recorder;
    private final LogSink sink;
    private final LongSupplier clock;
    /** Null if no events are kept. */
    private final EventRecord record;
    /** Null without the module of the Java runtime's recorder. */
    private final EventSink runtime;
    private final BlockingQueue<LogEntry> waiting = new ArrayBlockingQueue<>(CAPACITY);
    private final AtomicLong lost = new AtomicLong();
    private final Map<String, Known> known = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
            return size() > KNOWN_ERRORS;
        }
    };
    private final Thread thread;
    private volatile boolean closed;

    /** No log: errors are only recorded. */
    DriverLog(ErrorHandler recorder) {
        this(recorder, null, System::nanoTime, null, null);
    }

    /** A log that writes to a sink, or nowhere if that is null. */
    DriverLog(ErrorHandler recorder, LogSink sink, LongSupplier clock, EventRecord record, EventSink runtime) {
        this.recorder = recorder;
        this.sink = sink;
        this.clock = clock;
        this.record = record;
        this.runtime = runtime;
        this.thread = sink == null ? null : Thread.ofPlatform().daemon().name("jfabric-log").start(this::run);
    }

    /**
     * Opens the log that the options of a driver describe.
     *
     * @param record   keeps the last events, null for none; closed by the caller.
     * @throws FabricException {@code FI_EACCES} if the file cannot be written.
     */
    public static DriverLog open(
        DriverConfig config, boolean isDaemon, ErrorHandler recorder, PrintStream err, EventRecord record) {
        LogSink sink = switch (target(config.get(LogConfig.TARGET), isDaemon)) {
            case STDERR -> LogSink.stream(
                err, config.get(LogConfig.FORMAT), LogSink.isJournal(System.getenv("JOURNAL_STREAM")));
            case FILE -> LogSink.files(config);
            case LOGGER -> LogSink.logger(System.getLogger("org.jfabric.driver"));
            default -> null;
        };
        return new DriverLog(recorder, sink, System::nanoTime, record, RuntimeEvents.openIfPresent());
    }

    static LogTarget target(LogTarget option, boolean isDaemon) {
        return option != LogTarget.AUTO ? option : isDaemon ? LogTarget.STDERR : LogTarget.NONE;
    }

    /**
     * Gives an agent its place to report events to; by the thread that launches the driver. Returns the writes to this
     * log and to all other places where events go.
     */
    public AgentLog agent(String name, boolean waits) {
        return new AgentLog(this, record == null ? null : record.ring(name),
            record == null || !waits ? null : record.ring(name), runtime);
    }

    void record(Throwable error) {
        recorder.onError(error);
    }

    /** Has an entry written, unless too many wait. */
    void add(LogEntry entry) {
        if (sink != null && !closed && !waiting.offer(entry)) {
            lost.incrementAndGet();
        }
    }

    /** Writes what waits and ends; later events are only recorded. */
    @Override
    public void close() {
        if (sink == null || closed) {
            return;
        }
        closed = true;
        boolean interrupted = false;
        try {
            if (waiting.offer(END, CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                thread.join(CLOSE_TIMEOUT_MS);
            }
        } catch (InterruptedException ex) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        boolean ended = false;
        while (!ended) {
            try {
                LogEntry entry = waiting.take();
                long missing = lost.getAndSet(0);
                if (missing > 0) {
                    sink.write(new LogEntry(Level.WARNING, "log-lost", missing + " lines were left out: they came "
                        + "faster than they could be written"));
                }
                ended = entry == END;
                if (!ended) {
                    write(entry);
                }
            } catch (InterruptedException ex) {
                // no other thread interrupts this one; it ends by the last entry
                Thread.interrupted();
            } catch (RuntimeException ex) {
                // a logger of the application: the driver does not depend on it
                recorder.onError(ex);
            }
        }
        sink.close();
    }

    private void write(LogEntry entry) {
        if (entry.level() != Level.ERROR) {
            sink.write(entry);
            return;
        }
        long nowNs = clock.getAsLong();
        Known before = known.get(entry.text());
        if (before != null && nowNs - before.writtenNs < REPEAT_NS) {
            before.since++;
            return;
        }
        Known now = new Known();
        now.writtenNs = nowNs;
        known.remove(entry.text());
        known.put(entry.text(), now);
        sink.write(before == null || before.since == 0 ? entry
            : entry.with(entry.text() + " (and " + before.since + " times before this line)"));
    }
}
