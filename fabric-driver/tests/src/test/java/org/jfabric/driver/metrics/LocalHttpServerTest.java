package org.jfabric.driver.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.metrics.LocalHttpServer.Answer;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What one connection can take of a server that every process of the host reaches. */
@Timeout(60)
class LocalHttpServerTest {
    private static final long LONG_NS = Deadline.ns(3_600);

    private static LocalHttpServer open(String text, long connectionNs) throws IOException {
        return LocalHttpServer.open(0, "tested-pages", "X-Always: yes\r\n",
            request -> new Answer(200, "text/plain", request.path() + '|' + request.query() + '|' + text),
            connectionNs);
    }

    private static Socket send(LocalHttpServer server, String request) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(64 * 1024);
        socket.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), server.port()));
        // an interrupt does not end a read
        socket.setSoTimeout(Deadline.ms(20));
        socket.getOutputStream().write(request.replace("PORT", String.valueOf(server.port()))
            .getBytes(StandardCharsets.ISO_8859_1));
        return socket;
    }

    private static String answer(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static String ask(LocalHttpServer server, String request) throws IOException {
        try (Socket socket = send(server, request)) {
            return answer(socket);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "GET /a?b=c HTTP/1.1~host:  localhost:PORT~, 200, /a|b=c|text",
        "GET /a HTTP/1.0~HOST:127.0.0.1:PORT~Other: x~, 200, /a|null|text",
        "GET /a HTTP/1.1~, 421, This server is 127.0.0.1:",
        "GET /a HTTP/1.1~Host: 127.0.0.1:PORT~Host: 127.0.0.1:PORT~, 400, no request",
        "GET /a HTTP/1.1~Host: 127.0.0.1:PORT~without colon~, 400, no request",
        "GET http://127.0.0.1:PORT/ HTTP/1.1~Host: 127.0.0.1:PORT~, 400, no request",
        "GET /a HTTP/2.0~Host: 127.0.0.1:PORT~, 400, no request",
        "POST /a HTTP/1.1~Host: 127.0.0.1:PORT~Content-Length: 5~~hello, 405, 'Allow: GET, HEAD'",
        "~~, 400, no request"})
    void shouldAnswerRequests(String request, int status, String content) throws IOException {
        try (LocalHttpServer server = open("text", LONG_NS)) {
            String answer = ask(server, request.replace("~", "\r\n") + "\r\n");
            assertTrue(answer.startsWith("HTTP/1.1 " + status + " \r\nX-Always: yes\r\n"), answer);
            assertTrue(answer.contains(content), answer);
        }
    }

    @Test
    void shouldRefuseARequestThatIsTooLong() throws IOException {
        try (LocalHttpServer server = open("text", LONG_NS);
            Socket socket = send(server, "GET / HTTP/1.1\r\nX: " + "x".repeat(16 * 1024))) {
            assertTrue(answer(socket).startsWith("HTTP/1.1 431 "));
        }
    }

    @Test
    void shouldCloseConnectionsAtTheEndOfTheirTime() throws IOException {
        try (LocalHttpServer server = open("x".repeat(64 << 20), 50_000_000L);
            Socket half = send(server, "GET / HTTP/1.1\r\n");
            Socket unread = send(server, "GET / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n")) {
            assertEquals("", answer(half));
            // the rest of the answer does not come: its reader was too slow
            unread.setSoTimeout(Deadline.ms(20));
            assertTrue(answerLength(unread) < 64 << 20);
        }
    }

    /** Begins to read when the server has closed the connection of a reader that came later. */
    private static int answerLength(Socket socket) {
        try {
            return socket.getInputStream().readAllBytes().length;
        } catch (IOException ex) {
            // a reset
            return 0;
        }
    }

    @Test
    void shouldLimitTheBytesOfAnswersThatAreNotRead() throws IOException {
        String get = "GET / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n";
        int length = 8 << 20;
        List<Socket> readers = new ArrayList<>();
        try (LocalHttpServer server = open("x".repeat(length), LONG_NS)) {
            for (int i = 0; i < 20; i++) {
                readers.add(send(server, get));
            }
            assertTrue(ask(server, get).length() > length);
            int whole = 0;
            for (Socket each : readers) {
                whole += answerLength(each) > length ? 1 : 0;
            }
            // up to half of each answer is in the buffers of its socket
            assertTrue(whole <= 4, whole + " answers were kept");
        } finally {
            for (Socket each : readers) {
                each.close();
            }
        }
    }

    @Test
    void shouldNotListenAfterItsClose() throws IOException {
        LocalHttpServer server = open("text", LONG_NS);
        try (Socket open = send(server, "GET / HT")) {
            server.close();
            assertEquals(0, answerLength(open));
            assertThrows(IOException.class, () -> send(server, "GET / HT").close());
        }
    }
}
