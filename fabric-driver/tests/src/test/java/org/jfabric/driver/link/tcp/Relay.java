package org.jfabric.driver.link.tcp;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.jfabric.info.SocketName;

/** Between a peer that connects and another one: passes bytes on, and changes or cuts them when it is asked to. */
final class Relay implements AutoCloseable {
    private static final int NOTHING = -1;

    private final ServerSocket server;
    private final SocketName target;
    private volatile Socket client;
    private volatile Socket peer;
    /** Bytes that the client sends until the changed one. */
    private volatile int changeAt = NOTHING;
    private volatile int cutAt = NOTHING;

    Relay(SocketName target) throws IOException {
        this.target = target;
        server = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
        Thread.ofVirtual().start(this::serve);
    }

    String address() {
        return SocketName.IN_SCHEME + "127.0.0.1:" + server.getLocalPort();
    }

    /** Changes a byte of the client's next bytes. */
    void change(int place) {
        changeAt = place;
    }

    /** Ends both connections after so many of the client's next bytes. */
    void cut(int place) {
        cutAt = place;
    }

    /** Ends both directions as an orderly peer without TLS does. */
    void end() throws IOException {
        client.shutdownOutput();
        peer.shutdownOutput();
    }

    private void serve() {
        try {
            client = server.accept();
            peer = new Socket();
            peer.bind(new InetSocketAddress("127.0.0.1", 0));
            peer.connect(new InetSocketAddress(target.inetAddress(), target.port()));
            Thread.ofVirtual().start(() -> pass(peer, client, false));
            pass(client, peer, true);
        } catch (IOException ex) {
            close();
        }
    }

    private void pass(Socket from, Socket to, boolean isOfClient) {
        byte[] bytes = new byte[1 << 16];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int got = in.read(bytes); got >= 0; got = in.read(bytes)) {
                if (isOfClient && cutAt >= 0) {
                    out.write(bytes, 0, Math.min(cutAt, got));
                    break;
                }
                if (isOfClient && changeAt >= 0 && changeAt < got) {
                    bytes[changeAt] ^= 0x10;
                    changeAt = NOTHING;
                }
                out.write(bytes, 0, got);
            }
        } catch (IOException ended) {
            // the other direction has closed both
        }
        end(from);
        end(to);
    }

    private static void end(Socket socket) {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void close() {
        end(client);
        end(peer);
        try {
            server.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
