package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.jfabric.driver.link.FrameHandler;
import org.jfabric.driver.link.scripted.Observer;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Completion levels and fences: what completes when, and what ends operations that wait for a peer's word. */
class EngineLevelTest {
    private static final long DELIVERY = Engines.TAGGED | Flags.DELIVERY_COMPLETE;
    private static final long MATCH = Engines.TAGGED | Flags.MATCH_COMPLETE;
    private static final long FENCE = Flags.FENCE;
    /** Weakest first. */
    private static final long[] LEVELS = {
        Flags.INJECT_COMPLETE, Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE};

    private final Script script = new Script(5);
    private final Engines rig = new Engines(script);
    private final Engines.Node a = rig.add("a");
    private final Engines.Node b = rig.add("b");
    private final Engines.Node c = rig.add("c");
    private final long toB = a.fiAddr(b);

    private void send(long flags, int length, long tag, long context) {
        assertEquals(0, a.send(flags, a.buf(0), length, toB, tag, 0, context));
    }

    private void connect() {
        send(Engines.TAGGED, 8, 999, 1);
        b.trecv(0, 8, 999, 1);
        a.next();
        b.next();
        rig.settle();
    }

    private void assertSuccess(Engines.Node node, long context) {
        CompletionReader.Entry entry = node.next();
        assertEquals(0, entry.errno(), entry.toString());
        assertEquals(context, entry.context());
    }

    private void assertFailure(Engines.Node node, long context, int errno) {
        CompletionReader.Entry entry = node.next();
        assertEquals(errno, entry.errno(), entry.toString());
        assertEquals(context, entry.context());
    }

    private void assertAtRest() {
        rig.settle();
        a.assertAtRest();
        b.assertAtRest();
        assertEquals(List.of(), a.errors);
        assertEquals(List.of(), b.errors);
        rig.close();
    }

    /** Another thread looks at the count at the very moment at which it can see the entry. */
    @Test
    @Timeout(60)
    @Requirement("CL-012")
    void shouldNotTrackASendWhoseEntryIsVisible() throws Exception {
        connect();
        int sends = 20_000;
        long before = a.endpoint.sender().completed().get();
        AtomicInteger seen = new AtomicInteger();
        FutureTask<Long> watcher = new FutureTask<>(() -> {
            long tracked = 0;
            for (int i = 1; i <= sends && !Thread.interrupted(); i++) {
                while (!a.completions.skip()) {
                    Thread.onSpinWait();
                }
                tracked += a.endpoint.sender().completed().get() - before < i ? 1 : 0;
                seen.setRelease(i);
            }
            return tracked;
        });
        Thread thread = new Thread(watcher, "watcher");
        thread.setDaemon(true);
        thread.start();
        for (int i = 0; i < sends; i++) {
            assertEquals(0, b.trecv(0, 8, i, i));
            send(Engines.TAGGED, 8, i, i);
            while (seen.getAcquire() <= i) {
                rig.step();
            }
            b.next();
        }
        assertEquals(0L, watcher.get(), "entries that came before the count");
        assertAtRest();
    }

    @Test
    @Requirement("CL-013")
    void shouldCompleteAtEachLevelNotBeforeItsEvent() {
        connect();
        b.channel(a).hold(true);
        send(Engines.TAGGED | Flags.INJECT_COMPLETE, 100, 1, 10);
        send(Engines.TAGGED | Flags.TRANSMIT_COMPLETE, 100, 1, 11);
        send(DELIVERY, 100, 1, 12);
        send(MATCH | Flags.INJECT_COMPLETE | Flags.DELIVERY_COMPLETE, 100, 1, 13);
        assertSuccess(a, 10);
        assertSuccess(a, 11);
        rig.steps(50);
        a.assertNoEntry();
        b.channel(a).hold(false);
        assertSuccess(a, 12);
        assertEquals(4, b.endpoint.receiver().unexpectedMessages());
        rig.steps(50);
        a.assertNoEntry();
        for (int i = 0; i < 4; i++) {
            rig.steps(20);
            a.assertNoEntry();
            b.trecv(1000 * i, 100, 1, 20 + i);
            assertSuccess(b, 20 + i);
        }
        assertSuccess(a, 13);
        assertAtRest();
    }

