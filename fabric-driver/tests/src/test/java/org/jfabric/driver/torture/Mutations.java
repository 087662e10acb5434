package org.jfabric.driver.torture;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.codec.control.ClientHelloEncoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.codec.wire.HelloEncoder;
import org.jfabric.driver.kit.Change;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.link.shm.ShmGarbagePeer;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.test.Deadline;

/**
 * Messages that parsers of a driver are to read, as captures of real processes have them, with some bytes changed, cut
 * or repeated. Those that need it have a valid handshake in front. Only what is long enough for the parser is counted;
 * of records in shared memory what the driver has read.
 */
final class Mutations implements AutoCloseable {
    /** A parser that bytes from outside of the driver's process reach. */
    enum Parser {
        CONTROL_HELLO, CONTROL_COMMAND, SHM_HELLO, SHM_RECORD, TCP_REQUEST, TCP_MESSAGE, RXM_REQUEST, RXM_PACKET,
        TLS_HANDSHAKE, UDP_DATAGRAM
    }

    private static final int BATCH = 16;
    private static final int CM_HEADER = 32;
    private static final int TLS_RECORD_HEADER = 5;
    private static final int LONGEST_DATAGRAM = 1_472;
    private static final int HEADER = 16;
    private static final int RXM_HEADER = 64;
    private static final int SLOT = 1 << 16;
    private static final int RECEIVES = 64;
    private static final long KEY = 0x1111;
    private static final long PAUSE_NS = 20_000;
    private static final String CM = "00".repeat(20) + "0100000000000000";
    private static final List<byte[]> MESSAGES = captures(
        "03000000000010005000000000000000" + "41".repeat(64),
        "0301000000001800f893040000000000d204000000000000",
        "03000400000010001400000000000000" + "66696e00",
        "03000000020010001000000000000000",
        "03050000010020002000000000000000" + "d204000000000000" + "409c000000000000",
        "03060000010010001000000000000000",
        "03020000000128002800000000000000" + "0000000000000000" + "400d030000000000" + "0000008000000000",
        "0303000000011000500d030000000000",
        "03008000000018003800000000000000" + "d204000000000000" + "42".repeat(32),
        "03040500000130003400000000000000" + "8877665544332211" + "6400000000000000" + "0400000000000000"
            + "0700000000000000" + "43".repeat(4));
    private static final List<byte[]> PACKETS = captures(
        "0400000000000000" + "00".repeat(24) + "0200010000000000" + "0800000000000000" + "00".repeat(16)
            + "4141414141414141",
        "0400000000000000" + "00".repeat(24) + "0200000000000000" + "4000000000000000" + "00".repeat(16)
            + "42".repeat(64),
        "0401400000000000" + "00".repeat(8) + "0900000000000000" + "0100000000000000" + "0200010000000000"
            + "8000000000000000" + "00".repeat(16) + "43".repeat(64),
        "0402000000000000" + "00".repeat(24) + "0200000000000000" + "400d030000000000" + "00".repeat(16)
            + "0000000000000000" + "400d030000000000" + "0000008000000000" + "00".repeat(72) + "0100000000000000",
        "0403000000000000" + "00".repeat(8) + "0100000000000000" + "00".repeat(40),
        "0404000000000000" + "00".repeat(8) + "0700000000000000" + "00".repeat(8) + "0200080000000000"
            + "7000000000000000" + "00".repeat(8) + "070c010000000000" + "4000000000000000" + "0100000000000000"
            + "efbe000000000000" + "00".repeat(72) + "01".repeat(16),
        "0406000000000000" + "00".repeat(8) + "0500000000000000" + "00".repeat(40));

