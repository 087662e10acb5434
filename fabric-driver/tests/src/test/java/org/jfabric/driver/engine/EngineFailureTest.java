package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Death of peers, and ends of endpoints, in every state of an operation. */
class EngineFailureTest {
    private final Script script = new Script(3);
    private final Engines rig = new Engines(script);
    private final Engines.Node a = rig.add("a");
    private final Engines.Node b = rig.add("b");
    private final Engines.Node c = rig.add("c");

    /** Where an operation between a (sender) and b (receiver) stands when the peer goes. */
    private enum State {
        WAITING_FOR_CREDIT(1, 0), IN_LINK(1, 0), ANNOUNCED(1, 0), PULLING(1, 1), WANTS_SEGMENTS(1, 1), SEGMENTING(1, 1),
        FINISHING(1, 0), STREAMING(0, 1), FILLING(0, 0), FILLING_MATCHED(0, 1);

        private final int sendsFail;
        private final int receivesFail;

        State(int sendsFail, int receivesFail) {
            this.sendsFail = sendsFail;
            this.receivesFail = receivesFail;
        }
    }

    private void reach(State state) {
        boolean streamed = state == State.STREAMING || state == State.FILLING || state == State.FILLING_MATCHED;
        script.streamPercent = streamed ? 100 : 0;
        if (state == State.STREAMING) {
            b.trecv(0, 100_000, 1, 200);
        }
        switch (state) {
            case WAITING_FOR_CREDIT -> {
                for (int i = 0; i < 4; i++) {
                    a.tsend(b, 0, 1, 9, 500);
                    a.tsend(b, 0, 2000, 9, 500);
                }
                rig.settle();
                a.completions.takeAll();
                a.tsend(b, 0, 2000, 1, 100);
            }
            case IN_LINK -> {
                script.pendingSendPercent = 100;
                script.maxDelaySteps = 0;
                a.tsend(b, 0, 500, 1, 100);
            }
            case ANNOUNCED -> {
                a.tsend(b, 0, 5000, 1, 100);
                rig.settle();
            }
            case PULLING -> {
                script.pullDonePercent = 0;
                script.pullPendingPercent = 100;
                a.tsend(b, 0, 5000, 1, 100);
                rig.settle();
                script.maxDelaySteps = 1_000_000;
                b.trecv(0, 100_000, 1, 200);
                rig.steps(5);
            }
            case WANTS_SEGMENTS, FINISHING -> {
                script.pullDonePercent = state == State.FINISHING ? 100 : 0;
                a.tsend(b, 0, 5000, 1, 100);
                rig.settle();
                script.wouldBlockPercent = 100;
                b.trecv(0, 100_000, 1, 200);
                if (state == State.FINISHING) {
                    assertEquals(0, b.next().errno());
                }
            }
            case SEGMENTING -> {
                script.pullDonePercent = 0;
                a.tsend(b, 0, 50_000, 1, 100);
                rig.settle();
                b.trecv(0, 100_000, 1, 200);
                rig.steps(8);
                assertEquals(1, b.endpoint.receiver().outstanding());
            }
            default -> {
                a.tsend(b, 0, 1000, 1, 100);
                assertEquals(0, a.next().errno());
                rig.step();
                if (state == State.FILLING_MATCHED) {
                    b.trecv(0, 100_000, 1, 200);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndEachOperationOnceWhenPeerDies(State state) {
        for (int abortFirst = 0; abortFirst <= 100; abortFirst += 100) {
            script.abortFirstPercent = abortFirst;
            dieAndRecover(state);
        }
    }

    private void dieAndRecover(State state) {
        b.fiAddr(a);
        b.fiAddr(c);
        a.tsend(b, 0, 3, 70, 1);
        a.tsend(c, 0, 3, 71, 1);
        c.tsend(b, 0, 5000, 72, 300);
        rig.settle();
        a.completions.takeAll();
        reach(state);
        int heldBefore = state == State.WAITING_FOR_CREDIT ? 4 : 0;
        b.channel(a).kill(FabricErrno.ECONNRESET);
        rig.steps(3);
        script.wouldBlockPercent = 0;
        script.maxDelaySteps = 0;
        script.pendingSendPercent = 0;
        script.streamPercent = 0;
        script.pullDonePercent = 100;
        rig.settle();

        List<CompletionReader.Entry> sends = a.completions.takeAll();
        assertEquals(state.sendsFail, sends.stream().filter(e -> e.context() == 100).count(), () -> "" + sends);
        assertTrue(sends.stream().allMatch(e -> e.errno() == FabricErrno.ECONNRESET), () -> "" + sends);
        assertEquals(state.sendsFail + heldBefore, sends.size(), () -> "" + sends);
        List<CompletionReader.Entry> receives = b.completions.takeAll();
        assertEquals(state.receivesFail, receives.size(), () -> "" + receives);
        assertTrue(receives.stream().allMatch(
            e -> e.errno() == FabricErrno.ECONNRESET && e.context() == 200 && e.length() >= 0 && e.length() <= 50_000),
            () -> "" + receives);
        assertEquals(0, a.endpoint.outstandingSends());
        assertEquals(0, b.endpoint.receiver().outstanding());
        assertEquals(0, a.peer(b).outbox().owned());
        assertEquals(0, a.region.useCount());
        assertEquals(0, b.region.useCount());

        // the message that came whole is there, the other peer's was not touched, and the next message opens anew
        b.trecv(0, 100, 70, 201);
        assertEquals(201, b.next().context());
        b.trecv(0, 5000, 72, 202);
        assertEquals(202, b.next().context());
        c.trecv(0, 100, 71, 203);
        for (int i = 0; i < heldBefore; i++) {
            b.trecv(0, 100, 9, 204);
            assertEquals(0, b.next().errno());
        }
        int announcements = script.announcements;
        int window = (1 << 14) / (1024 + 64);
        for (int i = 0; i < window; i++) {
            a.tsend(b, 0, 1000, 80, 100);
        }
        rig.settle();
        assertEquals(announcements, script.announcements, "the new channel has a whole window");
        for (int i = 0; i < window; i++) {
            b.trecv(0, 1000, 80, 200);
        }
        rig.settle();
        rig.nodes.forEach(Engines.Node::assertAtRest);
    }

    @Test
    void shouldFailWaitingSendsWhenConnectIsRefused() {
        script.refusePercent = 100;
        for (int i = 0; i < 5; i++) {
            a.tsend(b, 0, i * 1000, 1, 100 + i);
        }
        a.inject(Flags.TAGGED, 0, 8, a.fiAddr(b), 1, 0);
        for (int i = 0; i < 6; i++) {
            assertEquals(FabricErrno.ECONNREFUSED, a.next().errno());
        }
        assertEquals(List.of(b.address + ' ' + FabricErrno.ECONNREFUSED), a.peersDown);
        rig.settle();
        a.assertAtRest();
        script.refusePercent = 0;
        a.tsend(b, 0, 8, 1, 100);
        assertEquals(0, a.next().errno());
    }

    @Test
    void shouldFailSendsWhenNoLinkReachesTheAddress() {
        long nowhere = a.addresses.insert("other://b");
        a.send(Engines.TAGGED, a.buf(0), 8, nowhere, 1, 0, 100);
        CompletionReader.Entry entry = a.next();
        assertEquals(FabricErrno.EHOSTUNREACH, entry.errno());
        assertEquals(100, entry.context());
        a.assertAtRest();
    }

    @Test
    void shouldForgetPeersThatCameAndWent() {
        for (int i = 0; i < 20; i++) {
            Engines.Node guest = rig.add("g" + i);
            b.trecv(0, 64, 1, 200);
            guest.tsend(b, 0, 8, 1, 100);
            assertEquals(0, b.next().errno());
            guest.engine.removeEndpoint(guest.endpoint);
            rig.settle();
            guest.enable();
            b.trecv(0, 64, 1, 200);
            guest.tsend(b, 0, 8, 1, 100);
            assertEquals(0, b.next().errno());
            assertEquals(1, b.endpoint.peers().all().size());
            guest.engine.removeEndpoint(guest.endpoint);
            rig.settle();
            assertEquals(0, b.endpoint.peers().all().size());
        }
        assertEquals(1 << 20, b.endpoint.receiver().scan().unreservedBytes());
    }

    @Test
    void shouldForgetAPeerThatWentOnceItsLastMessageIsTaken() {
        Engines.Node guest = rig.add("guest");
        guest.tsend(b, 0, 8, 1, 100);
        rig.settle();
        guest.engine.removeEndpoint(guest.endpoint);
        rig.settle();
        assertEquals(1, b.endpoint.peers().all().size());
        b.trecv(0, 64, 1, 200);
        assertEquals(0, b.next().errno());
        assertEquals(0, b.endpoint.peers().all().size());
        assertEquals(1 << 20, b.endpoint.receiver().scan().unreservedBytes());
    }

    @Test
    void shouldFailDirectedReceivesOfADeadPeerOnly() {
        Script own = new Script(5);
        Engines directed = new Engines(own);
        directed.directed = true;
        Engines.Node x = directed.add("x");
        Engines.Node y = directed.add("y");
        Engines.Node z = directed.add("z");
        long fromY = x.fiAddr(y);
        long fromZ = x.fiAddr(z);
        y.tsend(x, 0, 8, 1, 1);
        directed.settle();
        x.receive(Engines.TAGGED, x.buf(0), 8, fromY, 2, 0, 201);
        x.receive(Engines.TAGGED, x.buf(0), 8, fromZ, 2, 0, 202);
        x.receive(Engines.TAGGED, x.buf(0), 8, -1, 2, 0, 203);
        x.channel(y).kill(FabricErrno.ECONNRESET);
        CompletionReader.Entry entry = x.next();
        assertEquals(201, entry.context());
        assertEquals(FabricErrno.ECONNRESET, entry.errno());
        directed.settle();
        x.assertNoEntry();
        assertEquals(2, x.endpoint.receiver().outstanding());
    }

    /** Whoever sees an entry may use the memory for something else at once. */
    @Test
    void shouldHaveDevicesLetGoOfMemoryBeforeAnEntryIsThere() {
        a.tsend(b, 0, 5000, 1, 100);
        rig.settle();
        List<List<CompletionReader.Entry>> before = new ArrayList<>();
        a.channel(b).onQuiesce = () -> before.add(a.completions.takeAll());
        a.peer(b).violation("for the test");
        assertEquals(List.of(List.of()), before);
        CompletionReader.Entry entry = a.next();
        assertEquals(100, entry.context());
        assertEquals(FabricErrno.EIO, entry.errno());
    }

    @Test
    void shouldKeepDirectedReceivesThatArePostedBehindTheDeathOfAPeerForItsReturn() {
        Engines directed = new Engines(new Script(5));
        directed.directed = true;
        Engines.Node x = directed.add("x");
        Engines.Node y = directed.add("y");
        long fromY = x.fiAddr(y);
        y.tsend(x, 0, 8, 1, 1);
        directed.settle();
        x.channel(y).kill(FabricErrno.ECONNRESET);
        directed.settle();
        x.receive(Engines.TAGGED, x.buf(0), 8, fromY, 2, 0, 201);
        x.receive(Engines.TAGGED, x.buf(0), 8, fromY, 2, 0, 202);
        directed.settle();
        x.assertNoEntry();
        x.endpoint.cancel(201);
        CompletionReader.Entry cancelled = x.next();
        assertEquals(201, cancelled.context());
        assertEquals(FabricErrno.ECANCELED, cancelled.errno());
        y.tsend(x, 0, 8, 2, 2);
        directed.settle();
        CompletionReader.Entry received = x.next();
        assertEquals(202, received.context());
        assertEquals(0, received.errno());
    }

    @Test
    void shouldFailDirectedReceivesOfAPeerThatASendDoesNotReach() {
        Engines directed = new Engines(new Script(5));
        directed.directed = true;
        Engines.Node x = directed.add("x");
        Engines.Node y = directed.add("y");
        long fromY = x.fiAddr(y);
        y.engine.removeEndpoint(y.endpoint);
        x.receive(Engines.TAGGED, x.buf(0), 8, fromY, 2, 0, 201);
        directed.settle();
        x.assertNoEntry();
        x.tsend(y, 0, 8, 1, 101);
        CompletionReader.Entry first = x.next();
        CompletionReader.Entry second = x.next();
        assertEquals(101 + 201, first.context() + second.context());
        assertEquals(FabricErrno.ECONNREFUSED, first.errno());
        assertEquals(FabricErrno.ECONNREFUSED, second.errno());
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveBackCreditAndMemoryWhenEndpointCloses(State state) {
        for (int round = 0; round < 4; round++) {
            boolean sender = (round & 1) == 0;
            Engines.Node closing = sender ? a : b;
            b.fiAddr(a);
            a.tsend(b, 0, 3, 70, 1);
            rig.settle();
            reach(state);
            script.maxDelaySteps = 0;
            closing.engine.removeEndpoint(closing.endpoint);
            script.wouldBlockPercent = 0;
            script.pendingSendPercent = 0;
            script.streamPercent = 0;
            script.pullDonePercent = 100;
            rig.settle();
            assertEquals(0, closing.region.useCount());
            closing.completions.takeAll();
            assertEquals(closing.posted, closing.completions.taken() + closing.completions.retired());
            assertEquals(-FabricErrno.EOPBADSTATE,
                closing.endpoint.send(Engines.TAGGED, closing.buf(0), 8, 0, 1, 0, 1));
            assertEquals(
                -FabricErrno.EOPBADSTATE, closing.endpoint.receive(Engines.TAGGED, closing.buf(0), 8, -1, 1, 0, 1));
            Engines.Node other = sender ? b : a;
            assertEquals(0, other.endpoint.outstandingSends());
            drain(other);
            other.assertAtRest();
            closing.enable();
        }
    }

    private void drain(Engines.Node node) {
        while (node.endpoint.receiver().unexpectedMessages() != 0) {
            node.receive(Engines.TAGGED, node.buf(0), 100_000, -1, 0, -1L, 400);
            rig.settle();
            node.completions.takeAll();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReleaseClosedRegionOnceWhenItsLastOperationEnds(boolean endpointFirst) {
        a.tsend(b, 0, 5000, 1, 100);
        a.trecv(0, 50, 9, 101);
        rig.settle();
        a.session.regions().close(a.regionIndex);
        assertEquals(0, a.regionReleases);
        a.tsend(b, 0, 5000, 1, 102);
        assertEquals(FabricErrno.EFAULT, a.next().errno());
        if (endpointFirst) {
            a.engine.removeEndpoint(a.endpoint);
        } else {
            b.trecv(0, 5000, 1, 200);
            assertEquals(100, a.next().context());
            assertEquals(0, a.regionReleases);
            a.endpoint.cancel(101);
        }
        assertEquals(1, a.regionReleases);
        a.engine.closeSession(a.session);
        rig.settle();
        assertEquals(1, a.regionReleases);
    }

    @Test
    void shouldUseOneChannelWhenBothSidesOpenAtOnce() {
        for (int seed = 0; seed < 100; seed++) {
            Script own = new Script(seed);
            own.maxConnectSteps = 4;
            own.maxDelaySteps = 4;
            Engines both = new Engines(own);
            Engines.Node x = both.add("x");
            Engines.Node y = both.add("y");
            for (int i = 0; i < 20; i++) {
                x.trecv(i * 64, 64, i, 200 + i);
                y.trecv(i * 64, 64, i, 200 + i);
                x.tsend(y, 0, 8, i, 100 + i);
                y.tsend(x, 0, 8, i, 100 + i);
            }
            both.settle();
            assertEquals(40, x.completions.takeAll().stream().filter(e -> e.errno() == 0).count(), "seed " + seed);
            assertEquals(40, y.completions.takeAll().stream().filter(e -> e.errno() == 0).count(), "seed " + seed);
            x.assertAtRest();
            y.assertAtRest();
            assertEquals(1, x.endpoint.peers().all().size());
        }
    }

    @Test
    void shouldEndTheOldChannelWhenPeerOpensAnewBeforeItsDeathIsNoticed() {
        b.fiAddr(a);
        a.tsend(b, 0, 8, 1, 100);
        rig.settle();
        b.tsend(a, 0, 5000, 2, 300);
        rig.settle();
        a.completions.takeAll();
        b.channel(a).kill(FabricErrno.ECONNRESET);
        // a notices at once and opens anew; b's old end has not been polled yet
        script.nextStep();
        a.engine.poll(10);
        a.tsend(b, 0, 9, 3, 101);
        script.nextStep();
        a.engine.poll(10);
        b.trecv(0, 100, 3, 201);
        rig.settle();
        List<CompletionReader.Entry> entries = b.completions.takeAll();
        assertEquals(2, entries.size(), () -> "" + entries);
        assertEquals(FabricErrno.ECONNRESET, entries.stream().filter(e -> e.context() == 300).findAny().get().errno());
        assertEquals(0, entries.stream().filter(e -> e.context() == 201).findAny().get().errno());
        b.trecv(0, 100, 1, 202);
        assertEquals(202, b.next().context());
        assertEquals(List.of(a.address + ' ' + FabricErrno.ECONNRESET), b.peersDown);
        rig.settle();
        a.assertAtRest();
        b.assertAtRest();
    }
}