    /**
     * Every set of levels, so every pair of them, over a link that records what happens to a message and when. Eager
     * messages are read by the link at once or later, announced ones (5000 bytes) when a receive takes them.
     */
    @ParameterizedTest
    @CsvSource({"0,0", "8,0", "8,100", "100,0", "100,100", "1000,0", "1000,100", "5000,0"})
    @Requirement({"CL-001", "CL-025"})
    void shouldCompleteASetOfLevelsAtTheEventOfTheStrongest(int length, int pendingSendPercent) {
        connect();
        for (int set = 1; set < 1 << LEVELS.length; set++) {
            long levels = 0;
            for (int i = 0; i < LEVELS.length; i++) {
                levels |= (set >> i & 1) == 0 ? 0 : LEVELS[i];
            }
            script.pendingSendPercent = pendingSendPercent;
            script.maxDelaySteps = pendingSendPercent == 0 ? 0 : 20;
            assertCompletesAt(levels, Integer.highestOneBit(set), length, set);
            script.pendingSendPercent = 0;
            script.maxDelaySteps = 0;
        }
        assertAtRest();
    }

    /** The message is on its way, then at the peer without a receive, then taken; each for some time. */
    private void assertCompletesAt(long levels, int strongest, int length, int context) {
        String what = "levels " + Flags.toString(levels, Flags.Kind.OPERATION) + ", length " + length;
        Recorder events = new Recorder();
        script.observer = events;
        a.fill(0, length, context);
        b.channel(a).hold(true);
        send(Engines.TAGGED | levels, length, 5, context);
        int sent = completedWithin(60, context);
        assertEquals(0, events.arrivals);
        b.channel(a).hold(false);
        int kept = completedWithin(60, context);
        assertEquals(1, events.arrivals);
        assertEquals(1, b.endpoint.receiver().unexpectedMessages());
        b.trecv(10_000, 5000, 5, context);
        int taken = completedWithin(60, context);
        assertSuccess(b, context);
        b.assertFilled(10_000, length, context);
        assertEquals(1, sent + kept + taken, what + ": entries");
        // what is announced stays at its sender until it is taken, whatever was asked for
        int moment = length > script.eagerLimitBytes || strongest == 8 ? taken : strongest == 4 ? kept : sent;
        assertEquals(1, moment, () -> what + ": " + sent + " on its way, " + kept + " kept, " + taken + " taken");
    }

    /** Entries in some steps, with each of which the source is used for something else. */
    private int completedWithin(int steps, int context) {
        int entries = 0;
        for (int i = 0; i < steps; i++) {
            rig.step();
            for (CompletionReader.Entry entry : a.completions.takeAll()) {
                assertEquals(0, entry.errno(), entry.toString());
                assertEquals(context, entry.context());
                a.fill(0, 5000, 77);
                entries++;
            }
        }
        return entries;
    }

    /** Messages that the link has given to the engine of the peer. */
    private static final class Recorder implements Observer {
        private int arrivals;

        @Override
        public void onArrival(String local, String remote, long flags, long tag, long data, boolean whole) {
            arrivals++;
        }

        @Override
        public void onWhole(String local, String remote, long data) {
        }

        @Override
        public void onAborted(String local, String remote, long data) {
        }

        @Override
        public void onEnd(String local, String remote) {
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100, 5000})
    void shouldCompleteMatchedOnlyAfterTheReceiveHasItsEntry(int length) {
        connect();
        a.fill(0, length, 3);
        send(MATCH, length, 7, 10);
        rig.steps(100);
        a.assertNoEntry();
        b.trecv(10_000, 5000, 7, 20);
        assertEquals(20, b.completions.take() == null ? b.next().context() : 20);
        b.assertFilled(10_000, length, 3);
        assertSuccess(a, 10);
        b.trecv(10_000, 5000, 8, 21);
        send(MATCH, length, 8, 11);
        assertSuccess(b, 21);
        assertSuccess(a, 11);
        assertAtRest();
    }

    @Test
    void shouldAcknowledgeAMessageThatWasTruncated() {
        connect();
        b.trecv(0, 10, 7, 20);
        send(MATCH, 100, 7, 10);
        assertFailure(b, 20, FabricErrno.ETRUNC);
        assertSuccess(a, 10);
        assertAtRest();
    }

