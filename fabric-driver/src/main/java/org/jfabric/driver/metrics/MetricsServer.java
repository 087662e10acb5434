package org.jfabric.driver.metrics;

import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.metrics.LocalHttpServer.Answer;
import org.jfabric.driver.metrics.LocalHttpServer.Request;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Answers on 127.0.0.1, on a thread of its own: {@code GET /metrics} with the counters of this driver and of its
 * process, {@code /health} and {@code /ready} with 200 or 503. The driver's threads do nothing for it.
 */
public final class MetricsServer implements AutoCloseable {

    private final MetricsSource source;
    private final BooleanSupplier takesClients;
    private final LocalHttpServer server;

    private MetricsServer(int port, MetricsSource source, BooleanSupplier takesClients) throws IOException {
        this.source = source;
        this.takesClients = takesClients;
        this.server = LocalHttpServer.open(port, "jfabric-metrics", "", this::answer);
    }

    /**
     * Listens.
     *
     * @param port         of 127.0.0.1, 0 for a free one.
     * @param takesClients whether the driver is not being drained; called by the server's thread.
     * @return the server; the caller closes it.
     * @throws FabricException {@code FI_EADDRINUSE} if the port cannot be listened at.
     */
    public static MetricsServer open(int port, MetricsSource source, BooleanSupplier takesClients) {
        try {
            return new MetricsServer(port, source, takesClients);
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
            case "/metrics" -> metrics(request);
            case "/health" -> source.isClosed() ? ending() : Answer.line(200, "The driver runs.");
            case "/ready" -> source.isClosed() ? ending()
                : takesClients.getAsBoolean() ? Answer.line(200, "The driver takes clients.")
                    : Answer.line(503, "The driver is being drained: it opens no more endpoints.");
            default -> Answer.line(404, "The metrics are at /metrics; /health and /ready answer with 200 or 503.");
        };
    }

    private static Answer ending() {
        return Answer.line(503, "The driver is ending.");
    }

    private Answer metrics(Request request) {
        List<Metric> metrics = source.read();
        if (metrics == null) {
            return ending();
        }
        boolean isOpen = request.accept().contains(OpenMetricsText.MEDIA_TYPE);
        return isOpen ? new Answer(200, OpenMetricsText.CONTENT_TYPE, OpenMetricsText.of(metrics))
            : new Answer(200, OpenMetricsText.OLDER_CONTENT_TYPE, OpenMetricsText.older(metrics));
    }

    @Override
    public void close() {
        server.close();
    }
}
