package org.jfabric.driver.kit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.ffi.Epoll;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;

/**
 * An application with an embedded driver in mode INVOKER, one thread and one endpoint, that sleeps at the descriptor of
 * its completion queue whenever there is nothing to read.
 */
public final class SleepingSide implements AutoCloseable {
    public static final int DEADLINE_MS = Deadline.ms(20);

    public final FabricDriver driver;
    public final Fabric fabric;
    public final Domain domain;
    public final Info info;
    public final Endpoint endpoint;
    public final AddressVector vector;
    public final MemoryRegion memory;
    /** Null before {@link #openQueue()}. */
    public CompletionQueue queue;
    public long sleeps;
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[64]);
    private final boolean isNative;
    private Selector selector;
    private Epoll epoll;

    /** A side whose endpoint is enabled. The native sleep needs the number of the descriptor. */
    public SleepingSide(Path directory, String link, boolean isNative) {
        this(directory, link, isNative, true);
    }

    private SleepingSide(Path directory, String link, boolean isNative, boolean enabled) {
        this.isNative = isNative;
        boolean isDatagram = link.equals("udp") || link.equals("packet");
        if (link.equals("packet")) {
            PacketPrivilege.assume();
        }
        driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(directory)
            .threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.link.enabled", "loopback,shm,tcp,rxm,udp,packet").build());
        fabric = driver.fabric();
        Info hints = new Info().caps(isDatagram ? Flags.MSG : Flags.MSG | Flags.TAGGED);
        hints.epAttr().type(isDatagram ? EndpointType.DGRAM : EndpointType.RDM);
        if (isDatagram) {
            hints.srcAddr(SocketName.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).toString());
        }
        info = fabric.info(hints.linkName(link)).best();
        if (hints.srcAddr() != null) {
            info.srcAddr(hints.srcAddr());
        }
        domain = fabric.domain(info);
        memory = domain.allocate(4096);
        vector = domain.openAddressVector(new AddressVectorAttr());
        endpoint = domain.openEndpoint(info, 0);
        if (enabled) {
            openQueue();
            enable();
        }
    }

    /** A side that has neither a queue nor an enabled endpoint yet. */
    public static SleepingSide unprepared(Path directory, String link) {
        return new SleepingSide(directory, link, false, false);
    }

    public void openQueue() {
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64).waitObject(WaitObject.FD));
        try {
            if (isNative) {
                epoll = new Epoll(4);
                epoll.add(queue.fd(), Epoll.EPOLLIN, 1);
            } else {
                selector = Selector.open();
                queue.channel().register(selector, SelectionKey.OP_READ);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    public void enable() {
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
        endpoint.bind(vector);
        endpoint.enable();
    }

    public long insert(String name) {
        return vector.insert(name);
    }

    public void post(long context) {
        require(0, endpoint.messages().recvmsg(memory.address(), 64, -1L, context, Flags.COMPLETION));
    }

    /** Sends a number; reads until there is room. */
    public void send(long to, long number) {
        memory.buffer().putLong(1024, number);
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        int result;
        while ((result = endpoint.inject(memory.buffer(), 1024, 8, to)) == -FabricErrno.EAGAIN) {
            require(0, System.nanoTime() < deadlineNs ? 0 : 1);
            queue.read(entry, 0, 0);
        }
        require(0, result);
    }

    /** Context of the next entry, or a negative errno. */
    public long take() {
        int read = queue.read(entry, 0, 1);
        return read == 1 ? entry.getLong(0) : read;
    }

    /** The next entry's context; sleeps until there is one. */
    public long await() {
        for (;;) {
            long taken = take();
            if (taken != -FabricErrno.EAGAIN) {
                return taken;
            }
            int answer = queue.tryWait();
            if (answer == 0) {
                sleeps++;
                if (!sleep(DEADLINE_MS)) {
                    throw new AssertionError("overslept after " + sleeps + " sleeps, a read answers " + take() + ", "
                        + queue);
                }
            } else {
                require(-FabricErrno.EAGAIN, answer);
            }
        }
    }

    /** Sleeps at the descriptor; false if the time is over. */
    public boolean sleep(int timeoutMs) {
        if (isNative) {
            return epoll.poll(timeoutMs) != 0;
        }
        try {
            boolean woken = (timeoutMs == 0 ? selector.selectNow() : selector.select(timeoutMs)) != 0;
            selector.selectedKeys().clear();
            return woken;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Reads and asks until the driver lets the thread sleep; what is read meanwhile must be nothing. */
    public void settle() {
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        for (;;) {
            require(-FabricErrno.EAGAIN, take());
            if (queue.tryWait() == 0) {
                return;
            }
            require(0, System.nanoTime() < deadlineNs ? 0 : 1);
        }
    }

    public static void require(long expected, long seen) {
        if (expected != seen) {
            throw new AssertionError("expected " + expected + ", got " + seen);
        }
    }

    @Override
    public void close() {
        fabric.close();
        driver.close();
        try {
            if (epoll != null) {
                epoll.close();
            }
            if (selector != null) {
                selector.close();
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
