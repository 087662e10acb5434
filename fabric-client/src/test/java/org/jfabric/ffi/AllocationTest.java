package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The calls that a running fabric makes over and over leave nothing for the collector. */
@Timeout(300)
@Tag("compiled")
class AllocationTest {
    private static final int WARM_UP = 20_000;
    private static final int MEASURED = 10_000;
    private static final long WARM_UP_LIMIT_NS = Deadline.ns(30);

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final OpenDirectory dir = new OpenDirectory();
    private final MappedFile file = MappedFile.create(dir.fd, "f", 4096);
    private final Epoll epoll = new Epoll(4);
    private final int eventFd = EventFd.create();
    private final int listener = UnixSocket.listen(dir.path("s"), 1);
    private final int client = UnixSocket.connect(dir.path("s"), 0);
    private final int server = UnixSocket.accept4(listener, 0);

    @AfterEach
    void after() {
        epoll.close();
        for (int fd : new int[] {eventFd, listener, client, server}) {
            Libc.close(fd);
        }
        file.close();
        dir.close();
    }

    /**
     * Each call in a method of its own: the linker makes a slice for each call that reports errno, and only where the
     * compiler inlines the whole call it goes without an object.
     */
    @Test
    void shouldAllocateNothingWhenCalledAgain() {
        assertEquals(0, epoll.add(eventFd, Epoll.EPOLLIN, 1));
        assertNoAllocation("futex wait, other value", -LinuxErrno.EAGAIN, () -> Futex.wait(file.address(), 1, -1));
        assertNoAllocation("futex wait, time over", -LinuxErrno.ETIMEDOUT, () -> Futex.wait(file.address(), 0, 0));
        assertNoAllocation("futex wake", 0, () -> Futex.wake(file.address(), 1));
        assertNoAllocation("eventfd write", 1, () -> EventFd.write(eventFd, 1) + 1);
        assertNoAllocation("epoll", 1 + 1 + Epoll.EPOLLIN, () -> epoll.poll(0) + epoll.data(0) + epoll.events(0));
        assertNoAllocation("eventfd drain", 1,
            () -> EventFd.write(eventFd, 1) + (EventFd.drain(eventFd) > 0 ? 1 : 0));
        assertNoAllocation("send", 8,
            () -> UnixSocket.send(client, file.address() + 64, 8, UnixSocket.MSG_DONTWAIT) + received());
        assertNoAllocation("doorbell", 1, () -> {
            UnixSocket.ring(client);
            return received() + 8;
        });
        assertNoAllocation("recv of nothing", -LinuxErrno.EAGAIN,
            () -> UnixSocket.recv(server, file.address() + 128, 8, UnixSocket.MSG_DONTWAIT));
    }

    private long received() {
        return UnixSocket.recv(server, file.address() + 128, 8, UnixSocket.MSG_DONTWAIT) - 8;
    }

    private void assertNoAllocation(String what, long result, LongSupplier call) {
        run(WARM_UP, what, result, call);
        long id = Thread.currentThread().threadId();
        // The first measurement may allocate for itself.
        threads.getThreadAllocatedBytes(id);
        long leastBytes = Long.MAX_VALUE;
        // as long as the compiler needs on a busy machine
        for (long end = System.nanoTime() + WARM_UP_LIMIT_NS; leastBytes != 0 && System.nanoTime() - end < 0;) {
            long before = threads.getThreadAllocatedBytes(id);
            run(MEASURED, what, result, call);
            leastBytes = Math.min(leastBytes, threads.getThreadAllocatedBytes(id) - before);
        }
        assertEquals(0, leastBytes, what + ": bytes in " + MEASURED + " calls");
    }

    private static void run(int rounds, String what, long result, LongSupplier call) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += call.getAsLong();
        }
        assertEquals(rounds * result, sum, what);
    }
}
