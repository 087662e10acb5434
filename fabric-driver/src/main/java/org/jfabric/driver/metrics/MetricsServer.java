package org.jfabric.driver.metrics;

import java.io.IOException;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.driver.metrics.LocalHttpServer.Answer;
import org.jfabric.driver.metrics.LocalHttpServer.Request;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Answers {@code GET /metrics} on 127.0.0.1 with the counters of this driver, on a thread of its own. The driver's
 * threads do nothing for it.
 */
public final class MetricsServer implements AutoCloseable {
    private static final String PATH = "/metrics";

    private final CountersReader counters;
    private final LocalHttpServer server;
    /** Guarded by this object: after {@link #close()} the counters' memory is gone. */
    private boolean closed;

    private MetricsServer(int port, CountersReader counters) throws IOException {
        this.counters = counters;
        this.server = LocalHttpServer.open(port, "jfabric-metrics", "", this::answer);
    }

    /**
     * Listens.
     *
     * @param port     of 127.0.0.1, 0 for a free one.
     * @param counters memory that is valid until {@link #close()}.
     * @return the server; the caller closes it.
     * @throws FabricException {@code FI_EADDRINUSE} if the port cannot be listened at.
     */
    public static MetricsServer open(int port, CountersReader counters) {
        try {
            return new MetricsServer(port, counters);
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
        if (!PATH.equals(request.path())) {
            return Answer.line(404, "The metrics are at " + PATH + '.');
        }
        String page = page();
        return page == null ? Answer.line(503, "The driver is ending.")
            : new Answer(200, OpenMetricsText.CONTENT_TYPE, page);
    }

    /** Returns null if the driver has ended, or its file was cut just now. */
    private synchronized String page() {
        try {
            return closed ? null : OpenMetricsText.of(MetricsSnapshot.of(counters));
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
