package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Ends that come at the same time, peers that give up or die between two steps, and very many requests. */
@Tag("conformance")
@Tag("link")
@Timeout(180)
class ConnectionRaceTest {
    private static final long ANY = -1L;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndBothSidesThatEndAtTheSameTime(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            for (int i = 0; i < 50; i++) {
                Endpoint left = a.open(i);
                left.connect(passive.name());
                Endpoint right = b.open(b.next(EventType.CONNREQ, passive).info(), i);
                right.accept();
                a.next(EventType.CONNECTED, left);
                b.next(EventType.CONNECTED, right);
                assertEquals(0, left.trecv(pair.a.memory.address(0), 8, ANY, 1, 0, 1));
                assertEquals(0, right.trecv(pair.b.memory.address(0), 8, ANY, 1, 0, 2));
                int how = i % 4;
                if (how < 2) {
                    left.shutdown(0);
                } else {
                    left.close();
                }
                if (how % 2 == 0) {
                    right.shutdown(0);
                } else {
                    right.close();
                }
                // a receive of an endpoint that was closed has no entry, one of an end has one
                if (how < 2) {
                    assertTrue(a.completion().err() != 0);
                }
                if (how % 2 == 0) {
                    assertTrue(b.completion().err() != 0);
                }
                left.close();
                right.close();
                drainShutdowns(a, pair);
                drainShutdowns(b, pair);
            }
        }
    }

    /** Whether the event of the peer's end was there before the own end is a matter of luck. */
    private static void drainShutdowns(ConnectionSide side, FabricPair pair) {
        EventEntry entry = new EventEntry();
        for (int i = 0; i < 20; i++) {
            int result = side.events.read(entry, 0);
            if (result == 1) {
                assertEquals(EventType.SHUTDOWN, entry.type());
            } else {
                assertEquals(-FabricErrno.EAGAIN, result);
            }
            pair.pump();
        }
        while (side.poll() != null) {
            continue;
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldTellTheAcceptingSideThatTheAskingOneHasGivenUp(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(3);
            for (int i = 0; i < 20; i++) {
                Endpoint asking = a.open(1);
                asking.connect(passive.name());
                ConnectionSide.Event request = b.next(EventType.CONNREQ, passive);
                asking.close();
                b.assertNoEvent(20);
                if (i % 2 == 0) {
                    passive.reject(request.request());
                } else {
                    Endpoint accepting = b.open(request.info(), 2);
                    accepting.accept();
                    if (setup.daemon && setup.isForeign()) {
                        // a socket whose request waits is looked at only now and then
                        assertNeverMadeOrOver(b, accepting, "round " + i);
                    } else {
                        b.nextError(FabricErrno.ECONNABORTED, accepting);
                    }
                    accepting.close();
                }
            }
            a.assertNoEvent(20);
            assertWorks(pair, a, b, passive);
        }
    }

    /** Either it was never made, or it was and is over: never anything else, never nothing. */
    private static void assertNeverMadeOrOver(ConnectionSide side, Endpoint accepting, String where) {
        ConnectionSide.Event first = side.next();
        assertEquals(accepting, first.fid());
        if (first.err() == 0) {
            assertEquals(EventType.CONNECTED, first.type(), where);
            side.next(EventType.SHUTDOWN, accepting);
        } else {
            assertEquals(FabricErrno.ECONNABORTED, first.err(), where);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldAgreeOnTheEndWhoeverGivesUpWhileTheAnswerIsOnItsWay(Setup setup) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            for (int i = 0; i < 60; i++) {
                Endpoint asking = a.open(1);
                asking.connect(passive.name());
                ConnectionSide.Event request = b.next(EventType.CONNREQ, passive);
                Endpoint accepting = b.open(request.info(), 2);
                accepting.enable();
                List<Runnable> steps = new ArrayList<>(List.of(asking::close, accepting::accept));
                if (random.nextBoolean()) {
                    steps = steps.reversed();
                }
                for (Runnable step : steps) {
                    step.run();
                    for (int pumps = random.nextInt(4); pumps > 0; pumps--) {
                        pair.pump();
                    }
                }
                assertNeverMadeOrOver(b, accepting, "seed " + seed);
                accepting.close();
            }
            // the side that gave up may have been told of its connection before
            EventEntry old = new EventEntry();
            while (a.events.read(old, 0) == 1) {
                assertEquals(EventType.CONNECTED, old.type());
            }
            assertWorks(pair, a, b, passive);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldTellTheAskingSideThatTheAcceptingOneWasClosed(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            for (int i = 0; i < 20; i++) {
                Endpoint asking = a.open(1);
                asking.connect(passive.name());
                Endpoint accepting = b.open(b.next(EventType.CONNREQ, passive).info(), 2);
                accepting.accept();
                accepting.close();
                ConnectionSide.Event first = a.next();
                if (first.err() == 0) {
                    assertEquals(EventType.CONNECTED, first.type());
                    a.next(EventType.SHUTDOWN, asking);
                } else {
                    assertEquals(FabricErrno.ECONNREFUSED, first.err());
                }
                asking.close();
                while (b.events.read(new EventEntry(), 0) == 1) {
                    continue;
                }
            }
            assertWorks(pair, a, b, passive);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseWhatWaitsAtAListenerThatIsClosed(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            String name = passive.name();
            Endpoint[] asking = {a.open(0), a.open(1), a.open(2)};
            ConnectionSide.Event[] requests = new ConnectionSide.Event[3];
            for (int i = 0; i < 3; i++) {
                asking[i].connect(name);
                requests[i] = b.next(EventType.CONNREQ, passive);
            }
            Endpoint made = b.open(requests[0].info(), 9);
            made.accept();
            a.next(EventType.CONNECTED, asking[0]);
            b.next(EventType.CONNECTED, made);
            Endpoint late = b.open(requests[1].info(), 9);
            passive.close();
            // each has a connection of its own
            a.nextErrors(FabricErrno.ECONNREFUSED, asking[1], asking[2]);
            assertFalse(requests[1].request().isOpen());
            assertEquals(FabricErrno.EOPBADSTATE, assertThrows(FabricException.class, late::accept).errno());
            a.connectInVain(asking[1], name);
            // what was made goes on
            assertEquals(0, made.trecv(pair.b.memory.address(0), 8, ANY, 1, 0, 1));
            assertEquals(0, asking[0].tsend(pair.a.memory.address(0), 8, 0, 1, 2));
            b.completion(1);
            a.completion(2);
            // and the name is free
            PassiveEndpoint next = pair.b.fabric.openPassiveEndpoint(b.info.copy().srcAddr(name));
            next.bind(b.events, 0);
            next.listen();
            asking[1].connect(name);
            b.next(EventType.CONNREQ, next);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = ".*_DAEMON", mode = EnumSource.Mode.MATCH_ALL)
    void shouldTellOfAClientThatIsGoneAtEveryStep(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            Endpoint connected = a.open(1);
            connected.connect(passive.name());
            Endpoint peer = b.open(b.next(EventType.CONNREQ, passive).info(), 2);
            peer.accept();
            a.next(EventType.CONNECTED, connected);
            b.next(EventType.CONNECTED, peer);
            Endpoint asking = a.open(3);
            asking.connect(passive.name());
            ConnectionSide.Event waiting = b.next(EventType.CONNREQ, passive);
            assertEquals(0, peer.trecv(pair.b.memory.address(0), 8, ANY, 1, 0, 7));
            // its client goes without closing anything
            pair.a.fabric.close(0);
            b.next(EventType.SHUTDOWN, peer);
            int ended = b.completion().err();
            // the driver may have seen the receive before or after the end
            assertTrue(ended == FabricErrno.ECANCELED || ended == FabricErrno.ENOTCONN, FabricErrno.name(ended));
            Endpoint late = b.open(waiting.info(), 4);
            late.accept();
            // that the other connection is over does not say that the news of this one is there
            assertNeverMadeOrOver(b, late, setup.toString());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = ".*_DAEMON", mode = EnumSource.Mode.MATCH_ALL)
    void shouldTellOfAListeningClientThatIsGone(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            String name = passive.name();
            Endpoint connected = a.open(1);
            connected.connect(name);
            Endpoint accepting = b.open(b.next(EventType.CONNREQ, passive).info(), 2);
            accepting.accept();
            a.next(EventType.CONNECTED, connected);
            b.next(EventType.CONNECTED, accepting);
            Endpoint asking = a.open(3);
            asking.connect(name);
            b.next(EventType.CONNREQ, passive);
            pair.b.fabric.close(0);
            boolean refused = false;
            boolean ended = false;
            for (int i = 0; i < 2; i++) {
                ConnectionSide.Event event = a.next();
                refused |= event.fid() == asking && event.err() == FabricErrno.ECONNREFUSED;
                ended |= event.fid() == connected && event.type() == EventType.SHUTDOWN;
            }
            assertTrue(refused && ended);
            a.connectInVain(asking, name);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = "SHM_DAEMON")
    void shouldTellOfADriverThatDiesAtEveryStep(Setup setup) {
        try (FabricPair pair = FabricPair.withOwnDaemons(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            PassiveEndpoint asked = a.listen(-1);
            Endpoint connected = a.open(1);
            connected.connect(passive.name());
            Endpoint peer = b.open(b.next(EventType.CONNREQ, passive).info(), 2);
            peer.accept();
            a.next(EventType.CONNECTED, connected);
            Endpoint asking = a.open(3);
            asking.connect(passive.name());
            b.next(EventType.CONNECTED, peer);
            b.next(EventType.CONNREQ, passive);
            Endpoint other = b.open(5);
            other.connect(asked.name());
            ConnectionSide.Event waiting = a.next(EventType.CONNREQ, asked);
            assertEquals(0, connected.trecv(pair.a.memory.address(0), 8, ANY, 1, 0, 7));
            String gone = passive.name();
            pair.killDriverOfB();
            boolean[] told = new boolean[2];
            for (int i = 0; i < 2; i++) {
                ConnectionSide.Event event = a.next();
                if (event.fid() == connected) {
                    assertEquals(EventType.SHUTDOWN, event.type());
                    assertTrue(event.data() > 0, "the reason of the loss");
                    told[0] = true;
                } else {
                    assertEquals(asking, event.fid());
                    assertTrue(event.err() > 0, () -> "got " + event);
                    told[1] = true;
                }
            }
            assertTrue(told[0] && told[1]);
            int ended = a.completion().err();
            assertTrue(ended == FabricErrno.ECANCELED || ended == FabricErrno.ENOTCONN, FabricErrno.name(ended));
            Endpoint late = a.open(waiting.info(), 8);
            late.accept();
            a.nextError(FabricErrno.ECONNABORTED, late);
            // the driver is not there any more
            Endpoint again = a.open(9);
            again.connect(gone);
            ConnectionSide.Event unreachable = a.next();
            assertEquals(again, unreachable.fid());
            assertTrue(unreachable.err() > 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseSendsOnceThePeerHasEndedHoweverManyAreOnTheirWay(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            for (int i = 0; i < 40; i++) {
                Endpoint left = a.open(1);
                left.connect(passive.name());
                Endpoint right = b.open(b.next(EventType.CONNREQ, passive).info(), 2);
                right.accept();
                a.next(EventType.CONNECTED, left);
                b.next(EventType.CONNECTED, right);
                int posted = 0;
                int ended = 0;
                right.shutdown(0);
                long deadline = System.nanoTime() + Deadline.ns(20);
                int result = 0;
                while (result != -FabricErrno.ENOTCONN) {
                    assertTrue(System.nanoTime() - deadline < 0, "sends are taken for ever");
                    result = left.tsend(pair.a.memory.address(0), 64, 0, 1, posted);
                    posted += result == 0 ? 1 : 0;
                    assertTrue(result == 0 || result == -FabricErrno.EAGAIN || result == -FabricErrno.ENOTCONN,
                        FabricErrno.name(result));
                    ended += a.poll() == null ? 0 : 1;
                    pair.pump();
                }
                // each of them has its entry, a success if it came before the end
                while (ended < posted) {
                    a.completion();
                    ended++;
                }
                a.next(EventType.SHUTDOWN, left);
                b.next(EventType.SHUTDOWN, right);
                left.close();
                right.close();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseVeryManyRequestsOfOneEndpoint(Setup setup) {
        // more than an event queue has entries: a place in it, or in the backlog, is missed if it is not given back;
        // a round of daemons, or over a network, waits for other threads in turn: few rounds, with small queues
        boolean waits = setup.daemon || setup.isForeign();
        int eventQueueSize = waits ? 32 : 1024;
        int rounds = waits ? Effort.rounds(48, 10_000) : Effort.rounds(1_200, 10_000);
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a, ConnectionSide.hints(), eventQueueSize);
            ConnectionSide b = new ConnectionSide(pair, pair.b, ConnectionSide.hints(), eventQueueSize);
            assertTrue(rounds > a.events.size() && rounds > b.events.size());
            PassiveEndpoint passive = b.listen(1);
            Endpoint asking = a.open(1);
            for (int i = 0; i < rounds; i++) {
                asking.connect(passive.name());
                passive.reject(b.next(EventType.CONNREQ, passive).request());
                a.nextError(FabricErrno.ECONNREFUSED, asking);
            }
            asking.connect(passive.name());
            Endpoint accepting = b.open(b.next(EventType.CONNREQ, passive).info(), 2);
            accepting.accept();
            a.next(EventType.CONNECTED, asking);
        }
    }

    /** One whole life of a connection, with a message. */
    static void assertWorks(FabricPair pair, ConnectionSide a, ConnectionSide b, PassiveEndpoint passive) {
        Endpoint asking = a.open(1);
        asking.connect(passive.name());
        Endpoint accepting = b.open(b.next(EventType.CONNREQ, passive).info(), 2);
        accepting.accept();
        a.next(EventType.CONNECTED, asking);
        b.next(EventType.CONNECTED, accepting);
        assertEquals(0, accepting.trecv(pair.b.memory.address(0), 8, ANY, 1, 0, 1));
        assertEquals(0, asking.tsend(pair.a.memory.address(0), 8, 0, 1, 2));
        b.completion(1);
        a.completion(2);
        asking.close();
        b.next(EventType.SHUTDOWN, accepting);
        accepting.close();
    }
}
