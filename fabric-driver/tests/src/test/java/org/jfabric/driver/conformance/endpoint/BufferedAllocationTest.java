package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MessageHandler;
import org.jfabric.RecvContext;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
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
 * Buffered receives allocate nothing after warm-up: neither on the calling thread, which with embedded drivers runs
 * engine and link too, nor on a driver's own thread.
 */
@Tag("compiled")
@Tag("conformance")
@Timeout(300)
class BufferedAllocationTest implements CompletionHandler, MessageHandler {
    /** The link is the daemon's: what a client of it allocates is shown by the others, in much less time. */
    private static final String NETWORK_DAEMON = "NETWORK_DAEMON";
    private static final int WARM_UP_ROUNDS = 2_000;
    private static final int ROUNDS = 250;
    /** Messages of drivers with threads of their own wait for a processor; attempts that allocate warm up as well. */
    private static final int WARM_UP_WITH_THREADS = Effort.rounds(250, WARM_UP_ROUNDS);
    private static final int ROUNDS_WITH_THREADS = Effort.rounds(64, ROUNDS);
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final int SMALL = 64;
    private static final int STORED = 6_000;
    private static final int ANNOUNCED = 40_000;
    private static final int BURST = 40;

    private ThreadMXBean threads;
    private FabricNode reader;
    private int seen;
    private boolean releases;
    private boolean takesMessages;

