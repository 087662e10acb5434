package org.jfabric.driver.link.shm;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.OwnerId;

/** A driver's services without its threads: real files and sockets, moved on by {@link #step}. */
public final class TestLinkServices extends LinkServices implements AutoCloseable {
    private static final int EPOLLIN = 1;

    public final List<Throwable> errors = new ArrayList<>();
    private final Path directory;
    private final int directoryFd;
    private final int listenFd;
    private final OwnerId owner = OwnerId.random();
    private final MappedFile cnc;
    private final Epoll epoll = new Epoll(16);
    private final Map<Integer, DescriptorHandler> handlers = new HashMap<>();
    /** Submitted and not yet run, first one first. */
    final ArrayDeque<ResourceTask> tasks = new ArrayDeque<>();
    private final List<Integer> greeting = new ArrayList<>();
    private final long counter = UnsafeApi.allocateMemory(8);
    private final Set<Long> opened = new HashSet<>();
    /** The link does not know of the death and closes them too; by then the numbers may belong to other descriptors. */
    private final Set<Integer> closedByDeath = new HashSet<>();
    private long files = 1;
    private long nowNs;

    public TestLinkServices(Path base, String name) {
        directory = base.resolve(name);
        int baseFd = Libc.openDirectory(base);
        Libc.mkdirat(baseFd, name, 0700);
        Libc.close(baseFd);
        directoryFd = Libc.openDirectory(directory);
        cnc = MappedFile.create(directoryFd, CncDescriptor.FILE_NAME, 8192);
        FileHeaderDescriptor.write(cnc.buffer(0, 128), FileType.CNC, 0, owner, 1, 8192);
        listenFd = UnixSocket.listen(directory.resolve("driver.sock"), 16);
        UnsafeApi.putLong(counter, 0);
    }

    /** Runs the slow work, accepts connections, reports readable descriptors, and steps the link. */
    public int step(Link link) {
        nowNs = System.nanoTime();
        for (int i = tasks.size(); i > 0; i--) {
            ResourceTask task = tasks.removeFirst();
            task.run();
            task.complete();
        }
        int fd = UnixSocket.accept4(listenFd, UnixSocket.SOCK_NONBLOCK);
        if (fd >= 0) {
            greeting.add(fd);
        }
        greeting.removeIf(waiting -> greet(waiting, link));
        int ready = epoll.poll(0);
        for (int i = 0; i < ready; i++) {
            DescriptorHandler handler = handlers.get((int) epoll.data(i));
            if (handler != null) {
                handler.onReadable((int) epoll.data(i));
            }
        }
        return link.poll(64);
    }

    private boolean greet(int fd, Link link) {
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[4096]);
        long memory = UnsafeApi.allocateMemory(4096);
        int received = UnixSocket.recv(fd, memory, 4096, UnixSocket.MSG_DONTWAIT);
        if (received == -FabricErrno.EAGAIN) {
            UnsafeApi.freeMemory(memory);
            return false;
        }
        buffer.putBytes(0, new UnsafeBuffer(memory, 4096), 4, Math.max(0, received - 4));
        UnsafeApi.freeMemory(memory);
        link.acceptor().onPeer(fd, buffer, Math.max(0, received - 4));
        return true;
    }

    long copiedBytes() {
        return UnsafeApi.getLong(counter);
    }

    /** The end of a driver as its peers see it. */
    void die() {
        for (int fd : List.copyOf(handlers.keySet())) {
            unwatchAndClose(fd);
            closedByDeath.add(fd);
        }
    }

    @Override
    public void close() {
        die();
        Libc.close(listenFd);
        Libc.close(directoryFd);
        epoll.close();
        cnc.close();
        UnsafeApi.freeMemory(counter);
        opened.forEach(UnsafeApi::freeMemory);
        opened.clear();
    }

    @Override
    public Path directory() {
        return directory;
    }

    @Override
    public int directoryFd() {
        return directoryFd;
    }

    @Override
    public String driverName() {
        return directory.getFileName().toString();
    }

    @Override
    public OwnerId ownerId() {
        return owner;
    }

    @Override
    public long nextFileNumber() {
        return files++;
    }

    @Override
    public void submit(ResourceTask task) {
        tasks.add(task);
    }

    @Override
    public void watch(int fd, DescriptorHandler handler) {
        handlers.put(fd, handler);
        epoll.add(fd, EPOLLIN, fd);
    }

    @Override
    public void rearm(int fd) {
        // level-triggered here: it is armed as long as it is watched
    }

    @Override
    public void unwatch(int fd) {
        if (handlers.remove(fd) != null) {
            epoll.delete(fd);
        }
    }

    @Override
    public void unwatchAndClose(int fd) {
        unwatch(fd);
        if (!closedByDeath.remove(fd)) {
            // as the driver does
            UnixSocket.shutdown(fd, UnixSocket.SHUT_RDWR);
            Libc.close(fd);
        }
    }

    @Override
    public void onError(Throwable error) {
        errors.add(error);
    }

    @Override
    public long counterAddress(String label) {
        return counter;
    }

    @Override
    public long openCounter(int type, String label) {
        long address = UnsafeApi.allocateMemory(Long.BYTES);
        UnsafeApi.putLong(address, 0);
        opened.add(address);
        return address;
    }

    @Override
    public void closeCounter(long address) {
        if (!opened.remove(address)) {
            throw new AssertionError("closed twice");
        }
        UnsafeApi.freeMemory(address);
    }

    @Override
    public long nowNs() {
        return nowNs == 0 ? System.nanoTime() : nowNs;
    }
}
