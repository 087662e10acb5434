package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.kit.SteppedServices;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;

/** A verbs link over a device in memory, stepped by the test. */
final class VerbsNode extends SteppedServices implements AutoCloseable {
    final List<IncomingConnection> requests = new ArrayList<>();
    final FakeVerbs verbs;
    final VerbsLink link;
    final LocalEndpoint endpoint = new Own();
    /** Of the endpoint's messages. */
    int trafficClass;
    final Listener listener;
    String address;
    int listenErrno;
    boolean isFull;
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
        runTasks();
        int work = 0;
        // whatever the link looks at only now and then
        for (int i = 0; i < 160; i++) {
            work += link.poll(64);
        }
        return work;
    }

    @Override
    public ResourceTask runTask() {
        verbs.tasks++;
        ResourceTask task = super.runTask();
        verbs.tasks--;
        return task;
    }

    /** A region of that memory; what it releases is told in a list. */
    RegisteredRegion region(long at, int length, List<String> released) {
        return new RegisteredRegion(1, 1, at, length, () -> released.add("region"));
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
        free();
    }

    @Override
    public long nowNs() {
        return System.nanoTime() + aheadNs;
    }

    private final class Own extends Local {
        Own() {
            super(null);
        }

        @Override
        public String address() {
            return "jfabric://node/ep";
        }

        @Override
        public int trafficClass() {
            return trafficClass;
        }

        @Override
        public boolean knows(String remoteAddress) {
            return false;
        }

        @Override
        public ChannelHandler handlerFor(String remoteAddress) {
            throw new UnsupportedOperationException("messages have a connection");
        }
    }
}