    @BeforeEach
    void findCounter() {
        threads = AllocatedBytes.threads();
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {NETWORK_DAEMON, "TLS.*"}, mode = EnumSource.Mode.MATCH_NONE)
    void shouldAllocateNothingOnTheCallingThread(Setup setup) {
        setup.assumeNoGarbage();
        try (FabricPair pair = BufferedReceiveTest.open(setup)) {
            pair.a.memory.buffer().putByte(0, (byte) 1);
            assertNothingAllocated(pair);
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {NETWORK_DAEMON, "TLS.*"}, mode = EnumSource.Mode.MATCH_NONE)
    void shouldAllocateNothingInADomainThatKeepsThreadsApart(Setup setup) {
        setup.assumeNoGarbage();
        Info hints = BufferedReceiveTest.hints();
        hints.domainAttr().threading(Threading.SAFE);
        releases = true;
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            pair.a.memory.buffer().putByte(0, (byte) 1);
            assertNothingAllocated(pair);
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {NETWORK_DAEMON, "TLS.*"}, mode = EnumSource.Mode.MATCH_NONE)
    void shouldAllocateNothingWhenMessagesAreLent(Setup setup) {
        takesMessages = true;
        shouldAllocateNothingOnTheCallingThread(setup);
    }

    private void assertNothingAllocated(FabricPair pair) {
        boolean daemon = pair.setup.daemon;
        exchange(pair.a, pair.b, pair.toB, daemon ? WARM_UP_WITH_THREADS : WARM_UP_ROUNDS);
        int rounds = daemon ? ROUNDS_WITH_THREADS : ROUNDS;
        assertEquals(0, AllocatedBytes.least(
            threads::getCurrentThreadAllocatedBytes, () -> exchange(pair.a, pair.b, pair.toB, rounds)));
    }

    @Test
    void shouldAllocateNothingOnTheThreadOfASharedDriver() {
        Path base = TestDirectory.create();
        try (FabricDriver driver = FabricDriver.launch(DriverConfig.builder()
                .directory(base.resolve("shared")).threadingMode(ThreadingMode.SHARED).build());
            FabricNode node = new FabricNode(Fabric.connect(new FabricConfig().directory(driver.directory())),
                "loopback", BufferedReceiveTest.hints(), 512, 0, () -> { })) {
            long thread = Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(info -> info != null && info.getThreadName().equals("jfabric-progress"))
                .findFirst().orElseThrow().getThreadId();
            long self = node.av.insert(node.endpoint.name());
            node.memory.buffer().putByte(0, (byte) 1);
            exchange(node, node, self, WARM_UP_WITH_THREADS);
            assertEquals(0, AllocatedBytes.least(() -> threads.getThreadAllocatedBytes(thread),
                () -> exchange(node, node, self, ROUNDS_WITH_THREADS)));
        } finally {
            TestDirectory.delete(base);
        }
    }

    /** Whole messages, given back by the next read or at once; longer ones are claimed; a short one is discarded. */
    @Override
    public void onCompletion(Completion completion) {
        seen++;
        RecvContext context = reader.cq.recvContext(completion.opContext());
        if (context != null) {
            use(context);
        }
    }

    @Override
    public void onMessage(RecvContext context) {
        seen++;
        if ((seen & 3) == 0 && context.isWhole()) {
            require(context.retain());
            require(context.release());
        } else {
            use(context);
        }
    }

    private void use(RecvContext context) {
        if (context.isWhole()) {
            if (context.buffer().getByte(0) != 1) {
                throw new AssertionError("byte " + context.buffer().getByte(0));
            }
            if (releases || (seen & 1) == 0) {
                require(context.release());
            }
            return;
        }
        long flags = context.messageLength() == STORED ? Flags.CLAIM : Flags.DISCARD;
        require((context.flags() & Flags.TAGGED) == 0
            ? reader.endpoint.messages().recvmsg(reader.memory.address(FabricNode.MEMORY / 2), ANNOUNCED,
                FabricAddress.ADDR_UNSPEC, context.id(), flags)
            : reader.endpoint.messages().trecvmsg(reader.memory.address(FabricNode.MEMORY / 2), ANNOUNCED,
                FabricAddress.ADDR_UNSPEC, 0, 0, context.id(), flags));
    }

    private void exchange(FabricNode from, FabricNode to, long destination, int rounds) {
        reader = to;
        long payload = from.memory.address();
        long any = FabricAddress.ADDR_UNSPEC;
        for (int i = 0; i < rounds; i++) {
            require(from.endpoint.send(payload, SMALL, destination, 2));
            await(from, to, 2);
            require(to.endpoint.trecv(0, 0, any, 7, 0, 1));
            require(from.endpoint.tsend(payload, SMALL, destination, 7, 2));
            await(from, to, 2);
            // before its receive
            require(from.endpoint.tsend(payload, SMALL, destination, 7, 2));
            require(to.endpoint.trecv(0, 0, any, 7, 0, 1));
            await(from, to, 2);
            require(from.endpoint.send(payload, STORED, destination, 2));
            await(from, to, 3);
            require(to.endpoint.trecv(0, 0, any, 7, 0, 1));
            require(from.endpoint.tsend(payload, ANNOUNCED, destination, 7, 2));
            await(from, to, 3);
            if (i % 16 == 0) {
                // long and short ones behind each other
                for (int k = 0; k < BURST; k++) {
                    require(from.endpoint.send(payload, k % 4 == 0 ? STORED : SMALL, destination, 2));
                }
                await(from, to, 2 * BURST + BURST / 4);
            }
        }
    }

    private void await(FabricNode from, FabricNode to, int entries) {
        seen = 0;
        long deadline = System.nanoTime() + DEADLINE_NS;
        for (int turn = 1; seen < entries; turn++) {
            take(to);
            if (from != to) {
                take(from);
            }
            // with daemons there are more threads that spin than processors
            if ((turn & 15) == 0) {
                Thread.yield();
                // no text is made before it is needed
                if (System.nanoTime() - deadline > 0) {
                    throw new AssertionError(seen + " of " + entries + " entries");
                }
            }
        }
        assertEquals(entries, seen);
    }

    private void take(FabricNode node) {
        int result = takesMessages ? node.cq.pollMessages(this, this, 16) : node.cq.poll(this, 16);
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new AssertionError(FabricErrno.name(-result));
        }
    }

    private static void require(int result) {
        if (result != 0) {
            throw new AssertionError(FabricErrno.name(-result));
        }
    }
}
