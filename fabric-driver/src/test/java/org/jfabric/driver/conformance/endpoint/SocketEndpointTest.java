package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.LongSupplier;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.IoVec;
import org.jfabric.PortedCalls;
import org.jfabric.SocketEndpoint;
import org.jfabric.WaitObjectHandle;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.ffi.Epoll;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Endpoints that behave like sockets, also towards sockets of the JDK. */
@Tag("conformance")
@Timeout(120)
class SocketEndpointTest {
    private static final String HERE = "fi_sockaddr_in://127.0.0.1:0";
    private static final int BIG = 1 << 20;

    private final Path base = TestDirectory.create();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(2L * BIG, 64);
    private final long out = memory.address();
    private final long in = out + BIG;
    private FabricDriver driver;
    private Fabric fabric;
    private Info streams;
    private Info datagrams;
    private Domain domain;
    private EventQueue events;
    private AddressVector vector;

    @BeforeEach
    void open() {
        driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("driver"))
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", "loopback,shm,tcp,udp").build());
        fabric = driver.fabric();
        streams = fabric.info(hints(EndpointType.SOCK_STREAM)).best();
        datagrams = fabric.info(hints(EndpointType.SOCK_DGRAM)).best();
        domain = fabric.domain(datagrams);
        events = fabric.openEventQueue(new EventQueueAttr());
        vector = domain.openAddressVector(new AddressVectorAttr());
    }

    @AfterEach
    void close() {
        fabric.close();
        driver.close();
        arena.close();
        TestDirectory.delete(base);
    }

    @Test
    @Requirement({"SOCK-002", "SOCK-016"})
    void shouldOfferEachTypeOnTheLinkThatHasItWhereItIsRequested() {
        assertEquals("tcp", streams.linkName());
        assertEquals(EndpointType.SOCK_STREAM, streams.epAttr().type());
        assertEquals(Protocol.SOCK_TCP, streams.epAttr().protocol());
        assertEquals("udp", datagrams.linkName());
        assertEquals(EndpointType.SOCK_DGRAM, datagrams.epAttr().type());
        assertEquals(Protocol.UDP, datagrams.epAttr().protocol());
        assertTrue(fabric.info(new Info()).matches().stream()
            .noneMatch(info -> info.epAttr().type().name().startsWith("SOCK")));
        for (String other : new String[] {"loopback", "shm"}) {
            for (EndpointType type : new EndpointType[] {EndpointType.SOCK_STREAM, EndpointType.SOCK_DGRAM}) {
                Info hints = hints(type).linkName(other);
                refused(FabricErrno.ENODATA, () -> fabric.info(hints).best());
                assertTrue(fabric.info(hints).explain().contains("ep_attr.type"));
            }
        }
        refused(FabricErrno.ENODATA, () -> fabric.info(hints(EndpointType.SOCK_STREAM).linkName("udp")).best());
        refused(FabricErrno.ENODATA, () -> fabric.info(hints(EndpointType.SOCK_DGRAM).linkName("tcp")).best());
        // what is offered is opened by its own call, and by no other
        refused(FabricErrno.EINVAL, () -> domain.openEndpoint(streams));
        domain.openSocketEndpoint(streams, 7).close();
        domain.openSocketEndpoint(datagrams, 7).close();
    }

    @Test
    @Requirement("SOCK-001")
    void shouldBeDocumentedAsExperimental() throws Exception {
        assertTrue(Files.readString(Path.of("../docs/socket-endpoints.md")).contains("experimental"));
        assertTrue(Files.readString(Path.of("../fabric-client/src/main/java/org/jfabric/SocketEndpoint.java"))
            .contains("Experimental: interface and semantics may change between versions."));
    }

    @Test
    @Requirement({"SOCK-004", "SOCK-006", "SOCK-007"})
    void shouldTransferByEachCallAndReturnTheBytes() throws Exception {
        try (Stream stream = new Stream()) {
            IoVec from = new IoVec().add(out, 3).add(out + 3, 5);
            IoVec to = new IoVec().add(in, 4).add(in + 4, 4);
            for (int call = 0; call < 4; call++) {
                fill(out, 8, call);
                assertEquals(8, switch (call) {
                    case 0 -> stream.active.send(out, 8, 0);
                    case 1 -> stream.active.sendv(from, 0);
                    case 2 -> stream.active.sendmsg(from, 0, 0);
                    default -> stream.active.inject(out, 8, 0);
                });
                // the call has returned: the memory is the application's again
                fill(out, 8, 99);
                int number = call;
                assertEquals(8, await(() -> switch (number) {
                    case 0 -> stream.accepted.recv(in, 64);
                    case 1 -> stream.accepted.recvv(to);
                    default -> stream.accepted.recvmsg(to, 0);
                }));
                assertFilled(in, 8, call);
            }
            assertEquals(-FabricErrno.ENOSYS, stream.active.tsend(out, 8, 0, 1));
            assertEquals(-FabricErrno.ENOSYS, stream.active.write(out, 8, 0, in, 1));
            assertEquals(-FabricErrno.ENOSYS, stream.active.atomic(out, 1, 0, in, 1));
            assertEquals(-FabricErrno.EBADFLAGS, stream.active.sendmsg(from, 0, 1));
            assertEquals(-FabricErrno.EINVAL, stream.active.send(0, 8, 0));
            assertEquals(-FabricErrno.EINVAL, stream.active.inject(out, streams.txAttr().injectSize() + 1, 0));
            stream.active.shutdown();
            assertEquals(0, await(() -> stream.accepted.recv(in, 64)));
            assertEquals(0, stream.accepted.recv(in, 64));
        }
    }

    @Test
    @Requirement({"SOCK-008", "SOCK-011", "SOCK-007"})
    void shouldAnswerAtOnceWithoutRoomAndWithoutBytes() throws Exception {
        try (Stream stream = new Stream()) {
            assertEquals(-FabricErrno.EAGAIN, stream.accepted.recv(in, 64));
            boolean wasPartial = false;
            long sent = 0;
            for (long count; (count = stream.active.send(out, BIG, 0)) > 0; sent += count) {
                wasPartial |= count < BIG;
            }
            assertTrue(wasPartial, "a full pipe takes a part");
            assertEquals(-FabricErrno.EAGAIN, stream.active.send(out, BIG, 0));
            for (long received = 0; received < sent;) {
                received += await(() -> stream.accepted.recv(in, BIG));
            }
            assertEquals(-FabricErrno.EAGAIN, stream.accepted.recv(in, BIG));
        }
        try (SocketEndpoint idle = domain.openSocketEndpoint(streams, 0)) {
            assertEquals(-FabricErrno.EOPBADSTATE, idle.send(out, 8, 0));
            assertEquals(-FabricErrno.EOPBADSTATE, idle.recv(in, 8));
            idle.bind(events, 0);
            idle.enable();
            assertTrue(idle.send(out, 8, 0) < 0);
            assertEquals(-FabricErrno.ENOTCONN, idle.recv(in, 8));
        }
    }

    @Test
    @Requirement({"SOCK-012", "SOCK-013", "EP-081"})
    void shouldSignalItsDescriptorWhenItCanSendAndReceive() throws Exception {
        try (Stream stream = new Stream(); Epoll epoll = new Epoll(4)) {
            assertTrue(stream.active.waitDescriptor() >= 0);
            epoll.add(stream.active.waitDescriptor(), Epoll.EPOLLIN | Epoll.EPOLLOUT, 1);
            assertReady(epoll, Epoll.EPOLLOUT);
            assertEquals(5, stream.accepted.send(out, 5, 0));
            assertReady(epoll, Epoll.EPOLLIN | Epoll.EPOLLOUT);
            assertEquals(5, stream.active.recv(in, 64));
            assertReady(epoll, Epoll.EPOLLOUT);
            while (stream.active.send(out, BIG, 0) > 0) {
                Thread.onSpinWait();
            }
            assertReady(epoll, 0);
            Deadline.await("room", () -> {
                stream.accepted.recv(in, BIG);
                return epoll.poll(0) == 1;
            }, () -> "");
            refused(FabricErrno.ENODATA, () -> stream.passive.waitDescriptor());
        }
        try (Endpoint other = domain.openEndpoint(fabric.info(new Info()).best())) {
            assertTrue(PortedCalls.control(other, ControlCommand.GETWAIT.code(), new WaitObjectHandle()) < 0);
        }
    }

    @Test
    @Requirement({"SOCK-009", "SOCK-010", "SOCK-005"})
    void shouldReportConnectionsAndBindNoCompletionQueue() throws Exception {
        CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
        Counter counter = domain.openCounter(new CounterAttr());
        try (Stream stream = new Stream(); SocketEndpoint active = domain.openSocketEndpoint(streams, 0);
            SocketEndpoint datagram = domain.openSocketEndpoint(datagrams, 0)) {
            refused(FabricErrno.EINVAL, () -> active.bind(queue, 0));
            refused(FabricErrno.EINVAL, () -> active.bind(counter, 0));
            refused(FabricErrno.EINVAL, () -> active.bind(vector, 0));
            refused(FabricErrno.ENOEQ, active::enable);
            refused(FabricErrno.ENOAV, datagram::enable);
            refused(FabricErrno.EINVAL, () -> datagram.bind(queue, 0));
            active.bind(events, 0);
            active.enable();
            refused(FabricErrno.EINVAL, active::listen);
            refused(FabricErrno.EINVAL, stream.passive::enable);
            refused(FabricErrno.EINVAL, () -> domain.openPassiveSocketEndpoint(datagrams, 0));
            active.connect(stream.passive.name());
            EventEntry first = event();
            EventEntry second = event();
            EventEntry asked = first.type() == EventType.CONNREQ ? first : second;
            assertEquals(EventType.CONNREQ, asked.type());
            assertSame(stream.passive, asked.fid());
            stream.passive.reject(asked.info().handle());
            refused(FabricErrno.EOPBADSTATE, () -> stream.passive.reject(asked.info().handle()));
            EventEntry ended = event();
            assertEquals(EventType.SHUTDOWN, ended.type());
            assertSame(active, ended.fid());
            assertEquals(0, active.recv(in, 8));
        }
        queue.close();
        counter.close();
        String nobody;
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress("127.0.0.1", 0));
            nobody = SocketName.of((InetSocketAddress) listener.getLocalAddress()).toString();
        }
        try (SocketEndpoint active = active(streams)) {
            active.connect(nobody);
            EventEntry entry = new EventEntry();
            Deadline.await("refusal", () -> events.read(entry, 0) == -FabricErrno.EAVAIL, () -> entry);
            EventError error = new EventError();
            assertEquals(1, events.readErr(error, 0));
            assertEquals(FabricErrno.ECONNREFUSED, error.err());
            assertSame(active, error.fid());
        }
    }

    @Test
    @Requirement({"SOCK-014", "EP-122", "SOCK-003"})
    void shouldBeAPlainStreamToASocketChannel() throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open(); SocketEndpoint active = active(streams)) {
            listener.bind(new InetSocketAddress("127.0.0.1", 0));
            active.connect(SocketName.of((InetSocketAddress) listener.getLocalAddress()).toString());
            try (SocketChannel channel = listener.accept()) {
                assertEquals(EventType.CONNECTED, event().type());
                fill(out, 20, 3);
                assertEquals(10, active.send(out, 10, 0));
                assertEquals(10, active.send(out + 10, 10, 0));
                ByteBuffer bytes = ByteBuffer.allocate(20);
                while (bytes.hasRemaining()) {
                    assertTrue(channel.read(bytes) > 0);
                }
                channel.write(bytes.flip().limit(7));
                channel.write(bytes.limit(20));
                Deadline.await("all bytes", () -> available(active, 20), () -> got);
                assertFilled(in, 20, 3);
                channel.shutdownOutput();
                assertEquals(0, await(() -> active.recv(in, 8)));
                assertEquals(EventType.SHUTDOWN, event().type());
            }
        }
    }

    @Test
    void shouldNotTakeAnAbortedStreamForItsEnd() throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open(); SocketEndpoint active = active(streams)) {
            listener.bind(new InetSocketAddress("127.0.0.1", 0));
            active.connect(SocketName.of((InetSocketAddress) listener.getLocalAddress()).toString());
            listener.accept().setOption(StandardSocketOptions.SO_LINGER, 0).close();
            assertEquals(-FabricErrno.ECONNRESET, await(() -> active.recv(in, 8)));
        }
    }

    private long got;

    /** One receive takes what several writes brought. */
    private boolean available(SocketEndpoint endpoint, int length) {
        long count = endpoint.recv(in + got, length - got);
        got += Math.max(0, count);
        return got == length;
    }

    @Test
    @Requirement({"SOCK-015", "EP-123", "EP-032"})
    void shouldKeepDatagramsApartAndRefuseLongerOnes() throws Exception {
        try (SocketEndpoint endpoint = domain.openSocketEndpoint(datagrams.copy().srcAddr(HERE), 0);
            DatagramChannel channel = DatagramChannel.open()) {
            endpoint.bind(vector, 0);
            endpoint.enable();
            channel.bind(new InetSocketAddress("127.0.0.1", 0));
            long peer = vector.insert(SocketName.of((InetSocketAddress) channel.getLocalAddress()).toString());
            ByteBuffer bytes = ByteBuffer.allocate(100);
            for (int length : new int[] {10, 0, 20}) {
                fill(out, length, length);
                assertEquals(length, endpoint.send(out, length, peer));
            }
            for (int length : new int[] {10, 0, 20}) {
                InetSocketAddress from = assertInstanceOf(InetSocketAddress.class, channel.receive(bytes.clear()));
                assertEquals(length, bytes.position());
                channel.send(bytes.flip(), from);
                assertEquals(length, await(() -> endpoint.recv(in, 64)));
                assertFilled(in, length, length);
                assertEquals(vector.lookup(peer), endpoint.sourceName());
            }
            long longest = datagrams.epAttr().maxMsgSize();
            assertEquals(longest, endpoint.send(out, longest, peer));
            assertEquals(-FabricErrno.EMSGSIZE, endpoint.send(out, longest + 1, peer));
            assertEquals(-FabricErrno.EINVAL, endpoint.send(out, 8, peer + 1));
            vector.remove(peer);
            assertEquals(-FabricErrno.EINVAL, endpoint.send(out, 8, peer));
            refused(FabricErrno.EOPNOTSUPP, () -> endpoint.connect(HERE));
        }
    }

    @Test
    void shouldNotAllocate() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Stream stream = new Stream();
            SocketEndpoint endpoint = domain.openSocketEndpoint(datagrams.copy().srcAddr(HERE), 0)) {
            endpoint.bind(vector, 0);
            endpoint.enable();
            long self = vector.insert(endpoint.name());
            long[] used = new long[20];
            for (int round = 0; round < used.length; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 5_000; i++) {
                    stream.active.send(out, 64, 0);
                    stream.accepted.recv(in, 64);
                    stream.active.recv(in, 64);
                    endpoint.send(out, 64, self);
                    endpoint.recv(in, 64);
                    endpoint.recv(in, 64);
                }
                used[round] = threads.getCurrentThreadAllocatedBytes() - before;
            }
            assertTrue(used[used.length - 1] < 5_000, () -> Arrays.toString(used));
        }
    }

    /** A listener, and both ends of one of its connections. */
    private final class Stream implements AutoCloseable {
        final SocketEndpoint passive = domain.openPassiveSocketEndpoint(streams.copy().srcAddr(HERE), 1);
        final SocketEndpoint active = active(streams);
        final SocketEndpoint accepted;

        Stream() {
            passive.bind(events, 0);
            passive.listen();
            active.connect(passive.name());
            EventEntry first = event();
            EventEntry second = event();
            assertFalse(first.type() == second.type());
            accepted = active((first.type() == EventType.CONNREQ ? first : second).info());
            accepted.accept();
            EventEntry third = event();
            assertEquals(EventType.CONNECTED, third.type());
            assertSame(accepted, third.fid());
        }

        @Override
        public void close() {
            active.close();
            accepted.close();
            passive.close();
            EventEntry entry = new EventEntry();
            while (events.read(entry, 0) == 1) {
                assertEquals(EventType.SHUTDOWN, entry.type());
            }
        }
    }

    private SocketEndpoint active(Info info) {
        SocketEndpoint endpoint = domain.openSocketEndpoint(info, 0);
        endpoint.bind(events, 0);
        endpoint.enable();
        return endpoint;
    }

    private EventEntry event() {
        EventEntry entry = new EventEntry();
        Deadline.await("event", () -> events.read(entry, 0) == 1, () -> events);
        return entry;
    }

    private static Info hints(EndpointType type) {
        Info hints = new Info();
        hints.epAttr().type(type);
        return hints;
    }

    private static long await(LongSupplier call) {
        long[] result = new long[1];
        Deadline.await("bytes", () -> (result[0] = call.getAsLong()) != -FabricErrno.EAGAIN, () -> "");
        return result[0];
    }

    private static void assertReady(Epoll epoll, int wanted) {
        Deadline.await("readiness " + wanted,
            () -> (epoll.poll(0) == 0 ? 0 : epoll.events(0)) == wanted, () -> epoll.events(0));
    }

    private static void refused(int errno, Executable call) {
        assertEquals(errno, assertThrows(FabricException.class, call).errno());
    }

    private void fill(long at, int length, int seed) {
        for (int i = 0; i < length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, at - out + i, (byte) (seed + i));
        }
    }

    private void assertFilled(long at, int length, int seed) {
        for (int i = 0; i < length; i++) {
            assertEquals((byte) (seed + i), memory.get(ValueLayout.JAVA_BYTE, at - out + i));
        }
    }
}
