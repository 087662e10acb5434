package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.PortedCalls;
import org.jfabric.WaitObjectHandle;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.WaitNode;
import org.jfabric.ffi.ChannelDescriptor;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.EventFd;
import org.jfabric.ffi.Libc;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The number of a descriptor in a system call of the application's own, in a process that was started for it. */
@Tag("conformance")
@Timeout(120)
class NativeEpollTest {
    private static final int ROUNDS = 200;
    private static final int DEADLINE_MS = Deadline.ms(20);
    private static final long QUEUE = 1;
    private static final long OTHER = 2;

    @Test
    @Requirement({"CQ-030", "CQ-036", "CQ-052"})
    void shouldBeUsableInANativeEpoll() throws Exception {
        Path base = TestDirectory.create();
        try (DriverProcess driver = DriverProcess.start(base.resolve("alpha"))) {
            try (TestProcess process = TestJvm.start(
                List.of("-ea", "-Xmx256m", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"),
                NativeEpollTest.class, driver.directory().toString())) {
                assertEquals("woken " + ROUNDS + " times", process.succeeded().strip());
            }
        } finally {
            TestDirectory.delete(base);
        }
    }

    /** The process that was started for it; its argument is the driver's directory. */
    public static void main(String[] args) {
        int other = EventFd.create();
        try (Fabric fabric = Fabric.connect(new FabricConfig().directory(Path.of(args[0])));
             Epoll epoll = new Epoll(4)) {
            FabricNode owner = new FabricNode(
                fabric, "loopback", new Info().caps(Flags.TAGGED | Flags.MSG), 64, 1, () -> { });
            WaitNode node = new WaitNode(owner, owner, WaitObject.FD);
            WaitObjectHandle handle = new WaitObjectHandle();
            require(0, PortedCalls.control(node.queue, ControlCommand.GETWAIT.code(), handle));
            require(ChannelDescriptor.of(node.queue.channel()), handle.fd());
            require(0, epoll.add(node.queue.fd(), Epoll.EPOLLIN, QUEUE));
            require(0, epoll.add(other, Epoll.EPOLLIN, OTHER));
            for (int round = 0; round < ROUNDS; round++) {
                require(0, node.queue.tryWait());
                require(0, epoll.poll(0));
                EventFd.write(other, 1);
                require(1, epoll.poll(DEADLINE_MS));
                require(OTHER, epoll.data(0));
                EventFd.drain(other);
                node.complete(round);
                require(1, epoll.poll(DEADLINE_MS));
                require(QUEUE, epoll.data(0));
                node.awaitEntry();
                require(-FabricErrno.EAGAIN, node.queue.tryWait());
                require(round, node.take());
            }
            System.out.println("woken " + ROUNDS + " times");
        } finally {
            Libc.close(other);
        }
    }

    private static void require(long expected, long seen) {
        if (expected != seen) {
            throw new AssertionError("expected " + expected + ", got " + seen);
        }
    }
}
