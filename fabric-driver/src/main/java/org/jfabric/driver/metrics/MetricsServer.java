package org.jfabric.driver.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Answers {@code GET /metrics} on 127.0.0.1 with the counters of this driver, on threads of its own. The driver's
 * threads do nothing for it. Requests that name another host are refused ({@link LocalHost}).
 *
 * <p>Each request has a thread: the server of the JDK waits in it for the rest of a request, and a connection that
 * sends nothing more must not keep the page from others.
 */
public final class MetricsServer implements AutoCloseable {
    private static final String PATH = "/metrics";
    private static final int BACKLOG = 16;

    private final CountersReader counters;
    private final HttpServer server;
    private final ExecutorService threads;
    /** Guarded by this object: after {@link #close()} the counters' memory is gone. */
    private boolean closed;

    private MetricsServer(CountersReader counters, HttpServer server) {
        this.counters = counters;
        this.server = server;
        this.threads = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("jfabric-metrics-", 0).factory());
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    /**
     * Listens.
     *
     * @param port     of 127.0.0.1, 0 for a free one.
     * @param counters memory that is valid until {@link #close()}.
     * @return the server; the caller closes it.
     * @throws FabricException {@code FI_ENOSYS} if the JDK has no HTTP server, {@code FI_EADDRINUSE} if the port cannot
     *     be listened at.
     */
    public static MetricsServer open(int port, CountersReader counters) {
        try {
            return new MetricsServer(counters, HttpServer.create(
                new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port), BACKLOG));
        } catch (IOException ex) {
            throw new FabricException(FabricErrno.EADDRINUSE,
                "the metrics cannot be served at 127.0.0.1:" + port + ": " + ex.getMessage(),
                "Set jfabric.metrics.port to a free port, to 0 for any, or to -1 for none.", ex);
        } catch (NoClassDefFoundError ex) {
            throw new FabricException(FabricErrno.ENOSYS,
                "jfabric.metrics.port is " + port + ", and this Java runtime has no module jdk.httpserver",
                "Add it (java --add-modules jdk.httpserver, jlink --add-modules jdk.httpserver), or set -1.", ex);
        }
    }

    /**
     * The port that is listened at.
     *
     * @return 1 to 65535.
     */
    public int port() {
        return server.getAddress().getPort();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            boolean isHead = exchange.getRequestMethod().equals("HEAD");
            if (!LocalHost.isNamed(exchange)) {
                exchange.sendResponseHeaders(421, -1);
            } else if (!PATH.equals(exchange.getRequestURI().getPath())) {
                exchange.sendResponseHeaders(404, -1);
            } else if (!isHead && !exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                exchange.sendResponseHeaders(405, -1);
            } else {
                String page = page();
                if (page == null) {
                    exchange.sendResponseHeaders(503, -1);
                    return;
                }
                byte[] bytes = page.getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Content-Type", OpenMetricsText.CONTENT_TYPE);
                exchange.sendResponseHeaders(200, isHead ? -1 : bytes.length);
                if (!isHead) {
                    exchange.getResponseBody().write(bytes);
                }
            }
        }
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
        server.stop(0);
        threads.shutdownNow();
    }
}
