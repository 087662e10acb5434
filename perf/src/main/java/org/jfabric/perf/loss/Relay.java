package org.jfabric.perf.loss;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayDeque;
import java.util.SplittableRandom;

/**
 * A network between one socket that asks and one that is asked: it loses datagrams by a seed, delays the others, and
 * passes so many bytes a second in each direction. Owner: the thread that steps it.
 */
final class Relay implements AutoCloseable {
    private static final int LONGEST = 65_536;
    private static final int BUFFER_BYTES = 8 << 20;
    private static final int DATAGRAMS_PER_STEP = 32;
    private static final double PER_MILLION = 1e6;
    private static final double NS_PER_SECOND = 1e9;

    /**
     * What the network is like.
     *
     * @param delayNs        of each datagram, in each direction.
     * @param lostPerMillion datagrams, in each direction.
     * @param bytesPerSecond in each direction; 0 for no limit.
     * @param queueBytes     that wait at the limit at most; what comes then is lost.
     */
    record Network(long delayNs, int lostPerMillion, long bytesPerSecond, int queueBytes) {
        /** As it is without the relay's doing. */
        static final Network PLAIN = new Network(0, 0, 0, 0);

        Network losing(int newLostPerMillion) {
            return new Network(delayNs, newLostPerMillion, bytesPerSecond, queueBytes);
        }
    }

    /** A datagram on its way. */
    private record Delayed(long dueNs, byte[] bytes) {
    }

    /** One direction. */
    private final class Way {
        private final DatagramChannel from;
        private final DatagramChannel to;
        private final boolean isAnswer;
        private final ArrayDeque<Delayed> queue = new ArrayDeque<>();
        private long freeNs = System.nanoTime();

        Way(DatagramChannel from, DatagramChannel to, boolean isAnswer) {
            this.from = from;
            this.to = to;
            this.isAnswer = isAnswer;
        }

        void step(Network network) throws IOException {
            for (int i = 0; i < DATAGRAMS_PER_STEP; i++) {
                buffer.clear();
                SocketAddress sender = from.receive(buffer);
                if (sender == null) {
                    break;
                }
                if (!isAnswer) {
                    asker = sender;
                }
                buffer.flip();
                pass(network);
            }
            long nowNs = System.nanoTime();
            while (!queue.isEmpty() && queue.peek().dueNs - nowNs <= 0) {
                send(ByteBuffer.wrap(queue.poll().bytes));
            }
        }

        private void pass(Network network) throws IOException {
            if (random.nextDouble() * PER_MILLION < network.lostPerMillion) {
                return;
            }
            if (network.delayNs == 0 && network.bytesPerSecond == 0) {
                send(buffer);
                return;
            }
            long nowNs = System.nanoTime();
            if (network.bytesPerSecond > 0) {
                long bytesNs = (long) (buffer.remaining() * NS_PER_SECOND / network.bytesPerSecond);
                freeNs = Math.max(freeNs, nowNs);
                if ((freeNs - nowNs) / NS_PER_SECOND * network.bytesPerSecond > network.queueBytes) {
                    return;
                }
                freeNs += bytesNs;
                nowNs = freeNs;
            }
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            queue.add(new Delayed(nowNs + network.delayNs, bytes));
        }

        private void send(ByteBuffer datagram) throws IOException {
            if (isAnswer && asker != null) {
                to.send(datagram, asker);
            } else if (!isAnswer) {
                to.send(datagram, asked);
            }
        }
    }

    private final SplittableRandom random;
    private final InetSocketAddress asked;
    private final DatagramChannel front = open();
    private final DatagramChannel back = open();
    private final Way there = new Way(front, back, false);
    private final Way answers = new Way(back, front, true);
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(LONGEST);
    private SocketAddress asker;

    /** Relays what comes to {@link #port} to a port of this host, and the answers back. */
    Relay(int port, long seed) throws IOException {
        asked = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        random = new SplittableRandom(seed);
    }

    private static DatagramChannel open() throws IOException {
        DatagramChannel channel = DatagramChannel.open();
        channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
        channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        channel.configureBlocking(false);
        return channel;
    }

    int port() {
        return front.socket().getLocalPort();
    }

    void step(Network network) throws IOException {
        there.step(network);
        answers.step(network);
    }

    @Override
    public void close() throws IOException {
        front.close();
        back.close();
    }
}
