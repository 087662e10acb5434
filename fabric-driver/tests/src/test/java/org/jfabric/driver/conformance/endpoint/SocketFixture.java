package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;
import org.jfabric.AddressVector;
import org.jfabric.Domain;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.IoVec;
import org.jfabric.SocketEndpoint;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.Daemons;
import org.jfabric.ffi.Epoll;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.Parameter;

/** What tests of socket endpoints need, with an embedded driver or with a daemon. */
abstract class SocketFixture {
    private static final String LINKS = "loopback,shm,tcp,udp";
    static final String HERE = "fi_sockaddr_in://127.0.0.1:0";
    static final int BIG = 1 << 20;

    @Parameter
    boolean isDaemon;

    private final Path base = TestDirectory.create();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(2L * BIG, 64);
    final long out = memory.address();
    final long in = out + BIG;
    private AutoCloseable driver;
    Fabric fabric;
    Info streams;
    Info datagrams;
    Domain domain;
    EventQueue events;
    AddressVector vector;

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

    void transferByEachCall(SocketEndpoint sender, long dest, SocketEndpoint receiver) {
        IoVec from = new IoVec().add(out, 3).add(out + 3, 5);
        IoVec to = new IoVec().add(in, 4).add(in + 4, 4);
        for (int call = 0; call < 4; call++) {
            fill(out, 8, call);
            assertEquals(8, switch (call) {
                case 0 -> sender.send(out, 8, dest);
                case 1 -> sender.sendv(from, dest);
                case 2 -> sender.sendmsg(from, dest, 0);
                default -> sender.inject(out, 8, dest);
            });
            // the call has returned: the memory is the application's again
            fill(out, 8, 99);
            int number = call;
            assertEquals(8, await(() -> switch (number) {
                case 0 -> receiver.recv(in, 64);
                case 1 -> receiver.recvv(to);
                default -> receiver.recvmsg(to, 0);
            }));
            assertFilled(in, 8, call);
        }
        assertEquals(-FabricErrno.ENOSYS, sender.tsend(out, 8, dest, 1));
        assertEquals(-FabricErrno.ENOSYS, sender.write(out, 8, dest, in, 1));
        assertEquals(-FabricErrno.ENOSYS, sender.atomic(out, 1, dest, in, 1));
        assertEquals(-FabricErrno.EBADFLAGS, sender.sendmsg(from, dest, 1));
        assertEquals(-FabricErrno.EBADFLAGS, receiver.recvmsg(to, 1));
    }

    /** A listener, and both ends of one of its connections. */
    final class Stream implements AutoCloseable {
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

    SocketEndpoint active(Info info) {
        SocketEndpoint endpoint = domain.openSocketEndpoint(info, 0);
        endpoint.bind(events, 0);
        endpoint.enable();
        return endpoint;
    }

    EventEntry event() {
        EventEntry entry = new EventEntry();
        Deadline.await("event", () -> events.read(entry, 0) == 1, () -> events);
        return entry;
    }

    int error(SocketEndpoint about) {
        EventEntry entry = new EventEntry();
        Deadline.await("error", () -> events.read(entry, 0) == -FabricErrno.EAVAIL, () -> events);
        EventError error = new EventError();
        assertEquals(1, events.readErr(error, 0));
        assertSame(about, error.fid());
        return error.err();
    }

    static String nobody() throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress("127.0.0.1", 0));
            return nameOf(listener);
        }
    }

    static String nameOf(ServerSocketChannel listener) throws IOException {
        return SocketName.of((InetSocketAddress) listener.getLocalAddress()).toString();
    }

    static Info hints(EndpointType type) {
        Info hints = new Info();
        hints.epAttr().type(type);
        return hints;
    }

    static long await(LongSupplier call) {
        long[] result = new long[1];
        Deadline.await("bytes", () -> (result[0] = call.getAsLong()) != -FabricErrno.EAGAIN, () -> "");
        return result[0];
    }

    static void assertReady(Epoll epoll, int wanted) {
        Deadline.await("readiness " + wanted,
            () -> (epoll.poll(0) == 0 ? 0 : epoll.events(0)) == wanted, () -> epoll.events(0));
    }

    static void refused(int errno, Executable call) {
        assertEquals(errno, assertThrows(FabricException.class, call).errno());
    }

    void fill(long at, int length, int seed) {
        for (int i = 0; i < length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, at - out + i, (byte) (seed + i));
        }
    }

    void assertFilled(long at, int length, int seed) {
        for (int i = 0; i < length; i++) {
            assertEquals((byte) (seed + i), memory.get(ValueLayout.JAVA_BYTE, at - out + i));
        }
    }
}
