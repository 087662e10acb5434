package org.jfabric.driver.kit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** A relay of UDP datagrams between any number of askers and one socket, which loses some, by a seed. */
public final class LossyRelay implements AutoCloseable {
    private final SplittableRandom random;
    private final int lostPerMille;
    private final InetSocketAddress target;
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
        random = new SplittableRandom(seed);
        this.lostPerMille = lostPerMille;
        target = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        try {
            selector = Selector.open();
            front = open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        thread = new Thread(this::run, "relay");
        thread.setDaemon(true);
        thread.start();
    }

    private DatagramChannel open() throws IOException {
        DatagramChannel channel = DatagramChannel.open();
        channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
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
                DatagramChannel back = backs.get(asker);
                if (back == null) {
                    back = open();
                    backs.put(asker, back);
                }
                send(back, target);
            }
            for (Map.Entry<SocketAddress, DatagramChannel> each : backs.entrySet()) {
                if (receive(each.getValue()) != null) {
                    some = true;
                    send(front, each.getKey());
                }
            }
        }
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
