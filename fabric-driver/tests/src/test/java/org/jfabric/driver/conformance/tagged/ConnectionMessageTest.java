package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.PassiveEndpoint;
import org.jfabric.SendClaim;
import org.jfabric.driver.kit.Connected;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Messages of connected endpoints, tagged and untagged, of all sizes. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class ConnectionMessageTest {
    private static final long ANY = -1L;
    private static final long GARBAGE = 0x1234_5678_9ABCL;
    private static final int ENOTCONN = -FabricErrno.ENOTCONN;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-012")
    void shouldReachThePeerWhateverDestinationASendNames(Setup setup) {
        try (Connected pair = new Connected(setup)) {
            long from = pair.pair.a.memory.address(0);
            long to = pair.pair.b.memory.address(0);
            pair.pair.a.fill(0, 4096, 5);
            long[] destinations = {GARBAGE, ANY, 0, 1, Long.MIN_VALUE, Long.MAX_VALUE};
            IoVec iov = new IoVec().add(from, 10).add(from + 10, 30);
            for (long dest : destinations) {
                for (int call = 0; call < 7; call++) {
                    assertEquals(0, pair.endpointB.trecv(to, 4096, GARBAGE, 7, 0, 70));
                    boolean tagged = call < 5;
                    if (!tagged) {
                        assertEquals(0, pair.endpointB.recv(to, 4096, GARBAGE, 71));
                    }
                    int result = switch (call) {
                        case 0 -> pair.endpointA.tsend(from, 40, dest, 7, 1);
                        case 1 -> pair.endpointA.messages().tsendmsg(from, 40, 0, dest, 7, 1, Flags.COMPLETION);
                        case 2 -> pair.endpointA.messages().tsendv(iov, dest, 7, 1);
                        case 3 -> pair.endpointA.tinject(pair.pair.a.memory.buffer(), 0, 40, dest, 7);
                        case 4 -> pair.endpointA.messages().tsenddata(from, 40, 9, dest, 7, 1);
                        case 5 -> pair.endpointA.send(from, 40, dest, 1);
                        default -> pair.endpointA.inject(pair.pair.a.memory.buffer(), 0, 40, dest);
                    };
                    assertEquals(0, result, "call " + call + " to " + dest);
                    assertEquals(40, pair.b.completion(tagged ? 70 : 71).len());
                    pair.pair.b.assertFilled(0, 40, 5);
                    if (call != 3 && call != 6) {
                        pair.a.completion(1);
                    }
                    if (!tagged) {
                        assertEquals(0, pair.endpointB.cancel(70));
                        assertEquals(FabricErrno.ECANCELED, pair.b.completion().err());
                    }
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-021", "REF-026", "EP-014"})
    void shouldTakeReceivesOnceEnabledButSendsOnlyWhenConnected(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            Endpoint asking = a.open(0x11);
            long from = pair.a.memory.address(0);
            assertEquals(-FabricErrno.EOPBADSTATE, asking.tsend(from, 8, 0, 1, 1), "not enabled");
            assertEquals(-FabricErrno.EOPBADSTATE, asking.trecv(from, 8, ANY, 1, 0, 1), "not enabled");
            asking.enable();
            assertRefused(asking, pair);
            assertEquals(0, asking.trecv(pair.a.memory.address(4096), 64, ANY, 3, 0, 31));
            assertEquals(0, asking.recv(pair.a.memory.address(8192), 64, ANY, 32));
            asking.connect(passive.name());
            assertRefused(asking, pair);
            Endpoint accepting = b.open(b.next(EventType.CONNREQ, passive).info(), 0x22);
            accepting.enable();
            assertRefused(accepting, pair);
            assertEquals(0, accepting.trecv(pair.b.memory.address(0), 64, ANY, 4, 0, 41));
            accepting.accept();
            b.next(EventType.CONNECTED, accepting);
            pair.b.fill(0, 64, 1);
            // the receives that were posted first get the first messages
            assertEquals(0, accepting.tsend(pair.b.memory.address(0), 16, 0, 3, 1));
            assertEquals(0, accepting.send(pair.b.memory.address(0), 24, 0, 2));
            b.completion();
            b.completion();
            a.next(EventType.CONNECTED, asking);
            assertEquals(16, a.completion(31).len());
            assertEquals(24, a.completion(32).len());
            pair.a.assertFilled(4096, 16, 1);
            assertEquals(0, asking.tsend(from, 8, 0, 4, 3));
            assertEquals(8, b.completion(41).len());
            a.completion(3);
        }
    }

    private static void assertRefused(Endpoint endpoint, FabricPair pair) {
        long from = pair.a.memory.address(0);
        assertEquals(ENOTCONN, endpoint.tsend(from, 8, 0, 1, 1));
        assertEquals(ENOTCONN, endpoint.send(from, 8, 0, 1));
        assertEquals(ENOTCONN, endpoint.messages().tsendmsg(from, 8, 0, 0, 1, 1, 0));
        assertEquals(ENOTCONN, endpoint.messages().tsendv(new IoVec().add(from, 4).add(from, 4), 0, 1, 1));
        assertEquals(ENOTCONN, endpoint.tinject(pair.a.memory.buffer(), 0, 8, 0, 1));
        assertEquals(ENOTCONN, endpoint.inject(pair.a.memory.buffer(), 0, 8, 0));
        assertEquals(ENOTCONN, endpoint.tryClaim(8, new SendClaim()));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-024", "TAG-034"})
    void shouldTakeTheMessageCallsOnBothTypesOfEndpoints(Setup setup) {
        try (Connected pair = new Connected(setup)) {
            long from = pair.pair.a.memory.address(0);
            long to = pair.pair.b.memory.address(0);
            pair.pair.a.fill(0, 256, 2);
            IoVec pieces = new IoVec().add(from, 100).add(from + 100, 28);
            IoVec room = new IoVec().add(to, 50).add(to + 50, 206);
            // connected: by message call, in pieces, and by the plain receive for comparison
            assertEquals(0, pair.endpointB.messages().trecvmsg(to, 256, ANY, 0xF0, 0xF, 1, Flags.COMPLETION));
            assertEquals(0, pair.endpointA.messages().tsendmsg(from, 128, 0x77, 0, 0xF3, 2, Flags.REMOTE_CQ_DATA));
            ConnectionSide.Entry first = pair.b.completion(1);
            pair.a.completion(2);
            pair.pair.b.assertFilled(0, 128, 2);
            assertEquals(0, pair.endpointB.messages().trecvmsg(room, ANY, 0xF3, 0, 3, 0));
            assertEquals(0, pair.endpointA.messages().tsendmsg(pieces, 0x77, 0, 0xF3, 4, Flags.REMOTE_CQ_DATA));
            ConnectionSide.Entry second = pair.b.completion(3);
            pair.a.completion(4);
            assertEquals(0, pair.endpointB.trecv(to, 256, ANY, 0xF3, 0, 5));
            assertEquals(0, pair.endpointA.messages().tsenddata(from, 128, 0x77, 0, 0xF3, 6));
            ConnectionSide.Entry third = pair.b.completion(5);
            pair.a.completion(6);
            // connectionless, with the same arguments
            FabricNode rdmA = pair.pair.a;
            FabricNode rdmB = pair.pair.b;
            assertEquals(0, rdmB.endpoint.messages().trecvmsg(to, 256, ANY, 0xF0, 0xF, 7, Flags.COMPLETION));
            assertEquals(0, rdmA.endpoint.messages().tsendmsg(
                from, 128, 0x77, pair.pair.toB, 0xF3, 8, Flags.REMOTE_CQ_DATA));
            FabricNode.Entry other = rdmB.await(7);
            rdmA.await(8);
            for (ConnectionSide.Entry entry : new ConnectionSide.Entry[] {first, second, third}) {
                assertEquals(other.flags(), entry.flags());
                assertEquals(other.len(), entry.len());
                assertEquals(other.data(), entry.data());
                assertEquals(other.tag(), entry.tag());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-119")
    void shouldKeepOrderAndBoundariesOfManyMessagesAndHoldBackTheSender(Setup setup) {
        int messages = 100_000;
        int window = 64;
        try (Connected pair = new Connected(setup)) {
            long from = pair.pair.a.memory.address(0);
            long to = pair.pair.b.memory.address(0);
            // nobody receives: the sender is held back long before it has sent them all
            int sent = 0;
            int acknowledged = 0;
            for (int idle = 0; idle < 2_000; idle++) {
                while (sent < messages && pair.endpointA.send(from, length(sent), 0, sent) == 0) {
                    sent++;
                    idle = 0;
                }
                while (pair.a.poll() != null) {
                    acknowledged++;
                    idle = 0;
                }
                pair.pair.pump();
            }
            assertTrue(sent < messages, "a receiver that posts nothing took " + sent);
            int received = 0;
            int posted = 0;
            BitSet seen = new BitSet(messages);
            while (received < messages) {
                while (posted < messages && posted - received < window
                    && pair.endpointB.recv(to, 256, ANY, posted) == 0) {
                    posted++;
                }
                while (sent < messages && pair.endpointA.send(from, length(sent), 0, sent) == 0) {
                    sent++;
                }
                for (ConnectionSide.Entry entry = pair.a.poll(); entry != null; entry = pair.a.poll()) {
                    assertEquals(0, entry.err());
                    acknowledged++;
                }
                for (ConnectionSide.Entry entry = pair.b.poll(); entry != null; entry = pair.b.poll()) {
                    assertEquals(0, entry.err());
                    // entries come in any order, but the n-th receive has the n-th message
                    int message = (int) entry.context();
                    assertFalse(seen.get(message), "received twice");
                    seen.set(message);
                    assertEquals(length(message), entry.len(), "of message " + message);
                    received++;
                }
                Thread.yield();
            }
            while (acknowledged < messages) {
                assertEquals(0, pair.a.completion().err());
                acknowledged++;
            }
            for (int i = 0; i < 100; i++) {
                assertEquals(null, pair.b.poll(), "more than was sent");
            }
        }
    }

    /** Different for neighbours, so that a lost, doubled or merged message shows. */
    private static int length(int message) {
        return 1 + message % 251;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldCarryLargeMessagesAndLevelsBothWays(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (Connected pair = new Connected(setup)) {
            int length = 3 << 20;
            pair.pair.a.fill(0, length, 8);
            pair.pair.b.fill(0, length, 9);
            assertEquals(0, pair.endpointA.messages().tsendmsg(
                pair.pair.a.memory.address(0), length, 0, 0, 1, 1, Flags.DELIVERY_COMPLETE));
            assertEquals(0, pair.endpointB.tsend(pair.pair.b.memory.address(0), length, 0, 2, 2));
            assertEquals(0, pair.endpointA.trecv(pair.pair.a.memory.address(8 << 20), length, ANY, 2, 0, 3));
            assertEquals(0, pair.endpointB.trecv(pair.pair.b.memory.address(8 << 20), length, ANY, 1, 0, 4));
            pair.a.completion();
            pair.a.completion();
            pair.b.completion();
            pair.b.completion();
            pair.pair.a.assertFilled(8 << 20, length, 9);
            pair.pair.b.assertFilled(8 << 20, length, 8);
            // short ones with levels, in place, and seen by a peek
            assertEquals(0, pair.endpointB.trecv(pair.pair.b.memory.address(0), 64, ANY, 5, 0, 5));
            if (setup.isForeign()) {
                assertEquals(-FabricErrno.EBADFLAGS, pair.endpointA.messages().tsendmsg(
                    pair.pair.a.memory.address(0), 64, 0, 0, 5, 6, Flags.MATCH_COMPLETE));
            }
            assertEquals(0, pair.endpointA.messages().tsendmsg(
                pair.pair.a.memory.address(0), 64, 0, 0, 5, 6, setup.strongestLevel()));
            pair.b.completion(5);
            pair.a.completion(6);
            SendClaim claim = new SendClaim();
            assertEquals(0, pair.endpointA.tryClaim(16, claim));
            claim.buffer().putLong(0, 42);
            assertEquals(0, claim.commit(16, ANY, 6, 8));
            assertEquals(0, pair.endpointB.trecv(pair.pair.b.memory.address(0), 64, ANY, 6, 0, 7));
            assertEquals(16, pair.b.completion(7).len());
            assertEquals(42, pair.pair.b.memory.buffer().getLong(0));
        }
    }
}
