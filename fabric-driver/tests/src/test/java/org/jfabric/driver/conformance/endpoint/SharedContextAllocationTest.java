package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Receives of a shared context allocate nothing after warm-up on the thread that runs client, engine and link. */
@Tag("compiled")
@Tag("conformance")
@Tag("link")
@Timeout(300)
class SharedContextAllocationTest implements CompletionHandler {
    private static final long ANY = -1L;
    private static final int WARM_UP_ROUNDS = Effort.rounds(1_000, 3_000);
    private static final int ROUNDS = 250;
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final int SHORT = 64;
    private static final int LONG = 40_000;

    private FabricPair pair;
    private Endpoint context;
    private final CompletionQueue[] queues = new CompletionQueue[2];
    private final long[] destinations = new long[2];
    private final CompletionError error = new CompletionError();
    private int seen;

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "SHM_EMBEDDED", "NETWORK_EMBEDDED"})
    void shouldAllocateNothing(Setup setup) {
        setup.assumeNoGarbage();
        try (FabricPair opened = new FabricPair(setup)) {
            pair = opened;
            context = pair.a.domain.openSharedReceiveContext(new RxAttr(), 0);
            Info info = pair.a.info.copy();
            info.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
            for (int i = 0; i < queues.length; i++) {
                Endpoint endpoint = pair.a.domain.openEndpoint(info);
                queues[i] = pair.a.domain.openCompletionQueue(new CompletionQueueAttr().size(64));
                endpoint.bind(queues[i], Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(pair.a.av);
                endpoint.bind(context, 0);
                endpoint.enable();
                destinations[i] = pair.b.av.insert(endpoint.name());
            }
            exchange(WARM_UP_ROUNDS);
            assertEquals(0, AllocatedBytes.least(() -> exchange(ROUNDS)));
        }
    }

    @Override
    public void onCompletion(Completion completion) {
        seen++;
    }

    private void exchange(int rounds) {
        long from = pair.b.memory.address();
        long to = pair.a.memory.address();
        for (int i = 0; i < rounds; i++) {
            long destination = destinations[i & 1];
            require(context.trecv(to, SHORT, ANY, 7, 0, 1));
            require(pair.b.endpoint.tsend(from, SHORT, destination, 7, 2));
            await(2);
            // before its receive
            require(pair.b.endpoint.tsend(from, SHORT, destination, 7, 2));
            require(context.trecv(to, SHORT, ANY, 7, 0, 1));
            await(2);
            require(context.recv(to, LONG, ANY, 1));
            require(pair.b.endpoint.send(from, LONG, destination, 2));
            await(2);
            require(context.trecv(to, SHORT, ANY, 9, 0, 3));
            require(context.cancel(3));
            readError();
        }
    }

    private void readError() {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (queues[0].poll(this, 16) != -FabricErrno.EAVAIL) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("the cancelled receive has no entry");
            }
            pair.pump();
        }
        if (queues[0].readErr(error, 0) != 1 || error.err() != FabricErrno.ECANCELED) {
            throw new AssertionError("another error");
        }
    }

    private void await(int entries) {
        seen = 0;
        long deadline = System.nanoTime() + DEADLINE_NS;
        for (int turn = 1; seen < entries; turn++) {
            take(queues[0]);
            take(queues[1]);
            take(pair.b.cq);
            if ((turn & 15) == 0 && System.nanoTime() - deadline > 0) {
                throw new AssertionError(seen + " of " + entries + " entries");
            }
        }
    }

    private void take(CompletionQueue queue) {
        int result = queue.poll(this, 16);
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
