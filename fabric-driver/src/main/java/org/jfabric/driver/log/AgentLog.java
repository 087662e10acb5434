package org.jfabric.driver.log;

import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.agrona.ErrorHandler;
import org.jfabric.info.FabricException;

/**
 * The one place to which an agent reports its rare events. From here they go to the {@link DriverLog}, to the agent's
 * rings in the {@code record} file and to the flight recorder of the Java runtime.
 *
 * <p>Owner: the agent. The driver's own one, for threads that are no agents, takes events of any thread.
 */
public final class AgentLog implements ErrorHandler {
    private static final long SAME_ERROR_NS = TimeUnit.SECONDS.toNanos(1);

    private final DriverLog log;
    private final EventSink[] sinks;
    /** For events that say how long something took. */
    private final EventSink[] waitSinks;
    private String lastError = "";
    private long lastErrorNs;

    /** Only passes errors on. */
    public AgentLog(ErrorHandler recorder) {
        this(new DriverLog(recorder), null, null, null);
    }

    AgentLog(DriverLog log, EventSink ring, EventSink waitRing, EventSink runtime) {
        this.log = log;
        this.sinks = Stream.of(ring, runtime).filter(Objects::nonNull).toArray(EventSink[]::new);
        this.waitSinks = Stream.of(waitRing, runtime).filter(Objects::nonNull).toArray(EventSink[]::new);
    }

    /**
     * An event that is recorded, and has no line in the log.
     *
     * @param clientId number of the client, 0 if it concerns none.
     * @param objectId number of the client's object, 0 if it concerns none.
     * @param first    as the kind says, else 0.
     * @param second   as the kind says, else 0.
     * @param text     a name or a sentence, may be empty.
     */
    public void event(EventKind kind, long clientId, long objectId, long first, long second, String text) {
        for (EventSink sink : kind.isWait() ? waitSinks : sinks) {
            sink.write(kind, clientId, objectId, first, second, text);
        }
    }

    public void driver(EventKind kind, String text) {
        event(kind, 0, 0, 0, 0, text);
        log.add(new LogEntry(Level.INFO, kind.text(), text));
    }

    /**
     * An event of a client's life that is no error.
     *
     * @param pid  its process, 0 if unknown.
     */
    public void client(EventKind kind, long id, String name, int pid, String text) {
        event(kind, id, 0, pid, 0, name.isEmpty() ? text : name + ": " + text);
        log.add(new LogEntry(Instant.now(), Level.INFO, kind.text(), id, name, pid, text));
    }

    /**
     * The end of a client by an error, which is also recorded as an error.
     *
     * @param pid   its process, 0 if unknown.
     */
    public void clientFailed(EventKind kind, long id, String name, int pid, Throwable cause) {
        String text = text(cause);
        event(kind, id, 0, pid, 0, text);
        log.record(cause);
        log.add(new LogEntry(Instant.now(), Level.WARNING, kind.text(), id, name, pid, text));
    }

    /**
     * Records an error and logs it. Of errors with the same text one in a second is an event.
     *
     * @param error of any kind.
     */
    @Override
    public void onError(Throwable error) {
        String text = text(error);
        if (isNew(text)) {
            event(EventKind.ERROR, 0, 0, error instanceof FabricException failed ? failed.errno() : 0, 0, text);
        }
        log.record(error);
        log.add(new LogEntry(Level.ERROR, EventKind.ERROR.text(), text));
    }

    private synchronized boolean isNew(String text) {
        long nowNs = System.nanoTime();
        if (text.equals(lastError) && nowNs - lastErrorNs < SAME_ERROR_NS) {
            return false;
        }
        lastError = text;
        lastErrorNs = nowNs;
        return true;
    }

    private static String text(Throwable error) {
        // the message of the errors that the driver describes is complete; others need their class
        String message = error.getMessage();
        return error instanceof FabricException && message != null ? message : error.toString();
    }
}
