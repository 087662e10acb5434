package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.Info;
import org.jfabric.layout.OwnerId;
import org.jfabric.test.Deadline;

/** A verbs link over a device in memory, stepped by the test. */
final class VerbsNode extends LinkServices implements AutoCloseable {
    final List<Throwable> errors = new ArrayList<>();
    final List<IncomingConnection> requests = new ArrayList<>();
    final ArrayDeque<ResourceTask> tasks = new ArrayDeque<>();
    final FakeVerbs verbs;
    final VerbsLink link;
    final LocalEndpoint endpoint = new Local();
    /** Of the endpoint's messages. */
    int trafficClass;
    final Listener listener;
    private final List<Long> allocated = new ArrayList<>();
    private int operations;
    private int watchedFd = -1;
    String address;
    int listenErrno;
    boolean isFull;
    boolean holdsTasks;
    /** Added to the true time. */
    long aheadNs;

    VerbsNode(FakeVerbs.Network network, String host, Function<DriverConfig, VerbsSettings> settings,
        String... options) {
        this(new FakeVerbs(network, host), host, settings, options);
    }

    /** Over a device that may be another node's too, as that of two drivers in one process. */
    VerbsNode(FakeVerbs verbs, String host, Function<DriverConfig, VerbsSettings> settings,
        String... options) {
        this.verbs = verbs;
        verbs.isOneThread = true;
        DriverConfig.Builder builder = DriverConfig.builder().set("jfabric.verbs.maxMessageBytes", "8192");
        for (int i = 0; i < options.length; i += 2) {
            builder.set(options[i], options[i + 1]);
        }
        DriverConfig config = builder.build();
        VerbsLinkProvider provider = new VerbsLinkProvider(verbs::libraries, settings);
        link = (VerbsLink) provider.open(this, config);
        BoundAddress bound = provider.bind(new Info().srcAddr("fi_sockaddr_in://" + host + ":0"), config);
        listener = link.connections().listen(bound, new byte[0], 5, new ListenerHandler() {
            @Override
            public void onListening(String listening) {
                address = listening;
            }

            @Override
            public void onFailed(int errno) {
                listenErrno = errno;
            }

            @Override
            public boolean onRequest(IncomingConnection request) {
                if (!isFull) {
                    requests.add(request);
                }
                return !isFull;
            }
        });
    }

    /** Steps two of them until something is so; what is told if it never is. */
    static void await(VerbsNode a, VerbsNode b, Supplier<String> told, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0,
                () -> "not reached; errors " + a.errors + b.errors + told.get() + a.verbs.calls);
            if (a.step() + b.step() == 0) {
                Thread.yield();
            }
        }
    }

    int step() {
        while (!tasks.isEmpty() && !holdsTasks) {
            runTask().complete();
        }
        int work = 0;
        // whatever the link looks at only now and then
        for (int i = 0; i < 160; i++) {
            work += link.poll(64);
        }
        return work;
    }

    /** The resource thread does what is next; its result is not applied yet. */
    ResourceTask runTask() {
        ResourceTask task = tasks.removeFirst();
        verbs.tasks++;
        task.run();
        verbs.tasks--;
        return task;
    }

    /** A send of memory without a region, as an injected one; the test's own pattern. */
    TransmitOperation operation(long flags, int length, int seed) {
        TransmitOperation operation = new TransmitOperation(operations++, 0);
        operation.flags = flags;
        operation.length = length;
        operation.address = memory(length, seed);
        return operation;
    }

    /** Memory with the test's own pattern. */
    long memory(int length, int seed) {
        long at = UnsafeApi.allocateMemory(Math.max(1, length));
        allocated.add(at);
        for (int i = 0; i < length; i++) {
            UnsafeApi.putByte(at + i, pattern(seed, i));
        }
        return at;
    }

    /** A region of that memory; what it releases is told in a list. */
    RegisteredRegion region(long at, int length, List<String> released) {
        return new RegisteredRegion(1, 1, at, length, () -> released.add("region"));
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

    /** Whether the driver's sleeping thread would be woken. */
    boolean isWatched() {
        return watchedFd >= 0;
    }

    @Override
    public void close() {
        link.close();
        // as a driver: the resource thread does what is left, then its results are looked at
        ArrayDeque<ResourceTask> done = new ArrayDeque<>();
        while (!tasks.isEmpty()) {
            done.add(runTask());
        }
        done.forEach(ResourceTask::complete);
        allocated.forEach(UnsafeApi::freeMemory);
        allocated.clear();
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
        return System.nanoTime() + aheadNs;
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

    @Override
    public long counterAddress(String label) {
        throw notHere();
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
            return "jfabric://node/ep";
        }

        @Override
        public byte[] authKey() {
            return new byte[0];
        }

        @Override
        public BoundAddress bound() {
            return null;
        }

        @Override
        public int trafficClass() {
            return trafficClass;
        }

        @Override
        public int postedReceives() {
            return 0;
        }

        @Override
        public boolean knows(String remoteAddress) {
            return false;
        }

        @Override
        public ChannelHandler handlerFor(String remoteAddress) {
            throw notHere();
        }
    }
}
