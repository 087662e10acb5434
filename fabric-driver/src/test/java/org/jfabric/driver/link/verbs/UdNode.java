package org.jfabric.driver.link.verbs;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.layout.OwnerId;

/** A verbsud link with one endpoint over a device in memory, stepped by the test. */
final class UdNode extends LinkServices implements AutoCloseable {
    final List<Throwable> errors = new ArrayList<>();
    final ArrayDeque<ResourceTask> tasks = new ArrayDeque<>();
    final FakeVerbs verbs;
    final VerbsUdLink link;
    final VerbsUdPort port;
    final Local endpoint;
    /** Receives that wait for a message. */
    int posted = 1000;
    /** Operations that have ended, in that order. */
    final List<Long> ended = new ArrayList<>();
    boolean holdsTasks;
    int watchedFd = -1;
    private final Map<String, UdTold> told = new HashMap<>();
    private final List<Long> allocated = new ArrayList<>();
    private final long counter = memory(Long.BYTES, 0);
    private int operations;

    UdNode(FakeVerbs.Network network, String host, String... options) {
        verbs = new FakeVerbs(network, host);
        UnsafeApi.putLong(counter, 0);
        DriverConfig.Builder builder = DriverConfig.builder();
        for (int i = 0; i < options.length; i += 2) {
            builder.set(options[i], options[i + 1]);
        }
        DriverConfig config = builder.build();
        VerbsUdLinkProvider provider = new VerbsUdLinkProvider(verbs::libraries);
        link = (VerbsUdLink) provider.open(this, config);
        port = (VerbsUdPort) provider.bind(new Info().srcAddr(SocketName.IN_SCHEME + host + ":0"), config);
        endpoint = new Local();
        link.attach(endpoint);
    }

    String address() {
        return port.address();
    }

    /** As an insertion into the address vector. */
    UdTold insert(String address) {
        link.onInserted(endpoint, address);
        return told.get(address);
    }

    UdTold strangers() {
        return told.get(VerbsUdEndpoint.UNKNOWN_SENDERS);
    }

    long lost() {
        return UnsafeApi.getLong(counter);
    }

    void runTasks() {
        while (!tasks.isEmpty() && !holdsTasks) {
            ResourceTask task = tasks.removeFirst();
            task.run();
            task.complete();
        }
    }

    int step() {
        runTasks();
        return link.poll(64);
    }

    /** Steps so often that the link looks at its descriptors too. */
    void steps() {
        for (int i = 0; i < 40; i++) {
            step();
        }
    }

    TransmitOperation operation(long flags, int length, int seed) {
        TransmitOperation operation = new TransmitOperation(operations++, 0);
        operation.flags = flags;
        operation.length = length;
        operation.address = memory(length, seed);
        return operation;
    }

    private long memory(int length, int seed) {
        long at = UnsafeApi.allocateMemory(Math.max(1, length));
        allocated.add(at);
        for (int i = 0; i < length; i++) {
            UnsafeApi.putByte(at + i, pattern(seed, i));
        }
        return at;
    }

    static byte pattern(int seed, int index) {
        return (byte) (seed * 31 + index * 7 + (index >> 8));
    }

    static byte[] payload(int length, int seed) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = pattern(seed, i);
        }
        return bytes;
    }

    @Override
    public void close() {
        link.close();
        allocated.forEach(UnsafeApi::freeMemory);
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
    public void onError(Throwable error) {
        errors.add(error);
    }

    @Override
    public long nowNs() {
        return System.nanoTime();
    }

    @Override
    public long counterAddress(String label) {
        return counter;
    }

    @Override
    public Path directory() {
        throw notHere();
    }

    @Override
    public int directoryFd() {
        throw notHere();
    }

    @Override
    public String driverName() {
        throw notHere();
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
    public void unwatchAndClose(int fd) {
        throw notHere();
    }

    private static UnsupportedOperationException notHere() {
        return new UnsupportedOperationException("the link needs no driver");
    }

    /** The endpoint. */
    final class Local extends LocalEndpoint {
        @Override
        public String name() {
            return "ep";
        }

        @Override
        public String address() {
            return port.address();
        }

        @Override
        public byte[] authKey() {
            return new byte[0];
        }

        @Override
        public BoundAddress bound() {
            return port;
        }

        @Override
        public int trafficClass() {
            return 0;
        }

        @Override
        public int postedReceives() {
            return posted;
        }

        @Override
        public boolean knows(String remoteAddress) {
            return told.containsKey(remoteAddress);
        }

        @Override
        public ChannelHandler handlerFor(String remoteAddress) {
            return told.computeIfAbsent(remoteAddress, address -> new UdTold(UdNode.this, address));
        }

        Channel connect(String remoteAddress) {
            return link.connect(this, remoteAddress, handlerFor(remoteAddress));
        }
    }
}
