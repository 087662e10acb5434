package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import jdk.net.ExtendedSocketOptions;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two links in one thread: connections with private data, and reads of the peer's memory. */
@Isolated("counts the descriptors and threads of the process")
@Timeout(60)
class TcpConnectionsTest {
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] WELCOME = "welcome".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NO_KEY = {};

    private final TcpNode a = new TcpNode();
    private final TcpNode b = new TcpNode();
    private final Incoming incoming = new Incoming();
    private final Listener listener =
        b.link.connections().listen("fi_sockaddr_in://127.0.0.1:0", NO_KEY, 5, incoming);

    /** A passive endpoint. */
    static final class Incoming extends ListenerHandler {
        final List<IncomingConnection> requests = new ArrayList<>();
        String address;
        int failure;
        boolean isFull;

        @Override
        public void onListening(String listening) {
            address = listening;
        }

        @Override
        public void onFailed(int errno) {
            failure = errno;
        }

        @Override
        public boolean onRequest(IncomingConnection request) {
            if (!isFull) {
                requests.add(request);
            }
            return !isFull;
        }
    }

    /** An active endpoint. */
    static final class Connecting extends ConnectionHandler {
        final Recorder recorder = new Recorder();
        String local;
        String peer;
        byte[] data;
        int errno;

        @Override
        public ChannelHandler channelHandler() {
            return recorder;
        }

        @Override
        public void onConnected(String localAddress, String peerAddress, byte[] cmData) {
            assertEquals(0, recorder.ups, "before the channel is up");
            local = localAddress;
            peer = peerAddress;
            data = cmData;
        }

        @Override
        public void onFailed(int failure, byte[] cmData) {
            assertEquals(0, errno, "once");
            errno = failure;
            data = cmData;
        }
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        assertEquals(0, b.link.readPool().taken() + b.link.writePool().taken());
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not reached; errors " + a.errors + b.errors);
            if (a.step() + b.step() == 0) {
                Thread.yield();
            }
        }
    }

    private Connecting request(byte[] data) {
        await(() -> incoming.address != null);
        Connecting handler = new Connecting();
        Channel channel = a.link.connections().connect(a.endpoint, incoming.address, data, handler);
        assertEquals(handler.recorder, channel.handler());
        return handler;
    }

    private Connecting[] connected() {
        Connecting here = request(HELLO);
        await(() -> incoming.requests.size() == 1);
        Connecting there = new Connecting();
        incoming.requests.getFirst().accept(b.endpoint, WELCOME, there);
        assertEquals(0, there.recorder.ups, "never from inside of the call");
        await(() -> here.recorder.ups == 1 && there.recorder.ups == 1);
        return new Connecting[] {here, there};
    }

    @Test
    void shouldExchangePrivateDataThenMessages() {
        Connecting[] both = connected();
        assertArrayEquals(HELLO, incoming.requests.getFirst().cmData());
        assertArrayEquals(WELCOME, both[0].data);
        assertEquals(0, both[1].data.length);
        assertEquals(incoming.address, both[0].peer);
        assertEquals(both[0].local, both[1].peer);
        assertEquals(both[0].local, incoming.requests.getFirst().remoteAddress());
        assertTrue(both[0].local.startsWith("fi_sockaddr_in://127.0.0.1:"), both[0].local);
        a.send(both[0].recorder.channel, 1, 100, 1);
        b.send(both[1].recorder.channel, 2, 200_000, 2);
        await(() -> both[0].recorder.messages.size() == 1 && both[1].recorder.messages.size() == 1);
        assertArrayEquals(TcpNode.payload(200_000, 2), both[0].recorder.messages.getFirst());
    }

    @Test
    void shouldRejectWithDataAndOfferNoMoreThanTheHandlerTakes() {
        Connecting rejected = request(new byte[256]);
        await(() -> incoming.requests.size() == 1);
        assertEquals(256, incoming.requests.getFirst().cmData().length);
        incoming.requests.getFirst().reject(WELCOME);
        await(() -> rejected.errno != 0);
        assertEquals(FabricErrno.ECONNREFUSED, rejected.errno);
        assertArrayEquals(WELCOME, rejected.data);
        incoming.isFull = true;
        Connecting crowded = request(HELLO);
        await(() -> crowded.errno != 0);
        assertEquals(FabricErrno.ECONNREFUSED, crowded.errno);
    }

    @Test
    void shouldTellOfAnOrderlyEndAndOfAnAnswerThatCameTooLate() {
        Connecting[] both = connected();
        both[0].recorder.channel.close(FabricErrno.ESHUTDOWN);
        await(() -> both[1].recorder.downs == 1);
        assertEquals(FabricErrno.ESHUTDOWN, both[1].recorder.downErrno);
        Connecting impatient = new Connecting();
        Channel given = a.link.connections().connect(a.endpoint, incoming.address, HELLO, impatient);
        await(() -> incoming.requests.size() == 2);
        given.close(FabricErrno.ECANCELED);
        for (int i = 0; i < 100; i++) {
            a.step();
            b.step();
        }
        Connecting late = new Connecting();
        incoming.requests.getLast().accept(b.endpoint, WELCOME, late);
        await(() -> late.errno != 0);
        assertEquals(FabricErrno.ECONNABORTED, late.errno);
        assertEquals(0, impatient.errno + impatient.recorder.ups, "the closing side gets no event");
    }

    @Test
    void shouldSayWhyItCannotListenOrConnect() {
        await(() -> incoming.address != null);
        Incoming second = new Incoming();
        b.link.connections().listen(incoming.address, NO_KEY, 5, second);
        await(() -> second.failure != 0);
        assertEquals(FabricErrno.EADDRINUSE, second.failure);
        Incoming keyed = new Incoming();
        b.link.connections().listen("fi_sockaddr_in://127.0.0.1:0", new byte[] {1}, 5, keyed);
        await(() -> keyed.failure != 0);
        assertEquals(FabricErrno.EOPNOTSUPP, keyed.failure);
        listener.close();
        Connecting refused = request(HELLO);
        await(() -> refused.errno != 0);
        assertEquals(FabricErrno.ECONNREFUSED, refused.errno);
        assertNull(refused.local);
    }

    @Test
    void shouldReadThePeersMemoryInPiecesStraightToItsPlace() {
        Connecting[] both = connected();
        MessageChannel here = both[0].recorder.channel;
        MessageChannel there = both[1].recorder.channel;
        TransmitOperation small = b.operation(Flags.MSG, 0, 1000, 1);
        TransmitOperation large = b.operation(Flags.MSG, 0, 500_000, 2);
        RemotePayload first = new RemotePayload();
        RemotePayload second = new RemotePayload();
        assertEquals(Channel.DONE, there.expose(small, first));
        assertEquals(Channel.DONE, there.expose(large, second));
        RemotePayload together = new RemotePayload();
        together.begin(42);
        together.add(first.regionNumber(0), 0, 100, 900);
        together.add(second.regionNumber(0), 0, 0, 500_000);
        long dest = UnsafeApi.allocateMemory(600_000);
        assertEquals(Channel.PENDING, here.pull(together, null, dest, null, 400_000));
        assertEquals(Channel.PENDING, here.pull(second, null, dest + 400_000, null, 10));
        // in front of it, behind it, and against it: nothing mixes
        a.send(here, 1, 5000, 5);
        b.send(there, 2, 70_000, 6);
        await(() -> both[0].recorder.pulled.size() == 2 && both[0].recorder.messages.size() == 1
            && both[1].recorder.messages.size() == 1);
        assertEquals(List.of(42L, large.id()), both[0].recorder.pulled);
        for (int i = 0; i < 400_000; i++) {
            byte expected = i < 900 ? TcpNode.pattern(1, 100 + i) : TcpNode.pattern(2, i - 900);
            assertEquals(expected, UnsafeApi.getByte(dest + i));
        }
        UnsafeApi.freeMemory(dest);
    }

    @Test
    void shouldEndAConnectionThatReadsWhatIsNotOrNoLongerExposed() {
        for (int variant = 0; variant < 3; variant++) {
            incoming.requests.clear();
            Connecting[] both = connected();
            TransmitOperation small = b.operation(Flags.MSG, 0, 1000, 1);
            RemotePayload exposed = new RemotePayload();
            both[1].recorder.channel.expose(small, exposed);
            RemotePayload wrong = new RemotePayload();
            wrong.begin(1);
            switch (variant) {
                case 0 -> wrong.add(exposed.regionNumber(0) + 1, 0, 0, 10);
                case 1 -> wrong.add(exposed.regionNumber(0), 0, 991, 10);
                default -> {
                    wrong.add(exposed.regionNumber(0), 0, 0, 10);
                    both[1].recorder.channel.conceal(exposed);
                }
            }
            long dest = UnsafeApi.allocateMemory(16);
            both[0].recorder.channel.pull(wrong, null, dest, null, 10);
            await(() -> both[0].recorder.downs == 1 && both[1].recorder.downs == 1);
            assertEquals(FabricErrno.EIO, both[1].recorder.downErrno);
            assertEquals(variant + 1, b.errors.size());
            UnsafeApi.freeMemory(dest);
        }
    }

    private static int[] liveness(Connecting side) {
        TcpPort port = ((TcpChannel) side.recorder.channel).connection().port();
        if (port.channel() == null) {
            return TcpSocket.liveness(port.fd());
        }
        SocketChannel channel = (SocketChannel) port.channel();
        try {
            return new int[] {channel.getOption(StandardSocketOptions.SO_KEEPALIVE) ? 1 : 0,
                channel.getOption(ExtendedSocketOptions.TCP_KEEPIDLE),
                channel.getOption(ExtendedSocketOptions.TCP_KEEPINTERVAL),
                channel.getOption(ExtendedSocketOptions.TCP_KEEPCOUNT), 0};
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The socket options by which the system detects the loss of the peer's host. */
    @Test
    void shouldKeepBothSidesAliveAsConfigured() {
        boolean isNative = a.link.network() == TcpNetwork.of(Sockets.NATIVE);
        Connecting[] usual = connected();
        for (Connecting side : usual) {
            assertArrayEquals(new int[] {1, 5, 2, 3, 0}, liveness(side));
        }
        incoming.requests.clear();
        try (TcpNode other = new TcpNode("127.0.0.1",
            "jfabric.tcp.keepaliveIdleNs", "6500ms", "jfabric.tcp.keepaliveIntervalNs", "4s",
            "jfabric.tcp.keepaliveProbes", "7", "jfabric.tcp.userTimeoutNs", isNative ? "9s" : "0")) {
            Connecting here = new Connecting();
            other.link.connections().connect(other.endpoint, incoming.address, HELLO, here);
            await(() -> other.step() >= 0 && incoming.requests.size() == 1);
            incoming.requests.getFirst().accept(b.endpoint, WELCOME, new Connecting());
            await(() -> other.step() >= 0 && here.recorder.ups == 1);
            assertArrayEquals(new int[] {1, 7, 4, 7, isNative ? 9000 : 0}, liveness(here));
        }
        try (TcpNode off = new TcpNode("127.0.0.1", "jfabric.tcp.keepaliveIdleNs", "0")) {
            Connecting here = new Connecting();
            off.link.connections().connect(off.endpoint, incoming.address, HELLO, here);
            await(() -> off.step() >= 0 && incoming.requests.size() == 2);
            incoming.requests.getLast().accept(b.endpoint, WELCOME, new Connecting());
            await(() -> off.step() >= 0 && here.recorder.ups == 1);
            assertEquals(0, liveness(here)[0]);
        }
    }

    /** One time for all: shorter questions than that are kept, and none at all are not. */
    @ParameterizedTest
    @CsvSource({"9s, 5s, 3, 2, 9000", "9s, 0, 3, 2, 9000", "9s, 1s, 1, 2, 9000", "2s, 5s, 1, 1, 2000",
        "60s, 5s, 5, 2, 60000"})
    void shouldBoundTheSilenceOfAPeerByOneTime(String timeout, String idle, int asked, int again, int bound) {
        assumeTrue(a.link.network() == TcpNetwork.of(Sockets.NATIVE), "the JDK has no such option");
        await(() -> incoming.address != null);
        try (TcpNode other = new TcpNode("127.0.0.1", "jfabric.tcp.peerTimeoutNs", timeout,
            "jfabric.tcp.keepaliveIdleNs", idle)) {
            Connecting here = new Connecting();
            other.link.connections().connect(other.endpoint, incoming.address, HELLO, here);
            await(() -> other.step() >= 0 && incoming.requests.size() == 1);
            incoming.requests.getFirst().accept(b.endpoint, WELCOME, new Connecting());
            await(() -> other.step() >= 0 && here.recorder.ups == 1);
            assertArrayEquals(new int[] {1, asked, again, 3, bound}, liveness(here));
        }
    }

    @Test
    @Tag("slow")
    void shouldConnectAndEndTenThousandTimesWithoutALeak() {
        Connecting[] stays = connected();
        incoming.requests.clear();
        List<WeakReference<Object>> gone = new ArrayList<>();
        int watchedBefore = a.link.watched().size() + b.link.watched().size();
        long filesBefore = TcpLinkTest.openFiles();
        int threadsBefore = Thread.activeCount();
        for (int i = 0; i < 10_000; i++) {
            Connecting here = request(HELLO);
            await(() -> incoming.requests.size() == 1);
            Connecting there = new Connecting();
            incoming.requests.getFirst().accept(b.endpoint, WELCOME, there);
            await(() -> here.recorder.ups == 1 && there.recorder.ups == 1);
            Connecting ends = i % 2 == 0 ? here : there;
            Connecting other = i % 2 == 0 ? there : here;
            ends.recorder.channel.close(FabricErrno.ESHUTDOWN);
            await(() -> other.recorder.downs == 1);
            gone.addAll(List.of(new WeakReference<>(here), new WeakReference<>(there),
                new WeakReference<>(incoming.requests.removeFirst())));
            if (i % 1000 == 0) {
                int before = stays[1].recorder.messages.size();
                a.send(stays[0].recorder.channel, i, 100, i);
                await(() -> stays[1].recorder.messages.size() == before + 1);
            }
        }
        assertEquals(watchedBefore, a.link.watched().size() + b.link.watched().size());
        assertTrue(TcpLinkTest.openFiles() <= filesBefore, "descriptors");
        assertTrue(Thread.activeCount() <= threadsBefore, "threads");
        // an object that a table still refers to cannot be collected; the last ones may still be in a local variable
        await(() -> {
            System.gc();
            return gone.stream().filter(each -> each.get() != null).count() <= 6;
        });
        await(() -> a.link.readPool().taken() + a.link.writePool().taken()
            + b.link.readPool().taken() + b.link.writePool().taken() <= 4);
        assertEquals(0, stays[0].recorder.downs + stays[1].recorder.downs);
        assertEquals(List.of(), a.errors);
        assertEquals(List.of(), b.errors);
    }
}
