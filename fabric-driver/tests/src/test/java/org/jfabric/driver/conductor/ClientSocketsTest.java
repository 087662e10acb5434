package org.jfabric.driver.conductor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LivenessConfig;
import org.jfabric.driver.log.AgentLog;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.Inbox;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The deadline of the first message, with a clock of the test's own and real sockets. */
@Timeout(60)
class ClientSocketsTest {
    private static final long TIMEOUT_NS = 5_000_000_000L;
    private static final long ACCEPT_RETRY_NS = 100_000_000L;
    private static final int LIMIT = 128;
    /** The longest incomplete message: all but its last byte. */
    private static final int PART = Integer.BYTES + ClientSocket.MAX_MESSAGE - 1;

    @TempDir
    Path folder;
    /** What the next accept answers instead of a connection, 0 for a connection. */
    private int acceptError;
    private int accepts;
    private final CachedNanoClock clock = new CachedNanoClock();
    private final DescriptorWatcher watcher = new DescriptorWatcher();
    private final Inbox inbox = new Inbox();
    private final List<Throwable> errors = new ArrayList<>();
    private final List<Integer> connected = new ArrayList<>();
    private final UnsafeBuffer bytes = new UnsafeBuffer(
        ByteBuffer.allocateDirect(Integer.BYTES + ClientSocket.MAX_MESSAGE));
    private ClientSockets sockets;

    @BeforeEach
    void listen() {
        // the end of the range of a clock that may begin anywhere
        clock.update(Long.MAX_VALUE - TIMEOUT_NS / 2);
        int listenFd = UnixSocket.listen(folder.resolve("s"), 2 * LIMIT);
        CountersManager counters = new CountersManager(
            aligned(1 << 16), aligned(1 << 14), StandardCharsets.UTF_8);
        ConductorContext context = new ConductorContext(
            DriverConfig.builder().directory(folder.resolve("driver"))
                .set(LivenessConfig.SILENT_LIMIT, LIMIT)
                .set(LivenessConfig.HELLO_TIMEOUT_NS, TIMEOUT_NS)
                .build(), folder, -1, null, null, inbox, null, List.of(), new SystemCounters(counters),
            new AgentLog(errors::add), new Drain());
        sockets = new ClientSockets(context, null, watcher, listenFd, List.of(List.of()), clock, this::accept);
        sockets.open();
    }

    @AfterEach
    void close() {
        connected.forEach(Libc::close);
        sockets.closeAll();
        watcher.close();
    }

    private static UnsafeBuffer aligned(int length) {
        return new UnsafeBuffer(ByteBuffer.allocateDirect(length));
    }

    private int accept(int fd) {
        accepts++;
        return acceptError == 0 ? UnixSocket.accept4(fd, UnixSocket.SOCK_NONBLOCK) : -acceptError;
    }

    private int connect() {
        int fd = dial();
        handle();
        return fd;
    }

    private int dial() {
        int fd = UnixSocket.connect(folder.resolve("s"), UnixSocket.SOCK_NONBLOCK);
        assertTrue(fd >= 0, "connect: " + fd);
        connected.add(fd);
        return fd;
    }

    private void handle() {
        int polls = 0;
        while (watcher.poll(0, inbox) > 0) {
            polls++;
            assertTrue(polls < 10_000, () -> "events without end, " + accepts + " accepts");
        }
    }

    private void advance(long ns) {
        clock.update(clock.nanoTime() + ns);
    }

    private void send(int fd, int length) {
        assertEquals(length, UnixSocket.send(fd, bytes.addressOffset(), length, UnixSocket.MSG_DONTWAIT));
        handle();
    }

    private boolean isClosed(int fd) {
        int result = UnixSocket.recv(fd, bytes.addressOffset(), 1, UnixSocket.MSG_DONTWAIT);
        assertTrue(result == 0 || result == -FabricErrno.EAGAIN || result == -FabricErrno.ECONNRESET,
            FabricErrno.name(result));
        return result != -FabricErrno.EAGAIN;
    }

