package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
import org.jfabric.FabricConfig;
import org.jfabric.IoVec;
import org.jfabric.PortedCalls;
import org.jfabric.SocketEndpoint;
import org.jfabric.WaitObjectHandle;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.Daemons;
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
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints that behave like sockets, also towards sockets of the JDK. */
@Tag("conformance")
@Timeout(120)
@ParameterizedClass(name = "daemon={0}")
@ValueSource(booleans = {false, true})
class SocketEndpointTest {
    private static final String LINKS = "loopback,shm,tcp,udp";
    private static final String HERE = "fi_sockaddr_in://127.0.0.1:0";
    private static final int BIG = 1 << 20;

    @Parameter
    boolean isDaemon;

    private final Path base = TestDirectory.create();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(2L * BIG, 64);
    private final long out = memory.address();
    private final long in = out + BIG;
    private AutoCloseable driver;
    private Fabric fabric;
    private Info streams;
    private Info datagrams;
    private Domain domain;
    private EventQueue events;
    private AddressVector vector;

    @BeforeEach
    void open() {
        if (isDaemon) {
            Daemons daemons = Daemons.shared(List.of("jfabric.link.enabled=" + LINKS));
            driver = daemons;
            fabric = Fabric.connect(new FabricConfig().directory(daemons.start("alpha")));
        } else {
            FabricDriver embedded = FabricDriver.launchEmbedded(DriverConfig.builder()
                .directory(base.resolve("driver")).threadingMode(ThreadingMode.INVOKER)
                .set("jfabric.link.enabled", LINKS).build());
            driver = embedded;
            fabric = embedded.fabric();
        }
        streams = fabric.info(hints(EndpointType.SOCK_STREAM)).best();
        datagrams = fabric.info(hints(EndpointType.SOCK_DGRAM)).best();
        domain = fabric.domain(datagrams);
        events = fabric.openEventQueue(new EventQueueAttr());
        vector = domain.openAddressVector(new AddressVectorAttr());
    }

