package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Peers that break rules, break off, or are no peers: each test has a bystander, a good peer whose messages must come
 * through before and after.
 */
@Isolated("counts the descriptors of the process")
@Timeout(60)
class TcpFaultTest {
    private final TcpNode victim = new TcpNode("127.0.0.1", "jfabric.tcp.connectTimeoutNs", "300ms");
    private final TcpNode bystander = new TcpNode();
    private final List<Socket> sockets = new ArrayList<>();
    private Recorder good;
    private long filesBefore;

    /** The first socket that is closed makes the JDK open two more for itself. */
    @BeforeAll
    static void openWhatTheJdkKeeps() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
            assertTrue(client.isConnected());
        }
    }

    @BeforeEach
    void connectBystander() {
        good = bystander.connect(victim.address());
        await(() -> good.ups == 1 && victim.handler(bystander.address()).ups == 1);
        filesBefore = TcpLinkTest.openFiles();
    }

    @AfterEach
    void checkBystander() throws IOException {
        Recorder seen = victim.handler(bystander.address());
        int before = seen.messages.size();
        bystander.send(good.channel, 1, 5000, 5);
        victim.send(seen.channel, 1, 5000, 6);
        await(() -> seen.messages.size() == before + 1 && good.messages.size() > 0);
        assertArrayEquals(TcpNode.payload(5000, 5), seen.messages.getLast());
        assertEquals(0, seen.downs + good.downs);
        for (Socket socket : sockets) {
            socket.close();
        }
        // connections of peers that have left end at the latest at the deadline of their requests
        await(() -> TcpLinkTest.openFiles() <= filesBefore);
        bystander.close();
        victim.close();
        assertEquals(0, victim.link.readPool().taken() + victim.link.writePool().taken());
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not reached; errors " + victim.errors);
            if (victim.step() + bystander.step() == 0) {
                Thread.yield();
            }
        }
    }

    private Socket unknownPeer() throws IOException {
        Socket socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.bind(new InetSocketAddress("127.0.0.1", 0));
        socket.connect(new InetSocketAddress(victim.name().inetAddress(), victim.name().port()));
        socket.setSoTimeout(Deadline.ms(20));
        sockets.add(socket);
        return socket;
    }

    private static byte[] request(int listenPort, int processId) {
        CmMessage message = new CmMessage(
            CmMessage.REQUEST, RdmConnectData.request(listenPort, processId).encode());
        byte[] bytes = new byte[message.length()];
        message.encode(new UnsafeBuffer(bytes), 0);
        return bytes;
    }

    /** A peer of its own making, which is connected. */
    private Socket peer(int listenPort) throws IOException {
        Socket socket = unknownPeer();
        socket.getOutputStream().write(request(listenPort, 7));
        await(() -> available(socket) >= 40);
        byte[] answer = socket.getInputStream().readNBytes(40);
        assertEquals(CmMessage.RESPONSE, answer[1]);
        assertEquals(1, recorder(listenPort).ups);
        return socket;
    }

    private Recorder recorder(int listenPort) {
        return victim.handler("fi_sockaddr_in://127.0.0.1:" + listenPort);
    }

    private static int available(Socket socket) {
        try {
            return socket.getInputStream().available();
        } catch (IOException e) {
            return -1;
        }
    }

    private void awaitEnd(Socket socket) {
        // read in a thread of its own: the victim has to be stepped meanwhile
        boolean[] ended = new boolean[1];
        Thread reader = new Thread(() -> {
            try {
                while (socket.getInputStream().read() >= 0) {
                    continue;
                }
                ended[0] = true;
            } catch (IOException reset) {
                ended[0] = true;
            }
        });
        reader.setDaemon(true);
        reader.start();
        await(() -> !reader.isAlive());
        assertTrue(ended[0]);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "474554202f20485454502f312e310d0a0d0a", "160301020001000001fc0303", "02", "0307", "03000101",
        "030000080000000000000000000000000000000000000000030000000000000000001f9000000007",
        "0301000800000000000000000000000000000000000000000100000000000000" + "00001f9000000007",
        "0300000300000000000000000000000000000000000000000100000000000000" + "000000",
        "0300000800000000000000000000000000000000000000000100000000000000" + "0000000000000007"})
    void shouldCloseOnUnknownPeersWithoutAnAnswer(String hex) throws IOException {
        Socket socket = unknownPeer();
        socket.getOutputStream().write(HexFormat.of().parseHex(hex));
        awaitEnd(socket);
        assertEquals(1, victim.errors.size(), victim.errors::toString);
        assertEquals(List.of(bystander.address()), List.copyOf(victim.handlers.keySet()));
    }

    @Test
    void shouldNotWaitForeverForAGreeting() throws IOException {
        Socket silent = unknownPeer();
        Socket half = unknownPeer();
        half.getOutputStream().write(Arrays.copyOf(request(5000, 7), 35));
        awaitEnd(silent);
        awaitEnd(half);
        Socket gone = unknownPeer();
        gone.getOutputStream().write(Arrays.copyOf(request(5000, 7), 10));
        gone.close();
        assertEquals(1, victim.handlers.size());
    }

    @Test
    void shouldHoldNoMoreSilentConnectionsThanTheLimit() throws IOException {
        try (TcpNode small = new TcpNode("127.0.0.1", "jfabric.tcp.greetingLimit", "4")) {
            List<Socket> many = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Socket socket = new Socket();
                socket.connect(new InetSocketAddress(small.name().inetAddress(), small.name().port()));
                many.add(socket);
            }
            long before = TcpLinkTest.openFiles();
            long deadline = System.nanoTime() + Deadline.ns(20);
            // all are accepted, and all but four closed
            for (int i = 0; i < 40; i++) {
                small.step();
                assertTrue(System.nanoTime() - deadline < 0, "step " + i);
            }
            assertEquals(4, TcpLinkTest.openFiles() - before);
            for (Socket socket : many) {
                socket.close();
            }
        }
    }

    /** Byte by byte: every place in a header and a payload where a read can end. */
    @Test
    void shouldTakeAStreamInAnyPieces() throws IOException {
        Socket socket = peer(5001);
        ByteBuffer stream = ByteBuffer.allocate(100_000).order(ByteOrder.LITTLE_ENDIAN);
        int[] lengths = {0, 1, 7, 64, 500, 20_000, 3, 30_000, 0, 12};
        for (int i = 0; i < lengths.length; i++) {
            stream.put((byte) 3).put((byte) 1).putShort((short) 0).put((byte) 0).put((byte) 0).put((byte) 24)
                .put((byte) i).putLong(24 + lengths[i]).putLong(i).put(TcpNode.payload(lengths[i], i));
        }
        Random random = new Random(3);
        Recorder seen = recorder(5001);
        int sent = 0;
        while (sent < stream.position()) {
            int piece = Math.min(stream.position() - sent, sent < 2000 ? 1 : 1 + random.nextInt(9000));
            socket.getOutputStream().write(stream.array(), sent, piece);
            sent += piece;
            victim.link.poll(1 + random.nextInt(3));
        }
        await(() -> seen.messages.size() == lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            assertArrayEquals(TcpNode.payload(lengths[i], i), seen.messages.get(i));
            assertEquals(i, seen.tags.get(i));
        }
    }

    @Test
    void shouldSpeakNetworkOrderWithABigEndianPeer() throws IOException {
        Socket socket = unknownPeer();
        byte[] request = request(5002, 7);
        request[24] = 0;
        request[31] = 1;
        socket.getOutputStream().write(request);
        await(() -> available(socket) >= 40);
        socket.getInputStream().readNBytes(40);
        ByteBuffer message = ByteBuffer.allocate(64).order(ByteOrder.BIG_ENDIAN);
        message.put((byte) 3).put((byte) 1).putShort((short) 5).put((byte) 0).put((byte) 0).put((byte) 32).put((byte) 0)
            .putLong(32 + 4).putLong(0x1122L).putLong(1234).put(TcpNode.payload(4, 9));
        socket.getOutputStream().write(message.array(), 0, message.position());
        Recorder seen = recorder(5002);
        await(() -> seen.messages.size() == 1 && available(socket) >= 16);
        assertEquals(1234, seen.tags.getFirst());
        assertArrayEquals(HexFormat.of().parseHex("03000000020010000000000000000010"),
            socket.getInputStream().readNBytes(16));
        victim.send(seen.channel, 77, 4, 1);
        await(() -> available(socket) >= 28);
        assertArrayEquals(HexFormat.of().parseHex("0301000000001800000000000000001c000000000000004d"),
            socket.getInputStream().readNBytes(24));
    }

    @Test
    void shouldEndAPeerThatIsResetInTheMiddleOfAMessage() throws IOException {
        Socket socket = peer(5003);
        ByteBuffer half = ByteBuffer.allocate(20_000).order(ByteOrder.LITTLE_ENDIAN);
        half.put((byte) 3).put((byte) 0).putShort((short) 0).put((byte) 0).put((byte) 0).put((byte) 16).put((byte) 0)
            .putLong(16 + 1_000_000);
        socket.getOutputStream().write(half.array());
        Recorder seen = recorder(5003);
        await(() -> seen.placeCalls == 1);
        // a send that the peer has not taken
        TransmitOperation operation = victim.operation(Flags.TAGGED, 1, 30_000_000, 1);
        assertEquals(Channel.PENDING, seen.channel.send(operation, 0));
        socket.setSoLinger(true, 0);
        socket.close();
        await(() -> seen.downs == 1);
        assertEquals(FabricErrno.ECONNRESET, seen.downErrno);
        assertEquals(0, seen.messages.size() + seen.sent.size());
        assertEquals(List.of(), victim.errors);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "03000000020010001000000000000000", // an acknowledgement without a message that waits for it
        "03030000000010002000000000000000", // an answer to no read
        "03020000000128002800000000000000" + "000000000000000040000000000000000000008000000000", // a read of no key
        "03040000000128003000000000000000" + "000000000000000008000000000000000000008000000000" + "4142434445464748",
        "03070000010010005000000000000000",
        "0301000000001800ffffffffffffffff0000000000000000",
        "ffffffffffffffffffffffffffffffffffffffffffffffff"})
    void shouldEndAPeerThatBreaksTheProtocolAndSayWhy(String hex) throws IOException {
        Socket socket = peer(5004);
        socket.getOutputStream().write(HexFormat.of().parseHex(hex));
        awaitEnd(socket);
        Recorder seen = recorder(5004);
        assertEquals(1, seen.downs);
        assertEquals(FabricErrno.EIO, seen.downErrno);
        assertEquals(1, victim.errors.size(), victim.errors::toString);
    }

    /** Captures with changed bytes, as a stream of a connected peer: no error leaves the link, no memory stays. */
    @Test
    void shouldSurviveMutatedStreams() throws IOException {
        byte[] capture = HexFormat.of().parseHex(
            "03000000000010005000000000000000" + "41".repeat(64)
                + "0301000400001800280000000000000034120000000000004142434445464748494a4b4c4d4e4f50"
                + "03008000000018003800000000000000d204000000000000" + "42".repeat(32));
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            int port = 6000 + round;
            Socket socket = peer(port);
            byte[] bytes = capture.clone();
            for (int i = random.nextInt(4); i >= 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            socket.getOutputStream().write(bytes, 0, 1 + random.nextInt(bytes.length));
            socket.close();
            await(() -> recorder(port).downs == 1);
            assertTrue(victim.link.readPool().taken() <= 4, "seed " + seed);
        }
    }

    @Test
    void shouldRetryWhenAPeerRejectsAndGiveUpInTime() throws IOException, InterruptedException {
        int[] rejected = new int[1];
        Thread rejecting;
        Recorder seen;
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            seen = victim.connect("fi_sockaddr_in://127.0.0.1:" + server.getLocalPort());
            rejecting = new Thread(() -> {
                try {
                    while (true) {
                        try (Socket socket = server.accept()) {
                            byte[] request = socket.getInputStream().readNBytes(40);
                            request[1] = CmMessage.REJECT;
                            socket.getOutputStream().write(request);
                            rejected[0]++;
                        }
                    }
                } catch (IOException closed) {
                    return;
                }
            });
            rejecting.start();
            Recorder recorder = seen;
            await(() -> recorder.downs == 1);
        }
        rejecting.join();
        assertEquals(FabricErrno.ECONNREFUSED, seen.downErrno);
        assertTrue(rejected[0] > 1 && rejected[0] < 50, "attempts: " + rejected[0]);
        assertFalse(seen.ups > 0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCallAnEndBeforeTheAnswerARefusal(boolean isReset) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Recorder seen = victim.connect("fi_sockaddr_in://127.0.0.1:" + server.getLocalPort());
            Socket socket = server.accept();
            await(() -> available(socket) >= 40);
            if (isReset) {
                socket.setSoLinger(true, 0);
            } else {
                // unread bytes would make the close a reset
                socket.getInputStream().readNBytes(40);
            }
            socket.close();
            await(() -> seen.downs == 1);
            assertEquals(FabricErrno.ECONNREFUSED, seen.downErrno);
            assertEquals(0, seen.ups);
        }
    }

    @Test
    void shouldGiveUpOnAPeerThatAcceptsAndSaysNothing() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Recorder seen = victim.connect("fi_sockaddr_in://127.0.0.1:" + server.getLocalPort());
            await(() -> seen.downs == 1);
            assertEquals(FabricErrno.ETIMEDOUT, seen.downErrno);
        }
    }

    @Test
    void shouldEndADialWhoseAnswerIsGarbage() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Recorder seen = victim.connect("fi_sockaddr_in://127.0.0.1:" + server.getLocalPort());
            await(() -> {
                try {
                    server.setSoTimeout(1);
                    Socket socket = server.accept();
                    sockets.add(socket);
                    socket.getOutputStream().write("SSH-2.0-OpenSSH".getBytes());
                    return true;
                } catch (IOException notYet) {
                    return false;
                }
            });
            await(() -> seen.downs == 1);
            assertEquals(FabricErrno.EIO, seen.downErrno);
        }
    }
}