    @Test
    void shouldCloseEachSilentConnectionAtItsOwnDeadline() {
        int first = connect();
        advance(TIMEOUT_NS / 4);
        int second = connect();
        bytes.putInt(0, 24);
        send(second, 7);
        advance(TIMEOUT_NS - TIMEOUT_NS / 4);
        assertEquals(0, sockets.closeSilent(clock.nanoTime()), "not before its time is over");
        advance(1);
        assertEquals(1, sockets.closeSilent(clock.nanoTime()));
        assertTrue(isClosed(first) && !isClosed(second));
        advance(TIMEOUT_NS / 4);
        assertEquals(1, sockets.closeSilent(clock.nanoTime()), "a part of a hello is none");
        assertTrue(isClosed(second));
        assertEquals(0, sockets.closeSilent(clock.nanoTime()));
        assertEquals(2, errors.size());
        assertEquals(FabricErrno.ETIMEDOUT, ((FabricException) errors.getFirst()).errno());
        assertTrue(errors.getFirst().getMessage().contains("within 5000 ms"), errors.getFirst().getMessage());
    }

    @Test
    void shouldCloseAHundredSilentConnectionsAtOnce() {
        for (int i = 0; i < 100; i++) {
            connect();
        }
        advance(TIMEOUT_NS + 1);
        assertEquals(100, sockets.closeSilent(clock.nanoTime()));
        connected.forEach(fd -> assertTrue(isClosed(fd)));
    }

    /** Refused at once, or gone before: the descriptor's number may be another connection's by then. */
    @Test
    void shouldNotCloseWhoTookTheDescriptorOfOneThatWasClosed() {
        int garbage = connect();
        bytes.putInt(0, 1 << 20);
        send(garbage, 4);
        assertTrue(isClosed(garbage));
        int gone = connect();
        UnixSocket.shutdown(gone, UnixSocket.SHUT_RDWR);
        handle();
        advance(TIMEOUT_NS - 10);
        int next = connect();
        advance(20);
        assertEquals(0, sockets.closeSilent(clock.nanoTime()));
        assertTrue(!isClosed(next));
        assertEquals(1, errors.size(), "only the garbage: " + errors);
    }

    /** By number and by bytes, and with one read buffer for all. */
    @Test
    void shouldBoundWhatConnectionsWithoutAHelloTake() {
        bytes.putInt(0, ClientSocket.MAX_MESSAGE);
        for (int i = 0; i < 2000; i++) {
            int fd = connect();
            send(fd, PART);
            assertTrue(sockets.silentCount() <= LIMIT, () -> sockets.silentCount() + " connections");
            assertTrue(sockets.silentBytes() <= (long) LIMIT * PART, () -> sockets.silentBytes() + " bytes");
            if (i >= LIMIT) {
                // the oldest one had to go
                assertTrue(isClosed(connected.getFirst()));
                Libc.close(connected.removeFirst());
            }
        }
        assertEquals(LIMIT, sockets.silentCount());
        assertEquals((long) LIMIT * PART, sockets.silentBytes());
        connected.forEach(fd -> assertTrue(!isClosed(fd)));
        // one that ends behind others which are silent is freed at once
        UnixSocket.shutdown(connected.get(LIMIT / 2), UnixSocket.SHUT_RDWR);
        handle();
        assertEquals(LIMIT - 1, sockets.silentCount());
        assertEquals((long) (LIMIT - 1) * PART, sockets.silentBytes());
    }

