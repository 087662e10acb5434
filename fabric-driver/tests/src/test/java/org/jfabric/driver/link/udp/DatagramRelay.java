package org.jfabric.driver.link.udp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;
import java.util.List;
import org.jfabric.info.SocketName;

/**
 * Between endpoints that send to it and one target, in the test's thread: for the target all are one peer, and its
 * answers go to the one that has sent last. A filter changes, drops and repeats datagrams.
 */
final class DatagramRelay implements AutoCloseable {
    /** Decides about one datagram. */
    interface Filter {
        /** Returns the datagrams that take its place. */
        List<byte[]> pass(byte[] datagram, boolean isToTarget);
    }

    static final Filter ALL = (datagram, isToTarget) -> List.of(datagram);

    Filter filter = ALL;
    private final DatagramChannel front = open();
    private final DatagramChannel back = open();
    private final InetSocketAddress target;
    private InetSocketAddress client;

    DatagramRelay(String target) throws IOException {
        this.target = socket(target);
    }

    private static DatagramChannel open() throws IOException {
        DatagramChannel channel = DatagramChannel.open();
        channel.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
        channel.configureBlocking(false);
        return channel;
    }

    private static InetSocketAddress socket(String address) {
        SocketName name = SocketName.parse(address);
        return new InetSocketAddress(name.inetAddress(), name.port());
    }

    /** The address that stands for the target. */
    String address() throws IOException {
        return SocketName.of((InetSocketAddress) front.getLocalAddress()).toString();
    }

    /** The address that stands for the others at the target. */
    String backAddress() throws IOException {
        return SocketName.of((InetSocketAddress) back.getLocalAddress()).toString();
    }

    /** Sends a datagram to the target in the others' name. */
    void inject(byte[] datagram) throws IOException {
        back.send(ByteBuffer.wrap(datagram), target);
    }

    /** Passes on what has arrived; the number of datagrams. */
    int step() throws IOException {
        int work = 0;
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        for (InetSocketAddress from; (from = (InetSocketAddress) front.receive(buffer.clear())) != null; work++) {
            client = from;
            for (byte[] out : filter.pass(Arrays.copyOf(buffer.array(), buffer.position()), true)) {
                back.send(ByteBuffer.wrap(out), target);
            }
        }
        while (back.receive(buffer.clear()) != null) {
            work++;
            for (byte[] out : filter.pass(Arrays.copyOf(buffer.array(), buffer.position()), false)) {
                front.send(ByteBuffer.wrap(out), client);
            }
        }
        return work;
    }

    @Override
    public void close() throws IOException {
        front.close();
        back.close();
    }
}
