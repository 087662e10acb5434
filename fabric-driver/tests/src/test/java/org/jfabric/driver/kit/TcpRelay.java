package org.jfabric.driver.kit;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A relay of TCP connections to a port of this host, each of which it resets when it has passed so many bytes. */
public final class TcpRelay implements AutoCloseable {
    private final ServerSocket server;
    private final int target;
    private final int bytesUntilCut;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final StringBuffer seen = new StringBuffer();
    private volatile int connections;

    private TcpRelay(ServerSocket server, int target, int bytesUntilCut) {
        this.server = server;
        this.target = target;
        this.bytesUntilCut = bytesUntilCut;
        Thread.ofVirtual().start(this::serve);
    }

    /** Relays from a port. */
    public static TcpRelay open(int port, int target, int bytesUntilCut) {
        try {
            return new TcpRelay(
                new ServerSocket(port, 0, InetAddress.getLoopbackAddress()), target, bytesUntilCut);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int port() {
        return server.getLocalPort();
    }

    /** Connections that were made so far. */
    public int connections() {
        return connections;
    }

    /** What the askers have sent, a character for each byte. */
    public String seen() {
        return seen.toString();
    }

    private void serve() {
        try {
            while (true) {
                Socket client = keep(server.accept());
                Socket peer = keep(new Socket(InetAddress.getLoopbackAddress(), target));
                connections++;
                Thread.ofVirtual().start(() -> pass(client, peer, Integer.MAX_VALUE, seen));
                Thread.ofVirtual().start(() -> pass(peer, client, bytesUntilCut, new StringBuffer()));
            }
        } catch (IOException closed) {
            sockets.forEach(TcpRelay::end);
        }
    }

    private Socket keep(Socket socket) throws IOException {
        socket.setSoLinger(true, 0);
        sockets.add(socket);
        return socket;
    }

    private static void pass(Socket from, Socket to, int limit, StringBuffer seen) {
        byte[] bytes = new byte[1 << 16];
        try {
            InputStream in = from.getInputStream();
            int left = limit;
            for (int got = in.read(bytes); got >= 0 && left > 0; got = in.read(bytes)) {
                seen.append(new String(bytes, 0, got, StandardCharsets.ISO_8859_1));
                to.getOutputStream().write(bytes, 0, Math.min(got, left));
                left -= got;
            }
        } catch (IOException ended) {
            // the other direction has closed both
        }
        end(from);
        end(to);
    }

    private static void end(Closeable socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        end(server);
        sockets.forEach(TcpRelay::end);
    }
}
