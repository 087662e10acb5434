package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Endpoint;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.kit.Connected;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** What connection calls need, and what they answer in the wrong state. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class ConnectionStateTest {
    private static final long ANY = -1L;

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement("EP-009")
    void shouldEnableByConnectAndAccept(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            Endpoint asking = a.open(1);
            long bufferA = pair.a.memory.address(0);
            long bufferB = pair.b.memory.address(0);
            assertEquals(-FabricErrno.EOPBADSTATE, asking.trecv(bufferA, 64, ANY, 1, 0, 1));
            asking.connect(passive.name());
            assertEquals(0, asking.trecv(bufferA, 64, ANY, 1, 0, 1), "connect has enabled it");
            // what is enabled already is left as it is (EP-063)
            String name = asking.name();
            asking.enable();
            assertEquals(name, asking.name());
            Endpoint accepting = b.open(b.next(EventType.CONNREQ, passive).info(), 2);
            assertEquals(-FabricErrno.EOPBADSTATE, accepting.trecv(bufferB, 64, ANY, 1, 0, 2));
            accepting.accept();
            assertEquals(0, accepting.trecv(bufferB, 64, ANY, 1, 0, 2), "accept has enabled it");
            a.next(EventType.CONNECTED, asking);
            b.next(EventType.CONNECTED, accepting);
            assertEquals(0, asking.tsend(bufferA + 64, 8, 0, 1, 3));
            b.completion(2);
            a.completion(3);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement("EP-010")
    void shouldEnableOnlyWithItsQueues(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            Endpoint endpoint = pair.a.domain.openEndpoint(a.info);
            assertEquals(FabricErrno.ENOCQ, errno(endpoint::enable));
            assertEquals(FabricErrno.ENOCQ, errno(() -> endpoint.connect(pair.b.endpoint.name())));
            endpoint.bind(a.cq, Flags.TRANSMIT);
            assertEquals(FabricErrno.ENOCQ, errno(endpoint::enable));
            endpoint.bind(a.cq, Flags.RECV);
            assertEquals(FabricErrno.ENOEQ, errno(endpoint::enable));
            assertEquals(FabricErrno.ENOEQ, errno(() -> endpoint.connect(pair.b.endpoint.name())));
            endpoint.bind(a.events, 0);
            AddressVector vector = pair.a.domain.openAddressVector(new AddressVectorAttr());
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind(vector)), "it has one peer");
            endpoint.enable();
            assertTrue(endpoint.name().startsWith("jfabric://"));
            // of a connectionless one the event queue is a matter of choice, the address vector is not
            Endpoint datagram = pair.a.domain.openEndpoint(pair.a.info);
            datagram.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            assertEquals(FabricErrno.ENOAV, errno(datagram::enable));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement("EP-021")
    void shouldAcceptOnlyWithTheInfoOfTheRequest(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            Endpoint asking = a.open(1);
            asking.connect(passive.name());
            ConnectionSide.Event request = b.next(EventType.CONNREQ, passive);
            Endpoint unrelated = b.open(2);
            assertEquals(FabricErrno.EOPBADSTATE, errno(unrelated::accept));
            Endpoint other = b.open(b.info.copy().handle(null), 3);
            assertEquals(FabricErrno.EOPBADSTATE, errno(other::accept));
            assertEquals(FabricErrno.EINVAL, errno(() -> b.open(pair.b.info.copy().handle(passive), 3)));
            if (setup.daemon || setup.hasTwoDrivers()) {
                assertEquals(FabricErrno.EINVAL,
                    errno(() -> a.open(a.info.copy().handle(request.request()), 3)), "of another fabric");
            }
            Endpoint accepting = b.open(request.info(), 4);
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> accepting.connect(passive.name())), "it is to accept");
            accepting.accept();
            a.next(EventType.CONNECTED, asking);
            b.next(EventType.CONNECTED, accepting);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    void shouldAnswerCallsInTheWrongState(Setup setup) {
        try (Connected connected = new Connected(setup)) {
            FabricPair pair = connected.pair;
            Endpoint asking = connected.endpointA;
            String name = connected.passive.name();
            for (Endpoint endpoint : new Endpoint[] {asking, connected.endpointB}) {
                assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.connect(name)));
                assertEquals(FabricErrno.EOPBADSTATE, errno(endpoint::accept));
                assertEquals(FabricErrno.EBADFLAGS, errno(() -> endpoint.shutdown(Flags.READ)));
            }
            // of an endpoint without connections
            Endpoint rdm = pair.a.endpoint;
            assertEquals(FabricErrno.ENOSYS, errno(() -> rdm.connect(name)));
            assertEquals(FabricErrno.ENOSYS, errno(rdm::accept));
            assertEquals(FabricErrno.ENOSYS, errno(() -> rdm.shutdown(0)));
            assertEquals(FabricErrno.ENOSYS, errno(rdm::peer));
            // before
            Endpoint fresh = connected.a.open(5);
            assertEquals(FabricErrno.ENOTCONN, errno(() -> fresh.shutdown(0)));
            assertEquals(FabricErrno.ENOTCONN, errno(fresh::peer));
            assertEquals(FabricErrno.EINVAL, errno(() -> fresh.connect("jfabric://")));
            assertEquals(FabricErrno.EINVAL, errno(() -> fresh.connect("jfabric://x/" + "y".repeat(5000))));
            assertEquals(FabricErrno.EINVAL, errno(() -> fresh.connect("jfabric://x/\u00fc")));
            assertEquals(FabricErrno.EHOSTUNREACH, errno(() -> fresh.connect("127.0.0.1:7")));
            assertEquals(FabricErrno.EINVAL, errno(() -> fresh.connect(name, new UnsafeBuffer(new byte[8]), 4, 5)));
            assertEquals(FabricErrno.EINVAL, errno(() -> fresh.connect(name, null, 0, 1)));
            assertEquals(0, fresh.trecv(pair.a.memory.address(0), 64, ANY, 1, 0, 9), "it was enabled");
            // while it is on its way
            PassiveEndpoint silent = connected.b.listen(-1);
            fresh.connect(silent.name());
            connected.b.next(EventType.CONNREQ, silent);
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> fresh.connect(silent.name())));
            assertEquals(FabricErrno.ENOTCONN, errno(() -> fresh.shutdown(0)));
            // afterwards
            asking.shutdown(0);
            asking.shutdown(0);
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> asking.connect(name)));
            assertEquals(-FabricErrno.ENOTCONN, asking.tsend(pair.a.memory.address(0), 8, 0, 1, 1));
            assertEquals(name, asking.peer(), "still known");
            connected.b.next(EventType.SHUTDOWN, connected.endpointB);
            connected.endpointB.shutdown(0);
            assertEquals(-FabricErrno.ENOTCONN, connected.endpointB.tsend(pair.b.memory.address(0), 8, 0, 1, 1));
            asking.close();
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> asking.connect(name)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> asking.shutdown(0)));
            assertEquals(-FabricErrno.EOPBADSTATE, asking.tsend(pair.a.memory.address(0), 8, 0, 1, 1));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    void shouldTellWhyNoConnectionIsMade(Setup setup) {
        // over tcp the driver logs that somebody has talked of connections to an endpoint that has none
        try (FabricPair pair = setup.isForeign() ? FabricPair.withOwnDaemons(setup) : new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            Endpoint asking = a.open(1);
            asking.connect(b.freeAddress("nobody"));
            a.nextError(FabricErrno.ECONNREFUSED, asking);
            asking.connect(setup.seen(pair.b.endpoint));
            a.nextError(FabricErrno.ECONNREFUSED, asking);
            PassiveEndpoint mute = pair.b.fabric.openPassiveEndpoint(b.info);
            asking.connect(mute.name());
            a.nextError(FabricErrno.ECONNREFUSED, asking);
            if (setup.isForeign()) {
                assertKeysAreRefused(a, b);
                return;
            }
            // and a send to where only a passive endpoint listens reaches nobody
            PassiveEndpoint passive = b.listen(-1);
            long toPassive = pair.a.av.insert(passive.name());
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(0), 8, toPassive, 1, 2));
            assertEquals(FabricErrno.ECONNREFUSED, pair.a.await().err());
            // another key, EP-156
            Info keyed = a.info.copy();
            keyed.epAttr().authKey(new byte[] {1, 2, 3});
            Endpoint stranger = a.open(keyed, 2);
            stranger.connect(passive.name());
            a.nextError(FabricErrno.EKEYREJECTED, stranger);
            PassiveEndpoint guarded = pair.b.fabric.openPassiveEndpoint(keyed(b.info));
            guarded.bind(b.events, 0);
            guarded.listen();
            stranger.connect(guarded.name());
            b.next(EventType.CONNREQ, guarded);
            b.assertNoEvent(10);
            a.assertNoEvent(10);
        }
    }

    /** libfabric's wire carries none, so that nobody could check them. */
    private static void assertKeysAreRefused(ConnectionSide a, ConnectionSide b) {
        PassiveEndpoint passive = b.listen(-1);
        Endpoint keyed = a.open(keyed(a.info), 2);
        assertEquals(FabricErrno.EINVAL, errno(() -> keyed.connect(passive.name())));
        assertEquals(FabricErrno.EOPNOTSUPP, errno(() -> b.node.fabric.openPassiveEndpoint(keyed(b.info))));
        b.assertNoEvent(10);
    }

    private static Info keyed(Info info) {
        Info keyed = info.copy();
        keyed.epAttr().authKey(new byte[] {1, 2, 3});
        return keyed;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    void shouldEndWhatWaitsAndKeepWhatCame(Setup setup) {
        try (Connected connected = new Connected(setup)) {
            FabricPair pair = connected.pair;
            Endpoint left = connected.endpointA;
            Endpoint right = connected.endpointB;
            // to the right: a short message that nobody receives yet, and a long one that waits for its receive; over
            // tcp that would stand in front of the end, which the right side would learn of when it reads on
            int length = setup.heldLength();
            boolean sendsLong = !setup.isForeign();
            pair.a.fill(0, length, 4);
            assertEquals(0, left.tsend(pair.a.memory.address(0), 32, 0, 1, 1));
            connected.a.completion(1);
            if (sendsLong) {
                assertEquals(0, left.messages().tsendmsg(
                    pair.a.memory.address(0), length, 0, 0, 2, 2, setup.heldFlags()));
            }
            // and receives on both sides
            assertEquals(0, left.trecv(pair.a.memory.address(8 << 20), 64, ANY, 9, 0, 3));
            assertEquals(0, left.recv(pair.a.memory.address(8 << 20), 64, ANY, 4));
            assertEquals(0, right.trecv(pair.b.memory.address(8 << 20), 64, ANY, 9, 0, 5));
            connected.a.assertNoEvent(20);
            left.shutdown(0);
            for (int i = 0; i < (sendsLong ? 3 : 2); i++) {
                assertEndedInItsWait(setup, connected.a.completion());
            }
            connected.b.next(EventType.SHUTDOWN, right);
            ConnectionSide.Entry waiting = connected.b.completion();
            assertEquals(5, waiting.context());
            assertEndedInItsWait(setup, waiting);
            // what came before can be received, what nobody sent any more cannot
            assertEquals(0, right.trecv(pair.b.memory.address(0), 64, ANY, 1, 0, 6));
            assertEquals(32, connected.b.completion(6).len());
            pair.b.assertFilled(0, 32, 4);
            assertEquals(0, right.trecv(pair.b.memory.address(0), 64, ANY, 7, 0, 7));
            ConnectionSide.Entry late = connected.b.completion();
            assertEquals(7, late.context());
            assertEquals(FabricErrno.ENOTCONN, late.err());
        }
    }

    /** What a daemon takes out of a queue after the end was never waiting. */
    private static void assertEndedInItsWait(Setup setup, ConnectionSide.Entry ended) {
        assertTrue(ended.err() == FabricErrno.ECANCELED || setup.daemon && ended.err() == FabricErrno.ENOTCONN,
            () -> "got " + ended);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    void shouldBeAskedForByTypeOnly(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            assertEquals(EndpointType.MSG, a.info.epAttr().type());
            assertEquals(0, a.info.caps() & (Flags.SOURCE | Flags.DIRECTED_RECV), "of connectionless endpoints only");
            assertEquals(EndpointType.RDM, pair.a.fabric.info(new Info()).best().epAttr().type());
            Info hints = new Info().caps(Flags.MSG | Flags.SOURCE);
            hints.epAttr().type(EndpointType.MSG);
            assertTrue(pair.a.fabric.info(hints).matches().isEmpty());
        }
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