    @Test
    void shouldNotLoseAcknowledgementsWhenTheChannelIsFull() {
        connect();
        for (int i = 0; i < 40; i++) {
            send(i % 2 == 0 ? DELIVERY : MATCH, 8, 5, i);
        }
        rig.steps(1);
        script.wouldBlockPercent = 100;
        for (int i = 0; i < 40; i++) {
            b.trecv(0, 8, 5, 100 + i);
            assertSuccess(b, 100 + i);
        }
        rig.steps(100);
        a.completions.takeAll();
        assertTrue(a.endpoint.outstandingSends() > 16, "acknowledgements wait");
        script.wouldBlockPercent = 50;
        rig.settle();
        assertAtRest();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndOnceWithAnErrorWhenThePeerDiesBeforeTheAcknowledgement(boolean stored) {
        connect();
        if (!stored) {
            b.channel(a).hold(true);
        }
        script.pendingSendPercent = stored ? 0 : 50;
        for (int i = 0; i < 10; i++) {
            send(MATCH, 8, 5, 10 + i);
        }
        send(DELIVERY | FENCE, 8, 5, 20);
        rig.steps(20);
        a.assertNoEntry();
        a.channel(b).kill(FabricErrno.ECONNRESET);
        for (int i = 0; i < 11; i++) {
            assertFailure(a, 10 + i, FabricErrno.ECONNRESET);
        }
        rig.settle();
        // what was stored is the receiver's, and its sender is not told any more
        script.pendingSendPercent = 0;
        send(Engines.TAGGED, 8, 6, 30);
        assertSuccess(a, 30);
        for (int i = 0; i < b.endpoint.receiver().unexpectedMessages() - 1; i++) {
            b.trecv(0, 8, 5, 40);
        }
        b.trecv(0, 8, 6, 41);
        while (b.endpoint.receiver().unexpectedMessages() > 0) {
            b.trecv(0, 8, 5, 42);
        }
        assertAtRest();
    }

    @Test
    @Requirement({"CL-027", "CL-028", "TAG-046"})
    void shouldNotBeginAFencedSendOrALaterOneBeforeEarlierOnesToThatPeerHaveEnded() {
        connect();
        long toC = a.fiAddr(c);
        send(Engines.TAGGED, 5000, 1, 10);
        send(Engines.TAGGED | FENCE, 8, 2, 11);
        send(Engines.TAGGED, 8, 3, 12);
        assertEquals(0, a.inject(Flags.TAGGED, 0, 8, toB, 4, 0));
        assertEquals(0, a.send(Engines.TAGGED | FENCE, a.buf(0), 8, toC, 5, 0, 13));
        assertSuccess(a, 13);
        rig.settle();
        a.assertNoEntry();
        assertEquals(1, b.endpoint.receiver().unexpectedMessages(), "only the one before the fence has come");
        b.trecv(10_000, 5000, 1, 20);
        assertSuccess(a, 10);
        assertSuccess(a, 11);
        assertSuccess(a, 12);
        for (int tag = 2; tag <= 4; tag++) {
            b.trecv(0, 8, tag, 20 + tag);
        }
        c.trecv(0, 8, 5, 25);
        rig.settle();
        c.assertAtRest();
        assertAtRest();
    }

    @Test
    void shouldBeginTheOthersWhenAFencedSendIsCancelled() {
        connect();
        send(Engines.TAGGED, 5000, 1, 10);
        send(Engines.TAGGED | FENCE, 8, 2, 11);
        send(Engines.TAGGED, 8, 3, 12);
        rig.settle();
        a.endpoint.cancel(11);
        assertFailure(a, 11, FabricErrno.ECANCELED);
        assertSuccess(a, 12);
        b.trecv(0, 8, 3, 21);
        b.trecv(10_000, 5000, 1, 20);
        assertAtRest();
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 5000})
    @Requirement({"CL-029", "CL-030", "CL-031"})
    void shouldCompleteAFencedSendOnlyWhenEarlierOnesHaveReachedItsLevel(int length) {
        connect();
        for (int i = 0; i < 3; i++) {
            send(Engines.TAGGED, 8, 1, 10 + i);
            assertSuccess(a, 10 + i);
        }
        send(MATCH | FENCE, length, 2, 20);
        send(Engines.TAGGED, 8, 3, 21);
        assertSuccess(a, 21);
        b.trecv(10_000, 5000, 2, 30);
        b.trecv(0, 8, 3, 31);
        rig.steps(50);
        assertEquals(2, b.completions.takeAll().size(), "the fenced message does not wait to be matched");
        a.assertNoEntry();
        for (int i = 0; i < 3; i++) {
            rig.steps(20);
            a.assertNoEntry();
            b.trecv(0, 8, 1, 40 + i);
        }
        assertSuccess(a, 20);
        assertAtRest();
    }