    private final Path directory;
    private final SplittableRandom random;
    private final UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(16 << 10));
    private final FabricNode tcp;
    private final FabricNode rxm;
    private final FabricNode shm;
    private final FabricNode tls;
    private final FabricNode udp;
    private final byte[] clientHello = clientHello();
    private final ShmGarbagePeer garbagePeer;
    private final CommandMutations commands;
    private final long[] reached = new long[Parser.values().length];

    Mutations(Path directory, long seed) {
        this.directory = directory;
        random = new SplittableRandom(seed);
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.RMA);
        tcp = node("tcp", hints);
        rxm = node("rxm", hints);
        shm = node("shm", hints);
        tls = node("tls", hints);
        udp = node("udp", Cell.parse("udp/daemon").hints());
        shm.domain.allocate(SLOT, new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE)
            .requestedKey(KEY));
        garbagePeer = new ShmGarbagePeer(directory.getParent(), "mutant", shm.endpoint.name(), KEY, random);
        commands = new CommandMutations(directory, random);
    }

    private static List<byte[]> captures(String... texts) {
        return Arrays.stream(texts).map(HexFormat.of()::parseHex).toList();
    }

    /** An endpoint that they are sent to; what is valid of them ends in its receives. */
    private FabricNode node(String link, Info hints) {
        FabricNode node = new FabricNode(
            Fabric.connect(new FabricConfig().directory(directory)), link, hints, 512, 0, () -> { });
        for (int i = 0; i < RECEIVES; i++) {
            receive(node, i);
        }
        return node;
    }

    private static void receive(FabricNode node, int slot) {
        long address = node.memory.address((long) slot * SLOT);
        boolean isTagged = slot % 2 == 0 && (node.info.caps() & Flags.TAGGED) != 0;
        int result = isTagged ? node.endpoint.trecv(address, SLOT, -1L, 0, -1L, slot)
            : node.endpoint.recv(address, SLOT, -1L, slot);
        if (result != 0) {
            throw new AssertionError("a receive was answered with " + result);
        }
    }

    /** Posts each receive again that has ended; returns how many have. */
    private static int drain(FabricNode node) {
        int ended = 0;
        for (FabricNode.Entry entry = node.poll(); entry != null; entry = node.poll()) {
            if (entry.context() < RECEIVES) {
                receive(node, (int) entry.context());
                ended++;
            }
        }
        return ended;
    }

    /** Changed messages that have reached a parser so far. */
    long reached(Parser parser) {
        return reached[parser.ordinal()];
    }

    long connectionsOfPeer() {
        return garbagePeer.connections();
    }

    /** Some more of one kind; the endpoints still send to themselves afterwards. */
    void some(Parser parser) throws IOException {
        switch (parser) {
            case CONTROL_HELLO, SHM_HELLO -> unix(parser);
            case CONTROL_COMMAND -> reached[parser.ordinal()] += commands.some();
            case SHM_RECORD -> reached[parser.ordinal()] += garbagePeer.some();
            case UDP_DATAGRAM -> reached[parser.ordinal()] += datagrams();
            default -> sockets(parser);
        }
        for (FabricNode each : List.of(tcp, rxm, shm, tls)) {
            drain(each);
        }
    }

    /** A message of each endpoint to itself. */
    void checkServed() {
        for (FabricNode node : List.of(tcp, rxm, shm, tls)) {
            long self = node.av.insert(node.endpoint.name());
            int result = node.endpoint.tsend(node.memory.address(RECEIVES * SLOT), 64, self, 1, 1000);
            if (result != 0) {
                throw new AssertionError("a send was answered with " + result);
            }
            Deadline.awaitParked("a message to itself over " + node.info.linkName(), () -> {
                FabricNode.Entry entry = node.poll();
                if (entry != null && entry.context() < RECEIVES) {
                    receive(node, (int) entry.context());
                }
                return entry != null && entry.context() == 1000 && entry.err() == 0;
            });
        }
    }

    private void count(Parser parser, boolean isLongEnough) {
        if (isLongEnough) {
            reached[parser.ordinal()]++;
        }
    }

    private void unix(Parser parser) {
        int[] sockets = new int[BATCH];
        for (int i = 0; i < BATCH; i++) {
            sockets[i] = UnixSocket.connect(directory.resolve("driver.sock"), UnixSocket.SOCK_NONBLOCK);
            if (sockets[i] < 0) {
                // so many are not taken yet
                LockSupport.parkNanos(PAUSE_NS);
                continue;
            }
            byte[] body = Change.some(parser == Parser.SHM_HELLO ? shmHello() : fabricHello(), random);
            boolean isFramed = random.nextInt(16) != 0;
            byte[] message = ByteBuffer.allocate(Integer.BYTES + body.length).order(ByteOrder.LITTLE_ENDIAN)
                .putInt(isFramed ? body.length : random.nextInt()).put(body).array();
            buffer.putBytes(0, message);
            UnixSocket.send(sockets[i], buffer.addressOffset(), message.length, UnixSocket.MSG_DONTWAIT);
            UnixSocket.shutdown(sockets[i], UnixSocket.SHUT_WR);
            count(parser, isFramed && body.length >= MessageHeaderEncoder.ENCODED_LENGTH);
        }
        for (int each : sockets) {
            if (each >= 0) {
                Deadline.awaitParked("the driver's end of a connection", () -> UnixSocket.recv(
                    each, buffer.addressOffset(), buffer.capacity(), UnixSocket.MSG_DONTWAIT) != -11);
                Libc.close(each);
            }
        }
    }

    private byte[] fabricHello() {
        ClientHelloEncoder hello = new ClientHelloEncoder().wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION)
            .reserved(0).ownerIdHigh(0).ownerIdLow(0).name("mutation");
        return taken(MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength());
    }

    private byte[] shmHello() {
        HelloEncoder hello = new HelloEncoder()
            .wrapAndApplyHeader(buffer, 0, new org.jfabric.codec.wire.MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION)
            .cipherId(0).keyId(0).settings(random.nextInt(4)).ownerIdHigh(random.nextLong())
            .ownerIdLow(random.nextLong()).ringNumber(1 + random.nextInt(3)).ringLength(1 << 20).errno(0)
            .threads(random.nextInt(3)).driverName("mutation").reason("");
        return taken(MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength());
    }

    private byte[] taken(int length) {
        byte[] bytes = new byte[length];
        buffer.getBytes(0, bytes);
        return bytes;
    }

    private void sockets(Parser parser) throws IOException {
        boolean isRxm = parser == Parser.RXM_REQUEST || parser == Parser.RXM_PACKET;
        boolean isTls = parser == Parser.TLS_HANDSHAKE;
        boolean isRequest = isTls || parser == Parser.TCP_REQUEST || parser == Parser.RXM_REQUEST;
        SocketName name = SocketName.parse((isTls ? tls : isRxm ? rxm : tcp).endpoint.name());
        List<Socket> sockets = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            Socket socket = connect(name);
            sockets.add(socket);
            byte[] request = isTls ? clientHello : isRxm ? rxmRequest() : tcpRequest();
            byte[] sent = isRequest ? Change.some(request, random) : request;
            socket.getOutputStream().write(sent);
            if (isRequest) {
                count(parser, sent.length >= (isTls ? TLS_RECORD_HEADER : CM_HEADER));
                socket.shutdownOutput();
            }
        }
        for (Socket socket : sockets) {
            try {
                if (!isRequest) {
                    byte[] answer = socket.getInputStream().readNBytes(CM_HEADER + (isRxm ? 16 : 8));
                    byte[] sent = isRxm ? packet(answer) : Change.some(pick(MESSAGES), random);
                    socket.getOutputStream().write(sent);
                    count(parser, answer[1] == 1 && sent.length >= (isRxm ? HEADER + RXM_HEADER : HEADER));
                    socket.shutdownOutput();
                }
            } catch (SocketException | ArrayIndexOutOfBoundsException refused) {
                // the driver has closed it first
                socket.setSoLinger(true, 0);
            }
        }
        for (Socket socket : sockets) {
            awaitEnd(socket);
        }
    }

    /** From one of many hosts, so that no port is used again too early. */
    private Socket connect(SocketName name) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {
            127, (byte) random.nextInt(1, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)}), 0));
        socket.setTcpNoDelay(true);
        socket.connect(new InetSocketAddress(name.inetAddress(), name.port()), Deadline.ms(10));
        socket.setSoTimeout(Deadline.ms(20));
        return socket;
    }

    private static void awaitEnd(Socket socket) throws IOException {
        try (socket) {
            while (socket.getInputStream().read(new byte[512]) >= 0) {
                continue;
            }
        } catch (SocketException reset) {
            // as good an end
            return;
        }
    }

    /** The first message of the JDK's own TLS. */
    private static byte[] clientHello() {
        try {
            SSLEngine engine = SSLContext.getDefault().createSSLEngine("localhost", 1);
            engine.setUseClientMode(true);
            ByteBuffer record = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            engine.wrap(ByteBuffer.allocate(0), record);
            return Arrays.copyOf(record.array(), record.position());
        } catch (GeneralSecurityException | SSLException e) {
            throw new AssertionError(e);
        }
    }

    /** Datagrams have no header, so each one is a message; returns how many have arrived. */
    private int datagrams() throws IOException {
        SocketName name = SocketName.parse(udp.endpoint.name());
        try (DatagramSocket socket = new DatagramSocket()) {
            for (int i = 0; i < BATCH; i++) {
                byte[] bytes = new byte[random.nextInt(LONGEST_DATAGRAM + 1)];
                random.nextBytes(bytes);
                socket.send(new DatagramPacket(bytes, bytes.length, name.inetAddress(), name.port()));
            }
        }
        LockSupport.parkNanos(PAUSE_NS);
        return drain(udp);
    }

    private byte[] pick(List<byte[]> captures) {
        return captures.get(random.nextInt(captures.size())).clone();
    }

    private byte[] tcpRequest() {
        byte[] request = HexFormat.of().parseHex("03000008" + CM + "010085fd00005561");
        request[CM_HEADER] = 0;
        ByteBuffer.wrap(request).putShort(CM_HEADER + 2, (short) random.nextInt(1024, 65536))
            .putInt(CM_HEADER + 4, random.nextInt(1, Integer.MAX_VALUE));
        return request;
    }

    private byte[] rxmRequest() {
        byte[] request = HexFormat.of().parseHex(
            "03000018" + CM + "01020403e5b3020000400000001000000000000000000000");
        ByteBuffer.wrap(request).order(ByteOrder.LITTLE_ENDIAN)
            .putShort(CM_HEADER + 4, (short) random.nextInt(1024, 65536))
            .putInt(CM_HEADER + 20, random.nextInt(1, Integer.MAX_VALUE));
        return request;
    }

    /** A packet that names the connection of that answer, in a message of tcp that is valid. */
    private byte[] packet(byte[] answer) {
        byte[] packet = pick(PACKETS);
        System.arraycopy(answer, CM_HEADER, packet, 8, Long.BYTES);
        packet = Change.some(packet, random);
        return ByteBuffer.allocate(HEADER + packet.length).order(ByteOrder.LITTLE_ENDIAN)
            .putInt(3).putInt(HEADER << 16).putLong(HEADER + packet.length).put(packet).array();
    }

    @Override
    public void close() {
        garbagePeer.close();
        udp.close();
        tls.close();
        shm.close();
        tcp.close();
        rxm.close();
    }
}
