package org.jfabric.driver.link.tcp;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.Flags;
import org.jfabric.info.SocketName;
import org.jfabric.layout.OwnerId;

/** A tcp link with one endpoint, on the loopback interface, stepped by the test. */
final class TcpNode extends LinkServices implements AutoCloseable {
    /** Of nodes made from now on: some test classes run with each kind. */
    private static Sockets sockets = Sockets.NATIVE;

    final List<Throwable> errors = new ArrayList<>();
    final Map<String, Recorder> handlers = new HashMap<>();
    private final Map<String, Long> counters = new HashMap<>();
    private final Set<String> known = new HashSet<>();
    final TcpLink link;
    final LocalEndpoint endpoint;
    final BoundAddress bound;
    private final ArrayDeque<ResourceTask> tasks = new ArrayDeque<>();
    private final List<Long> allocated = new ArrayList<>();
    private int operations;
    /** Added to the true time. */
    long aheadNs;

    static void use(Sockets kind) {
        sockets = kind;
    }

    TcpNode() {
        this("127.0.0.1");
    }

    TcpNode(String address, String... options) {
        this(new TcpLinkProvider(), address, options);
    }

    /** A node of the tls link. */
    static TcpNode tls(TestKeys.Folder keys, String... options) {
        String[] all = Arrays.copyOf(keys.options(), keys.options().length + options.length);
        System.arraycopy(options, 0, all, keys.options().length, options.length);
        return new TcpNode(TcpLinkProvider.ofTls(), "127.0.0.1", all);
    }

    private TcpNode(TcpLinkProvider provider, String address, String... options) {
        DriverConfig.Builder builder = DriverConfig.builder().set("jfabric.tcp.interface", address)
            .set("jfabric.tcp.sockets", sockets.name());
        for (int i = 0; i < options.length; i += 2) {
            builder.set(options[i], options[i + 1]);
        }
        DriverConfig config = builder.build();
        link = (TcpLink) provider.open(this, config);
        bound = provider.bind(new org.jfabric.info.Info(), config);
        endpoint = new Local();
        link.attach(endpoint);
    }

    String address() {
        return bound.address();
    }

    SocketName name() {
        return SocketName.parse(address());
    }

    Recorder handler(String remote) {
        return handlers.computeIfAbsent(remote, each -> new Recorder());
    }

    /** Into the address vector. */
    void insert(String remote) {
        known.add(remote);
        link.onInserted(endpoint, remote);
    }

    Recorder connect(String remote) {
        Recorder handler = handler(remote);
        link.connect(endpoint, remote, handler);
        return handler;
    }

    /** System calls of the link that have written. */
    long writes() {
        return counter("tcp: writes to sockets");
    }

    int step() {
        while (!tasks.isEmpty()) {
            ResourceTask task = tasks.removeFirst();
            task.run();
            task.complete();
        }
        int work = 0;
        // also everything that the link checks only in some polls
        for (int i = 0; i < 40; i++) {
            work += link.poll(64);
        }
        return work;
    }

    /** A send whose payload has that length and seed; longer ones are not copied by the link. */
    TransmitOperation operation(long flags, long tag, int length, int seed) {
        TransmitOperation operation = new TransmitOperation(operations++, 0);
        operation.flags = flags;
        operation.tag = tag;
        operation.length = length;
        operation.address = UnsafeApi.allocateMemory(Math.max(1, length));
        allocated.add(operation.address);
        for (int i = 0; i < length; i++) {
            UnsafeApi.putByte(operation.address + i, pattern(seed, i));
        }
        return operation;
    }

    int send(Channel channel, long tag, int length, int seed) {
        return channel.send(operation(Flags.TAGGED, tag, length, seed), 0);
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
    public Path directory() {
        throw notHere();
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
        // no thread sleeps here
    }

    @Override
    public void rearm(int fd) {
        // no thread sleeps here
    }

    @Override
    public void unwatch(int fd) {
        // no thread sleeps here
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
        return counters.computeIfAbsent(label, each -> {
            long address = UnsafeApi.allocateMemory(Long.BYTES);
            UnsafeApi.putLong(address, 0);
            allocated.add(address);
            return address;
        });
    }

    /** The value of the counter with a label. */
    long counter(String label) {
        Long address = counters.get(label);
        return address == null ? 0 : UnsafeApi.getLong(address);
    }

    @Override
    public long nowNs() {
        return System.nanoTime() + aheadNs;
    }

    private static UnsupportedOperationException notHere() {
        return new UnsupportedOperationException("the link needs no driver");
    }

    private final class Local extends LocalEndpoint {
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
        public boolean knows(String remoteAddress) {
            return known.contains(remoteAddress);
        }

        @Override
        public ChannelHandler handlerFor(String remoteAddress) {
            return handler(remoteAddress);
        }
    }
}