    @Test
    void shouldHaveDeliveredEarlierMessagesWhenAFencedOneIsDelivered() {
        connect();
        b.channel(a).hold(true);
        for (int i = 0; i < 5; i++) {
            send(Engines.TAGGED | Flags.INJECT_COMPLETE, 8, 1, 10 + i);
            assertSuccess(a, 10 + i);
        }
        send(DELIVERY | FENCE, 8, 2, 20);
        rig.steps(20);
        a.assertNoEntry();
        b.channel(a).hold(false);
        assertSuccess(a, 20);
        assertEquals(6, b.endpoint.receiver().unexpectedMessages());
        for (int i = 0; i < 5; i++) {
            b.trecv(0, 8, 1, 40 + i);
        }
        b.trecv(0, 8, 2, 45);
        assertAtRest();
    }

    @Test
    void shouldRefuseALevelThatTheChannelDoesNotGive() {
        script.levels = Flags.DELIVERY_COMPLETE;
        Engines.Node d = rig.add("d");
        long toD = a.fiAddr(d);
        for (long level : new long[] {Flags.MATCH_COMPLETE, Flags.COMMIT_COMPLETE,
            Flags.COMMIT_COMPLETE | Flags.DELIVERY_COMPLETE}) {
            assertEquals(0, a.send(Engines.TAGGED | level, a.buf(0), 8, toD, 1, 0, 9));
            assertFailure(a, 9, FabricErrno.EBADFLAGS);
        }
        assertEquals(0, a.send(DELIVERY, a.buf(0), 8, toD, 1, 0, 10));
        assertSuccess(a, 10);
        d.trecv(0, 8, 1, 20);
        d.next();
        rig.settle();
        d.assertAtRest();
        a.assertAtRest();
        rig.close();
    }

    @Test
    void shouldMakeNoEntryForAnInjectWithALevel() {
        connect();
        assertEquals(0, a.inject(Flags.TAGGED | Flags.MATCH_COMPLETE, 0, 8, toB, 4, 0));
        rig.settle();
        assertEquals(1, a.endpoint.outstandingSends());
        b.trecv(0, 8, 4, 20);
        rig.settle();
        a.assertNoEntry();
        assertAtRest();
    }

    @Test
    void shouldEndOnlyThePeerThatAcknowledgesWhatWasNotAskedFor() {
        long toC = a.fiAddr(c);
        long[] levels = {0, -1, Flags.DELIVERY_COMPLETE, Flags.FENCE, Flags.MATCH_COMPLETE | 1,
            Flags.MATCH_COMPLETE | Flags.FENCE};
        for (int i = 0; i < levels.length; i++) {
            connect();
            send(MATCH, 8, 5, 10);
            assertEquals(0, a.send(MATCH, a.buf(0), 8, toC, 6, 0, 11));
            rig.settle();
            FrameHandler handler = a.channel(b).frameHandler();
            // the one to the peer is the first or second record of the pool, in some use
            for (long use = 0; use < 100 && a.errors.size() == i; use++) {
                handler.onAcknowledged(use << 32 | 0, levels[i], 0);
            }
            assertEquals(i + 1, a.errors.size(), "levels " + levels[i]);
            assertFailure(a, 10, FabricErrno.EIO);
            rig.settle();
            c.trecv(0, 8, 6, 20);
            assertSuccess(a, 11);
            assertSuccess(c, 20);
            b.trecv(0, 8, 5, 21);
            assertSuccess(b, 21);
        }
        for (long id : new long[] {-1, Long.MAX_VALUE, Long.MIN_VALUE, 64, 1L << 62}) {
            int before = a.errors.size();
            connect();
            a.channel(b).frameHandler().onAcknowledged(id, Flags.MATCH_COMPLETE, 0);
            assertEquals(before + 1, a.errors.size(), "id " + id);
            rig.settle();
        }
        rig.close();
    }

    @Test
    void shouldEndOnlyThePeerThatFencesTwice() {
        connect();
        send(Engines.TAGGED, 8, 1, 10);
        assertSuccess(a, 10);
        rig.settle();
        FrameHandler handler = b.channel(a).frameHandler();
        long flags = Flags.TAGGED | Flags.MATCH_COMPLETE | Flags.FENCE;
        handler.onMessageToAcknowledge(1, flags, 2, 0, b.memory, 8);
        assertEquals(0, b.errors.size());
        handler.onMessageToAcknowledge(2, flags, 2, 0, b.memory, 8);
        assertEquals(1, b.errors.size());
        assertTrue(b.errors.get(0).getMessage().contains("fenced"), b.errors.get(0).getMessage());
        rig.settle();
        connect();
        rig.close();
    }
}
