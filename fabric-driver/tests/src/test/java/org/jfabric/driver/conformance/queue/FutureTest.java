package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.future.CompletionDispatcher;
import org.jfabric.future.CompletionRecord;
import org.jfabric.future.FutureEndpoint;
import org.jfabric.future.TransferException;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Futures and callbacks over real completion queues. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class FutureTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final int SIZE = 16;
    private static final int LENGTH = 64;

    private CompletionDispatcher ofA;
    private CompletionDispatcher ofB;
    private FutureEndpoint a;
    private FutureEndpoint b;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldCompleteFuturesWithWhatTheEntriesSay(Setup setup) {
        try (FabricPair pair = open(setup)) {
            CompletableFuture<CompletionRecord> received =
                b.trecv(pair.b.memory.address(), 2 * LENGTH, ANY, 0x70, 0xF);
            CompletableFuture<CompletionRecord> untagged = b.recv(pair.b.memory.address(4096), LENGTH, ANY);
            pair.a.fill(0, LENGTH, 3);
            CompletableFuture<CompletionRecord> sent = a.tsend(pair.a.memory.address(), LENGTH, pair.toB, 0x71);
            CompletableFuture<CompletionRecord> second = a.send(pair.a.memory.address(), LENGTH, pair.toB);
            assertFalse(received.isDone());
            until(() -> received.isDone() && untagged.isDone() && sent.isDone() && second.isDone());
            assertEquals(new CompletionRecord(Flags.RECV | Flags.TAGGED, LENGTH, 0, 0, 0x71, pair.toA),
                received.join());
            assertEquals(Flags.SEND | Flags.TAGGED, sent.join().flags());
            assertEquals(Flags.SEND | Flags.MSG, second.join().flags());
            assertEquals(LENGTH, untagged.join().len());
            pair.b.assertFilled(0, LENGTH, 3);
            assertEquals(0, ofA.outstanding() + ofB.outstanding());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldGoOnBehindAPostThatThrowsAfterItHadToWait(Setup setup) {
        try (FabricPair pair = open(setup)) {
            int[] calls = new int[1];
            CompletableFuture<CompletionRecord> thrown = a.sends().submit(opContext -> {
                if (calls[0]++ == 0) {
                    return -FabricErrno.EAGAIN;
                }
                throw new IllegalStateException("no longer");
            });
            CompletableFuture<CompletionRecord> received = b.recv(pair.b.memory.address(), LENGTH, ANY);
            CompletableFuture<CompletionRecord> behind = a.send(pair.a.memory.address(), LENGTH, pair.toB);
            until(() -> thrown.isDone() && behind.isDone() && received.isDone());
            CompletionException failed = assertThrows(CompletionException.class, thrown::join);
            assertEquals(FabricErrno.EOTHER, ((FabricException) failed.getCause()).errno());
            assertEquals(LENGTH, received.join().len());
            assertEquals(2, calls[0]);
        }
    }

    /** More than there is room for: in order, and without a failure. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldPostInOrderWhatFindsNoRoomAtFirst(Setup setup) {
        try (FabricPair pair = open(setup)) {
            int count = 20 * SIZE;
            List<CompletableFuture<CompletionRecord>> receives = new ArrayList<>();
            List<CompletableFuture<CompletionRecord>> sends = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                receives.add(b.trecv(pair.b.memory.address((long) i * LENGTH), LENGTH, ANY, 0, -1L));
                sends.add(a.tsend(pair.a.memory.address(), LENGTH, pair.toB, i));
            }
            assertTrue(b.receives().waiting() >= count - 2 * SIZE, () -> ofB.toString());
            assertTrue(a.sends().waiting() >= count - 2 * SIZE, () -> ofA.toString());
            CompletableFuture<Void> all = CompletableFuture.allOf(sends.toArray(CompletableFuture[]::new));
            until(() -> all.isDone() && receives.get(count - 1).isDone());
            for (int i = 0; i < count; i++) {
                assertEquals(i, receives.get(i).join().tag());
            }
            assertEquals(0, b.receives().waiting() + a.sends().waiting());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFailFuturesWithACopyOfTheErrorEntry(Setup setup) {
        try (FabricPair pair = open(setup)) {
            CompletableFuture<CompletionRecord> cut = b.trecv(pair.b.memory.address(), 8, ANY, 1, 0);
            CompletableFuture<CompletionRecord> wrong = b.trecv(0, 8, ANY, 2, 0);
            CompletableFuture<CompletionRecord> sent = a.tsend(pair.a.memory.address(), LENGTH, pair.toB, 1);
            CompletableFuture<CompletionRecord> refused = a.tsend(pair.a.memory.address(), -1, pair.toB, 1);
            assertEquals(FabricErrno.EINVAL, failure(refused).errno());
            until(() -> cut.isDone() && wrong.isDone() && sent.isDone());
            TransferException failure = (TransferException) failure(cut);
            assertEquals(FabricErrno.ETRUNC, failure.errno());
            assertEquals(8, failure.error().len());
            assertEquals(LENGTH - 8, failure.error().olen());
            assertEquals(1, failure.error().tag());
            assertTrue(failure.getMessage().contains("ETRUNC"), failure.getMessage());
            assertEquals(FabricErrno.EFAULT, failure(wrong).errno());
            assertSame(failure, assertThrows(TransferException.class, () -> ofB.await(cut, 0)));
            CompletableFuture<CompletionRecord> never = b.trecv(pair.b.memory.address(), 8, ANY, 3, 0);
            assertEquals(FabricErrno.ETIMEDOUT,
                assertThrows(FabricException.class, () -> ofB.await(never, 1_000_000)).errno());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldCallBackAndLetTheCallbackSubmitAndDispatch(Setup setup) {
        try (FabricPair pair = open(setup)) {
            List<Long> tags = new ArrayList<>();
            echo(pair, tags, 0);
            until(() -> tags.size() == 50);
            for (int i = 0; i < 50; i++) {
                assertEquals(i, tags.get(i));
            }
            b.receives().submit(c -> -FabricErrno.EOPBADSTATE,
                (completion, failure) -> tags.add((long) -failure.errno()));
            assertEquals(-FabricErrno.EOPBADSTATE, tags.get(50));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldShowEntriesOfOtherOperationsAndGoOnAfterAnException(Setup setup) {
        try (FabricPair pair = open(setup)) {
            assertEquals(0, b.endpoint().trecv(pair.b.memory.address(), 8, ANY, 1, 0, 5));
            CompletableFuture<CompletionRecord> mine = b.trecv(pair.b.memory.address(), LENGTH, ANY, 2, 0);
            assertEquals(0, a.endpoint().tinject(new UnsafeBuffer(new byte[LENGTH]), 0, LENGTH, pair.toB, 1));
            CompletableFuture<CompletionRecord> sent = a.tsend(pair.a.memory.address(), LENGTH, pair.toB, 2);
            TransferException failure = assertThrows(TransferException.class, () -> until(() -> false));
            assertEquals(FabricErrno.ETRUNC, failure.errno());
            assertEquals(5, failure.error().opContext());
            until(() -> mine.isDone() && sent.isDone());
            assertEquals(2, mine.join().tag());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFailWhatIsOutstandingWhenItIsClosed(Setup setup) {
        try (FabricPair pair = open(setup)) {
            List<CompletableFuture<CompletionRecord>> futures = new ArrayList<>();
            for (int i = 0; i < 3 * SIZE; i++) {
                futures.add(b.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0));
            }
            CompletableFuture<CompletionRecord> takenBack = futures.get(3 * SIZE - 1);
            assertTrue(takenBack.cancel(false));
            ofB.close();
            ofB.close();
            futures.remove(takenBack);
            for (CompletableFuture<CompletionRecord> future : futures) {
                assertEquals(FabricErrno.ECANCELED, failure(future).errno());
            }
            assertEquals(0, ofB.outstanding() + b.receives().waiting());
            assertEquals(FabricErrno.ECANCELED, failure(b.recv(pair.b.memory.address(), 8, ANY)).errno());
            assertEquals(-FabricErrno.ECANCELED, ofB.dispatch(1));
            CompletableFuture<CompletionRecord> other = a.trecv(pair.a.memory.address(), LENGTH, ANY, 1, 0);
            pair.a.endpoint.close();
            pair.a.cq.close();
            assertEquals(-FabricErrno.EOPBADSTATE, ofA.dispatch(1));
            assertEquals(FabricErrno.EOPBADSTATE, failure(other).errno());
        }
    }

    private void echo(FabricPair pair, List<Long> tags, long tag) {
        b.receives().submit(
            opContext -> b.endpoint().trecv(pair.b.memory.address(), LENGTH, ANY, tag, 0, opContext),
            (completion, failure) -> {
                tags.add(completion.tag());
                if (tag + 1 < 50) {
                    echo(pair, tags, tag + 1);
                }
                ofB.dispatch(1);
            });
        a.sends().submit(
            opContext -> a.endpoint().tsend(pair.a.memory.address(), LENGTH, pair.toB, tag, opContext),
            (completion, failure) -> assertEquals(Flags.SEND | Flags.TAGGED, completion.flags()));
    }

    private FabricPair open(Setup setup) {
        FabricPair pair = new FabricPair(setup, new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE), SIZE);
        ofA = new CompletionDispatcher(pair.a.cq);
        ofB = new CompletionDispatcher(pair.b.cq);
        a = new FutureEndpoint(pair.a.endpoint, ofA);
        b = new FutureEndpoint(pair.b.endpoint, ofB);
        return pair;
    }

    private void until(BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            int done = ofA.dispatch(8) + ofB.dispatch(8);
            assertTrue(done >= 0, () -> ofA + ", " + ofB);
            assertTrue(System.nanoTime() - deadline < 0, () -> ofA + ", " + ofB);
            if (done == 0) {
                Thread.yield();
            }
        }
    }

    private static FabricException failure(CompletableFuture<?> future) {
        return (FabricException) assertThrows(CompletionException.class, future::join).getCause();
    }
}
