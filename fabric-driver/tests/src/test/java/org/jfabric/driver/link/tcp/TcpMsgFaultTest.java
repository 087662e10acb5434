package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.tcp.TcpConnectionsTest.Connecting;
import org.jfabric.driver.link.tcp.TcpConnectionsTest.Incoming;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connected endpoints whose peers break rules or break off; a good connection goes on beside each. */
@Timeout(60)
class TcpMsgFaultTest {
    private static final byte[] NONE = {};
    private static final String TAGGED_OF_4_BYTES =
        "03010000000018001c00000000000000" + "0700000000000000" + "41424344";
    private static final String BEGIN_OF_1_MB = "03000000000010001042 0f0000000000".replace(" ", "") + "41".repeat(100);

    private final TcpNode victim = new TcpNode("127.0.0.1", "jfabric.tcp.connectTimeoutNs", "300ms");
    private final TcpNode bystander = new TcpNode();
    private final Incoming incoming = new Incoming();
    private final List<Socket> sockets = new ArrayList<>();
    private final Connecting here = new Connecting();
    private final Connecting there = new Connecting();

    @BeforeEach
    void connectBystander() {
        victim.link.connections().listen("fi_sockaddr_in://127.0.0.1:0", NONE, 5, incoming);
        await(() -> incoming.address != null);
        bystander.link.connections().connect(bystander.endpoint, incoming.address, NONE, here);
        await(() -> incoming.requests.size() == 1);
        incoming.requests.removeFirst().accept(victim.endpoint, NONE, there);
        await(() -> here.recorder.ups == 1 && there.recorder.ups == 1);
    }

