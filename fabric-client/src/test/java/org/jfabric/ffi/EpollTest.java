package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("closes the number of a descriptor twice")
@Timeout(60)
class EpollTest {
    private static final int WAIT_MS = 20_000;

    private final Epoll epoll = new Epoll(4);
    private final int[] fds = new int[6];

    EpollTest() {
        for (int i = 0; i < fds.length; i++) {
            fds[i] = EventFd.create();
            assertTrue(fds[i] >= 0);
        }
    }

    @AfterEach
    void after() {
        epoll.close();
        for (int fd : fds) {
            Libc.close(fd);
        }
    }

    @Test
    void shouldCountAndDrainEventFd() {
        int fd = fds[0];
        assertEquals(0, EventFd.drain(fd));
        assertEquals(0, EventFd.write(fd, 1));
        assertEquals(0, EventFd.write(fd, 1L << 40));
        assertEquals((1L << 40) + 1, EventFd.drain(fd));
        assertEquals(0, EventFd.drain(fd));
        assertEquals(-LinuxErrno.EINVAL, EventFd.write(fd, 0));
        assertEquals(0, EventFd.write(fd, Long.MAX_VALUE));
        assertEquals(0, EventFd.write(fd, Long.MAX_VALUE));
        assertEquals(-LinuxErrno.EAGAIN, EventFd.write(fd, 1));
        assertEquals(-LinuxErrno.EBADF, EventFd.write(-1, 1));
        assertEquals(-LinuxErrno.EBADF, EventFd.drain(-1));
    }

    @Test
    void shouldReturnDataAndEventsOfEachReadyDescriptor() {
        long[] data = {Long.MIN_VALUE, -1, 0x0123_4567_89ab_cdefL};
        for (int i = 0; i < data.length; i++) {
            assertEquals(0, epoll.add(fds[i], Epoll.EPOLLIN, data[i]));
        }
        assertEquals(0, epoll.poll(0));
        for (int i = 0; i < data.length; i++) {
            EventFd.write(fds[i], 1);
        }
        assertEquals(data.length, epoll.poll(WAIT_MS));
        for (int i = 0; i < data.length; i++) {
            assertEquals(data[i], epoll.data(i));
            assertEquals(Epoll.EPOLLIN, epoll.events(i));
        }
    }

    @Test
    void shouldReturnAtMostItsRoom() {
        for (int i = 0; i < fds.length; i++) {
            epoll.add(fds[i], Epoll.EPOLLIN, i);
            EventFd.write(fds[i], 1);
        }
        assertEquals(4, epoll.poll(0));
        for (int i = 0; i < 4; i++) {
            EventFd.drain(fds[(int) epoll.data(i)]);
        }
        assertEquals(2, epoll.poll(0));
    }

    @Test
    void shouldModifyAndDelete() {
        assertEquals(0, epoll.add(fds[0], Epoll.EPOLLIN, 1));
        assertEquals(-LinuxErrno.EEXIST, epoll.add(fds[0], Epoll.EPOLLIN, 1));
        assertTrue(epoll.modify(fds[0], Epoll.EPOLLOUT, 2));
        assertEquals(1, epoll.poll(0));
        assertEquals(2, epoll.data(0));
        assertEquals(Epoll.EPOLLOUT, epoll.events(0));
        assertEquals(0, epoll.delete(fds[0]));
        assertEquals(-LinuxErrno.ENOENT, epoll.delete(fds[0]));
        assertFalse(epoll.modify(fds[0], Epoll.EPOLLIN, 1));
        assertEquals(0, epoll.poll(0));
        assertEquals(-LinuxErrno.EBADF, epoll.add(-1, Epoll.EPOLLIN, 1));
    }

    @Test
    void shouldReportEachEdgeOnceWhenEdgeTriggered() {
        epoll.add(fds[0], Epoll.EPOLLIN | Epoll.EPOLLET, 1);
        EventFd.write(fds[0], 1);
        assertEquals(1, epoll.poll(0));
        assertEquals(0, epoll.poll(0));
        EventFd.write(fds[0], 1);
        assertEquals(1, epoll.poll(0));
    }

    @Test
    void shouldWaitForTheTimeGiven() {
        long startNs = System.nanoTime();
        assertEquals(0, epoll.poll(3));
        assertTrue(System.nanoTime() - startNs >= 2_000_000);
    }

    @Test
    void shouldBeWokenByAnotherThread() throws InterruptedException {
        epoll.add(fds[0], Epoll.EPOLLIN, 9);
        AtomicInteger count = new AtomicInteger(-1);
        Thread sleeper = new Thread(() -> count.set(epoll.poll(-1)));
        sleeper.start();
        EventFd.write(fds[0], 1);
        sleeper.join(Deadline.ms(20));
        assertFalse(sleeper.isAlive());
        assertEquals(1, count.get());
        assertEquals(9, epoll.data(0));
    }

    @Test
    void shouldAnswerAfterClose() {
        int fd = epoll.fd();
        assertTrue(fd >= 0);
        epoll.close();
        epoll.close();
        assertEquals(-1, epoll.fd());
        assertEquals(-LinuxErrno.EBADF, epoll.poll(0));
        assertEquals(-LinuxErrno.EBADF, epoll.add(fds[0], Epoll.EPOLLIN, 1));
        assertEquals(-LinuxErrno.EBADF, Libc.close(fd));
    }

    @Test
    void shouldRefuseNoRoom() {
        assertThrows(IllegalArgumentException.class, () -> new Epoll(0));
    }
}
