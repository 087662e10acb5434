package org.jfabric.driver.kit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * A relay of UDP datagrams between any number of askers and one socket, which loses some, by a seed. In front of a
 * multicast group it has another group for the askers.
 */
public final class LossyRelay implements AutoCloseable {
    private final SplittableRandom random;
    private final int lostPerMille;
    private final InetAddress local;
    /** What is asked first, and the group of the askers; null without one. */
    private final InetSocketAddress target;
    private final InetSocketAddress askers;
    /** Sockets of both groups; null without. */
    private final DatagramChannel asked;
    private final DatagramChannel members;
    /** The socket that has answered, which may be another one than was asked. */
    private SocketAddress answering;
    private final DatagramChannel front;
    private final Selector selector;
    private final Map<SocketAddress, DatagramChannel> backs = new HashMap<>();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(65_536);
    private final Thread thread;
    private volatile boolean isClosed;
    private volatile boolean isCut;
    private volatile long lost;
    private volatile Consumer<byte[]> tap = bytes -> { };

    /** Relays to a port of this host. */
    public LossyRelay(int port, long seed, int lostPerMille) {
        this(InetAddress.getLoopbackAddress(), new InetSocketAddress(InetAddress.getLoopbackAddress(), port), null,
            seed, lostPerMille);
    }

    /** Relays between a group and that of the askers, on the interface with an address. */
    public LossyRelay(
        InetAddress local, InetSocketAddress target, InetSocketAddress askers, long seed, int lostPerMille) {
        random = new SplittableRandom(seed);
        this.lostPerMille = lostPerMille;
        this.local = local;
        this.target = target;
        this.askers = askers;
        answering = target;
        try {
            selector = Selector.open();
            front = open();
            asked = askers == null ? null : open(target);
            members = askers == null ? null : open(askers);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        thread = new Thread(this::run, "relay");
        thread.setDaemon(true);
        thread.start();
    }

    private DatagramChannel open() throws IOException {
        return open(new InetSocketAddress(local, 0));
    }

    private DatagramChannel open(InetSocketAddress at) throws IOException {
        DatagramChannel channel = DatagramChannel.open(
            local instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
        channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        channel.setOption(StandardSocketOptions.IP_MULTICAST_IF, NetworkInterface.getByInetAddress(local));
        channel.bind(at);
        if (at.getAddress().isMulticastAddress()) {
            channel.join(at.getAddress(), NetworkInterface.getByInetAddress(local));
        }
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ);
        return channel;
    }

    /** Where askers send to. */
    public int port() {
        return front.socket().getLocalPort();
    }

    /** Datagrams that it has lost. */
    public long lost() {
        return lost;
    }

    /** Each datagram that arrives, lost ones too, is shown from now on to this, by the thread of the relay. */
    public void tap(Consumer<byte[]> newTap) {
        tap = newTap;
    }

    /** From now on nothing passes, or everything that is not lost. */
    public void cut(boolean isCutNow) {
        isCut = isCutNow;
    }

    private void run() {
        try {
            while (!isClosed) {
                selector.select(100);
                selector.selectedKeys().clear();
                pass();
            }
        } catch (IOException e) {
            if (!isClosed) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void pass() throws IOException {
        boolean some = true;
        while (some) {
            some = false;
            SocketAddress asker = receive(front);
            if (asker != null) {
                some = true;
                send(back(asker), answering);
            }
            for (Map.Entry<SocketAddress, DatagramChannel> each : backs.entrySet()) {
                SocketAddress from = receive(each.getValue());
                if (from != null) {
                    some = true;
                    answering = from;
                    send(front, each.getKey());
                }
            }
            some |= asked != null && passGroups();
        }
    }

    /** What it has sent to the groups itself comes back. */
    private boolean passGroups() throws IOException {
        SocketAddress asker = receive(members);
        if (asker != null && !asker.equals(front.getLocalAddress())) {
            send(back(asker), target);
        }
        SocketAddress from = receive(asked);
        boolean isOwn = false;
        for (DatagramChannel back : backs.values()) {
            isOwn |= back.getLocalAddress().equals(from);
        }
        if (from != null && !isOwn) {
            send(front, askers);
        }
        return asker != null || from != null;
    }

    private DatagramChannel back(SocketAddress asker) throws IOException {
        DatagramChannel back = backs.get(asker);
        if (back == null) {
            back = open();
            backs.put(asker, back);
        }
        return back;
    }

    private SocketAddress receive(DatagramChannel from) throws IOException {
        buffer.clear();
        SocketAddress sender = from.receive(buffer);
        buffer.flip();
        if (sender != null) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(0, bytes);
            tap.accept(bytes);
        }
        return sender;
    }

    private void send(DatagramChannel by, SocketAddress to) throws IOException {
        if (isCut || random.nextInt(1000) < lostPerMille) {
            lost++;
        } else {
            by.send(buffer, to);
        }
    }

    @Override
    public void close() {
        isClosed = true;
        selector.wakeup();
        try {
            thread.join(10_000);
            front.close();
            if (asked != null) {
                asked.close();
                members.close();
            }
            for (DatagramChannel back : backs.values()) {
                back.close();
            }
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
