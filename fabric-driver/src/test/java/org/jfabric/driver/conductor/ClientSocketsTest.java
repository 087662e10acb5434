package org.jfabric.driver.conductor;

import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.Inbox;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The deadline of the first message, with a clock of the test's own and real sockets. */
@Timeout(60)
class ClientSocketsTest {
    private static final long TIMEOUT_NS = 5_000_000_000L;

    @TempDir
    Path folder;
    private final CachedNanoClock clock = new CachedNanoClock();
    private final DescriptorWatcher watcher = new DescriptorWatcher();
    private final Inbox inbox = new Inbox();
    private final List<Throwable> errors = new ArrayList<>();
    private final List<Integer> connected = new ArrayList<>();
    private final UnsafeBuffer bytes = new UnsafeBuffer(ByteBuffer.allocateDirect(64));
    private ClientSockets sockets;

    @BeforeEach
    void listen() {
        // the end of the range of a clock that may begin anywhere
        clock.update(Long.MAX_VALUE - TIMEOUT_NS / 2);
        int listenFd = UnixSocket.listen(folder.resolve("s"), 64);
        CountersManager counters = new CountersManager(
            aligned(1 << 16), aligned(1 << 14), StandardCharsets.UTF_8);
        ConductorContext context = new ConductorContext(
            DriverConfig.builder().directory(folder.resolve("driver")).build(), folder, null, null, inbox, null, null,
            null, List.of(), new SystemCounters(counters), errors::add);
        sockets = new ClientSockets(context, null, watcher, listenFd, null, clock);
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

    private int connect() {
        int fd = UnixSocket.connect(folder.resolve("s"), UnixSocket.SOCK_NONBLOCK);
        assertTrue(fd >= 0, "connect: " + fd);
        connected.add(fd);
        handle();
        return fd;
    }

    private void handle() {
        while (watcher.poll(0, inbox) > 0) {
            Thread.onSpinWait();
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
}
