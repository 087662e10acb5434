package org.jfabric.tool.watch;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.metrics.LocalHttpServer;
import org.jfabric.driver.metrics.LocalHttpServer.Answer;
import org.jfabric.driver.metrics.LocalHttpServer.Request;
import org.jfabric.tool.ToolException;

/**
 * Serves the page that shows drivers, on 127.0.0.1. It is read-only.
 *
 * <p>Every process of the host reaches this address, but a driver belongs to one user: data is given only to requests
 * that carry the key, which is in the printed URL, behind the {@code #} that browsers do not send.
 *
 * <p>Samples are taken by a thread of its own, also while no page is open.
 */
final class WebServer implements AutoCloseable {
    /** Usual time between two samples. */
    static final long PERIOD_MS = 1_000;

    private record Resource(String path, String type) {
    }

    private static final Answer NO_PAGE = Answer.line(404, "There is no such page.");
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
    private static final String HEADERS = "Content-Security-Policy: " + POLICY + "\r\n"
        + "X-Content-Type-Options: nosniff\r\n"
        + "Referrer-Policy: no-referrer\r\n"
        + "Cross-Origin-Resource-Policy: same-origin\r\n"
        + "Cross-Origin-Opener-Policy: same-origin\r\n"
        + "Cache-Control: no-store\r\n";

    private final Sampler sampler;
    private final LocalHttpServer server;
    private final ScheduledExecutorService sampling;
    private final History history;
    private final long periodMs;
    private final String key;
    private volatile Sample latest;

    private WebServer(int port, Sampler sampler, long periodMs) throws IOException {
        this.sampler = sampler;
        this.periodMs = periodMs;
        byte[] random = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(random);
        key = HexFormat.of().formatHex(random);
        latest = sampler.sample();
        history = new History((int) (KEPT_MS / periodMs));
        server = LocalHttpServer.open(port, "fabric-web", HEADERS, this::answer);
        sampling = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("fabric-web-samples").factory());
        sampling.scheduleAtFixedRate(this::sample, periodMs, periodMs, TimeUnit.MILLISECONDS);
    }

    /**
     * Listens, and takes samples.
     *
     * @param port     of 127.0.0.1, 0 for a free one.
     * @param periodMs between two samples, and two questions of the page.
     * @return the server; the caller closes it.
     * @throws ToolException if the port cannot be listened at.
     */
    static WebServer open(int port, Sampler sampler, long periodMs) {
        try {
            return new WebServer(port, sampler, periodMs);
        } catch (IOException ex) {
            throw new ToolException("The page cannot be served at 127.0.0.1:" + port + ": " + ex.getMessage()
                + ". Choose another port with --port, or 0 for any.", ex);
        }
    }

    /** The address for a browser, with the key. */
    String url() {
        return "http://127.0.0.1:" + port() + "/#" + key;
    }

    int port() {
        return server.port();
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

    private Answer answer(Request request) {
        Resource resource = RESOURCES.get(request.path());
        if (resource != null) {
            return new Answer(200, resource.type, read(resource.path));
        } else if (!request.path().startsWith("/api/")) {
            return NO_PAGE;
        } else if (!hasKey(request.authorization())) {
            return Answer.line(401, "The header Authorization must be: Bearer KEY, with the key that stands behind the"
                + " # of the URL that 'fabric web' has printed.");
        }
        String json = switch (request.path()) {
            case "/api/state" -> WebJson.state(latest, periodMs);
            case "/api/history" -> WebJson.history(history.since(since(request.query())));
            case "/api/errors" -> WebJson.errors(latest);
            case "/api/options" -> WebJson.options(latest);
            default -> null;
        };
        return json == null ? NO_PAGE : new Answer(200, "application/json", json);
    }

    private static long since(String query) {
        return query != null && query.matches("since=\\d{1,18}") ? Long.parseLong(query.substring(6)) : 0;
    }

    private boolean hasKey(String given) {
        return given != null && MessageDigest.isEqual(
            given.getBytes(StandardCharsets.UTF_8), ("Bearer " + key).getBytes(StandardCharsets.UTF_8));
    }

    private static String read(String path) {
        try (InputStream in = WebServer.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + path);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void close() {
        sampling.shutdownNow();
        server.close();
    }
}
