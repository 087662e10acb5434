package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The calls that a running fabric makes over and over leave nothing for the collector, compiled or not. */
@Timeout(60)
class AllocationTest {
    private static final int FIRST = 1_000;
    private static final int MEASURED = 10_000;
    private static final int PASSES = 5;

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

    @Test
    void shouldAllocateNothing() {
        assertEquals(0, epoll.add(eventFd, Epoll.EPOLLIN, 1));
        assertNoAllocation("futex wait, other value", -1, () -> Futex.wait(file.address(), 1, -1));
        assertNoAllocation("futex wait, time over", -1, () -> Futex.wait(file.address(), 0, 0));
        assertNoAllocation("futex wake", 0, () -> Futex.wake(file.address(), 1));
        assertNoAllocation("eventfd write", 0, () -> EventFd.write(eventFd, 1));
        assertNoAllocation("epoll", 1 + 1 + Epoll.EPOLLIN, () -> epoll.poll(0) + epoll.data(0) + epoll.events(0));
        assertNoAllocation("eventfd drain", 1,
            () -> EventFd.write(eventFd, 1) + (EventFd.drain(eventFd) > 0 ? 1 : 0));
        assertNoAllocation("doorbell", 1, () -> {
            UnixSocket.ring(client);
            return UnixSocket.drainDoorbell(server) ? 1 : 0;
        });
    }

    private void assertNoAllocation(String what, long result, LongSupplier call) {
        // classes, which Java makes for a handle at its first call and after about a hundred more
        run(FIRST, what, result, call);
        long id = Thread.currentThread().threadId();
        // the first measurement may allocate for itself
        threads.getThreadAllocatedBytes(id);
        long leastBytes = Long.MAX_VALUE;
        // Java allocates for itself when it compiles a call, once for each
        for (int i = 0; i < PASSES && leastBytes != 0; i++) {
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
