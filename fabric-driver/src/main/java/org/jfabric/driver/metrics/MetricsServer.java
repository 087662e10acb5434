package org.jfabric.driver.metrics;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.driver.metrics.LocalHttpServer.Answer;
import org.jfabric.driver.metrics.LocalHttpServer.Request;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Answers on 127.0.0.1, on a thread of its own: {@code GET /metrics} with the counters of this driver and of its
 * process, {@code /health} and {@code /ready} with 200 or 503. The driver's threads do nothing for it.
 */
public final class MetricsServer implements AutoCloseable {

    private final CountersReader counters;
    private final Path directory;
    private final BooleanSupplier takesClients;
    private final LocalHttpServer server;
    /** Guarded by this object: after {@link #close()} the counters' memory is gone. */
    private boolean closed;

    private MetricsServer(int port, CountersReader counters, Path directory, BooleanSupplier takesClients)
        throws IOException {
        this.counters = counters;
        this.directory = directory;
        this.takesClients = takesClients;
        this.server = LocalHttpServer.open(port, "jfabric-metrics", "", this::answer);
    }

    /**
     * Listens.
     *
     * @param port         of 127.0.0.1, 0 for a free one.
     * @param counters     memory that is valid until {@link #close()}.
     * @param directory    of the driver.
     * @param takesClients whether the driver is not being drained; called by the server's thread.
     * @return the server; the caller closes it.
     * @throws FabricException {@code FI_EADDRINUSE} if the port cannot be listened at.
     */
    public static MetricsServer open(
        int port, CountersReader counters, Path directory, BooleanSupplier takesClients) {
        try {
            return new MetricsServer(port, counters, directory, takesClients);
        } catch (IOException ex) {
            throw new FabricException(FabricErrno.EADDRINUSE,
                "the metrics cannot be served at 127.0.0.1:" + port + ": " + ex.getMessage(),
                "Set jfabric.metrics.port to a free port, to 0 for any, or to -1 for none.", ex);
        }
    }

    /** The port that is listened at. Returns 1 to 65535. */
    public int port() {
        return server.port();
    }

    private Answer answer(Request request) {
        return switch (request.path()) {
            case "/metrics" -> metrics();
            case "/health" -> isClosed() ? ending() : Answer.line(200, "The driver runs.");
            case "/ready" -> isClosed() ? ending()
                : takesClients.getAsBoolean() ? Answer.line(200, "The driver takes clients.")
                    : Answer.line(503, "The driver is being drained: it opens no more endpoints.");
            default -> Answer.line(404, "The metrics are at /metrics; /health and /ready answer with 200 or 503.");
        };
    }

    private static Answer ending() {
        return Answer.line(503, "The driver is ending.");
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private Answer metrics() {
        List<Metric> metrics = read();
        if (metrics == null) {
            return ending();
        }
        metrics.addAll(ProcessMetrics.of(directory));
        return new Answer(200, OpenMetricsText.CONTENT_TYPE, OpenMetricsText.of(metrics));
    }

    /** Returns null if the driver has ended, or its file was cut just now. */
    private synchronized List<Metric> read() {
        try {
            return closed ? null : MetricsSnapshot.of(counters);
        } catch (InternalError cut) {
            return null;
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        server.close();
    }
}
