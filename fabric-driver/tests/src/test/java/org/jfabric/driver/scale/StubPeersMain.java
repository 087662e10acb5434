package org.jfabric.driver.scale;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Thousands of peers of one endpoint over link tcp in one process, each with an IP address of its own (127.x.y.z) and
 * all with the same port: the wire's requests, answers and messages, and no more. A peer that is refused or cut off
 * before it has its answer tries again, as one of libfabric does.
 *
 * <p>Each line of the input is a command, answered with one line.
 */
final class StubPeersMain {
    private static final int CM_LENGTH = 40;
    private static final int HEADER = 16;
    private static final byte REQUEST = 0;
    private static final byte RESPONSE = 1;
    /** Tags of other peers are less. */
    private static final long FIRST_TAG = 1L << 32;
    private static final long RETRY_NS = 200_000_000L;

    /** Address of the crowd. */
    private static final String CROWD = "127.254.0.1";

    private final InetSocketAddress target;
    private final int port;
    private final Selector selector = Selector.open();
    private final List<Peer> peers = new ArrayList<>();
    private final List<Connection> crowd = new ArrayList<>();
    private final PriorityQueue<Retry> retries = new PriorityQueue<>((a, b) -> Long.compare(a.atNs, b.atNs));
    private final Queue<String> commands = new ConcurrentLinkedQueue<>();
    private final ByteBuffer in = ByteBuffer.allocateDirect(64 << 10).order(ByteOrder.LITTLE_ENDIAN);
    private long refused;
    private long cut;
    private long received;
    private int crowdSize;
    private boolean isCrowdSilent;

    private record Retry(long atNs, Peer peer) {
    }

    private StubPeersMain(InetSocketAddress target) throws IOException {
        this.target = target;
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress("0.0.0.0", 0), 4096);
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
        port = ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    /** IP address of a peer. */
    static String host(int index) {
        return "127." + (1 + index / 62_500) + '.' + index / 250 % 250 + '.' + (1 + index % 250);
    }

    /** Host and port of the endpoint. */
    public static void main(String[] args) throws IOException {
        StubPeersMain main = new StubPeersMain(new InetSocketAddress(args[0], Integer.parseInt(args[1])));
        System.out.println("port " + main.port);
        Thread reader = new Thread(main::read, "commands");
        reader.setDaemon(true);
        reader.start();
        main.run();
    }

