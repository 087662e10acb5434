package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.IoVec;
import org.jfabric.PortedCalls;
import org.jfabric.SocketEndpoint;
import org.jfabric.WaitObjectHandle;
import org.jfabric.ffi.Epoll;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.info.SocketName;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints that behave like sockets, also towards sockets of the JDK. */
@Tag("conformance")
@Timeout(120)
@ParameterizedClass(name = "daemon={0}")
@ValueSource(booleans = {false, true})
class SocketEndpointTest extends SocketFixture {
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
            transferByEachCall(stream.active, 0, stream.accepted);
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
    void shouldKeepWhatItUsesOpen() {
        Domain other = fabric.domain(streams);
        EventQueue queue = fabric.openEventQueue(new EventQueueAttr());
        try (SocketEndpoint passive = other.openPassiveSocketEndpoint(streams.copy().srcAddr(HERE), 0)) {
            passive.bind(queue, 0);
            refused(FabricErrno.EBUSY, queue::close);
            refused(FabricErrno.EBUSY, other::close);
        }
        queue.close();
        other.close();
        refused(FabricErrno.EOPBADSTATE, () -> other.openSocketEndpoint(streams, 0));
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
            locked.mutexCond().lock().lock();
            try (SocketChannel client = SocketChannel.open(new InetSocketAddress(at.inetAddress(), at.port()))) {
                EventEntry entry = new EventEntry();
                Deadline.await("event", () -> locked.read(entry, 0) == 1, () -> locked);
                assertEquals(EventType.CONNREQ, entry.type());
                // the thread of the events has added it, and waits for the mutex
                assertEquals(name, CompletableFuture.supplyAsync(passive::name)
                    .get(Deadline.ns(10), TimeUnit.NANOSECONDS), "a control call of another thread");
                assertTrue(client.isConnected());
            } finally {
                locked.mutexCond().lock().unlock();
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
            int backlog = ControlCommand.BACKLOG.code();
            assertEquals(-FabricErrno.EINVAL, PortedCalls.control(active, backlog, 1));
            assertEquals(-FabricErrno.EOPBADSTATE, PortedCalls.control(stream.passive, backlog, 1), "it listens");
            try (SocketEndpoint fresh = domain.openPassiveSocketEndpoint(streams.copy().srcAddr(HERE), 0)) {
                assertEquals(-FabricErrno.EINVAL, PortedCalls.control(fresh, backlog, -1));
                assertEquals(0, PortedCalls.control(fresh, backlog, 1));
            }
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

    private long got;

    /** One receive takes what several writes brought. */
    private boolean available(SocketEndpoint endpoint, int length) {
        long count = endpoint.recv(in + got, length - got);
        got += Math.max(0, count);
        return got == length;
    }

    @Test
    void shouldNotTakeAnAbortedStreamForItsEnd() throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open(); SocketEndpoint active = active(streams)) {
            listener.bind(new InetSocketAddress("127.0.0.1", 0));
            active.connect(nameOf(listener));
            assertEquals(EventType.CONNECTED, event().type());
            listener.accept().setOption(StandardSocketOptions.SO_LINGER, 0).close();
            assertEquals(-FabricErrno.ECONNRESET, await(() -> active.recv(in, 8)));
        }
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
}