    @AfterEach
    void checkBystander() throws IOException {
        bystander.send(here.recorder.channel, 1, 5000, 5);
        await(() -> there.recorder.messages.size() == 1);
        assertArrayEquals(TcpNode.payload(5000, 5), there.recorder.messages.getFirst());
        assertEquals(0, here.recorder.downs + there.recorder.downs);
        for (Socket socket : sockets) {
            socket.close();
        }
        // the two links, their endpoints' listeners, the passive endpoint and the good connection
        await(() -> victim.link.watched().size() == 3 && bystander.link.watched().size() == 2);
        victim.close();
        bystander.close();
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
        int port = Integer.parseInt(incoming.address.substring(incoming.address.lastIndexOf(':') + 1));
        socket.connect(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port));
        socket.setSoTimeout(Deadline.ms(20));
        sockets.add(socket);
        return socket;
    }

    private static byte[] message(int type) {
        CmMessage message = new CmMessage(type, NONE);
        byte[] bytes = new byte[message.length()];
        message.encode(new UnsafeBuffer(bytes), 0);
        return bytes;
    }

    private static void write(Socket socket, String hex) throws IOException {
        socket.getOutputStream().write(HexFormat.of().parseHex(hex));
    }

    /** The victim's side of a connection that was accepted. */
    private Connecting accepted(Socket socket, byte[] request) throws IOException {
        socket.getOutputStream().write(request);
        await(() -> incoming.requests.size() == 1);
        Connecting side = new Connecting();
        incoming.requests.removeFirst().accept(victim.endpoint, NONE, side);
        await(() -> side.recorder.ups == 1);
        assertEquals(CmMessage.RESPONSE, socket.getInputStream().readNBytes(32)[1]);
        return side;
    }

    private static void awaitEnd(Socket socket) throws IOException {
        try {
            assertEquals(-1, socket.getInputStream().read());
        } catch (IOException reset) {
            assertTrue(reset.getMessage().contains("reset"), reset::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "reset in the middle of a message, true, true, true, 104",
        "end in the middle of a message, true, true, false, 104",
        "reset between messages, true, false, true, 104",
        "end between messages, true, false, false, 108",
        "reset in the middle of a message of one in use, false, true, true, 104",
        "end in the middle of a message of one in use, false, true, false, 104",
        "reset between messages of one in use, false, false, true, 104",
        "end between messages of one in use, false, false, false, 108"})
    void shouldTellHowAConnectionHasEnded(
        String what, boolean isIdle, boolean isMiddle, boolean isReset, int errno) throws IOException {
        Socket socket = unknownPeer();
        Connecting side = accepted(socket, message(CmMessage.REQUEST));
        write(socket, TAGGED_OF_4_BYTES);
        if (isMiddle) {
            write(socket, BEGIN_OF_1_MB);
        }
        await(() -> side.recorder.messages.size() == 1 && side.recorder.placeCalls == (isMiddle ? 1 : 0));
        // an idle connection is left to the epoll, which reports a reset as such; one in use is read
        await(() -> victim.step() == 0);
        for (int i = 0; isIdle && i < 5000; i++) {
            victim.link.poll(1);
        }
        if (isReset) {
            socket.setSoLinger(true, 0);
        }
        socket.close();
        await(() -> side.recorder.downs == 1);
        assertEquals(errno, side.recorder.downErrno, what);
        assertEquals(1, side.recorder.messages.size(), "what came before stays");
        assertEquals(List.of(), victim.errors);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "03000000020010001000000000000000",
        "03030000000010002000000000000000",
        "03020000000128002800000000000000" + "000000000000000040000000000000000000008000000000",
        "03040000000128003000000000000000" + "000000000000000008000000000000000000008000000000" + "4142434445464748",
        "0301000000001800ffffffffffffffff0000000000000000",
        "0301000000007f00ffff0000000000000000000000000000",
        "474554202f20485454502f312e310d0a0d0a474554202f20"})
    void shouldEndAPeerThatBreaksTheProtocol(String hex) throws IOException {
        Socket socket = unknownPeer();
        Connecting side = accepted(socket, message(CmMessage.REQUEST));
        write(socket, hex);
        await(() -> side.recorder.downs == 1);
        assertEquals(FabricErrno.EIO, side.recorder.downErrno);
        assertEquals(1, victim.errors.size(), victim.errors::toString);
        awaitEnd(socket);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "474554202f20485454502f312e310d0a0d0a", "02", "0307", "03000101",
        "0300000000000000000000000000000000000000000000000300000000000000",
        "0301000000000000000000000000000000000000000000000100000000000000"})
    void shouldNotOfferInvalidRequestsToTheApplication(String hex) throws IOException {
        Socket socket = unknownPeer();
        write(socket, hex);
        await(() -> victim.errors.size() == 1);
        awaitEnd(socket);
        assertEquals(List.of(), incoming.requests);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCallAnEndBeforeTheAnswerARefusal(boolean isReset) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Connecting refused = new Connecting();
            victim.link.connections().connect(
                victim.endpoint, "fi_sockaddr_in://127.0.0.1:" + server.getLocalPort(), NONE, refused);
            Socket socket = server.accept();
            sockets.add(socket);
            await(() -> available(socket) >= message(CmMessage.REQUEST).length);
            if (isReset) {
                socket.setSoLinger(true, 0);
            } else {
                // unread bytes would make the close a reset
                socket.getInputStream().readNBytes(socket.getInputStream().available());
            }
            socket.close();
            await(() -> refused.errno != 0);
            assertEquals(FabricErrno.ECONNREFUSED, refused.errno);
        }
    }

    @Test
    void shouldNotWaitForTheRestOfARequest() throws IOException {
        Socket half = unknownPeer();
        half.getOutputStream().write(message(CmMessage.REQUEST), 0, 31);
        await(() -> victim.link.watched().size() == 4);
        Socket gone = unknownPeer();
        gone.getOutputStream().write(message(CmMessage.REQUEST), 0, 5);
        gone.close();
        await(() -> victim.link.watched().size() == 3);
        awaitEnd(half);
        assertEquals(List.of(), incoming.requests);
    }

    @Test
    void shouldConnectWithABigEndianPeer() throws IOException {
        Socket socket = unknownPeer();
        byte[] request = message(CmMessage.REQUEST);
        request[24] = 0;
        request[31] = 1;
        Connecting side = accepted(socket, request);
        write(socket, "0301000000001800000000000000001c" + "000000000000004d" + "41424344");
        await(() -> side.recorder.messages.size() == 1);
        assertEquals(77, side.recorder.tags.getFirst());
        victim.send(side.recorder.channel, 77, 4, 1);
        await(() -> available(socket) >= 28);
        assertArrayEquals(HexFormat.of().parseHex("0301000000001800000000000000001c000000000000004d"),
            socket.getInputStream().readNBytes(24));
    }

    /** The answer to our request: whole, or what it lacks is the error of the attempt. */
    @ParameterizedTest
    @CsvSource({
        "0301000000000000000000000000000000000000000000000100000000000000, 0",
        "0306000000000000000000000000000000000000000000000000000000000000, 111",
        "0300000000000000000000000000000000000000000000000100000000000000, 5",
        "0401000000000000000000000000000000000000000000000100000000000000, 5",
        "0301010100000000000000000000000000000000000000000100000000000000, 5",
        "0301000000000000000000000000000000000000000000000200000000000000, 5",
        "03010000000000000000, 104",
        "'', 111"})
    void shouldFailAnAttemptByWhatTheAnswerLacks(String hex, int errno) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"))) {
            Connecting dialed = new Connecting();
            victim.link.connections().connect(
                victim.endpoint, "fi_sockaddr_in://127.0.0.1:" + server.getLocalPort(), NONE, dialed);
            Socket socket = server.accept();
            sockets.add(socket);
            await(() -> available(socket) >= 32);
            socket.getInputStream().readNBytes(32);
            byte[] answer = HexFormat.of().parseHex(hex);
            // in two pieces, as there is no guarantee that it arrives as a whole
            socket.getOutputStream().write(answer, 0, answer.length / 2);
            victim.step();
            socket.getOutputStream().write(answer, answer.length / 2, answer.length - answer.length / 2);
            if (hex.length() < 64) {
                socket.close();
            }
            await(() -> dialed.recorder.ups == 1 || dialed.errno != 0);
            assertEquals(errno, dialed.errno);
            socket.close();
            await(() -> dialed.recorder.ups == 0 || dialed.recorder.downs == 1);
        }
    }

    private static int available(Socket socket) {
        try {
            return socket.getInputStream().available();
        } catch (IOException e) {
            return -1;
        }
    }
}