    /** It spoke before the others came, but the driver had no time to read it. */
    @Test
    void shouldReadWhatTheOldestOneSentBeforeItIsClosedForANewerOne() {
        int first = connect();
        for (int i = 1; i < LIMIT; i++) {
            connect();
        }
        // its event comes before that of the first one
        dial();
        bytes.putInt(0, 8);
        bytes.putLong(Integer.BYTES, 0);
        assertEquals(12, UnixSocket.send(first, bytes.addressOffset(), 12, UnixSocket.MSG_DONTWAIT));
        handle();
        assertEquals(LIMIT, sockets.silentCount());
        assertEquals(1, errors.size(), errors::toString);
        assertTrue(errors.getFirst().getMessage().contains("template 0 of schema 0"), errors::toString);
    }

    @Test
    void shouldNotTryToAcceptWithoutEndWhenNoDescriptorIsFree() {
        acceptError = FabricErrno.EMFILE;
        connect();
        assertEquals(1, accepts);
        assertEquals(0, sockets.retryAccept(clock.nanoTime()));
        for (int i = 1; i <= 3; i++) {
            advance(ACCEPT_RETRY_NS);
            assertEquals(1, sockets.retryAccept(clock.nanoTime()));
            assertEquals(0, sockets.retryAccept(clock.nanoTime()), "once");
            handle();
            assertEquals(1 + i, accepts);
        }
        assertEquals(1, errors.size(), errors::toString);
        assertEquals(FabricErrno.EMFILE, ((FabricException) errors.getFirst()).errno());
        assertTrue(errors.getFirst().getMessage().contains("ulimit -n"), errors::toString);
        acceptError = 0;
        advance(ACCEPT_RETRY_NS);
        sockets.retryAccept(clock.nanoTime());
        handle();
        assertEquals(1, sockets.silentCount(), "it was kept by the kernel meanwhile");

        // the next time there is one that has said nothing: its descriptor is free for the newer one
        int before = accepts;
        acceptError = TcpSocket.ENFILE;
        int next = connect();
        assertEquals(before + 2, accepts);
        assertEquals(0, sockets.silentCount());
        assertTrue(isClosed(connected.getFirst()) && !isClosed(next));
        acceptError = 0;
        advance(ACCEPT_RETRY_NS);
        sockets.retryAccept(clock.nanoTime());
        handle();
        assertEquals(1, sockets.silentCount());
    }

    @Test
    void shouldNotUseANumberThatWasClosed() {
        int end = UnixSocket.connect(folder.resolve("s"), UnixSocket.SOCK_NONBLOCK);
        connected.add(end);
        int listener = UnixSocket.listen(folder.resolve("t"), 64);
        connected.add(listener);
        ClientSocket socket = null;
        int other = -1;
        int peer = -1;
        // Other tests of this process open and close descriptors too: until the number that was closed is given again.
        for (int attempts = 0, fd = -1; fd == -1 || other != fd; attempts++) {
            assertTrue(attempts < 1_000, "the number " + fd + " was not given again");
            if (other >= fd) {
                fd = connectAndAccept(listener);
                socket = new ClientSocket(fd, 0);
                socket.close();
            }
            other = connectAndAccept(listener);
            connected.add(other);
            peer = connected.get(connected.size() - 2);
        }
        assertEquals(1, UnixSocket.send(peer, bytes.addressOffset(), 1, UnixSocket.MSG_DONTWAIT));

        socket.ring();
        assertTrue(!socket.send(bytes.addressOffset(), 8));
        assertTrue(!socket.drain());
        assertEquals(ClientSocket.Read.END, socket.readMessage(bytes));
        assertEquals(-1, socket.handOver());
        socket.close();
        assertTrue(!isClosed(peer), "no byte came, and it is not shut down");
        assertEquals(1, UnixSocket.recv(other, bytes.addressOffset(), 8, UnixSocket.MSG_DONTWAIT), "not taken");
    }

    /** Connects to a listener. The end that it accepts is the last of {@link #connected}. */
    private int connectAndAccept(int listener) {
        int fd = UnixSocket.connect(folder.resolve("t"), UnixSocket.SOCK_NONBLOCK);
        connected.add(UnixSocket.accept4(listener, UnixSocket.SOCK_NONBLOCK));
        return fd;
    }
}
