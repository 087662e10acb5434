package org.jfabric.perf.jmh;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import org.agrona.LangUtil;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.verbs.VerbsLinkProvider;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.Flags;
import org.jfabric.layout.OwnerId;

/**
 * The link verbs with one connection over {@link BlankVerbs}: all of it is the product's own but the device under it
 * and the engine above it, which counts. Owner: one thread.
 */
final class VerbsRig extends LinkServices implements AutoCloseable {
    /** Level of sends with a completion. */
    static final long SIGNALED = Flags.MSG | Flags.TRANSMIT_COMPLETE;
    /** Level of sends that need no completion of the card. */
    static final long QUIET = Flags.MSG | Flags.INJECT_COMPLETE;

    private static final int LIMIT = 64;
    private static final int STEPS = 100_000;

    private final BlankVerbs verbs = new BlankVerbs();
    private final Counting engine = new Counting();
    private final Arena arena = Arena.ofShared();
    private final Queue<ResourceTask> tasks = new ArrayDeque<>();
    private final TransmitOperation operation = new TransmitOperation(0, 0);
    private final Link link;
    private final Channel channel;

    /** A connection that is up. */
    VerbsRig(int sizeBytes) {
        DriverConfig config = DriverConfig.builder().set("jfabric.verbs.receives", "256")
            .set("jfabric.verbs.maxMessageBytes", "8192").build();
        link = VerbsLinkProvider.ofMessages(verbs::libraries).open(this, config);
        operation.address = arena.allocate(sizeBytes, Long.BYTES).address();
        operation.length = sizeBytes;
        channel = link.connections().connect(
            new Local(), "fi_sockaddr_in://10.0.0.2:7471", new byte[0], engine.connecting);
        for (int i = 0; i < STEPS && !engine.isUp; i++) {
            link.poll(LIMIT);
            runTasks();
        }
        if (!engine.isUp) {
            throw new IllegalStateException("the connection did not come up");
        }
    }

    /** The resource thread's part. */
    private void runTasks() {
        for (ResourceTask task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
            task.complete();
        }
    }

    /** Sends messages without a step between them, the last one as the end of the batch. */
    void send(long level, int count) {
        for (int i = count; i > 0; i--) {
            operation.flags = i == 1 ? level : level | Flags.MORE;
            int result = channel.send(operation, 0);
            if (result < 0) {
                throw new IllegalStateException("a send answered " + result);
            }
        }
    }

    /** One step of the link. */
    int poll() {
        return link.poll(LIMIT);
    }

    BlankDataPath dataPath() {
        return verbs.dataPath();
    }

    /** Sends that the engine was notified to be complete. */
    long sent() {
        return engine.sent;
    }

    /** Messages that the engine was given. */
    long received() {
        return engine.received;
    }

    @Override
    public void close() {
        link.close();
        runTasks();
        verbs.close();
        arena.close();
    }

    @Override
    public void submit(ResourceTask task) {
        tasks.add(task);
    }

    @Override
    public void onError(Throwable error) {
        LangUtil.rethrowUnchecked(error);
    }

    @Override
    public long nowNs() {
        return 0;
    }

    @Override
    public void watch(int fd, DescriptorHandler handler) {
        throw notHere();
    }

    @Override
    public void rearm(int fd) {
        throw notHere();
    }

    @Override
    public void unwatch(int fd) {
        throw notHere();
    }

    @Override
    public void unwatchAndClose(int fd) {
        throw notHere();
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
    public long counterAddress(String label) {
        throw notHere();
    }

    @Override
    public long openCounter(int type, String label) {
        throw notHere();
    }

    @Override
    public void closeCounter(long address) {
        throw notHere();
    }

    private static UnsupportedOperationException notHere() {
        return new UnsupportedOperationException("a link of one thread that never sleeps needs no such thing");
    }

    private static final class Local extends LocalEndpoint {
        @Override
        public String name() {
            return "own";
        }

        @Override
        public String address() {
            return "jfabric://here/own";
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
            return 0;
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

    /** An engine that accepts everything and reads nothing. */
    private static final class Counting extends ChannelHandler {
        private long sent;
        private long received;
        private boolean isUp;
        private final ConnectionHandler connecting = new ConnectionHandler() {
            @Override
            public ChannelHandler channelHandler() {
                return Counting.this;
            }

            @Override
            public void onConnected(String localAddress, String peerAddress, byte[] cmData) {
                // onUp follows
            }

            @Override
            public void onFailed(int errno, byte[] cmData) {
                throw new IllegalStateException("the connection failed with " + errno);
            }
        };

        private final StreamHandler streams = new StreamHandler() {
            @Override
            public boolean canStore(long length) {
                return true;
            }

            @Override
            public void place(long flags, long tag, long data, long length, Placement placement) {
                throw notHere();
            }

            @Override
            public void onPlaced(Placement placement) {
                throw notHere();
            }

            @Override
            public void onAborted(Placement placement, int errno) {
                throw notHere();
            }

            @Override
            public void onAcknowledged(long operation, long levels, int errno) {
                throw notHere();
            }
        };

        @Override
        public StreamHandler streamHandler() {
            return streams;
        }

        @Override
        public int onOpening() {
            return 0;
        }

        @Override
        public void onUp(Channel channel) {
            isUp = true;
        }

        @Override
        public void onSent(long operation, int errno) {
            sent++;
        }

        @Override
        public void onMessage(long flags, long tag, long data, long address, int length) {
            received++;
        }

        @Override
        public void onDown(int errno) {
            throw new IllegalStateException("the connection went down with " + errno);
        }

        @Override
        public void onWritable() {
            throw new IllegalStateException("no send was refused");
        }
    }
}
