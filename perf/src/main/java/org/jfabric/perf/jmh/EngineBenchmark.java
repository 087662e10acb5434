package org.jfabric.perf.jmh;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.LangUtil;
import org.agrona.UnsafeApi;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.ReceiveQueue;
import org.jfabric.client.TransmitQueue;
import org.jfabric.driver.engine.AddressTable;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.engine.EndpointSettings;
import org.jfabric.driver.engine.Engine;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.engine.EngineSession;
import org.jfabric.driver.engine.EngineSettings;
import org.jfabric.driver.engine.SessionListener;
import org.jfabric.driver.progress.EndpointQueues;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.driver.progress.QueuePoller;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.RecordRingDescriptor;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The engine's hops: from a link's frame to the completion of the receive, from a send to the link and its completion;
 * posted by calls, as an embedding client in mode INVOKER does, or through an attached client's queues and their
 * poller. One thread, no real link, the completion is dropped unread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class EngineBenchmark {
    private static final int ENTRIES = 64;
    private static final int RING_LENGTH = 64 << 10;
    private static final int PAGE = 4096;
    private static final int MEMORY = 16 << 10;
    private static final int QUEUE_SIZE = 64;
    private static final int INJECT_SIZE = 128;
    private static final int EAGER_LIMIT = 8192;
    private static final int ROTATION_CYCLES = 1024;
    private static final int BATCH = 16;
    private static final long GENERATION = 1;
    private static final long REQUEST = Flags.TAGGED | Flags.COMPLETION;
    private static final long TAG = 7;

    private final Arena arena = Arena.ofShared();
    private final FrameLink link = new FrameLink();

    /** Payload in bytes. */
    @Param({"8", "64", "4096"})
    public int sizeBytes;

    private Engine engine;
    private EngineSession session;
    private EngineEndpoint endpoint;
    private TransmitQueue transmit;
    private ReceiveQueue receive;
    private QueuePoller poller;
    private long completions;
    private long entry;
    private long source;
    private long target;
    private long frame;
    private long peer;

    /** Creates the state, wired by {@link #open()}. */
    public EngineBenchmark() {
    }

    /** Wires an engine with one endpoint, and exchanges a message with its peer. */
    @Setup(Level.Trial)
    public void open() {
        engine = new Engine(
            new EngineSettings(1 << 20, 1 << 18, BATCH, 1), List.of(link), LangUtil::rethrowUnchecked);
        session = new EngineSession(1, new Failing());
        long memory = arena.allocate(MEMORY, PAGE).address();
        int region = session.regions().add(new RegisteredRegion(1, GENERATION, memory, MEMORY, () -> { }));
        source = MemoryRegionDescriptor.address(region, (int) GENERATION, 0);
        target = MemoryRegionDescriptor.address(region, (int) GENERATION, EAGER_LIMIT);
        frame = arena.allocate(EAGER_LIMIT, PAGE).address();
        completions = arena.allocate(CompletionQueueDescriptor.fileLength(ENTRIES), PAGE).address();
        CompletionWriter writer = new CompletionWriter(completions, ENTRIES, null);
        engine.addCompletionQueue(writer);
        AddressTable addresses = new AddressTable();
        endpoint = engine.addEndpoint(session, new EndpointSettings(1, "own", "jfabric://here/own", 0, QUEUE_SIZE,
            QUEUE_SIZE, INJECT_SIZE, MEMORY, 0, EAGER_LIMIT, false, new byte[0]), List.of(FrameLink.NAME), addresses,
            writer, writer);
        peer = addresses.insert("jfabric://there/peer");
        openQueues();
        // the channel comes up with the first message
        sent();
    }

    private void openQueues() {
        MemorySegment transmitFile = arena.allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, PAGE);
        MemorySegment receiveFile = arena.allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, PAGE);
        long activity = arena.allocate(PAGE, PAGE).address();
        QueueSignal signal = new QueueSignal(activity, 0, null);
        transmit = new TransmitQueue(transmitFile.address(), RING_LENGTH, QUEUE_SIZE, signal, transmitFile);
        receive = new ReceiveQueue(receiveFile.address(), RING_LENGTH, QUEUE_SIZE, signal, receiveFile);
        ProgressClient client = new ProgressClient(session, activity);
        poller = new QueuePoller(BATCH, ROTATION_CYCLES);
        poller.add(client);
        poller.add(new EndpointQueues(endpoint, client, 0, transmitFile.address(), RING_LENGTH,
            receiveFile.address(), RING_LENGTH));
    }

    /** Gives all back. */
    @TearDown(Level.Trial)
    public void close() {
        engine.closeSession(session);
        engine.close();
        arena.close();
    }

    /** A posted receive, a frame of the link that matches it, its completion. */
    @Benchmark
    public long received() {
        check(endpoint.receive(REQUEST, target, sizeBytes, FabricAddress.ADDR_UNSPEC, TAG, 0, 1));
        link.deliver(TAG, frame, sizeBytes);
        return await();
    }

    /** The same, the receive posted through the client's queue. */
    @Benchmark
    public long receivedThroughQueue() {
        check(receive.receive(REQUEST, target, sizeBytes, FabricAddress.ADDR_UNSPEC, TAG, 0, 1));
        poller.poll();
        link.deliver(TAG, frame, sizeBytes);
        return await();
    }

    /** A send, which the link takes, and its completion. */
    @Benchmark
    public long sent() {
        check(endpoint.send(REQUEST, source, sizeBytes, peer, TAG, 0, 2));
        return await();
    }

    /** The same, posted through the client's queue. */
    @Benchmark
    public long sentThroughQueue() {
        check(transmit.send(REQUEST, source, sizeBytes, peer, TAG, 0, 2));
        poller.poll();
        return await();
    }

    /** A cycle that finds nothing. Returns 0. */
    @Benchmark
    public int idle() {
        return poller.poll() + engine.poll(BATCH);
    }

    /** Takes one entry, as a client would release it. */
    private long await() {
        long record = completions + CompletionQueueDescriptor.RECORDS_OFFSET
            + (entry & ENTRIES - 1) * CompletionQueueDescriptor.RECORD_LENGTH;
        long word;
        do {
            engine.poll(BATCH);
            word = UnsafeApi.getLongAcquire(null, record);
        }
        while ((int) word != (int) entry + 1);
        if ((int) (word >>> 48 & 0xFF) == CompletionQueueDescriptor.KIND_ERROR) {
            throw new IllegalStateException("entry " + entry + " is an error");
        }
        entry++;
        UnsafeApi.putLongRelease(null, completions + CompletionQueueDescriptor.READ_POSITION_OFFSET, entry);
        return entry;
    }

    private static void check(int result) {
        if (result != 0) {
            throw new IllegalStateException("a call answered " + result);
        }
    }

    /** Nothing of this may happen. */
    private static final class Failing extends SessionListener {
        @Override
        public void onCorruption(long clientId, String reason) {
            throw new IllegalStateException(reason);
        }

        @Override
        public void onCompletionQueueOverrun(long clientId, long cqId) {
            throw new IllegalStateException("the completion queue overran");
        }

        @Override
        public void onPeerDown(
            long clientId, long endpointId, long fiAddr, int errno, int provErrno, String address) {
            throw new IllegalStateException("the peer went down with " + errno);
        }
    }
}
