package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectableChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer with a connection connects again: it was restarted, or another process uses its address. */
@Timeout(60)
class TakeoverTest {
    private static final int PORT = 7001;
    private static final String NAME = "fi_sockaddr_in://127.0.0.1:" + PORT;
    private static final int LENGTH = 100_000;

    private final List<Socket> sockets = new ArrayList<>();
    private TcpNode victim;

    @AfterEach
    void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        if (victim != null) {
            victim.close();
            assertEquals(List.of(), victim.errors);
            assertEquals(0, victim.link.readPool().taken() + victim.link.writePool().taken());
        }
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not reached; errors " + victim.errors
                + ", handlers " + victim.handlers.keySet() + ", watched " + victim.link.watched().size());
            if (victim.step() == 0) {
                Thread.yield();
            }
        }
    }

    /** A process that says to be the peer. */
    private Socket claim(int processId) throws IOException {
        return claim(PORT, processId);
    }

    private Socket claim(int listenPort, int processId) throws IOException {
        Socket socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.bind(new InetSocketAddress("127.0.0.1", 0));
        socket.connect(new InetSocketAddress(victim.name().inetAddress(), victim.name().port()));
        sockets.add(socket);
        CmMessage message = new CmMessage(CmMessage.REQUEST, RdmConnectData.request(listenPort, processId).encode());
        byte[] bytes = new byte[message.length()];
        message.encode(new UnsafeBuffer(bytes), 0);
        socket.getOutputStream().write(bytes);
        return socket;
    }

    private int answer(Socket socket) throws IOException {
        await(() -> hasAnswer(socket));
        return socket.getInputStream().readNBytes(40)[1];
    }

    private static boolean hasAnswer(Socket socket) {
        try {
            return socket.getInputStream().available() >= 40;
        } catch (IOException e) {
            return false;
        }
    }

    private static void send(Socket socket, int length) throws IOException {
        ByteBuffer message = ByteBuffer.allocate(24 + length).order(ByteOrder.LITTLE_ENDIAN);
        message.put((byte) 3).put((byte) 1).putShort((short) 0).put((byte) 0).put((byte) 0).put((byte) 24)
            .put((byte) 0).putLong(24 + length).putLong(length).put(TcpNode.payload(length, 1));
        socket.getOutputStream().write(message.array());
    }

    private int watched() {
        return victim.link.watched().size();
    }

    /** Without a word of the peer: the kernel answers for it, whatever its program does. */
    @Tag("slow") // waits for the kernel's questions, a second apart at least
    @Test
    void shouldRejectAnotherProcessWhileThePeerLives() throws IOException {
        victim = new TcpNode("127.0.0.1");
        Socket peer = claim(7);
        assertEquals(CmMessage.RESPONSE, answer(peer));
        Recorder seen = victim.handler(NAME);
        int watchedBefore = watched();
        int[] before = liveness();

        Socket other = claim(8);
        // one is held at a time
        Socket third = claim(9);
        assertEquals(CmMessage.REJECT, answer(third));
        assertEquals(CmMessage.REJECT, answer(other));
        await(() -> watched() == watchedBefore);
        assertArrayEquals(before, liveness(), "back to what the options say");

        // one that gives up is forgotten at once
        Socket leaving = claim(10);
        await(() -> watched() > watchedBefore || hasAnswer(leaving));
        leaving.close();
        await(() -> watched() == watchedBefore);
        assertArrayEquals(before, liveness());
        // a message of the peer shows as well that it lives
        Socket last = claim(11);
        await(() -> watched() > watchedBefore || hasAnswer(last));
        send(peer, 100);
        assertEquals(CmMessage.REJECT, answer(last));
        assertEquals(0, seen.downs);
        await(() -> seen.messages.size() == 1);
    }

    private int[] liveness() {
        return TcpSocket.liveness(((TcpChannel) victim.handler(NAME).channel).connection().fd());
    }

    /**
     * Messages that the old process had sent are received before its successor connects, unless no receive takes them.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldAcceptASuccessorOfAPeerThatHasEnded(boolean isPaused) throws IOException {
        victim = new TcpNode("127.0.0.1");
        Recorder seen = victim.handler(NAME);
        seen.pauses = isPaused;
        Socket peer = claim(7);
        assertEquals(CmMessage.RESPONSE, answer(peer));
        int count = isPaused ? 1 : 5;
        for (int i = 0; i < count; i++) {
            send(peer, LENGTH);
        }
        peer.close();
        assertEquals(CmMessage.RESPONSE, answer(claim(8)));
        assertEquals(1, seen.downs);
        assertEquals(2, seen.ups);
        assertEquals(isPaused ? 0 : count, seen.messages.size());
    }

    @Test
    void shouldRejectASuccessorUntilTheOldOneIsGoneIfTakeoverIsForbidden() throws IOException {
        victim = new TcpNode("127.0.0.1", "jfabric.tcp.takeover", "NEVER");
        Recorder seen = victim.handler(NAME);
        seen.pauses = true;
        Socket peer = claim(7);
        assertEquals(CmMessage.RESPONSE, answer(peer));
        send(peer, LENGTH);
        await(() -> seen.placeCalls > 0);
        peer.close();
        assertEquals(CmMessage.REJECT, answer(claim(8)));
        assertEquals(0, seen.downs);
        seen.pauses = false;
        await(() -> seen.downs == 1);
        assertEquals(1, seen.messages.size());
        assertEquals(CmMessage.RESPONSE, answer(claim(9)));
    }

    /** An endpoint's connection to itself cannot be taken over either. */
    @Test
    void shouldNotEndAConnectionOfItsOwnForAnother() throws IOException {
        victim = new TcpNode("127.0.0.1");
        Recorder own = victim.connect(victim.address());
        await(() -> own.ups == 1);
        Socket other = claim(victim.name().port(), 8);
        other.setSoTimeout(1);
        await(() -> isEnded(other));
        assertEquals(0, own.downs);
        Recorder again = victim.handler(victim.address());
        victim.send(again.channel, 1, 10, 1);
        await(() -> again.messages.size() == 1);
    }

    private static boolean isEnded(Socket socket) {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException notYet) {
            return false;
        } catch (IOException reset) {
            return true;
        }
    }

    /** The system's state at the end of the time decides: a peer without a probe cannot be silent. */
    @ParameterizedTest
    @ValueSource(strings = {"0 LIVES", "1 LIVES", "2 OVER", "15 OVER"})
    void shouldTakeAConnectionForOverIfTwoProbesHadNoAnswer(String unansweredAndVerdict) {
        String[] parts = unansweredAndVerdict.split(" ");
        SystemPort port = new SystemPort();
        port.health = new TcpSocket.Health(true, Integer.parseInt(parts[0]), 1_000_000);
        PeerProbe probe = new PeerProbe(port, 5);
        assertArrayEquals(new int[] {1, 1, 2}, port.keepAlive);
        for (long ms = 0; ms <= 4000; ms += 500) {
            assertEquals(MessageChannel.ASKING, probe.verdict(5 + ms * 1_000_000));
        }
        assertEquals(
            parts[1].equals("OVER") ? MessageChannel.OVER : MessageChannel.LIVES, probe.verdict(4_100_000_000L));
    }

    @Test
    void shouldDistinguishAnAnswerFromEarlierSegments() {
        SystemPort port = new SystemPort();
        PeerProbe probe = new PeerProbe(port, 0);
        port.health = new TcpSocket.Health(true, 0, 500);
        assertEquals(MessageChannel.ASKING, probe.verdict(500_000_000L), "the last segment came just before");
        port.health = new TcpSocket.Health(true, 0, 100);
        assertEquals(MessageChannel.LIVES, probe.verdict(1_100_000_000L));
        port.health = new TcpSocket.Health(false, 0, 100);
        assertEquals(MessageChannel.OVER, probe.verdict(1_200_000_000L));
        // sockets of the JDK: only the end itself shows
        port.health = null;
        assertEquals(MessageChannel.ASKING, probe.verdict(1_300_000_000L));
        assertEquals(MessageChannel.LIVES, probe.verdict(4_100_000_000L));
    }

    /** A port with a given state. */
    private static final class SystemPort extends TcpPort {
        private TcpSocket.Health health;
        private int[] keepAlive;

        @Override
        public TcpSocket.Health health() {
            return health;
        }

        @Override
        public void keepAlive(int idleSeconds, int intervalSeconds, int probes) {
            keepAlive = new int[] {idleSeconds, intervalSeconds, probes};
        }

        @Override
        public void userTimeout(int milliseconds) {
            throw notAsked();
        }

        @Override
        public int fd() {
            throw notAsked();
        }

        @Override
        public SelectableChannel channel() {
            throw notAsked();
        }

        @Override
        public int connectError() {
            throw notAsked();
        }

        @Override
        public boolean isReset() {
            throw notAsked();
        }

        @Override
        public SocketName localName() {
            throw notAsked();
        }

        @Override
        public long send(long address, long length) {
            throw notAsked();
        }

        @Override
        public long receive(long address, long length) {
            throw notAsked();
        }

        @Override
        public long sendVector(IoVector vector) {
            throw notAsked();
        }

        @Override
        public long receiveVector(IoVector vector) {
            throw notAsked();
        }

        @Override
        public long receiveError(IoVector vector) {
            throw notAsked();
        }

        @Override
        public void mark(SocketClass marks) {
        }

        @Override
        public void close() {
            throw notAsked();
        }

        private static AssertionError notAsked() {
            return new AssertionError("a probe only asks how the connection is");
        }
    }
}
