package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.CompletionBatch;
import org.jfabric.CompletionHandler;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.Connected;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Times of arrival and departure in entries. */
@Tag("conformance")
@Timeout(120)
class TimestampTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final int LENGTH = 100;

    /** What an entry says. */
    private record Seen(long context, long flags, long timeNs) {
        boolean hasTime() {
            return (flags & Flags.TIMESTAMP) != 0;
        }
    }

    static long nowNs() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    private static Seen await(FabricNode node, Runnable pump) {
        List<Seen> seen = new ArrayList<>();
        Deadline.await("an entry", () -> {
            pump.run();
            node.cq.poll(entry -> seen.add(new Seen(entry.opContext(), entry.flags(), entry.timeNs())), 1);
            return !seen.isEmpty();
        }, () -> "none");
        return seen.getFirst();
    }

    static void assertIn(long fromNs, long timeNs, long toNs) {
        assertTrue(fromNs <= timeNs && timeNs <= toNs, () -> timeNs + " is not from " + fromNs + " to " + toNs
            + " (" + (timeNs - fromNs) + " of " + (toNs - fromNs) + " ns)");
    }

    /** The system begins to take times a moment after the first socket of the host has asked for them. */
    private static boolean isNotYet(long before, Seen arrived) {
        return before == 0 && arrived.timeNs == 0;
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, mode = EnumSource.Mode.EXCLUDE,
        names = {"EMBEDDED_NIO", "DTLS_EMBEDDED", "DTLS_NIO_IPV6", "DTLS_DAEMON"})
    void shouldSayWhenADatagramArrivedAndOverUdpWhenItLeft(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup, DatagramPair.hints().caps(
            Flags.MSG | Flags.SOURCE | Flags.TIMESTAMP))) {
            boolean hasDepartures = setup.link.equals("udp");
            assertNotEquals(0, pair.a.info.rxAttr().caps() & Flags.TIMESTAMP);
            assertEquals(hasDepartures, (pair.a.info.txAttr().caps() & Flags.TIMESTAMP) != 0);
            long before = 0;
            for (int i = 0; before == 0 || i < 500; i++) {
                assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), LENGTH, ANY, i));
                long fromNs = nowNs();
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), LENGTH, pair.toB, i));
                Seen left = await(pair.a, pair::pump);
                Seen arrived = await(pair.b, pair::pump);
                long toNs = nowNs();
                assertEquals(i, left.context);
                assertEquals(i, arrived.context);
                assertTrue(arrived.hasTime());
                assertEquals(hasDepartures, left.hasTime());
                if (isNotYet(before, arrived)) {
                    continue;
                }
                assertIn(Math.max(fromNs, before), arrived.timeNs, toNs);
                before = arrived.timeNs;
                if (hasDepartures) {
                    assertIn(fromNs, left.timeNs, arrived.timeNs);
                }
            }
        }
    }

    /** Message lengths: in the read-ahead buffer, and in pieces into their place. */
    private static final int[] LENGTHS = {0, 8, 1000, 300_000};

    private static FabricPair tcp(Setup setup, Info hints) {
        assumeTrue(setup.link.equals("tcp"), () -> "this run is for link " + setup.link);
        return new FabricPair(setup, hints, 512);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"NETWORK_EMBEDDED", "NETWORK_DAEMON"})
    void shouldSayWhenTheLastByteOfAMessageArrivedOverTcp(Setup setup) {
        try (FabricPair pair = tcp(setup, FabricPair.usualHints().caps(
            Flags.MSG | Flags.TAGGED | Flags.SOURCE | Flags.TIMESTAMP))) {
            assertNotEquals(0, pair.b.info.rxAttr().caps() & Flags.TIMESTAMP);
            assertEquals(0, pair.b.info.txAttr().caps() & Flags.TIMESTAMP);
            long before = 0;
            for (int i = 0; before == 0 || i < 200; i++) {
                int length = LENGTHS[i / 2 % LENGTHS.length];
                boolean isPosted = i % 2 == 0;
                if (isPosted) {
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), length, ANY, i, 0, i));
                }
                long fromNs = nowNs();
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), length, pair.toB, i, i));
                if (!isPosted) {
                    awaitUnexpected(pair, i);
                }
                long toNs = isPosted ? 0 : nowNs();
                if (!isPosted) {
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), length, ANY, i, 0, i));
                }
                Seen arrived = await(pair.b, pair.a::poll);
                assertEquals(new Seen(i, Flags.RECV | Flags.TAGGED | Flags.TIMESTAMP, arrived.timeNs), arrived);
                if (isNotYet(before, arrived)) {
                    continue;
                }
                assertIn(Math.max(before, fromNs), arrived.timeNs, isPosted || length > 100_000 ? nowNs() : toNs);
                before = arrived.timeNs;
            }
        }
    }

    /** Until a message with a tag has arrived, which no receive takes. */
    private static void awaitUnexpected(FabricPair pair, long tag) {
        Deadline.await("message " + tag, () -> {
            assertEquals(0, pair.b.endpoint.messages().trecvmsg(0, 0, ANY, tag, 0, tag, Flags.PEEK));
            FabricNode.Entry entry = null;
            while (entry == null) {
                pair.a.poll();
                entry = pair.b.poll();
            }
            return entry.err() == 0;
        }, () -> "none");
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"NETWORK_EMBEDDED", "NETWORK_DAEMON"})
    void shouldSayItOfBufferedMessagesToo(Setup setup) {
        try (FabricPair pair = tcp(setup, FabricPair.usualHints().mode(Mode.BUFFERED_RECV).caps(
            Flags.MSG | Flags.TAGGED | Flags.SOURCE | Flags.TIMESTAMP))) {
            long before = 0;
            for (int i = 0; before == 0 || i < 100; i++) {
                long fromNs = nowNs();
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), LENGTH, pair.toB, i));
                long[] seen = {0, -1, 0};
                CompletionHandler handler = entry -> {
                    seen[0] = entry.timeNs();
                    seen[1] = pair.b.cq.recvContext(entry).timeNs();
                    seen[2]++;
                };
                Deadline.await("a message", () -> {
                    pair.a.poll();
                    int result = pair.b.cq.poll(handler, 1);
                    assertTrue(result >= 0 || result == -FabricErrno.EAGAIN, () -> FabricErrno.name(-result));
                    return seen[2] != 0;
                }, () -> "none");
                assertEquals(seen[0], seen[1]);
                if (!isNotYet(before, new Seen(i, 0, seen[0]))) {
                    assertIn(fromNs, seen[0], nowNs());
                    before = seen[0];
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"NETWORK_EMBEDDED", "NETWORK_DAEMON"})
    void shouldSayItOfConnectedEndpointsToo(Setup setup) {
        assumeTrue(setup.link.equals("tcp"), () -> "this run is for link " + setup.link);
        Info hints = ConnectionSide.hints();
        try (Connected connected = new Connected(setup, hints.caps(hints.caps() | Flags.TIMESTAMP))) {
            FabricNode to = connected.pair.b;
            CompletionBatch batch = new CompletionBatch();
            long before = 0;
            for (int i = 0; before == 0 || i < 50; i++) {
                assertEquals(0, connected.endpointB.recv(to.memory.address(), LENGTH, ANY, i));
                long fromNs = nowNs();
                assertEquals(0, connected.endpointA.send(connected.pair.a.memory.address(), LENGTH, 0, i));
                Deadline.await("a message", () -> {
                    connected.pair.a.poll();
                    return connected.b.cq.readInPlace(batch, 1) == 1;
                }, () -> "none");
                assertEquals(i, batch.entry(0).opContext());
                Seen arrived = new Seen(i, 0, batch.entry(0).timeNs());
                if (!isNotYet(before, arrived)) {
                    assertIn(fromNs, arrived.timeNs, nowNs());
                    before = arrived.timeNs;
                }
                batch.release();
            }
        }
    }

    /** Without the capability an entry has neither flag nor time, and the system is not asked for any. */
    @Test
    void shouldHaveNoTimesUnlessTheyAreAskedFor() throws IOException {
        try (DatagramPair pair = new DatagramPair(DatagramSetup.EMBEDDED)) {
            assertEquals(0, pair.b.info.caps() & (Flags.TIMESTAMP | Flags.CARD_CLOCK));
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), LENGTH, ANY, 2));
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), LENGTH, pair.toB, 1));
            assertEquals(new Seen(1, Flags.SEND | Flags.MSG, 0), await(pair.a, pair::pump));
            assertEquals(new Seen(2, Flags.RECV | Flags.MSG, 0), await(pair.b, pair::pump));
            // hints without capabilities get all that cost nothing
            Info any = DatagramPair.hints().caps(0);
            assertEquals(0, pair.a.fabric.info(any).best().caps() & (Flags.TIMESTAMP | Flags.CARD_CLOCK));
        }
    }

    @Test
    void shouldTakeOnlyTheTimesOfTheSideThatAsksForThem() {
        Info hints = DatagramPair.hints().caps(Flags.MSG | Flags.SOURCE | Flags.TIMESTAMP);
        hints.txAttr().caps(Flags.MSG | Flags.SEND);
        try (DatagramPair pair = new DatagramPair(DatagramSetup.EMBEDDED, hints)) {
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), LENGTH, ANY, 2));
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), LENGTH, pair.toB, 1));
            assertEquals(new Seen(1, Flags.SEND | Flags.MSG, 0), await(pair.a, pair::pump));
            assertTrue(await(pair.b, pair::pump).hasTime());
        }
        hints = DatagramPair.hints().caps(Flags.MSG | Flags.SOURCE | Flags.TIMESTAMP);
        hints.rxAttr().caps(Flags.MSG | Flags.RECV);
        try (DatagramPair pair = new DatagramPair(DatagramSetup.EMBEDDED, hints)) {
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), LENGTH, ANY, 2));
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), LENGTH, pair.toB, 1));
            assertTrue(await(pair.a, pair::pump).hasTime());
            assertEquals(new Seen(2, Flags.RECV | Flags.MSG, 0), await(pair.b, pair::pump));
        }
    }

    /** Bursts: many are sent at once, and each has its own time. */
    @Test
    void shouldKeepTheOrderOfManySendsAndGiveEachItsOwnTime() {
        try (DatagramPair pair = new DatagramPair(DatagramSetup.EMBEDDED, DatagramPair.hints().caps(
            Flags.MSG | Flags.SOURCE | Flags.TIMESTAMP))) {
            int count = 200;
            boolean isOn = false;
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < count; i++) {
                    assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), LENGTH, ANY, i));
                }
                for (int i = 0; i < count; i++) {
                    assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), LENGTH, pair.toB, i));
                }
                long left = 0;
                long arrived = 0;
                for (int i = 0; i < count; i++) {
                    Seen send = await(pair.a, pair::pump);
                    Seen receive = await(pair.b, pair::pump);
                    assertEquals(i, send.context);
                    assertEquals(i, receive.context);
                    isOn |= receive.timeNs != 0;
                    if (isOn) {
                        assertIn(left + 1, send.timeNs, receive.timeNs);
                        assertTrue(receive.timeNs > arrived);
                        arrived = receive.timeNs;
                    }
                    left = send.timeNs;
                }
            }
        }
    }

    @Test
    void shouldRefuseWhatALinkCannotDo() {
        Path base = TestDirectory.create();
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", "loopback,shm,rxm,tcp,udp")
            .set("jfabric.udp.sockets", "NIO").build())) {
            Fabric fabric = driver.fabric();
            for (String link : new String[] {"loopback", "shm", "rxm"}) {
                assertEquals(FabricErrno.ENODATA, assertThrows(FabricException.class, () -> fabric.info(
                    new Info().caps(Flags.MSG | Flags.TIMESTAMP).linkName(link)).best()).errno(), link);
            }
            String nio = refusal(fabric, "udp", DatagramPair.hints().caps(Flags.MSG | Flags.TIMESTAMP));
            assertTrue(nio.contains("jfabric.udp.sockets=NIO"), nio);
            String card = refusal(fabric, "tcp", new Info().caps(Flags.MSG | Flags.TIMESTAMP | Flags.CARD_CLOCK)
                .srcAddr("fi_sockaddr_in://127.0.0.1:0"));
            assertTrue(card.contains("lo has no clock of its own"), card);
            String alone = refusal(fabric, "tcp", new Info().caps(Flags.MSG | Flags.CARD_CLOCK));
            assertTrue(alone.contains("CARD_CLOCK without TIMESTAMP"), alone);
            assertEquals("tcp", fabric.info(new Info().caps(Flags.MSG | Flags.TIMESTAMP)).best().linkName());
            fabric.close();
        }
        TestDirectory.delete(base);
    }

    private static String refusal(Fabric fabric, String link, Info hints) {
        return fabric.info(hints.linkName(link)).verdicts().stream().filter(each -> each.linkName().equals(link))
            .toList().toString();
    }
}