    private void read() {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                commands.add(line);
                selector.wakeup();
            }
        } catch (IOException e) {
            System.out.println(e);
        }
        commands.add("end");
        selector.wakeup();
    }

    private void run() throws IOException {
        while (true) {
            selector.select(50);
            for (String line = commands.poll(); line != null; line = commands.poll()) {
                if (line.equals("end")) {
                    return;
                }
                System.out.println(obey(line.split(" ")));
            }
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isValid()) {
                    handle(key);
                }
            }
            selector.selectedKeys().clear();
            gather();
            long nowNs = System.nanoTime();
            while (!retries.isEmpty() && retries.peek().atNs - nowNs <= 0) {
                retries.poll().peer.connect();
            }
        }
    }

    private String obey(String[] words) throws IOException {
        switch (words[0]) {
            case "connect" -> {
                int count = Integer.parseInt(words[1]);
                for (int i = peers.size(); i < count; i++) {
                    peers.add(new Peer(i));
                }
                peers.forEach(Peer::connect);
            }
            case "send" -> {
                int count = Integer.parseInt(words[1]);
                int length = Integer.parseInt(words[2]);
                peers.forEach(each -> each.send(count, length));
            }
            case "reset" -> {
                received = 0;
                peers.forEach(Peer::reset);
            }
            case "crowd" -> {
                crowdSize = Integer.parseInt(words[1]);
                isCrowdSilent = words[2].equals("silent");
            }
            default -> {
            }
        }
        return "state " + peers.stream().filter(Peer::isConnected).count() + ' ' + received + ' ' + refused + ' ' + cut
            + ' ' + peers.stream().filter(each -> each.received > 0).count();
    }

    /** Lets the crowd have its size again. */
    private void gather() {
        try {
            while (crowd.size() < crowdSize) {
                crowd.add(new Connection(null, CROWD));
            }
        } catch (IOException e) {
            // all ports of the address are taken for the moment
            return;
        }
        while (crowd.size() > crowdSize) {
            crowd.removeLast().close(false);
        }
    }

    private void handle(SelectionKey key) throws IOException {
        if (key.channel() instanceof ServerSocketChannel server) {
            for (SocketChannel accepted = server.accept(); accepted != null; accepted = server.accept()) {
                byte[] own = ((InetSocketAddress) accepted.getLocalAddress()).getAddress().getAddress();
                int index = ((own[1] & 0xFF) - 1) * 62_500 + (own[2] & 0xFF) * 250 + (own[3] & 0xFF) - 1;
                if (index < peers.size()) {
                    new Connection(peers.get(index), accepted);
                } else {
                    accepted.close();
                }
            }
            return;
        }
        Connection connection = (Connection) key.attachment();
        try {
            if (key.isConnectable() && connection.channel.finishConnect()) {
                key.interestOps(SelectionKey.OP_READ);
                connection.greet();
            } else {
                if (key.isWritable()) {
                    connection.write();
                }
                connection.read();
            }
        } catch (IOException e) {
            connection.ended();
        }
    }

    private byte[] cmMessage(byte type, int listenPort, int processId) {
        ByteBuffer message = ByteBuffer.allocate(CM_LENGTH);
        message.put(0, (byte) 3).put(1, type).putShort(2, (short) 8);
        message.order(ByteOrder.LITTLE_ENDIAN).putLong(24, 1);
        message.order(ByteOrder.BIG_ENDIAN).putShort(34, (short) listenPort).putInt(36, processId);
        return message.array();
    }

    /** One peer: it has a connection that it made, or one that the endpoint made, or for a moment both. */
    private final class Peer {
        private final int index;
        private Connection dialed;
        private Connection accepted;
        private long received;

        Peer(int index) {
            this.index = index;
        }

        boolean isConnected() {
            return dialed != null && dialed.isUp || accepted != null && accepted.isUp;
        }

        void connect() {
            if (dialed != null || accepted != null) {
                return;
            }
            try {
                dialed = new Connection(this, host(index));
            } catch (IOException e) {
                retry();
            }
        }

        private void retry() {
            retries.add(new Retry(System.nanoTime() + RETRY_NS, this));
        }

        void send(int count, int length) {
            Connection up = dialed != null && dialed.isUp ? dialed : accepted;
            if (up != null && up.isUp) {
                up.send(FIRST_TAG + index, count, length);
            }
        }

        void reset() {
            received = 0;
            for (Connection each : new Connection[] {dialed, accepted}) {
                if (each != null) {
                    each.close(true);
                }
            }
            dialed = null;
            accepted = null;
        }

        void ended(Connection connection) {
            if (connection == accepted) {
                accepted = null;
            } else if (connection == dialed) {
                dialed = null;
                cut += connection.isUp || connection.isRefused ? 0 : 1;
            } else {
                return;
            }
            retry();
        }
    }

    private final class Connection {
        private final Peer peer;
        private final SocketChannel channel;
        private final boolean isOurs;
        private final SelectionKey key;
        private final byte[] first = new byte[CM_LENGTH];
        private int firstLength;
        private boolean isUp;
        private boolean isRefused;
        private int headerLength;
        private long size;
        private long payloadLeft;
        private ByteBuffer out;

        /** To the endpoint, from that address; without a peer one of the crowd. */
        Connection(Peer peer, String from) throws IOException {
            this.peer = peer;
            isOurs = true;
            channel = SocketChannel.open();
            channel.configureBlocking(false);
            channel.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            key = channel.register(selector, SelectionKey.OP_CONNECT, this);
            channel.connect(target);
        }

        /** From the endpoint. */
        Connection(Peer peer, SocketChannel channel) throws IOException {
            this.peer = peer;
            this.channel = channel;
            isOurs = false;
            channel.configureBlocking(false);
            key = channel.register(selector, SelectionKey.OP_READ, this);
            if (peer.accepted != null) {
                peer.accepted.close(false);
            }
            peer.accepted = this;
        }

        void greet() throws IOException {
            if (peer != null) {
                channel.write(ByteBuffer.wrap(cmMessage(REQUEST, port, 1 + peer.index)));
            } else if (!isCrowdSilent) {
                int number = 20_000 + crowd.indexOf(this);
                channel.write(ByteBuffer.wrap(cmMessage(REQUEST, number, number)));
            }
        }

        void read() throws IOException {
            while (true) {
                in.clear();
                int length = channel.read(in);
                if (length < 0) {
                    ended();
                }
                if (length <= 0) {
                    return;
                }
                in.flip();
                while (in.hasRemaining() && channel.isOpen()) {
                    take();
                }
            }
        }

        private void take() throws IOException {
            if (firstLength < CM_LENGTH) {
                int more = Math.min(CM_LENGTH - firstLength, in.remaining());
                in.get(first, firstLength, more);
                firstLength += more;
                if (firstLength == CM_LENGTH) {
                    greeted();
                }
            } else if (payloadLeft > 0) {
                int more = (int) Math.min(payloadLeft, in.remaining());
                in.position(in.position() + more);
                payloadLeft -= more;
                if (payloadLeft == 0) {
                    arrived();
                }
            } else {
                long next = in.get() & 0xFFL;
                size = headerLength >= 8 ? size | next << (headerLength - 8) * 8 : 0;
                if (++headerLength == HEADER) {
                    headerLength = 0;
                    payloadLeft = size - HEADER;
                    if (payloadLeft == 0) {
                        arrived();
                    }
                }
            }
        }

        private void arrived() {
            received++;
            if (peer != null) {
                peer.received++;
            }
        }

        private void greeted() throws IOException {
            if (isOurs && first[1] != RESPONSE) {
                isRefused = true;
                refused += peer == null ? 0 : 1;
                ended();
                return;
            }
            if (!isOurs) {
                int listenPort = ByteBuffer.wrap(first).getShort(34) & 0xFFFF;
                channel.write(ByteBuffer.wrap(cmMessage(RESPONSE, listenPort, 1 + peer.index)));
            }
            isUp = true;
        }

        void send(long tag, int count, int length) {
            ByteBuffer messages = ByteBuffer.allocate(count * (24 + length)).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < count; i++) {
                messages.put((byte) 3).put((byte) 1).putInt(0).put((byte) 24).put((byte) 0).putLong(24 + length)
                    .putLong(tag).position(messages.position() + length);
            }
            out = messages.flip();
            try {
                write();
            } catch (IOException e) {
                ended();
            }
        }

        void write() throws IOException {
            channel.write(out);
            key.interestOps(out.hasRemaining() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        }

        void ended() {
            close(false);
            if (peer != null) {
                peer.ended(this);
            } else {
                crowd.remove(this);
            }
        }

        void close(boolean resets) {
            try {
                if (resets) {
                    channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                }
                channel.close();
            } catch (IOException e) {
                System.out.println(e);
            }
        }
    }
}
