package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.IoVec;
import org.jfabric.ReceiveRequest;
import org.jfabric.SendClaim;
import org.jfabric.SendRequest;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.Threading;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Messages allocate nothing after warm-up: neither on the thread that calls the public API, which with embedded drivers
 * runs engine and link too, nor on a driver's own thread.
 */
@Tag("compiled")
@Tag("conformance")
@Timeout(300)
class MessageAllocationTest implements CompletionHandler {
    /** The link is the daemon's: what a client of it allocates is shown by the others, in much less time. */
    private static final String NETWORK_DAEMON = "NETWORK_DAEMON";
    private static final int WARM_UP_ROUNDS = 4_000;
    private static final int ROUNDS = 1_000;
    /** Messages of drivers with threads of their own wait for a processor. The code is the same; each round has it. */
    private static final int ROUNDS_WITH_THREADS = Effort.rounds(125, ROUNDS);
    private static final int SMALL = 64;
    /** Beyond the eager limit: announced, then moved by single copy or in segments. */
    private static final int LARGE = 32_768;
    private static final int PREFIX = 8;
    /** Messages in one buffer. */
    private static final int PACKED = 40;
    private static final int PARKED_ROUNDS = 150;
    private static final int PARKED_WARM_UP_ROUNDS = 300;
    private static final int LARGEST_CACHED_BOX = 127;
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final String DRIVER_THREAD = "jfabric-progress";

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[4 * 48]);
    private final UnsafeBuffer injected = new UnsafeBuffer(new byte[SMALL]);
    private final long[] sources = new long[4];
    private final SendClaim claim = new SendClaim();
    private final IoVec gathered = new IoVec();
    private final IoVec scattered = new IoVec();
    private final SendRequest sent = new SendRequest();
    private final ReceiveRequest received = new ReceiveRequest();
    private ThreadMXBean threads;
    private long polled;

    @BeforeEach
    void findCounter() {
        threads = AllocatedBytes.threads();
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {NETWORK_DAEMON, "TLS.*"}, mode = EnumSource.Mode.MATCH_NONE)
    void shouldAllocateNothingOnTheCallingThread(Setup setup) {
        setup.assumeNoGarbage();
        try (FabricPair pair = new FabricPair(setup)) {
            exchange(pair, warmUpRounds(setup));
            int rounds = rounds(setup);
            assertEquals(0, AllocatedBytes.least(() -> exchange(pair, rounds)),
                "bytes in " + rounds + " rounds");
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {NETWORK_DAEMON, "TLS.*"}, mode = EnumSource.Mode.MATCH_NONE)
    void shouldAllocateNothingForMessagesOfSeveralPieces(Setup setup) {
        setup.assumeNoGarbage();
        try (FabricPair pair = new FabricPair(setup)) {
            exchangePieces(pair, warmUpRounds(setup) / 2);
            int rounds = rounds(setup) / 4;
            assertEquals(0,
                AllocatedBytes.least(() -> exchangePieces(pair, rounds)),
                "bytes in " + rounds + " rounds");
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {NETWORK_DAEMON, "TLS.*"}, mode = EnumSource.Mode.MATCH_NONE)
    void shouldAllocateNothingInADomainThatKeepsThreadsApart(Setup setup) {
        setup.assumeNoGarbage();
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
        hints.domainAttr().threading(Threading.SAFE);
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            exchange(pair, warmUpRounds(setup));
            int rounds = rounds(setup);
            assertEquals(0, AllocatedBytes.least(() -> exchange(pair, rounds)),
                "bytes in " + rounds + " rounds");
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {NETWORK_DAEMON, "TLS.*"}, mode = EnumSource.Mode.MATCH_NONE)
    void shouldAllocateNothingWhenOneBufferTakesManyMessages(Setup setup) {
        setup.assumeNoGarbage();
        Info hints = new Info().caps(Flags.MSG | Flags.MULTI_RECV);
        try (FabricPair pair = new FabricPair(setup, hints, 16)) {
            pack(pair, warmUpRounds(setup) / PACKED);
            int buffers = Math.max(10, rounds(setup) / PACKED);
            assertEquals(0, AllocatedBytes.least(() -> pack(pair, buffers)),
                "bytes in " + buffers + " buffers");
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "SHM_EMBEDDED"})
    void shouldAllocateNothingWhenBuffersHaveAPrefix(Setup setup) {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG).mode(Mode.MSG_PREFIX);
        hints.epAttr().msgPrefixSize(PREFIX);
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            exchangePrefixed(pair, WARM_UP_ROUNDS);
            assertEquals(0, AllocatedBytes.least(() -> exchangePrefixed(pair, ROUNDS)),
                "bytes in " + ROUNDS + " rounds");
        }
    }

    @Test
    void shouldAllocateNothingOnTheThreadOfASharedDriver() {
        withSharedDriver((directory, node, self, driverThread) -> {
            exchange(node, self, WARM_UP_ROUNDS / 8);
            int rounds = ROUNDS_WITH_THREADS;
            assertEquals(0, AllocatedBytes.least(
                () -> threads.getThreadAllocatedBytes(driverThread), () -> exchange(node, self, rounds)),
                "bytes in " + rounds + " rounds");
        });
    }

    @Test
    void shouldAllocateNothingWhenADriverFallsAsleepAndIsWokenAgain() {
        withSharedDriver((directory, node, self, driverThread) -> {
            exchange(node, self, WARM_UP_ROUNDS / 8);
            try (DriverView view = new DriverView(directory)) {
                exchangeWithSleeper(node, self, PARKED_WARM_UP_ROUNDS, view);
                long bytes = AllocatedBytes.least(
                    () -> threads.getThreadAllocatedBytes(driverThread),
                    () -> exchangeWithSleeper(node, self, PARKED_ROUNDS, view));
                assertEquals(0, bytes, "bytes in " + PARKED_ROUNDS + " rounds");
            }
        });
    }

    @Override
    public void onCompletion(Completion completion) {
        polled++;
    }

    /** What is done with an endpoint that knows itself, and the thread of its driver. */
    private interface SharedDriverTask {
        void run(Path directory, FabricNode node, long self, long driverThread);
    }

    /** Further clients, which do nothing. */
    private static final class Others implements AutoCloseable {
        private final List<Fabric> fabrics = new ArrayList<>();

        void connect(Path directory) {
            for (int i = 0; i <= LARGEST_CACHED_BOX; i++) {
                fabrics.add(Fabric.connect(new FabricConfig().directory(directory)));
            }
        }

        @Override
        public void close() {
            fabrics.forEach(Fabric::close);
        }
    }

    private void withSharedDriver(SharedDriverTask task) {
        Path base = TestDirectory.create();
        try (FabricDriver driver = FabricDriver.launch(DriverConfig.builder()
                .directory(base.resolve("shared")).threadingMode(ThreadingMode.SHARED).build());
            Others others = new Others()) {
            // descriptors and tokens then are so high that no box for them is there already
            others.connect(driver.directory());
            FabricConfig config = new FabricConfig().directory(driver.directory());
            try (FabricNode node = new FabricNode(
                Fabric.connect(config), "loopback", new Info().caps(Flags.TAGGED), 512, 0, () -> { })) {
                long thread = Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                    .filter(info -> info != null && info.getThreadName().equals(DRIVER_THREAD))
                    .findFirst().orElseThrow().getThreadId();
                task.run(driver.directory(), node, node.av.insert(node.endpoint.name()), thread);
            }
        } finally {
            TestDirectory.delete(base);
        }
    }

    /** Messages of daemons wait for their turn at a processor; attempts that allocate warm up as well. */
    private static int warmUpRounds(Setup setup) {
        return setup.daemon ? WARM_UP_ROUNDS / 8 : WARM_UP_ROUNDS;
    }

    private static int rounds(Setup setup) {
        return setup.daemon ? ROUNDS_WITH_THREADS : ROUNDS;
    }

    /** Each round uses every call of the data path, expected and unexpected, small and large. */
    private void exchange(FabricPair pair, int rounds) {
        for (int i = 0; i < rounds; i++) {
            transfer(pair.a, pair.b, pair.toB, SMALL);
            transfer(pair.b, pair.a, pair.toA, SMALL);
            transfer(pair.a, pair.b, pair.toB, LARGE);
            unexpected(pair.a, pair.b, pair.toB);
            inject(pair.b, pair.a, pair.toA);
            untagged(pair.a, pair.b, pair.toB);
        }
    }

    /** Each round uses what takes or posts several pieces, or copies before the return. */
    private void exchangePieces(FabricPair pair, int rounds) {
        for (int i = 0; i < rounds; i++) {
            vector(pair.a, pair.b, pair.toB, SMALL);
            vector(pair.b, pair.a, pair.toA, LARGE);
            injectByFlag(pair.b, pair.a, pair.toA);
            inPlace(pair.a, pair.b, pair.toB);
            byRequest(pair.b, pair.a, pair.toA);
        }
    }

    /** The same with a prefix, and in two pieces, of which the first is the prefix. */
    private void exchangePrefixed(FabricPair pair, int rounds) {
        for (int i = 0; i < rounds; i++) {
            exchange(pair, 1);
            long source = pair.a.memory.address();
            long dest = pair.b.memory.address() + LARGE;
            scattered.clear().add(dest, PREFIX).add(dest + PREFIX, SMALL);
            gathered.clear().add(source, PREFIX).add(source + PREFIX, SMALL);
            accepted(pair.b.endpoint.messages().trecvv(scattered, FabricAddress.ADDR_UNSPEC, 7, 0, 1));
            accepted(pair.a.endpoint.messages().tsendv(gathered, pair.toB, 7, 2));
            await(pair.a, pair.b, 2);
        }
    }

    private void exchange(FabricNode node, long self, int rounds) {
        for (int i = 0; i < rounds; i++) {
            transfer(node, node, self, SMALL);
            inject(node, node, self);
        }
    }

    /** Each round finds the driver's thread asleep. */
    private void exchangeWithSleeper(FabricNode node, long self, int rounds, DriverView view) {
        long deadlineNs = System.nanoTime() + Deadline.ns(30);
        long parked = view.counter("times parked");
        for (int i = 0; i < rounds; i++) {
            exchange(node, self, 1);
            while (view.counter("times parked") == parked) {
                assertTrue(System.nanoTime() - deadlineNs < 0, "the driver does not sleep, round " + i);
                Thread.yield();
            }
            parked = view.counter("times parked");
        }
    }

    private void transfer(FabricNode from, FabricNode to, long destination, int length) {
        accepted(to.endpoint.trecv(to.memory.address() + LARGE, length, FabricAddress.ADDR_UNSPEC, 7, 0, 1));
        accepted(from.endpoint.tsend(from.memory.address(), length, destination, 7, 2));
        await(from, to, 2);
    }

    private void unexpected(FabricNode from, FabricNode to, long destination) {
        accepted(from.endpoint.messages().tsenddata(from.memory.address(), SMALL, 5, destination, 8, 2));
        pollEmpty(to);
        accepted(to.endpoint.trecv(to.memory.address() + LARGE, SMALL, FabricAddress.ADDR_UNSPEC, 8, 0, 1));
        await(from, to, 2);
    }

    private void inject(FabricNode from, FabricNode to, long destination) {
        accepted(to.endpoint.trecv(to.memory.address() + LARGE, SMALL, FabricAddress.ADDR_UNSPEC, 9, 0xFF, 1));
        accepted(from.endpoint.tinject(injected, 0, SMALL, destination, 0x99));
        accepted(to.endpoint.trecv(to.memory.address() + LARGE, SMALL, FabricAddress.ADDR_UNSPEC, 0x99, 0, 1));
        accepted(from.endpoint.tinject(injected, 0, SMALL, destination, 0x99));
        await(from, to, 2);
    }

    private void vector(FabricNode from, FabricNode to, long destination, int length) {
        long source = from.memory.address();
        long dest = to.memory.address() + LARGE;
        scattered.clear().add(dest, 3).add(dest + 3, length - 3);
        gathered.clear().add(source, 1).add(source + 1, length - 3).add(source + length - 2, 1)
            .add(source + length - 1, 1);
        accepted(to.endpoint.messages().trecvv(scattered, FabricAddress.ADDR_UNSPEC, 7, 0, 1));
        accepted(from.endpoint.messages().tsendv(gathered, destination, 7, 2));
        await(from, to, 2);
        accepted(from.endpoint.messages().sendmsg(gathered, 5, destination, 2, Flags.REMOTE_CQ_DATA));
        pollEmpty(to);
        accepted(to.endpoint.messages().recvmsg(scattered, FabricAddress.ADDR_UNSPEC, 1, 0));
        await(from, to, 2);
    }

    private void inPlace(FabricNode from, FabricNode to, long destination) {
        accepted(to.endpoint.trecv(to.memory.address() + LARGE, SMALL, FabricAddress.ADDR_UNSPEC, 7, 0, 1));
        accepted(from.endpoint.tryClaim(SMALL, claim));
        claim.buffer().putLong(0, 5);
        claim.abort();
        accepted(from.endpoint.tryClaim(SMALL, claim));
        claim.buffer().putLong(0, 6);
        accepted(claim.commit(8, destination, 7, 2));
        await(from, to, 2);
    }

    private void byRequest(FabricNode from, FabricNode to, long destination) {
        accepted(to.endpoint.messages().trecvmsg(
            received.clear().memory(to.memory.address() + LARGE, SMALL).tag(7).opContext(1)));
        accepted(from.endpoint.messages().tsendmsg(sent.clear().memory(from.memory.address(), SMALL)
            .destAddr(destination).tag(7).remoteCqData(5).opContext(2)));
        await(from, to, 2);
    }

    private void injectByFlag(FabricNode from, FabricNode to, long destination) {
        long source = from.memory.address();
        gathered.clear().add(source, 60).add(source + 60, 4);
        accepted(to.endpoint.trecv(to.memory.address() + LARGE, SMALL, FabricAddress.ADDR_UNSPEC, 7, 0, 1));
        accepted(from.endpoint.messages().tsendmsg(gathered, 0, destination, 7, 2, Flags.INJECT));
        await(from, to, 2);
        accepted(to.endpoint.trecv(to.memory.address() + LARGE, SMALL, FabricAddress.ADDR_UNSPEC, 7, 0, 1));
        accepted(from.endpoint.messages().tinjectdata(injected, 0, SMALL, 5, destination, 7));
        await(from, to, 1);
    }

    private void untagged(FabricNode from, FabricNode to, long destination) {
        Endpoint sender = from.endpoint;
        accepted(to.endpoint.recv(to.memory.address() + LARGE, SMALL, FabricAddress.ADDR_UNSPEC, 1));
        accepted(sender.send(from.memory.address(), SMALL, destination, 2));
        await(from, to, 2);
        assertTrue(sender.txSizeLeft() > 0);
    }

    /** Each round fills one buffer, with more messages than their reader has slots. */
    private void pack(FabricPair pair, int rounds) {
        for (int i = 0; i < rounds; i++) {
            accepted(pair.b.endpoint.messages().recvmsg(
                pair.b.memory.address(), PACKED * SMALL, FabricAddress.ADDR_UNSPEC, 1, Flags.MULTI_RECV));
            int seen = 0;
            for (int sent = 0; sent < PACKED; sent++) {
                while (pair.a.endpoint.send(pair.a.memory.address(), SMALL, pair.toB, 2) == -FabricErrno.EAGAIN) {
                    seen += take(pair.a, 0) + take(pair.b, 0);
                }
            }
            await(pair.a, pair.b, 2 * PACKED + 1 - seen);
        }
    }

    private void pollEmpty(FabricNode node) {
        int result = node.cq.poll(this, 0);
        if (result != -FabricErrno.EAGAIN && result != 0) {
            throw new AssertionError("poll answered " + result);
        }
    }

    private static void accepted(int result) {
        if (result != 0) {
            throw new AssertionError("the call answered " + result);
        }
    }

    /** Reads, polls and reads with sources in turn. */
    private void await(FabricNode left, FabricNode right, int count) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        int seen = 0;
        for (int turn = 0; seen < count; turn++) {
            seen += take(left, turn % 3);
            seen += right == left ? 0 : take(right, turn % 3);
            // with daemons there are more threads that spin than processors
            if ((turn & 15) == 15) {
                Thread.yield();
                // no text is made before it is needed
                if (System.nanoTime() - deadline > 0) {
                    throw new AssertionError(seen + " of " + count + " completions in " + left.cq + ", " + right.cq);
                }
            }
        }
        if (seen != count) {
            throw new AssertionError("more completions than operations: " + seen);
        }
    }

    private int take(FabricNode node, int how) {
        int result;
        if (how == 0) {
            result = node.cq.read(entries, 0, 4);
        } else if (how == 1) {
            result = node.cq.poll(this, 4);
        } else {
            result = node.cq.readFrom(entries, 0, 4, sources);
        }
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new AssertionError("reading answered " + result);
        }
        return Math.max(0, result);
    }
}
