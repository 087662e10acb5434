package org.jfabric.perf.compare;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.FragmentAssembler;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.tool.ToolException;

/**
 * One of two Aeron clients: an exclusive publication sends, a subscription receives. Messages are offered from a buffer
 * of the application and read where they arrive, as Aeron is meant to be used. Messages larger than a frame are
 * reassembled. The side that answers may have several subscriptions, all of them polled by its thread.
 */
final class AeronPort implements Port {
    /** As long as a frame can be, so that large messages are in as few pieces as possible. */
    private static final int IPC_MTU_BYTES = 65_504;
    /** Three of them are mapped and touched for each direction. */
    private static final int TERM_BYTES = 16 << 20;
    private static final String UDP = "aeron:udp?term-length=" + TERM_BYTES;
    private static final int FRAGMENT_LIMIT = 16;
    private static final int PING_STREAM = 1001;
    private static final int PONG_STREAM = 1002;
    private static final int ALIGNMENT = 64;
    private static final long LIVENESS_NS = 120_000_000_000L;
    private static final long CONNECT_TIMEOUT_NS = 10_000_000_000L;

    private final SideSettings settings;
    private final List<MediaDriver> drivers;
    private final AgentInvoker[] invokers;
    private final List<Aeron> clients = new ArrayList<>();
    private final ExclusivePublication publication;
    private final Reader[] readers;
    private final UnsafeBuffer message;
    private long received;

    /** A subscription with what it has taken. Owner: one thread. */
    private static final class Reader implements FragmentHandler {
        private final Subscription subscription;
        private final FragmentHandler handler;
        private long received;

        Reader(Subscription subscription, boolean assembles) {
            this.subscription = subscription;
            handler = assembles ? new FragmentAssembler(this) : this;
        }

        long poll() {
            subscription.poll(handler, FRAGMENT_LIMIT);
            return received;
        }

        @Override
        public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
            received++;
        }
    }

    /**
     * Starts the clients.
     *
     * @param drivers       that this process runs, each with a client; none with one for others in a directory.
     * @param toPong        channel to publish to the side that answers.
     * @param fromPing      channel of its subscriptions.
     * @param toPing        channel in the other direction.
     * @param subscriptions of the side that answers.
     */
    private AeronPort(SideSettings settings, List<MediaDriver> drivers, String directory, String toPong,
        String fromPing, String toPing, int subscriptions) {
        this.settings = settings;
        this.drivers = drivers;
        invokers = drivers.stream().map(MediaDriver::sharedAgentInvoker).toArray(AgentInvoker[]::new);
        // No thread of the client's own takes the core from the one that spins; a pass is short enough to do without.
        if (drivers.isEmpty()) {
            clients.add(connect(directory, null));
        }
        drivers.forEach(driver -> clients.add(connect(driver.aeronDirectoryName(), driver.sharedAgentInvoker())));
        boolean begins = settings.role() == SideRole.PING;
        publication = clients.getFirst().addExclusivePublication(begins ? toPong : toPing,
            begins ? PING_STREAM : PONG_STREAM);
        readers = new Reader[begins ? 1 : subscriptions];
        for (int i = 0; i < readers.length; i++) {
            readers[i] = new Reader(clients.get(Math.min(i, clients.size() - 1)).addSubscription(
                begins ? toPing : fromPing, begins ? PONG_STREAM : PING_STREAM),
                settings.sizeBytes() > publication.maxPayloadLength());
        }
        message = new UnsafeBuffer(BufferUtil.allocateDirectAligned(Math.max(1, settings.sizeBytes()), ALIGNMENT));
    }

    private static Aeron connect(String directory, AgentInvoker invoker) {
        return Aeron.connect(new Aeron.Context().aeronDirectoryName(directory).preTouchMappedMemory(true)
            .driverAgentInvoker(invoker).useConductorAgentInvoker(true));
    }

    /** A client of the media driver beside it, over shared memory. */
    static AeronPort ipc(SideSettings settings) {
        String channel = "aeron:ipc?term-length=" + TERM_BYTES;
        return new AeronPort(settings, List.of(),
            settings.directory().resolve(SideRole.DRIVER.text()).toString(), channel, channel, channel, Launch.peers());
    }

    /**
     * A client that runs its own media driver in its own thread, over UDP. The side that answers may have several of
     * both, as if each were on a host of its own: the publication sends to each, and waits for the slowest.
     */
    static AeronPort udp(SideSettings settings) {
        int hosts = Launch.peers();
        List<MediaDriver> drivers = new ArrayList<>();
        for (int i = 0; i < (settings.role() == SideRole.PING ? 1 : hosts); i++) {
            drivers.add(MediaDriver.launchEmbedded(driverContext(settings.ownDirectory() + "-" + i)
                .threadingMode(ThreadingMode.INVOKER)));
        }
        String toPing = UDP + "|endpoint=" + network(settings, SideRole.PING);
        if (hosts == 1) {
            String toPong = UDP + "|endpoint=" + network(settings, SideRole.PONG);
            return new AeronPort(settings, drivers, null, toPong, toPong, toPing, 1);
        }
        String control = "|control-mode=dynamic|control=" + Cable.host(SideRole.PING) + ':'
            + settings.port(SideRole.PONG);
        return new AeronPort(settings, drivers, null, UDP + control + "|fc=min",
            UDP + control + "|endpoint=" + Cable.host(SideRole.PONG) + ":0", toPing, hosts);
    }

    private static String network(SideSettings settings, SideRole role) {
        return Cable.host(role) + ':' + settings.port(role);
    }

    static MediaDriver.Context driverContext(String directory) {
        return new MediaDriver.Context()
            .aeronDirectoryName(directory)
            .dirDeleteOnStart(true)
            .dirDeleteOnShutdown(true)
            // while others are measured its processes are stopped, on a slow host for longer than by default
            .clientLivenessTimeoutNs(LIVENESS_NS)
            .publicationUnblockTimeoutNs(2 * LIVENESS_NS)
            .ipcMtuLength(IPC_MTU_BYTES);
    }

    @Override
    public void connect() {
        long deadline = System.nanoTime() + CONNECT_TIMEOUT_NS;
        while (!publication.isConnected() || !Stream.of(readers).allMatch(each -> each.subscription.isConnected())) {
            cycle();
            Thread.yield();
            if (System.nanoTime() - deadline > 0) {
                throw new ToolException("Aeron's two sides did not find each other within 10 s.");
            }
        }
    }

    @Override
    public void cycle() {
        clients.forEach(client -> client.conductorAgentInvoker().invoke());
        drive();
    }

    @Override
    public void begin(Pass pass) {
        Port.super.begin(pass);
        cycle();
    }

    @Override
    public boolean trySend() {
        long result = publication.offer(message, 0, settings.sizeBytes());
        if (result > 0) {
            return true;
        }
        if (result == Publication.CLOSED || result == Publication.MAX_POSITION_EXCEEDED) {
            throw new ToolException("Aeron refused a message: " + Publication.errorString(result) + '.');
        }
        return false;
    }

    @Override
    public void poll() {
        drive();
        long least = Long.MAX_VALUE;
        for (Reader reader : readers) {
            least = Math.min(least, reader.poll());
        }
        received = least;
    }

    private void drive() {
        for (AgentInvoker invoker : invokers) {
            invoker.invoke();
        }
    }

    /** Messages that all subscriptions have taken. */
    @Override
    public long received() {
        return received;
    }

    @Override
    public void close() {
        clients.forEach(Aeron::close);
        drivers.forEach(MediaDriver::close);
    }
}
