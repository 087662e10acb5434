package org.jfabric.driver.metrics;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * Answers GET and HEAD at 127.0.0.1 on one thread. Requests that name another host are refused: a browser that resolves
 * the name of another site to 127.0.0.1 sends that name.
 *
 * <p>Every process of the host reaches this address, so all that a connection can take is limited: the number of
 * connections, the bytes and the time of a request, and the bytes of answers that are not read. Where a limit is
 * reached, the oldest connection is closed. A request that comes at once is answered nevertheless, because each round
 * of the thread reads all connections and accepts one.
 */
public final class LocalHttpServer implements AutoCloseable {
    /**
     * What is asked for.
     *
     * @param path          begins with a slash, without the query.
     * @param query         or null.
     * @param authorization the header of this name, or null.
     * @param accept        the header of this name, or empty.
     */
    public record Request(String path, String query, String authorization, String accept) {
    }

    /**
     * What is answered.
     *
     * @param text   may be empty.
     */
    public record Answer(int status, String type, String text) {
        public static Answer line(int status, String line) {
            return new Answer(status, "text/plain; charset=utf-8", line + '\n');
        }
    }

    /** Makes answers, on the server's thread. */
    @FunctionalInterface
    public interface Handler {
        Answer answer(Request request);
    }

    /** More than browsers and monitoring systems open at a time. */
    private static final int CONNECTIONS = 32;
    private static final int REQUEST_BYTES = 16 * 1024;
    private static final long UNREAD_BYTES = 16 << 20;
    /** For a request, its answer, and the close of the connection by the client. */
    private static final long CONNECTION_NS = 10_000_000_000L;
    private static final long RETRY_NS = 10_000_000L;
    private static final int BACKLOG = 64;

    /** In the order in which they were accepted. */
    private final Deque<Connection> connections = new ArrayDeque<>();
    private final Selector selector;
    private final ServerSocketChannel listener;
    private final int port;
    private final String headers;
    private final Handler handler;
    private final long connectionNs;
    private final Thread thread;
    private volatile boolean closed;

    private LocalHttpServer(Selector selector, ServerSocketChannel listener, String name, String headers,
        Handler handler, long connectionNs) throws IOException {
        this.selector = selector;
        this.listener = listener;
        this.port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
        this.headers = headers;
        this.handler = handler;
        this.connectionNs = connectionNs;
        thread = Thread.ofPlatform().daemon().name(name).start(this::run);
    }

    /**
     * Listens.
     *
     * @param port    of 127.0.0.1, 0 for a free one.
     * @return the server; the caller closes it.
     * @throws IOException if the port cannot be listened at.
     */
    public static LocalHttpServer open(int port, String name, String headers, Handler handler) throws IOException {
        return open(port, name, headers, handler, CONNECTION_NS);
    }

