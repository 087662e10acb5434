package org.jfabric.driver.progress;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentMap;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.MetricsConfig;
import org.jfabric.driver.engine.EngineCounters;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.Inbox;
import org.jfabric.driver.resource.ResourceAgent;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.MetricLabel;
import org.jfabric.layout.OwnerId;

/**
 * Services of this driver for its links. Descriptors are watched by the thread that sleeps in the native epoll; their
 * events are handled on the progress thread.
 */
public final class DriverLinkServices extends LinkServices {
    private final Path directory;
    private final String driverName;
    private final SharedFiles files;
    private final ResourceAgent resource;
    private final DescriptorWatcher watcher;
    private final Inbox inbox;
    private final CycleClock clock;
    private final CountersManager counters;
    private final ErrorHandler errorHandler;
    private StageTimes stages = StageTimes.OFF;
    private int thread;
    /** Threads by address; null if the driver has one progress thread only. */
    private ConcurrentMap<String, Integer> threads;
    /** What is reported of all counters that find no room; names the first one. Null while there was room. */
    private FabricException noRoom;
    private final UnsafeBuffer spare = new UnsafeBuffer(ByteBuffer.allocateDirect(CountersReader.COUNTER_LENGTH));

    public DriverLinkServices(
        Path directory,
        SharedFiles files,
        ResourceAgent resource,
        DescriptorWatcher watcher,
        Inbox inbox,
        CycleClock clock,
        CountersManager counters,
        ErrorHandler errorHandler) {
        this.directory = directory;
        this.driverName = directory.getFileName().toString();
        this.files = files;
        this.resource = resource;
        this.watcher = watcher;
        this.inbox = inbox;
        this.clock = clock;
        this.counters = counters;
        this.errorHandler = errorHandler;
    }

    /**
     * States whose links these services are for, in a driver with several progress threads; before a link is opened.
     */
    public void onThread(int newThread, ConcurrentMap<String, Integer> newThreads) {
        thread = newThread;
        threads = newThreads;
    }

    /** Sets where samples are recorded; before a link is opened. */
    public void measure(StageTimes newStages) {
        stages = newStages;
    }

    @Override
    public StageTimes stages() {
        return stages;
    }

    @Override
    public int thread() {
        return thread;
    }

    @Override
    public int threadOf(String address) {
        Integer found = threads == null ? null : threads.get(address);
        return found == null ? -1 : found;
    }

    @Override
    public void opened(String address) {
        if (threads != null) {
            threads.put(address, thread);
        }
    }

    @Override
    public boolean claim(String address) {
        return threads == null || threads.putIfAbsent(address, thread) == null;
    }

    @Override
    public void closed(String address) {
        if (threads != null) {
            threads.remove(address, thread);
        }
    }

    @Override
    public Path directory() {
        return directory;
    }

    @Override
    public int directoryFd() {
        return files.directoryFd();
    }

    @Override
    public String driverName() {
        return driverName;
    }

    @Override
    public OwnerId ownerId() {
        return files.owner();
    }

    @Override
    public long nextFileNumber() {
        return files.nextNumber();
    }

    @Override
    public void submit(ResourceTask task) {
        resource.submit(task, inbox);
    }

    @Override
    public void watch(int fd, DescriptorHandler handler) {
        watcher.watch(fd, handler::onReadable, inbox);
    }

    @Override
    public void rearm(int fd) {
        watcher.rearm(fd);
    }

    @Override
    public void unwatch(int fd) {
        watcher.unwatch(fd);
    }

    @Override
    public void unwatchAndClose(int fd) {
        watcher.unwatch(fd);
        // a process that is being started has a copy of the descriptor for a moment: the peer is not to wait for that
        UnixSocket.shutdown(fd, UnixSocket.SHUT_RDWR);
        Libc.close(fd);
    }

    @Override
    public void onError(Throwable error) {
        errorHandler.onError(error);
    }

    @Override
    public long counterAddress(String label) {
        return openCounter(
            MetricLabel.OTHER, thread == 0 ? label : label + " (progress thread " + thread + ')');
    }

    @Override
    public long openCounter(int type, String label) {
        try {
            int id;
            synchronized (counters) {
                id = counters.allocate(label, type);
            }
            return counters.valuesBuffer().addressOffset() + CountersReader.counterOffset(id);
        } catch (IllegalStateException ex) {
            errorHandler.onError(noRoom(label, ex));
            return spare.addressOffset();
        }
    }

    /** The same object each time: an error for each counter would fill the error log. */
    private FabricException noRoom(String label, Throwable cause) {
        synchronized (counters) {
            if (noRoom == null) {
                noRoom = new FabricException(FabricErrno.ENOSPC,
                    "no room for the counter \"" + label + "\": " + cause.getMessage(),
                    "Raise jfabric.cnc.countersLengthBytes; the driver continues without it, and without later ones "
                        + "that find no room", cause);
            }
            return noRoom;
        }
    }

    /** Counters for the engine, from the same file. */
    public EngineCounters engineCounters(DriverConfig config) {
        return new EngineCounters() {
            @Override
            public long open(int type, String label) {
                return openCounter(type, label);
            }

            @Override
            public int endpointLimit() {
                return config.get(MetricsConfig.ENDPOINT_LIMIT);
            }

            @Override
            public int peerLimit() {
                return config.get(MetricsConfig.PEER_LIMIT);
            }

            @Override
            public void close(long address) {
                closeCounter(address);
            }
        };
    }

    @Override
    public void closeCounter(long address) {
        if (address != spare.addressOffset()) {
            long offset = address - counters.valuesBuffer().addressOffset();
            synchronized (counters) {
                counters.free((int) (offset / CountersReader.COUNTER_LENGTH));
            }
        }
    }

    @Override
    public Environment environment() {
        return files.environment();
    }

    @Override
    public long nowNs() {
        return clock.nowNs();
    }

    @Override
    public long attendedNs() {
        return clock.attendedNs();
    }

    @Override
    public long readAttendedNs() {
        return clock.readAttendedNs();
    }

    @Override
    public boolean isCatchingUp() {
        return clock.isCatchingUp();
    }
}
