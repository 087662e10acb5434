package org.jfabric.samples.paths;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

/** A path between a reader and a writer's port, which carries nothing when it is not asked to. */
final class FailingPath implements AutoCloseable {
    private final ByteBuffer datagram = ByteBuffer.allocate(65_536);
    private final DatagramChannel towardsReader = open();
    private final DatagramChannel towardsWriter = open();
    private final SocketAddress writer;
    private SocketAddress reader;
    private long carried;

    FailingPath(int writerPort) throws IOException {
        writer = new InetSocketAddress(InetAddress.getLoopbackAddress(), writerPort);
    }

    private static DatagramChannel open() throws IOException {
        DatagramChannel channel = DatagramChannel.open();
        channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).configureBlocking(false);
        return channel;
    }

    /** What a reader takes for the writer's port. */
    int port() {
        return towardsReader.socket().getLocalPort();
    }

    /** Datagrams that have come from the writer. */
    long carried() {
        return carried;
    }

    /** Carries what waits at both ends. */
    void carry() throws IOException {
        SocketAddress from = receive(towardsReader);
        while (from != null) {
            reader = from;
            towardsWriter.send(datagram, writer);
            from = receive(towardsReader);
        }
        while (receive(towardsWriter) != null) {
            towardsReader.send(datagram, reader);
            carried++;
        }
    }

    private SocketAddress receive(DatagramChannel channel) throws IOException {
        SocketAddress from = channel.receive(datagram.clear());
        datagram.flip();
        return from;
    }

    @Override
    public void close() throws IOException {
        towardsReader.close();
        towardsWriter.close();
    }
}
