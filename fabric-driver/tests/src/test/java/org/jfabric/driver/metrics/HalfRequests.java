package org.jfabric.driver.metrics;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What any process of the host can do to a page at 127.0.0.1: many connections with requests that do not end. */
public final class HalfRequests implements AutoCloseable {
    private static final int COUNT = 300;
    private static final int LIMIT = 32;

    private final List<SocketChannel> connections = new ArrayList<>();

    /**
     * Opens connections and sends on each the beginning of a request, with a header of 12 KiB.
     *
     * @param port of 127.0.0.1.
     * @throws IOException if a connection is refused.
     */
    public HalfRequests(int port) throws IOException {
        byte[] half = ("GET /metrics HTTP/1.1\r\nX-Large: " + "x".repeat(12 * 1024))
            .getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < COUNT; i++) {
            SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
            channel.configureBlocking(false);
            connections.add(channel);
            try {
                channel.write(ByteBuffer.wrap(half));
            } catch (IOException ex) {
                // closed already
                continue;
            }
        }
    }

    /**
     * Counts the connections that the server has not closed.
     *
     * @return true if they are not more than the server may have.
     */
    public boolean areLimited() {
        int open = 0;
        for (SocketChannel each : connections) {
            try {
                open += each.read(ByteBuffer.allocate(1024)) == 0 ? 1 : 0;
            } catch (IOException ex) {
                // reset
                continue;
            }
        }
        return open <= LIMIT;
    }

    @Override
    public void close() throws IOException {
        for (SocketChannel each : connections) {
            each.close();
        }
    }
}
