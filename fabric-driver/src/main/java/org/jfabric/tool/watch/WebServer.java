package org.jfabric.tool.watch;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.metrics.LocalHost;
import org.jfabric.tool.ToolException;

/**
 * Serves the page that shows drivers, on 127.0.0.1. It is read-only.
 *
 * <p>Every process of the host reaches this address, but a driver belongs to one user: data is given only to requests
 * that carry the key, which is in the printed URL, behind the {@code #} that browsers do not send. The header
 * {@code Host} must name this host, so that a page of another host cannot use a name that it lets resolve to 127.0.0.1.
 *
 * <p>Samples are taken by a thread of its own, also while no page is open.
 */
final class WebServer implements AutoCloseable {
    /** Usual time between two samples. */
    static final long PERIOD_MS = 1_000;

    private record Resource(String path, String type) {
    }

    private static final int BACKLOG = 16;
    private static final long KEPT_MS = 600_000;
    private static final int KEY_BYTES = 16;
    /** In the jar of this version of the library. */
    private static final String LIBRARY = "/META-INF/resources/webjars/uplot/1.6.30/";
    private static final String SCRIPT = "text/javascript; charset=utf-8";
    private static final String STYLE = "text/css; charset=utf-8";
    private static final Map<String, Resource> RESOURCES = Map.of(
        "/", new Resource("page.html", "text/html; charset=utf-8"),
        "/page.js", new Resource("page.js", SCRIPT),
        "/graph.js", new Resource("graph.js", SCRIPT),
        "/page.css", new Resource("page.css", STYLE),
        "/icon.svg", new Resource("icon.svg", "image/svg+xml"),
        "/uplot.js", new Resource(LIBRARY + "dist/uPlot.iife.min.js", SCRIPT),
        "/uplot.css", new Resource(LIBRARY + "dist/uPlot.min.css", STYLE),
        "/uplot-license.txt", new Resource(LIBRARY + "LICENSE", "text/plain; charset=utf-8"));
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
        + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private final Sampler sampler;
    private final HttpServer server;
    private final ExecutorService answering;
    private final ScheduledExecutorService sampling;
    private final History history;
    private final long periodMs;
    private final String key;
    private volatile Sample latest;

    private WebServer(Sampler sampler, HttpServer server, long periodMs) {
        this.sampler = sampler;
        this.periodMs = periodMs;
        this.server = server;
        byte[] random = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(random);
        key = HexFormat.of().formatHex(random);
        latest = sampler.sample();
        history = new History((int) (KEPT_MS / periodMs));
        // a connection that sends half a request keeps its thread, and must not keep the page from its user
        answering = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("fabric-web-", 0).factory());
        sampling = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("fabric-web-samples").factory());
        server.setExecutor(answering);
        server.createContext("/", this::answer);
    }

    /**
     * Listens, and takes samples.
     *
     * @param port     of 127.0.0.1, 0 for a free one.
     * @param sampler  owned by the server from now on.
     * @param periodMs between two samples, and two questions of the page.
     * @return the server; the caller closes it.
     * @throws ToolException if the port cannot be listened at, or the JDK has no HTTP server.
     */
    static WebServer open(int port, Sampler sampler, long periodMs) {
        try {
            WebServer web = new WebServer(sampler, HttpServer.create(
                new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port), BACKLOG), periodMs);
            web.server.start();
            web.sampling.scheduleAtFixedRate(web::sample, periodMs, periodMs, TimeUnit.MILLISECONDS);
            return web;
        } catch (IOException ex) {
            throw new ToolException("The page cannot be served at 127.0.0.1:" + port + ": " + ex.getMessage()
                + ". Choose another port with --port, or 0 for any.", ex);
        } catch (NoClassDefFoundError ex) {
            throw new ToolException("This Java runtime has no module jdk.httpserver; use a full JDK.", ex);
        }
    }

    /** The address for a browser, with the key. */
    String url() {
        return "http://127.0.0.1:" + port() + "/#" + key;
    }

    int port() {
        return server.getAddress().getPort();
    }

    private void sample() {
        try {
            latest = sampler.sample();
            history.add(latest);
        } catch (RuntimeException ex) {
            // a driver that ends meanwhile takes its files along, and a next sample shows that; the page shows the age
            return;
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            headers(exchange.getResponseHeaders());
            String path = exchange.getRequestURI().getPath();
            String method = exchange.getRequestMethod();
            Resource resource = RESOURCES.get(path);
            if (!LocalHost.isNamed(exchange)) {
                send(exchange, 421, "text/plain", "This server is 127.0.0.1:" + port() + ".\n");
            } else if (!method.equals("GET") && !method.equals("HEAD")) {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                send(exchange, 405, "text/plain", "Only GET and HEAD.\n");
            } else if (resource != null) {
                send(exchange, 200, resource.type, read(resource.path));
            } else if (!path.startsWith("/api/")) {
                send(exchange, 404, "text/plain", "There is no such page.\n");
            } else if (!hasKey(exchange.getRequestHeaders())) {
                send(exchange, 401, "text/plain", "The header Authorization must be: Bearer KEY, with the key that"
                    + " stands behind the # of the URL that 'fabric web' has printed.\n");
            } else {
                data(exchange, path);
            }
        }
    }

    private void data(HttpExchange exchange, String path) throws IOException {
        String json = switch (path) {
            case "/api/state" -> WebJson.state(latest, periodMs);
            case "/api/history" -> WebJson.history(history.since(since(exchange.getRequestURI().getQuery())));
            case "/api/errors" -> WebJson.errors(latest);
            case "/api/options" -> WebJson.options(latest);
            default -> null;
        };
        if (json == null) {
            send(exchange, 404, "text/plain", "There is no such page.\n");
        } else {
            send(exchange, 200, "application/json", json);
        }
    }

    private static long since(String query) {
        return query != null && query.matches("since=\\d{1,18}") ? Long.parseLong(query.substring(6)) : 0;
    }

    private static void headers(Headers headers) {
        headers.set("Content-Security-Policy", POLICY);
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("Referrer-Policy", "no-referrer");
        headers.set("Cross-Origin-Resource-Policy", "same-origin");
        headers.set("Cross-Origin-Opener-Policy", "same-origin");
        headers.set("Cache-Control", "no-store");
    }

    private boolean hasKey(Headers headers) {
        String given = headers.getFirst("Authorization");
        return given != null && MessageDigest.isEqual(
            given.getBytes(StandardCharsets.UTF_8), ("Bearer " + key).getBytes(StandardCharsets.UTF_8));
    }

    private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        boolean isHead = exchange.getRequestMethod().equals("HEAD");
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, isHead ? -1 : bytes.length);
        if (!isHead) {
            exchange.getResponseBody().write(bytes);
        }
    }

    private static String read(String path) throws IOException {
        try (InputStream in = WebServer.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + path);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Override
    public void close() {
        sampling.shutdownNow();
        server.stop(0);
        answering.shutdownNow();
    }
}