    @AfterEach
    void close() throws Exception {
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
    @DisplayName("link=tcp, transfers")
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
    @DisplayName("link=tcp, no wait")
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
    @DisplayName("link=tcp, the descriptor")
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

            WaitObjectHandle handle = new WaitObjectHandle();
            int getWait = ControlCommand.GETWAIT.code();
            assertEquals(0, PortedCalls.control(stream.active, getWait, handle));
            assertEquals(WaitObject.FD, handle.waitObject());
            assertEquals(stream.active.waitDescriptor(), handle.fd());
            assertEquals(0, PortedCalls.control(stream.active, ControlCommand.GETWAITOBJ.code(), handle));
            assertEquals(WaitObject.FD, handle.waitObject());
            assertEquals(-FabricErrno.EINVAL, PortedCalls.control(stream.active, getWait, null));
            assertEquals(-FabricErrno.ENOSYS, PortedCalls.control(stream.passive, getWait, handle));
        }
        try (Endpoint other = domain.openEndpoint(fabric.info(new Info()).best())) {
            assertTrue(PortedCalls.control(other, ControlCommand.GETWAIT.code(), new WaitObjectHandle()) < 0);
        }
    }

    @Test
    @DisplayName("link=udp, the descriptor")
    @Requirement({"SOCK-008", "SOCK-012", "SOCK-013"})
    void shouldSignalTheDescriptorOfDatagrams() {
        WaitObjectHandle handle = new WaitObjectHandle();
        int getWait = ControlCommand.GETWAIT.code();
        try (SocketEndpoint endpoint = domain.openSocketEndpoint(datagrams.copy().srcAddr(HERE), 0);
            Epoll epoll = new Epoll(4)) {
            assertEquals(-FabricErrno.ENODATA, PortedCalls.control(endpoint, getWait, handle));
            endpoint.bind(vector, 0);
            endpoint.enable();
            assertEquals(0, PortedCalls.control(endpoint, getWait, handle));
            epoll.add(handle.fd(), Epoll.EPOLLIN | Epoll.EPOLLOUT, 1);
            assertReady(epoll, Epoll.EPOLLOUT);
            assertEquals(-FabricErrno.EAGAIN, endpoint.recv(in, 64));
            assertNull(endpoint.sourceName(), "nothing was received");
            assertEquals(8, endpoint.send(out, 8, vector.insert(endpoint.name())));
            assertReady(epoll, Epoll.EPOLLIN | Epoll.EPOLLOUT);
            assertEquals(8, endpoint.recv(in, 64));
            assertReady(epoll, Epoll.EPOLLOUT);
            assertEquals(-FabricErrno.EAGAIN, endpoint.recv(in, 64));
            assertEquals(endpoint.name(), endpoint.sourceName(), "that of the last datagram");
        }
    }

    @Test
    void shouldNotTransferOnceItIsClosed() throws Exception {
        Stream stream = new Stream();
        SocketEndpoint datagram = domain.openSocketEndpoint(datagrams.copy().srcAddr(HERE), 0);
        datagram.bind(vector, 0);
        datagram.enable();
        long self = vector.insert(datagram.name());
        stream.close();
        datagram.close();
        IoVec pieces = new IoVec().add(out, 3).add(out + 3, 5);
        for (SocketEndpoint closed : new SocketEndpoint[] {stream.active, stream.passive, datagram}) {
            assertEquals(-FabricErrno.EOPBADSTATE, closed.send(out, 8, self));
            assertEquals(-FabricErrno.EOPBADSTATE, closed.sendv(pieces, self));
            assertEquals(-FabricErrno.EOPBADSTATE, closed.sendmsg(pieces, self, 0));
            assertEquals(-FabricErrno.EOPBADSTATE, closed.inject(out, 8, self));
            assertEquals(-FabricErrno.EOPBADSTATE, closed.recv(in, 8));
            assertEquals(-FabricErrno.EOPBADSTATE, closed.recvv(pieces));
            assertEquals(-FabricErrno.EOPBADSTATE, closed.recvmsg(pieces, 0));
            assertEquals(-FabricErrno.EOPBADSTATE,
                PortedCalls.control(closed, ControlCommand.GETWAIT.code(), new WaitObjectHandle()));
            assertNull(closed.sourceName());
            refused(FabricErrno.ENODATA, closed::waitDescriptor);
            refused(FabricErrno.EOPBADSTATE, closed::name);
            closed.close();
        }
    }

    @Test
    void shouldReportTheEndOfAConnectionThatFollowsAFailedOne() throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open(); SocketEndpoint active = active(streams)) {
            active.connect(nobody());
            assertEquals(FabricErrno.ECONNREFUSED, error(active));
            listener.bind(new InetSocketAddress("127.0.0.1", 0));
            active.connect(nameOf(listener));
            assertEquals(EventType.CONNECTED, event().type());
            listener.accept().close();
            EventEntry ended = event();
            assertEquals(EventType.SHUTDOWN, ended.type());
            assertSame(active, ended.fid());
        }
    }

    /** The lock of an event queue belongs to the application, which may hold it while an event is reported. */
    @Test
    void shouldReportEventsWithoutAnyLock() throws Exception {
        EventQueue locked = fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.MUTEX_COND));
        try (SocketEndpoint passive = domain.openPassiveSocketEndpoint(streams.copy().srcAddr(HERE), 1)) {
            passive.bind(locked, 0);
            passive.listen();
            String name = passive.name();
            SocketName at = SocketName.parse(name);
            locked.waitMutex().lock();
            try (SocketChannel client = SocketChannel.open(new InetSocketAddress(at.inetAddress(), at.port()))) {
                EventEntry entry = new EventEntry();
                Deadline.await("event", () -> locked.read(entry, 0) == 1, () -> locked);
                assertEquals(EventType.CONNREQ, entry.type());
                // the thread of the events has added it, and waits for the mutex
                assertEquals(name, CompletableFuture.supplyAsync(passive::name)
                    .get(Deadline.ns(10), TimeUnit.NANOSECONDS), "a control call of another thread");
                assertTrue(client.isConnected());
            } finally {
                locked.waitMutex().unlock();
            }
        }
        locked.close();
    }

    @Test
    @DisplayName("link=tcp, connections")
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
        try (SocketEndpoint active = active(streams)) {
            active.connect(nobody());
            assertEquals(FabricErrno.ECONNREFUSED, error(active));
        }
    }

    @Test
    @DisplayName("link=tcp, a stream")
    @Requirement({"SOCK-014", "EP-122", "SOCK-003"})
    void shouldBeAPlainStreamToASocketChannel() throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open(); SocketEndpoint active = active(streams)) {
            listener.bind(new InetSocketAddress("127.0.0.1", 0));
            active.connect(nameOf(listener));
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
            active.connect(nameOf(listener));
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
    @DisplayName("link=udp, datagrams")
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
            long again = vector.insert(SocketName.of((InetSocketAddress) channel.getLocalAddress()).toString());
            assertEquals(8, endpoint.send(out, 8, again));
            refused(FabricErrno.EBUSY, vector::close);
            refused(FabricErrno.EOPNOTSUPP, () -> endpoint.connect(HERE));
        }
        vector.close();
    }

    @Test
    void shouldTransferOverIpv6() {
        String here = "fi_sockaddr_in6://[::1]:0";
        try (SocketEndpoint passive = domain.openPassiveSocketEndpoint(streams.copy().srcAddr(here), 0);
            SocketEndpoint stream = active(streams.copy().srcAddr(here));
            SocketEndpoint datagram = domain.openSocketEndpoint(datagrams.copy().srcAddr(here), 0)) {
            passive.bind(events, 0);
            passive.listen();
            stream.connect(passive.name());
            EventEntry first = event();
            EventEntry second = event();
            try (SocketEndpoint accepted = active((first.info() == null ? second : first).info())) {
                accepted.accept();
                assertSame(accepted, event().fid());
                fill(out, 8, 1);
                assertEquals(8, accepted.send(out, 8, 0));
                assertEquals(8, await(() -> stream.recv(in, 64)));
                assertFilled(in, 8, 1);
            }
            datagram.bind(vector, 0);
            datagram.enable();
            assertEquals(8, datagram.send(out, 8, vector.insert(datagram.name())));
            assertEquals(8, await(() -> datagram.recv(in, 64)));
            assertEquals(datagram.name(), datagram.sourceName());
        }
    }

    /** An address vector takes names of every link. */
    @Test
    void shouldSendNothingToAnAddressThatIsNoSocket() {
        try (SocketEndpoint endpoint = domain.openSocketEndpoint(datagrams.copy().srcAddr(HERE), 0)) {
            endpoint.bind(vector, 0);
            endpoint.enable();
            long other = vector.insert("jfabric://nobody/here");
            assertEquals(-FabricErrno.EINVAL, endpoint.send(out, 8, other));
            assertEquals(-FabricErrno.EINVAL, endpoint.send(out, 8, other));
            assertEquals(8, endpoint.send(out, 8, vector.insert(endpoint.name())));
            assertEquals(-FabricErrno.EINVAL, endpoint.send(out, 8, other));
            assertEquals(8, await(() -> endpoint.recv(in, 64)));
            assertEquals(-FabricErrno.EAGAIN, endpoint.recv(in, 64));
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

    private int error(SocketEndpoint about) {
        EventEntry entry = new EventEntry();
        Deadline.await("error", () -> events.read(entry, 0) == -FabricErrno.EAVAIL, () -> events);
        EventError error = new EventError();
        assertEquals(1, events.readErr(error, 0));
        assertSame(about, error.fid());
        return error.err();
    }

    private static String nobody() throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress("127.0.0.1", 0));
            return nameOf(listener);
        }
    }

    private static String nameOf(ServerSocketChannel listener) throws IOException {
        return SocketName.of((InetSocketAddress) listener.getLocalAddress()).toString();
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
