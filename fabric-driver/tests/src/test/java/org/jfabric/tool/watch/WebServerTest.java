package org.jfabric.tool.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.metrics.HalfRequests;
import org.jfabric.test.Deadline;
import org.jfabric.tool.JsonText;
import org.jfabric.tool.ToolException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who gets an answer of the page's server, and which. */
@Timeout(60)
class WebServerTest {
    private final WebServer server = WebServer.open(0, new Sampler(List::of), WebServer.PERIOD_MS);
    private final String host = "127.0.0.1:" + server.port();
    private final String key = server.url().replaceFirst(".*#", "");

    @AfterEach
    void close() {
        server.close();
    }

    /** Java's client does not send a header Host of one's choice. */
    private String ask(String method, String path, String... headers) throws IOException {
        try (Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), server.port())) {
            String request = method + ' ' + path + " HTTP/1.1\r\nConnection: close\r\n"
                + String.join("\r\n", headers) + "\r\n\r\n";
            // an interrupt does not end a read
            socket.setSoTimeout(Deadline.ms(20));
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String get(String path) throws IOException {
        return ask("GET", path, "Host: " + host, "Authorization: Bearer " + key);
    }

    private static void assertStatus(int status, String answer) {
        assertTrue(answer.startsWith("HTTP/1.1 " + status + ' '), answer);
    }

    @Test
    void shouldShowGroupsAndNullForWhatIsNotKnown() {
        List<?> groups = (List<?>) JsonText.object(WebJson.state(Samples.of(1), 1_000)).get("groups");
        Map<?, ?> quotes = (Map<?, ?>) groups.getFirst();
        assertEquals("jfabric://beta/r9", quotes.get("heldBackBy"));
        assertEquals(70_000.0, ((Map<?, ?>) quotes.get("values")).get("position"));
        assertEquals(Map.of("address", "jfabric://beta/r9", "position", 68_001.0, "lag", 1_999.0, "lost", 0.0,
            "stillMs", 61_000.0), ((List<?>) quotes.get("readers")).getFirst());
        Map<?, ?> host = (Map<?, ?>) ((List<?>) quotes.get("hosts")).getFirst();
        assertEquals("gamma", host.get("driver"));
        assertEquals(1_500_000.0, host.get("rate"));
        Map<?, ?> log = (Map<?, ?>) quotes.get("recording");
        assertEquals("/logs/quotes", log.get("folder"));
        assertEquals("messages are left out", log.get("problem"));
        Map<?, ?> news = (Map<?, ?>) groups.getLast();
        assertNull(news.get("writer"));
        assertNull(news.get("recording"));
        assertNull(((Map<?, ?>) ((List<?>) news.get("readers")).getFirst()).get("lag"));
    }

    @Test
    void shouldServeThePageWithAStrictPolicyAndNothingOfOtherHosts() throws IOException {
        for (String path : List.of("/", "/page.js", "/graph.js", "/page.css", "/icon.svg", "/uplot.js", "/uplot.css",
            "/uplot-license.txt")) {
            String answer = ask("GET", path, "Host: " + host);
            assertStatus(200, answer);
            assertTrue(answer.contains("default-src 'none'; script-src 'self'; style-src 'self';"), answer);
            assertFalse(answer.contains("unsafe"), answer);
            assertTrue(answer.toLowerCase().contains("cache-control: no-store"), answer);
            assertTrue(answer.toLowerCase().contains("x-content-type-options: nosniff"), answer);
        }
        assertTrue(ask("GET", "/uplot-license.txt", "Host: " + host).contains("MIT License"));
        String page = ask("GET", "/", "Host: localhost:" + server.port());
        assertStatus(200, page);
        assertFalse(page.matches("(?s).*(src|href)=\"[a-z]*:?//.*"), page);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/api/state", "/api/errors", "/page.js"})
    void shouldRefuseTheNameOfAnotherHost(String path) throws IOException {
        for (String other : List.of("Host: evil.example", "Host: evil.example:" + server.port(), "Host: 127.0.0.1:1",
            "Host: " + host + "\r\nHost: evil.example", "X-Forwarded-Host: " + host)) {
            String answer = ask("GET", path, other, "Authorization: Bearer " + key);
            assertTrue(answer.startsWith("HTTP/1.1 421 ") || answer.startsWith("HTTP/1.1 400 "), answer);
            assertFalse(answer.contains("drivers"), answer);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/api/state", "/api/history", "/api/errors", "/api/options"})
    void shouldGiveDataOnlyForTheKey(String path) throws IOException {
        assertStatus(401, ask("GET", path, "Host: " + host));
        assertStatus(401, ask("GET", path, "Host: " + host, "Authorization: Bearer " + key.substring(1)));
        assertStatus(401, ask("GET", path + "?" + key, "Host: " + host));
        String answer = get(path);
        assertStatus(200, answer);
        assertTrue(answer.contains("application/json"), answer);
        assertTrue(answer.endsWith("}"), answer);
    }

    @Test
    void shouldOnlyBeRead() throws IOException {
        for (String method : List.of("POST", "PUT", "DELETE", "OPTIONS")) {
            assertStatus(405, ask(method, "/api/state", "Host: " + host, "Authorization: Bearer " + key));
        }
        String head = ask("HEAD", "/", "Host: " + host);
        assertStatus(200, head);
        assertTrue(head.endsWith("\r\n\r\n"), head);
        assertStatus(404, get("/page.html"));
        assertStatus(404, get("/../page.html"));
        assertStatus(404, get("/api/other"));
    }

    /** Any process of the host can connect, with the key or without. */
    @Test
    void shouldAnswerAndLimitConnectionsWhenAnotherProcessSendsHalfRequests() throws IOException {
        try (HalfRequests others = new HalfRequests(server.port())) {
            assertStatus(200, get("/api/state"));
            assertTrue(others.areLimited());
        }
    }

    @Test
    void shouldHaveAnotherKeyEachTime() {
        try (WebServer other = WebServer.open(0, new Sampler(List::of), WebServer.PERIOD_MS)) {
            assertFalse(other.url().endsWith(key));
            assertTrue(key.matches("[0-9a-f]{32}"), key);
        }
    }

    @Test
    void shouldListenAtTheLoopbackAddressOnlyAndSayThatAPortIsTaken() throws IOException {
        ToolException taken = assertThrows(
            ToolException.class,
            () -> WebServer.open(server.port(), new Sampler(List::of), WebServer.PERIOD_MS).close());
        assertTrue(taken.getMessage().contains("127.0.0.1:" + server.port()), taken.getMessage());
        InetAddress another = InetAddress.ofLiteral("127.0.0.2");
        assertThrows(ConnectException.class, () -> new Socket(another, server.port()).close());
    }

    @Test
    void shouldListAllOptionsWithTheirDefaults() throws IOException {
        String options = get("/api/options");
        assertTrue(options.contains("{\"name\":\"jfabric.queue.txSize\",\"default\":\"256\",\"unit\":\"count\"}"),
            options);
        assertEquals(1, options.split("\"drivers\":\\[\\]", -1).length - 1, options);
    }
}
