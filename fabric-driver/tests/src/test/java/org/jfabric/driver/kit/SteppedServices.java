package org.jfabric.driver.kit;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.layout.OwnerId;

/** The services of a driver for one link that a test steps, without any thread. */
public abstract class SteppedServices extends LinkServices {
    /** Reported by the link. */
    public final List<Throwable> errors = new ArrayList<>();
    /** Submitted to the resource thread, and not run yet. */
    public final ArrayDeque<ResourceTask> tasks = new ArrayDeque<>();
    /** Whether the resource thread is busy with something else. */
    public boolean holdsTasks;
    /** Descriptor that would wake the driver; negative for none. */
    public int watchedFd = -1;
    private final Map<String, UnsafeBuffer> counters = new HashMap<>();
    private final List<Long> allocated = new ArrayList<>();
    private int operations;

    /** Runs what was submitted to the resource thread. */
    public final void runTasks() {
        while (!tasks.isEmpty() && !holdsTasks) {
            runTask().complete();
        }
    }

    /** The resource thread does what is next; its result is not applied yet. */
    public ResourceTask runTask() {
        ResourceTask task = tasks.removeFirst();
        task.run();
        return task;
    }

    /** Memory until {@link #free()}. */
    protected final long allocate(int bytes) {
        long address = UnsafeApi.allocateMemory(Math.max(1, bytes));
        allocated.add(address);
        return address;
    }

    /** Frees all memory. */
    protected final void free() {
        allocated.forEach(UnsafeApi::freeMemory);
        allocated.clear();
    }

    /** Memory with the payload of a seed, until {@link #free()}. */
    public final long memory(int length, int seed) {
        long address = allocate(length);
        for (int i = 0; i < length; i++) {
            UnsafeApi.putByte(address + i, pattern(seed, i));
        }
        return address;
    }

    /** A send whose payload has that length and seed. */
    public final TransmitOperation operation(long flags, long tag, int length, int seed) {
        TransmitOperation operation = new TransmitOperation(operations++, 0);
        operation.flags = flags;
        operation.tag = tag;
        operation.length = length;
        operation.address = memory(length, seed);
        return operation;
    }

    /** The same without a tag. */
    public final TransmitOperation operation(long flags, int length, int seed) {
        return operation(flags, 0, length, seed);
    }

    /** A byte of the payload with a seed. */
    public static byte pattern(int seed, int index) {
        return (byte) (seed * 31 + index * 7 + (index >> 8));
    }

    /** The payload with a seed. */
    public static byte[] payload(int length, int seed) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = pattern(seed, i);
        }
        return bytes;
    }

    /** The value of the counter with a label. */
    public final long counter(String label) {
        UnsafeBuffer counter = counters.get(label);
        return counter == null ? 0 : counter.getLong(0);
    }

    @Override
    public Path directory() {
        // links name it, and no test has files in it
        return Path.of("/no-files");
    }

    @Override
    public int directoryFd() {
        throw notHere();
    }

    @Override
    public String driverName() {
        return "node";
    }

    @Override
    public OwnerId ownerId() {
        throw notHere();
    }

    @Override
    public long nextFileNumber() {
        throw notHere();
    }

    @Override
    public void submit(ResourceTask task) {
        tasks.add(task);
    }

    @Override
    public void watch(int fd, DescriptorHandler handler) {
        watchedFd = fd;
    }

    @Override
    public void rearm(int fd) {
        watchedFd = fd;
    }

    @Override
    public void unwatch(int fd) {
        watchedFd = -1;
    }

    @Override
    public void unwatchAndClose(int fd) {
        throw notHere();
    }

    @Override
    public void onError(Throwable error) {
        errors.add(error);
    }

    @Override
    public long counterAddress(String label) {
        return counters.computeIfAbsent(label, each -> new UnsafeBuffer(ByteBuffer.allocateDirect(Long.BYTES)))
            .addressOffset();
    }

    @Override
    public long openCounter(int type, String label) {
        return counterAddress(label);
    }

    @Override
    public void closeCounter(long address) {
        counters.values().removeIf(each -> each.addressOffset() == address);
    }

    private static UnsupportedOperationException notHere() {
        return new UnsupportedOperationException("the link needs no driver");
    }

    /** The endpoint of such a link. */
    protected abstract static class Local extends LocalEndpoint {
        private final BoundAddress bound;

        protected Local(BoundAddress bound) {
            this.bound = bound;
        }

        @Override
        public String name() {
            return "ep";
        }

        @Override
        public String address() {
            return bound.address();
        }

        @Override
        public byte[] authKey() {
            return new byte[0];
        }

        @Override
        public BoundAddress bound() {
            return bound;
        }

        @Override
        public int trafficClass() {
            return 0;
        }

        @Override
        public int postedReceives() {
            return 0;
        }

        @Override
        public abstract boolean knows(String remoteAddress);

        @Override
        public abstract ChannelHandler handlerFor(String remoteAddress);
    }
}
