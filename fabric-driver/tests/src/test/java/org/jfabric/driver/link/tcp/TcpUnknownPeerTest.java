package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many unknown peers connect at once: known peers continue, and the resources for the unknown ones are limited. */
@Isolated("counts the descriptors and threads of the process")
@Timeout(60)
class TcpUnknownPeerTest {
    private static final String REFUSED = "tcp: connections refused because of limits";
    private static final String BROKEN = "tcp: connections closed because the peer broke the protocol";
    private static final String ONE_HOST = "127.0.0.1";
    private static final String OTHER_HOST = "127.0.0.2";

    private final List<TcpNode> nodes = new ArrayList<>();
    private final List<Socket> sockets = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        for (TcpNode node : nodes) {
            node.close();
            assertEquals(0, node.link.readPool().taken() + node.link.writePool().taken());
        }
    }

    private TcpNode node(String address, String... options) {
        TcpNode node = new TcpNode(address, options);
        nodes.add(node);
        return node;
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not reached; errors " + nodes.getFirst().errors);
            int work = 0;
            for (TcpNode node : nodes) {
                work += node.step();
            }
            if (work == 0) {
                Thread.yield();
            }
        }
    }

    private Socket unknownPeer(TcpNode victim, String host) throws IOException {
        Socket socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.bind(new InetSocketAddress(host, 0));
        socket.connect(new InetSocketAddress(victim.name().inetAddress(), victim.name().port()));
        socket.setSoTimeout(Deadline.ms(20));
        sockets.add(socket);
        return socket;
    }

    private static byte[] request(int listenPort) {
        return request(RdmConnectData.request(listenPort, 1 + listenPort));
    }

    private static byte[] request(RdmConnectData data) {
        CmMessage message = new CmMessage(CmMessage.REQUEST, data.encode());
        byte[] bytes = new byte[message.length()];
        message.encode(new UnsafeBuffer(bytes), 0);
        return bytes;
    }

    /** Sends the request of a peer that listens on a port; returns the type of the answer. */
    private int ask(Socket socket, int listenPort) throws IOException {
        socket.getOutputStream().write(request(listenPort));
        await(() -> available(socket) >= 40);
        return socket.getInputStream().readNBytes(40)[1];
    }

    private int ask(TcpNode victim, String host, int listenPort) throws IOException {
        return ask(unknownPeer(victim, host), listenPort);
    }

    private static int available(Socket socket) {
        try {
            return socket.getInputStream().available();
        } catch (IOException e) {
            return -1;
        }
    }

    private static String name(String host, int port) {
        return "fi_sockaddr_in://" + host + ":" + port;
    }

    @Test
    void shouldRejectUnknownPeersBeyondTheLimitAndAcceptKnownPeers() throws IOException {
        TcpNode victim = node(ONE_HOST, "jfabric.tcp.unknownPeerLimit", "3");
        for (int port = 7001; port <= 7003; port++) {
            assertEquals(CmMessage.RESPONSE, ask(victim, ONE_HOST, port));
        }
        assertEquals(CmMessage.REJECT, ask(victim, ONE_HOST, 7004));
        assertEquals(CmMessage.REJECT, ask(victim, OTHER_HOST, 7005));
        assertEquals(2, victim.counter(REFUSED));
        assertEquals(3, victim.handlers.size(), "the engine gets only peers that are accepted");

        victim.insert(name(ONE_HOST, 7006));
        assertEquals(CmMessage.RESPONSE, ask(victim, ONE_HOST, 7006));
        // an unknown peer that becomes known makes room for another one
        victim.insert(name(ONE_HOST, 7001));
        assertEquals(CmMessage.RESPONSE, ask(victim, ONE_HOST, 7007));
        assertEquals(CmMessage.REJECT, ask(victim, ONE_HOST, 7008));
        // and so does a peer that leaves
        sockets.get(1).close();
        await(() -> victim.handler(name(ONE_HOST, 7002)).downs == 1);
        assertEquals(CmMessage.RESPONSE, ask(victim, ONE_HOST, 7009));
        assertEquals(3, victim.counter(REFUSED));
        assertEquals(List.of(), victim.errors);
    }

    @Test
    void shouldNotLetOneHostTakeThePlacesOfOthers() throws IOException {
        TcpNode victim = node(ONE_HOST, "jfabric.tcp.unknownPeersPerHost", "2");
        assertEquals(CmMessage.RESPONSE, ask(victim, ONE_HOST, 7101));
        assertEquals(CmMessage.RESPONSE, ask(victim, ONE_HOST, 7102));
        assertEquals(CmMessage.REJECT, ask(victim, ONE_HOST, 7103));
        assertEquals(CmMessage.RESPONSE, ask(victim, OTHER_HOST, 7103));
        assertEquals(1, victim.counter(REFUSED));
    }

    @Test
    void shouldAdmitOnlyKnownPeersIfTheLimitIsZero() throws IOException {
        TcpNode victim = node(ONE_HOST, "jfabric.tcp.unknownPeerLimit", "0");
        TcpNode peer = node(OTHER_HOST);
        assertEquals(CmMessage.REJECT, ask(victim, ONE_HOST, 7201));
        victim.insert(peer.address());
        Recorder here = peer.connect(victim.address());
        await(() -> here.ups == 1 && victim.handler(peer.address()).ups == 1);
    }

    /** A peer of libfabric with FI_TCP_FIREWALL_ADDR=1 has to connect by itself; attempts to connect to it are vain. */
    @Test
    void shouldNotConnectToAPeerThatIsBehindAFirewall() throws IOException {
        TcpNode victim = node(OTHER_HOST, "jfabric.tcp.connectTimeoutNs", "60s");
        try (ServerSocket listener = new ServerSocket(0, 5, InetAddress.getByName(ONE_HOST))) {
            int port = listener.getLocalPort();
            victim.insert(name(ONE_HOST, port));
            // its own attempt makes way for the peer's request, although its address is the greater one
            Recorder there = victim.connect(name(ONE_HOST, port));
            for (int i = 0; i < 2; i++) {
                Socket socket = unknownPeer(victim, ONE_HOST);
                socket.getOutputStream().write(request(new RdmConnectData(0, 1, port, 77)));
                await(() -> available(socket) >= 40);
                assertEquals(CmMessage.RESPONSE, socket.getInputStream().readNBytes(40)[1]);
                int downs = there.downs;
                socket.close();
                await(() -> there.downs > downs);
                Recorder refused = victim.connect(name(ONE_HOST, port));
                int before = refused.downs;
                await(() -> refused.downs > before);
                assertEquals(FabricErrno.EFIREWALLADDR, refused.downErrno);
            }
        }
    }

    /** Another process of that host may have said so, of a port that is not its own. */
    @Test
    void shouldBelieveInAFirewallForTheTimeOfAnAttempt() throws IOException {
        TcpNode victim = node(OTHER_HOST, "jfabric.tcp.connectTimeoutNs", "300ms");
        try (ServerSocket listener = new ServerSocket(0, 5, InetAddress.getByName(ONE_HOST))) {
            int port = listener.getLocalPort();
            victim.insert(name(ONE_HOST, port));
            Socket socket = unknownPeer(victim, ONE_HOST);
            socket.getOutputStream().write(request(new RdmConnectData(0, 1, port, 77)));
            await(() -> available(socket) >= 40);
            Recorder there = victim.connect(name(ONE_HOST, port));
            int downs = there.downs;
            socket.close();
            await(() -> there.downs > downs);
            listener.setSoTimeout(1);
            int[] attempts = new int[1];
            Recorder next = victim.connect(name(ONE_HOST, port));
            int before = next.downs;
            await(() -> {
                boolean isDialed = hasAccepted(listener);
                if (!isDialed && next.downs > before + attempts[0]) {
                    assertEquals(FabricErrno.EFIREWALLADDR, next.downErrno);
                    attempts[0]++;
                    victim.connect(name(ONE_HOST, port));
                }
                return isDialed;
            });
            assertTrue(attempts[0] > 0, "it was dialed at once");
        }
    }

    private static boolean hasAccepted(ServerSocket listener) {
        try (Socket dialed = listener.accept()) {
            return dialed.isConnected();
        } catch (SocketTimeoutException none) {
            return false;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Test
    void shouldListenToNewcomersWhileASilentCrowdHoldsAllPlaces() throws IOException {
        TcpNode victim = node(ONE_HOST, "jfabric.tcp.greetingLimit", "4");
        for (int i = 0; i < 12; i++) {
            unknownPeer(victim, ONE_HOST);
        }
        TcpNode peer = node(OTHER_HOST);
        Recorder here = peer.connect(victim.address());
        await(() -> here.ups == 1 && victim.handler(peer.address()).ups == 1);
        assertEquals(0, here.downs);
        assertTrue(victim.counter(REFUSED) >= 8, "closed for others: " + victim.counter(REFUSED));
    }

    @Test
    void shouldLetACrowdDriveOutOnlyItsOwn() throws IOException {
        TcpNode victim = node(ONE_HOST, "jfabric.tcp.greetingLimit", "8");
        Socket slow = unknownPeer(victim, OTHER_HOST);
        slow.getOutputStream().write(request(7301), 0, 20);
        for (int i = 0; i < 40; i++) {
            unknownPeer(victim, ONE_HOST);
            victim.step();
        }
        slow.getOutputStream().write(request(7301), 20, 20);
        await(() -> available(slow) >= 40);
        assertEquals(CmMessage.RESPONSE, slow.getInputStream().readNBytes(40)[1]);
    }

    /** Outgoing attempts do not count as incoming connections, and are not replaced by them. */
    @Test
    void shouldNotCountItsOwnAttempts() throws IOException {
        TcpNode victim = node(ONE_HOST, "jfabric.tcp.greetingLimit", "2");
        List<Recorder> dialed = new ArrayList<>();
        List<ServerSocket> silent = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName(ONE_HOST));
            silent.add(server);
            dialed.add(victim.connect(name(ONE_HOST, server.getLocalPort())));
        }
        Socket first = unknownPeer(victim, OTHER_HOST);
        first.getOutputStream().write(request(7401), 0, 39);
        victim.step();
        for (int i = 0; i < 20; i++) {
            unknownPeer(victim, ONE_HOST);
            victim.step();
        }
        assertEquals(0, dialed.stream().mapToInt(each -> each.downs).sum());
        first.getOutputStream().write(request(7401), 39, 1);
        await(() -> available(first) >= 40);
        // the attempts still get their answers
        try (Socket answering = silent.getFirst().accept()) {
            byte[] answer = answering.getInputStream().readNBytes(40);
            answer[1] = CmMessage.RESPONSE;
            answering.getOutputStream().write(answer);
            await(() -> dialed.getFirst().ups == 1);
        }
        for (ServerSocket server : silent) {
            server.close();
        }
    }

    /** Writes a message of {@code length} bytes, or the beginning of one. */
    private static void write(Socket socket, int length, int written) throws IOException {
        ByteBuffer message = ByteBuffer.allocate(24 + length).order(ByteOrder.LITTLE_ENDIAN);
        message.put((byte) 3).put((byte) 1).putShort((short) 0).put((byte) 0).put((byte) 0).put((byte) 24)
            .put((byte) 0).putLong(24 + length).putLong(length).put(TcpNode.payload(length, 1));
        socket.getOutputStream().write(message.array(), 0, 24 + written);
    }

    /** Messages of peers that have left can be received until another peer needs their place. */
    @ParameterizedTest
    @ValueSource(strings = {"jfabric.tcp.unknownPeerLimit", "jfabric.tcp.unknownPeersPerHost"})
    void shouldGiveThePlacesOfThoseThatHaveLeftToOthers(String limit) throws IOException {
        TcpNode victim = node(ONE_HOST, limit, "2");
        int length = 100_000;
        for (int port = 7501; port <= 7502; port++) {
            Recorder there = victim.handler(name(ONE_HOST, port));
            there.pauses = true;
            Socket socket = unknownPeer(victim, ONE_HOST);
            assertEquals(CmMessage.RESPONSE, ask(socket, port));
            write(socket, length, length);
            await(() -> there.placeCalls > 0);
            socket.close();
        }
        for (int port = 7501; port <= 7502; port++) {
            TcpConnection connection = ((TcpChannel) victim.handler(name(ONE_HOST, port)).channel).connection();
            await(connection::hasLeft);
        }
        assertEquals(CmMessage.RESPONSE, ask(victim, ONE_HOST, 7503));
        Recorder ended = victim.handler(name(ONE_HOST, 7502));
        Recorder kept = victim.handler(name(ONE_HOST, 7501));
        assertEquals(1, ended.downs);
        assertEquals(FabricErrno.ECONNRESET, ended.downErrno);
        assertEquals(0, kept.downs, "one place was enough");
        kept.pauses = false;
        await(() -> kept.downs == 1);
        assertArrayEquals(TcpNode.payload(length, 1), kept.messages.getFirst());
        assertEquals(CmMessage.RESPONSE, ask(victim, ONE_HOST, 7504));
        assertEquals(CmMessage.REJECT, ask(victim, ONE_HOST, 7505));
        assertEquals(List.of(), victim.errors);
    }

    /** An unknown peer cannot occupy for ever a receive that its message has begun to fill. */
    @Test
    void shouldEndUnknownPeersThatStopInsideOfAMessage() throws IOException {
        TcpNode victim = node(ONE_HOST);
        victim.insert(name(ONE_HOST, 7804));
        int length = 1_000_000;
        List<Socket> peers = new ArrayList<>();
        List<Recorder> seen = new ArrayList<>();
        for (int port = 7801; port <= 7805; port++) {
            Socket socket = unknownPeer(victim, ONE_HOST);
            assertEquals(CmMessage.RESPONSE, ask(socket, port));
            Recorder there = victim.handler(name(ONE_HOST, port));
            write(socket, length, 10);
            await(() -> there.placeCalls == 1);
            peers.add(socket);
            seen.add(there);
        }
        Recorder silent = seen.get(0);
        Recorder dripping = seen.get(1);
        Recorder moving = seen.get(2);
        Recorder known = seen.get(3);
        Recorder slow = seen.get(4);
        for (int i = 0; i < 10 && silent.downs + dripping.downs + slow.downs < 3; i++) {
            int[] bytes = {0, 1, 20_000, 0, 5_000};
            for (int peer = 0; peer < bytes.length; peer++) {
                if (seen.get(peer).downs == 0) {
                    peers.get(peer).getOutputStream().write(new byte[bytes[peer]]);
                }
            }
            step(victim);
            victim.aheadNs += 2_500_000_000L;
            step(victim);
        }
        assertEquals(List.of(1, 1, 0, 0, 1), seen.stream().map(each -> each.downs).toList());
        assertEquals(FabricErrno.ETIMEDOUT, silent.downErrno);
        assertEquals(FabricErrno.ETIMEDOUT, dripping.downErrno);
        assertEquals(FabricErrno.ETIMEDOUT, slow.downErrno, "more than 16 KiB, but no 16th of the message");
        assertEquals(3, victim.counter("tcp: connections closed because a message made no progress"));
        // without cycles the connection is not read
        victim.aheadNs += 100_000_000_000L;
        step(victim);
        assertEquals(0, moving.downs + known.downs);
    }

    private static void step(TcpNode node) {
        for (int i = 0; i < 20; i++) {
            node.step();
        }
    }

    /** The error log has a fixed size, and searching it takes the driver's time. */
    @Test
    void shouldCountWhatItDoesNotLog() throws IOException {
        TcpNode victim = node(ONE_HOST);
        for (int i = 0; i < 200; i++) {
            Socket socket = unknownPeer(victim, ONE_HOST);
            socket.getOutputStream().write(("GET /" + i).getBytes());
            long wanted = i + 1;
            await(() -> victim.counter(BROKEN) == wanted);
            socket.close();
        }
        assertEquals(64, victim.errors.size());
    }

    @Test
    @Tag("slow")
    void shouldForgetTenThousandConnectionsWithoutALeak() throws IOException {
        TcpNode victim = node(ONE_HOST);
        TcpNode good = node(OTHER_HOST);
        Recorder here = good.connect(victim.address());
        Recorder there = victim.handler(good.address());
        await(() -> here.ups == 1 && there.ups == 1);
        int watchedBefore = victim.link.watched().size();
        long filesBefore = TcpLinkTest.openFiles();
        int threadsBefore = Thread.activeCount();
        byte[] request = request(7601);
        for (int i = 0; i < 10_000; i++) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(victim.name().inetAddress(), victim.name().port()));
                int what = i % 5;
                if (what > 0) {
                    byte[] says = what == 1 ? "GET / HTTP/1.1".getBytes() : request;
                    // garbage, half a request, a whole one
                    socket.getOutputStream().write(says, 0, what == 2 ? 20 : says.length);
                }
                if (what == 4) {
                    socket.setSoLinger(true, 0);
                }
                victim.step();
            }
            if (i % 1000 == 0) {
                int before = there.messages.size();
                good.send(here.channel, i, 100, i);
                await(() -> there.messages.size() == before + 1);
            }
        }
        await(() -> victim.link.watched().size() == watchedBefore);
        // the machine opens some of its own now and then
        await(() -> TcpLinkTest.openFiles() <= filesBefore + 100);
        assertTrue(Thread.activeCount() <= threadsBefore, "threads");
        await(() -> victim.link.readPool().taken() + victim.link.writePool().taken() <= 2);
        assertEquals(Set.of(good.address(), name(ONE_HOST, 7601)), victim.handlers.keySet());
        assertEquals(0, here.downs + there.downs);
        assertEquals(2000, victim.counter(BROKEN));
    }
}
