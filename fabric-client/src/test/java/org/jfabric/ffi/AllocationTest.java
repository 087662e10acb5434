package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The calls that a running fabric makes over and over leave nothing for the collector. */
@Timeout(120)
class AllocationTest {
    private static final int WARM_UP = 30_000;
    private static final int MEASURED = 10_000;
    private static final long WARM_UP_LIMIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long ROUND_SUM =
        -LinuxErrno.EAGAIN - LinuxErrno.ETIMEDOUT + 1 + 1 + Epoll.EPOLLIN + 1 + 8 + 8;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final TestDirectory dir = new TestDirectory();
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
    void shouldAllocateNothingWhenCalledAgain() {
        assertEquals(0, epoll.add(eventFd, Epoll.EPOLLIN, 1));
        run(WARM_UP);
        long id = Thread.currentThread().threadId();
        // The first measurement may allocate for itself.
        threads.getThreadAllocatedBytes(id);
        long leastBytes = Long.MAX_VALUE;
        // as long as the compiler needs on a busy machine: it takes the slices of the calls apart
        for (long end = System.nanoTime() + WARM_UP_LIMIT_NS; leastBytes != 0 && System.nanoTime() - end < 0;) {
            long before = threads.getThreadAllocatedBytes(id);
            run(MEASURED);
            leastBytes = Math.min(leastBytes, threads.getThreadAllocatedBytes(id) - before);
        }
        assertEquals(0, leastBytes, "bytes in " + MEASURED + " rounds");
    }

    private void run(int rounds) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += round();
        }
        assertEquals(rounds * ROUND_SUM, sum);
    }

    private long round() {
        long sum = Futex.wait(file.address(), 1, -1);
        sum += Futex.wait(file.address(), 0, 0);
        sum += Futex.wake(file.address(), 1);
        sum += EventFd.write(eventFd, 1);
        sum += epoll.poll(0);
        sum += epoll.data(0) + epoll.events(0);
        sum += EventFd.drain(eventFd);
        sum += UnixSocket.send(client, file.address() + 64, 8, UnixSocket.MSG_DONTWAIT);
        sum += UnixSocket.recv(server, file.address() + 128, 8, UnixSocket.MSG_DONTWAIT);
        return sum;
    }
}
