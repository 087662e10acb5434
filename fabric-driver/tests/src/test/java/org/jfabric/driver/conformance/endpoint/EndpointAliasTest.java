package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.Endpoint;
import org.jfabric.SendClaim;
import org.jfabric.driver.kit.Connected;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;

/** Aliases: two objects for one endpoint that differ in their default flags. */
@Tag("conformance")
@Tag("link")
class EndpointAliasTest {
    private static final long ANY = -1L;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final int LENGTH = 64;

    /** An endpoint of the first node whose queue has only the entries that are asked for. */
    private static Endpoint selective(FabricPair pair, Info info) {
        Endpoint endpoint = pair.a.domain.openEndpoint(info);
        endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
        endpoint.bind(pair.a.av);
        return endpoint;
    }

    private static void send(FabricPair pair, Endpoint through, long context) {
        assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), LENGTH, ANY, context, 0, context));
        assertEquals(0, through.tsend(pair.a.memory.address(), LENGTH, pair.toB, context, context));
        assertEquals(LENGTH, pair.b.await(context).len());
    }

    private static int errno(Runnable call) {
        return assertThrows(FabricException.class, call::run).errno();
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-072", "EP-075"})
    void shouldReachTheSameEndpointWithOtherDefaults(Setup setup) {
        Info hints = FabricPair.usualHints();
        try (FabricPair pair = new FabricPair(setup, hints.caps(hints.caps() | Flags.MULTI_RECV), 512)) {
            Endpoint endpoint = selective(pair, pair.a.info);
            Endpoint early = endpoint.alias(Flags.TRANSMIT | Flags.COMPLETION);
            assertEquals(-FabricErrno.EOPBADSTATE, early.tsend(pair.a.memory.address(), LENGTH, pair.toB, 1, 1));
            early.enable();
            Endpoint late = endpoint.alias(Flags.RECV | Flags.COMPLETION);
            assertEquals(endpoint.name(), early.name());
            assertEquals(endpoint.name(), late.name());
            assertEquals(endpoint.maxMsgSize(), late.maxMsgSize());

            send(pair, endpoint, 11);
            send(pair, late, 12);
            send(pair, early, 13);
            assertEquals(13, pair.a.await().context());
            pair.a.assertQuiet(20);

            long to = pair.b.av.insert(endpoint.name());
            // one queue of receives: the first one posted is taken first, through whichever object
            Endpoint[] objects = {endpoint, late, early, late};
            for (int i = 0; i < objects.length; i++) {
                assertEquals(0, objects[i].trecv(
                    pair.a.memory.address(RECEIVE + (long) i * LENGTH), LENGTH, ANY, 5, 0, 20 + i));
            }
            for (int i = 0; i < objects.length; i++) {
                pair.b.fill(0, LENGTH, i);
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, to, 5, 30 + i));
                pair.b.await(30 + i);
            }
            assertEquals(21, pair.a.await().context());
            assertEquals(23, pair.a.await().context());
            pair.a.assertQuiet(20);
            for (int i = 0; i < objects.length; i++) {
                pair.a.assertFilled(RECEIVE + (long) i * LENGTH, LENGTH, i);
            }
            // and one set of options: what is left of the buffer is less than is asked for
            endpoint.setopt(EndpointOption.MIN_MULTI_RECV, 2 * LENGTH);
            assertEquals(2 * LENGTH, late.getopt(EndpointOption.MIN_MULTI_RECV));
            assertEquals(0, late.messages().recvmsg(pair.a.memory.address(RECEIVE), 2 * LENGTH + LENGTH / 2, ANY, 40,
                Flags.MULTI_RECV | Flags.COMPLETION));
            assertEquals(0, pair.b.endpoint.send(pair.b.memory.address(), LENGTH, to, 41));
            pair.b.await(41);
            assertEquals(LENGTH, pair.a.await(40).len());
            assertEquals(Flags.MULTI_RECV, pair.a.await(40).flags());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"EP-073", "OPF-003"})
    void shouldBeginWithTheFlagsOfItsParentAndKeepItsOwn(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info info = pair.a.info.copy();
            info.txAttr().opFlags(Flags.TRANSMIT_COMPLETE);
            info.rxAttr().opFlags(Flags.COMPLETION);
            Endpoint endpoint = selective(pair, info);
            Endpoint alias = endpoint.alias(Flags.TRANSMIT | Flags.COMPLETION);
            assertEquals(Flags.TRANSMIT_COMPLETE, endpoint.getOpFlags(Flags.TRANSMIT));
            assertEquals(Flags.COMPLETION, alias.getOpFlags(Flags.TRANSMIT));
            assertEquals(Flags.COMPLETION, alias.getOpFlags(Flags.RECV), "of the parent");

            alias.setOpFlags(Flags.TRANSMIT | Flags.INJECT_COMPLETE);
            alias.setOpFlags(Flags.RECV);
            assertEquals(Flags.INJECT_COMPLETE, alias.getOpFlags(Flags.TRANSMIT));
            assertEquals(0, alias.getOpFlags(Flags.RECV));
            assertEquals(Flags.TRANSMIT_COMPLETE, endpoint.getOpFlags(Flags.TRANSMIT));
            assertEquals(Flags.COMPLETION, endpoint.getOpFlags(Flags.RECV));

            endpoint.setOpFlags(Flags.TRANSMIT);
            assertEquals(Flags.INJECT_COMPLETE, alias.getOpFlags(Flags.TRANSMIT));

            Endpoint second = alias.alias(Flags.RECV | Flags.COMPLETION);
            assertEquals(Flags.INJECT_COMPLETE, second.getOpFlags(Flags.TRANSMIT), "of the alias");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-074")
    void shouldTakeTheFlagsOfOneDirection(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.alias(0)));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.alias(Flags.COMPLETION)));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.alias(Flags.TRANSMIT | Flags.RECV)));
            assertEquals(FabricErrno.EBADFLAGS, errno(() -> endpoint.alias(Flags.TRANSMIT | Flags.PEEK)));
            assertEquals(FabricErrno.EBADFLAGS, errno(() -> endpoint.alias(Flags.RECV | Flags.INJECT)));
            endpoint.alias(Flags.TRANSMIT).close();
            endpoint.alias(Flags.RECV | Flags.COMPLETION).close();
            endpoint.close();
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.alias(Flags.TRANSMIT)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-076")
    void shouldBeClosedBeforeItsEndpoint(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            Endpoint first = endpoint.alias(Flags.TRANSMIT);
            Endpoint second = first.alias(Flags.RECV);
            assertEquals(FabricErrno.EBUSY, errno(endpoint::close));
            first.close();
            first.close();
            assertFalse(first.isOpen());
            assertEquals(-FabricErrno.EOPBADSTATE, first.tsend(pair.a.memory.address(), LENGTH, pair.toB, 1, 1));
            assertEquals(FabricErrno.EBUSY, errno(endpoint::close));
            assertTrue(endpoint.isOpen());
            send(pair, endpoint, 4);
            send(pair, second, 5);
            second.close();
            endpoint.close();
            assertFalse(endpoint.isOpen());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldBeClosedWithItsFabric(Setup setup) {
        Endpoint alias;
        try (FabricPair pair = new FabricPair(setup)) {
            alias = pair.a.endpoint.alias(Flags.TRANSMIT);
        }
        assertFalse(alias.isOpen());
        assertEquals(-FabricErrno.EOPBADSTATE, alias.cancel(1));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldBeHeldUpByAClaimOfItsEndpointAndViceVersa(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            Endpoint alias = endpoint.alias(Flags.TRANSMIT);
            SendClaim claim = new SendClaim();
            for (Endpoint[] each : new Endpoint[][] {{endpoint, alias}, {alias, endpoint}}) {
                assertEquals(0, each[0].tryClaim(8, claim));
                assertEquals(-FabricErrno.EBUSY, each[1].tsend(pair.a.memory.address(), 8, pair.toB, 1, 1));
                assertEquals(-FabricErrno.EBUSY, each[0].tsend(pair.a.memory.address(), 8, pair.toB, 1, 1));
                claim.abort();
                send(pair, each[1], 7);
                pair.a.await(7);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldBeConnectedWhileItsEndpointIs(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide side = new ConnectionSide(pair, pair.a);
            Endpoint unconnected = side.open(0xE1).alias(Flags.TRANSMIT);
            unconnected.enable();
            assertEquals(-FabricErrno.ENOTCONN, unconnected.send(pair.a.memory.address(), 8, 0, 1));
        }
        try (Connected connected = new Connected(setup)) {
            Endpoint alias = connected.endpointA.alias(Flags.TRANSMIT);
            FabricNode a = connected.pair.a;
            FabricNode b = connected.pair.b;
            assertEquals(0, connected.endpointB.recv(b.memory.address(RECEIVE), LENGTH, 0, 1));
            assertEquals(0, alias.send(a.memory.address(), LENGTH, 0, 2));
            assertEquals(LENGTH, connected.b.completion(1).len());
            connected.a.completion(2);
            connected.endpointB.shutdown(0);
            connected.a.next(EventType.SHUTDOWN, connected.endpointA);
            assertEquals(-FabricErrno.ENOTCONN, alias.send(a.memory.address(), LENGTH, 0, 3));
            alias.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldMakeNoControlCallsOnceItIsClosed(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = new ConnectionSide(pair, pair.a).open(0xE2);
            Endpoint alias = endpoint.alias(Flags.TRANSMIT);
            alias.close();
            for (Runnable call : new Runnable[] {alias::enable, () -> alias.bind(pair.a.cq, Flags.TRANSMIT),
                () -> alias.connect(pair.b.endpoint.name()), () -> alias.accept(), () -> alias.shutdown(0),
                () -> alias.setname(pair.b.endpoint.name()), () -> alias.setOpFlags(Flags.RECV)}) {
                assertEquals(FabricErrno.EOPBADSTATE, errno(call));
            }
            endpoint.enable();
            assertFalse(alias.isOpen());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"EP-025", "REF-057"})
    void shouldOpenWithFlagsZeroAndRefuseAllOthers(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long flags : new long[] {Flags.PEER_TRANSFER, Flags.TRANSMIT, 1L << 62}) {
                assertEquals(FabricErrno.EBADFLAGS, errno(
                    () -> pair.a.domain.openEndpoint2(pair.a.info, 9, flags)));
            }
            Endpoint endpoint = pair.a.domain.openEndpoint2(pair.a.info, 9, 0);
            assertEquals(9, endpoint.context());
            endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.a.av);
            endpoint.enable();
            send(pair, endpoint, 3);
            pair.a.await(3);
        }
    }
}