    static LocalHttpServer open(int port, String name, String headers, Handler handler, long connectionNs)
        throws IOException {
        Selector selector = Selector.open();
        ServerSocketChannel listener = null;
        try {
            listener = ServerSocketChannel.open();
            listener.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port), BACKLOG);
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            return new LocalHttpServer(selector, listener, name, headers, handler, connectionNs);
        } catch (IOException ex) {
            selector.close();
            if (listener != null) {
                listener.close();
            }
            throw ex;
        }
    }

    /** The port that is listened at. Returns 1 to 65535. */
    public int port() {
        return port;
    }

    private void run() {
        try (selector; listener) {
            while (!closed) {
                selector.select(this::ready, waitMs());
                while (!connections.isEmpty() && connections.getFirst().deadlineNs - System.nanoTime() <= 0) {
                    connections.removeFirst().close();
                }
            }
        } catch (IOException ex) {
            // the selector is no more: nothing can be answered
            closed = true;
        } finally {
            connections.forEach(Connection::close);
        }
    }

    /** Until the oldest connection has to be closed; 0 is for ever. */
    private long waitMs() {
        return connections.isEmpty() ? 0
            : Math.max(1, (connections.getFirst().deadlineNs - System.nanoTime()) / 1_000_000 + 1);
    }

    private void ready(SelectionKey key) {
        if (key.attachment() == null) {
            accept();
        } else {
            ((Connection) key.attachment()).proceed();
        }
    }

    private void accept() {
        try {
            SocketChannel channel = listener.accept();
            if (channel != null) {
                if (connections.size() == CONNECTIONS) {
                    connections.removeFirst().close();
                }
                Connection connection = new Connection(channel);
                connections.addLast(connection);
                connection.proceed();
            }
        } catch (IOException ex) {
            // no descriptor is left
            if (!connections.isEmpty()) {
                connections.removeFirst().close();
            }
            LockSupport.parkNanos(RETRY_NS);
        }
    }

    private byte[] answerTo(String head) {
        String[] lines = head.split("\r\n");
        String[] request = lines[0].split(" ", -1);
        String host = null;
        String authorization = null;
        String accept = "";
        boolean isValid = request.length == 3 && request[1].startsWith("/") && request[2].matches("HTTP/1\\.\\d");
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            String value = lines[i].substring(colon + 1).strip();
            switch (lines[i].substring(0, Math.max(0, colon)).toLowerCase(Locale.ROOT)) {
                case "" -> isValid = false;
                case "host" -> {
                    isValid &= host == null;
                    host = value;
                }
                case "authorization" -> authorization = value;
                case "accept" -> accept = value;
                default -> { }
            }
        }
        boolean isHead = request[0].equals("HEAD");
        Answer answer;
        if (!isValid) {
            answer = Answer.line(400, "This is no request of HTTP/1.1.");
        } else if (host == null || !host.equals("127.0.0.1:" + port) && !host.equals("localhost:" + port)) {
            answer = Answer.line(421, "This server is 127.0.0.1:" + port + '.');
        } else if (!isHead && !request[0].equals("GET")) {
            answer = Answer.line(405, "Only GET and HEAD.");
        } else {
            int query = request[1].indexOf('?');
            answer = answer(new Request(query < 0 ? request[1] : request[1].substring(0, query),
                query < 0 ? null : request[1].substring(query + 1), authorization, accept));
        }
        return bytes(answer, isHead);
    }

    private Answer answer(Request request) {
        try {
            return handler.answer(request);
        } catch (RuntimeException | InternalError ex) {
            // InternalError: a file of a driver was cut
            return Answer.line(500, "The answer could not be made: " + ex);
        }
    }

    private byte[] bytes(Answer answer, boolean isHead) {
        byte[] body = answer.text.getBytes(StandardCharsets.UTF_8);
        byte[] head = ("HTTP/1.1 " + answer.status + " \r\n" + headers
            + "Date: " + DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC))
            + "\r\nConnection: close\r\n" + (answer.status == 405 ? "Allow: GET, HEAD\r\n" : "")
            + "Content-Type: " + answer.type + "\r\nContent-Length: " + body.length + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
        return isHead ? head : ByteBuffer.allocate(head.length + body.length).put(head).put(body).array();
    }

    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join();
        } catch (InterruptedException ex) {
            // it ends soon, by itself
            Thread.currentThread().interrupt();
        }
    }

    /** Reads a request, writes the answer, and awaits the client's close. */
    private final class Connection {
        private final SocketChannel channel;
        private final SelectionKey key;
        private final long deadlineNs = System.nanoTime() + connectionNs;
        private final ByteBuffer in = ByteBuffer.allocate(REQUEST_BYTES);
        /** Null until the request is there. */
        private ByteBuffer out;

        private Connection(SocketChannel channel) throws IOException {
            this.channel = channel;
            channel.configureBlocking(false);
            key = channel.register(selector, SelectionKey.OP_READ, this);
        }

        private void proceed() {
            try {
                if (!isOver()) {
                    return;
                }
            } catch (IOException ex) {
                // the client is gone
                key.cancel();
            }
            connections.remove(this);
            close();
        }

        private boolean isOver() throws IOException {
            if (out == null) {
                boolean isEnd = channel.read(in) < 0;
                String request = new String(in.array(), 0, in.position(), StandardCharsets.ISO_8859_1);
                int end = request.indexOf("\r\n\r\n");
                if (end < 0 && (isEnd || in.hasRemaining())) {
                    return isEnd;
                }
                out = ByteBuffer.wrap(end < 0
                    ? bytes(Answer.line(431, "The request is longer than " + REQUEST_BYTES + " bytes."), false)
                    : answerTo(request.substring(0, end)));
            }
            if (out.hasRemaining()) {
                channel.write(out);
                if (out.hasRemaining()) {
                    key.interestOps(SelectionKey.OP_WRITE);
                    limitUnread();
                    return false;
                }
                // a close before the client has read everything would be a reset, if it has sent more than was read
                channel.shutdownOutput();
                key.interestOps(SelectionKey.OP_READ);
            }
            in.clear();
            return channel.read(in) < 0;
        }

        private void limitUnread() {
            long unread = connections.stream().mapToLong(each -> each.out == null ? 0 : each.out.remaining()).sum();
            while (unread > UNREAD_BYTES && connections.getFirst() != this) {
                Connection oldest = connections.removeFirst();
                unread -= oldest.out == null ? 0 : oldest.out.remaining();
                oldest.close();
            }
        }

        private void close() {
            key.cancel();
            try {
                channel.close();
            } catch (IOException ex) {
                // it is closed nevertheless
                return;
            }
        }
    }
}
