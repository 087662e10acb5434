package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.jfabric.driver.config.Takeover;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.rxm.RxmLink;
import org.jfabric.driver.link.rxm.RxmSettings;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.link.scripted.ScriptedConnections;
import org.jfabric.driver.link.scripted.StepServices;
import org.jfabric.driver.link.support.UnknownPeers;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines over rxm over connections that a script delays, blocks and cuts into pieces. */
class RxmEngineTest {
    private static final int EAGER = 256;
    private static final int SEGMENTED = 2048;
    private static final int SLOTS = 40;

    private Script script = new Script(1);
    private Links links = new Links(script);
    private Engines rig = new Engines(script, links);

    static final class Links extends Engines.LinkMaker {
        final ScriptedConnections.Network network;
        final Map<String, StepServices> services = new HashMap<>();
        private final List<RxmLink> all = new ArrayList<>();
        private final Script script;
        int eagerLimit = EAGER;
        int strangers = 1000;

        Links(Script script) {
            this.script = script;
            network = new ScriptedConnections.Network(script);
        }

        @Override
        String linkName() {
            return "rxm";
        }

        @Override
        String address(String name) {
            return "fi_sockaddr_in://192.0.2." + (name.charAt(0) - 'a' + 1) + ":4500";
        }

        @Override
        Link open(String address) {
            StepServices mine = new StepServices(script);
            services.put(address, mine);
            RxmLink link = new RxmLink("rxm", new ScriptedConnections(network), mine,
                new RxmSettings(
                    eagerLimit, SEGMENTED, 100 * StepServices.STEP_NS, new UnknownPeers.Limits(strangers, strangers),
                    0, Takeover.PROBE));
            all.add(link);
            return link;
        }

        @Override
        BoundAddress bind(String address) {
            return new BoundAddress() {
                @Override
                public String address() {
                    return address;
                }

                @Override
                public void close() {
                    // there is no socket
                }
            };
        }

        @Override
        boolean isQuiet() {
            return network.isQuiet() && all.stream().noneMatch(RxmLink::isWaiting);
        }
    }

    @AfterEach
    void close() {
        rig.close();
    }

    private String errorsOf(Engines.Node node) {
        return links.services.get(node.address).errors.toString();
    }

    private void begin(long seed) {
        script = new Script(seed);
        links = new Links(script);
        rig = new Engines(script, links);
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "256", "257", "2048", "2049", "200000"})
    void messageOfEachWayArrivesPostedForOrNot(int length) {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        b.fiAddr(a);
        for (boolean posted : new boolean[] {true, false}) {
            a.fill(0, length, 5);
            if (posted) {
                b.trecv(4096, length, 9, 200);
            }
            a.tsend(b, 0, length, 9, 100);
            if (!posted) {
                rig.settle();
                b.trecv(4096, length, 9, 200);
            }
            CompletionReader.Entry received = b.next();
            assertEquals(0, received.errno());
            assertEquals(length, received.length());
            assertEquals(9, received.tag());
            assertEquals(0, received.source());
            b.assertFilled(4096, length, 5);
            assertEquals(100, a.next().context());
        }
        rig.settle();
        assertEquals(1, links.network.connectionsUp());
        a.assertAtRest();
        b.assertAtRest();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100, 256, 1000, 30_000})
    void shortReceiveIsTruncatedAndTheSenderIsTold(int length) {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        a.fill(0, length + 50, 3);
        b.receive(Engines.MSG, b.buf(0), length, -1, 0, 0, 200);
        a.send(b, 0, length + 50, 100);
        CompletionReader.Entry received = b.next();
        assertEquals(FabricErrno.ETRUNC, received.errno());
        b.assertFilled(0, length, 3);
        assertEquals(0, a.next().errno());
        rig.settle();
        a.assertAtRest();
        b.assertAtRest();
    }

    @Test
    void oneConnectionIsLeftWhenBothSidesAskAtOnce() {
        script.maxConnectSteps = 5;
        script.maxDelaySteps = 3;
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        a.trecv(0, 10, 1, 1);
        b.trecv(0, 10, 1, 1);
        a.tsend(b, 100, 10, 1, 2);
        b.tsend(a, 100, 10, 1, 2);
        for (int i = 0; i < 2; i++) {
            assertEquals(0, a.next().errno());
            assertEquals(0, b.next().errno());
        }
        rig.settle();
        assertEquals(1, links.network.connectionsUp());
        a.assertAtRest();
        b.assertAtRest();
    }

    @Test
    void peerThatWasStartedAnewTakesThePlaceOfTheOldOne() {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        b.trecv(0, 10, 1, 1);
        a.tsend(b, 0, 10, 1, 2);
        a.next();
        b.next();
        // the end of the first is not noticed before the second one asks
        script.maxNoticeSteps = 1000;
        a.engine.removeEndpoint(a.endpoint);
        a.enable();
        b.trecv(0, 10, 2, 3);
        a.tsend(b, 0, 10, 2, 4);
        assertEquals(4, a.next().context());
        assertEquals(3, b.next().context());
        assertEquals(1, links.network.connectionsUp());
    }

    @Test
    void peerWithAnotherEagerLimitIsRefusedAndTheReasonSaysWhatToSet() {
        Engines.Node a = rig.add("a");
        links.eagerLimit = 512;
        Engines.Node b = rig.add("b");
        a.tsend(b, 0, 10, 1, 2);

        assertEquals(FabricErrno.ECONNREFUSED, a.next().errno());
        assertTrue(errorsOf(b).contains("FI_OFI_RXM_BUFFER_SIZE"), () -> errorsOf(b));
        assertEquals(1, links.network.rejections);
        rig.settle();
        a.assertAtRest();
    }

    @Test
    void strangersBeyondTheLimitAreRefusedAndWhoIsKnownIsNot() {
        links.strangers = 1;
        Engines.Node b = rig.add("b");
        Engines.Node first = rig.add("c");
        Engines.Node second = rig.add("d");
        Engines.Node known = rig.add("e");
        b.fiAddr(known);
        for (Engines.Node from : List.of(first, second, known)) {
            b.trecv(0, 10, 1, 1);
            from.tsend(b, 0, 10, 1, 2);
            assertEquals(from == second ? FabricErrno.ECONNREFUSED : 0, from.next().errno());
        }
        assertEquals(1, links.services.get(b.address).counter("rxm: connections refused because of limits"));
        // who becomes known makes room
        b.fiAddr(first);
        second.tsend(b, 0, 10, 1, 2);
        assertEquals(0, second.next().errno());
        rig.settle();
        assertEquals(3, links.network.connectionsUp());
    }

    @Test
    void taggedMessageWithoutHeaderIsTaken() {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        b.trecv(0, 10, 1, 1);
        a.tsend(b, 0, 10, 1, 2);
        a.next();
        b.next();
        for (int streamed = 0; streamed <= 100; streamed += 100) {
            script.streamPercent = streamed;
            b.trecv(64, 3, 77, 8);
            links.network.send(a.address, Flags.TAGGED, 77, new byte[] {1, 2, 3});
            CompletionReader.Entry entry = b.next();
            assertEquals(8, entry.context());
            assertEquals(77, entry.tag());
            assertEquals(3, entry.length());
        }
        rig.settle();
        b.assertAtRest();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void garbageEndsThatConnectionOnly(long seed) {
        begin(seed);
        Random random = new Random(seed);
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        Engines.Node c = rig.add("c");
        for (Engines.Node from : List.of(a, c)) {
            b.trecv(0, 10, 1, 1);
            from.tsend(b, 0, 10, 1, 2);
            from.next();
            b.next();
        }
        byte[] garbage = new byte[random.nextInt(400)];
        random.nextBytes(garbage);
        links.network.send(a.address, Flags.MSG, 0, garbage);
        rig.settle();

        assertEquals(1, links.network.connectionsUp());
        assertTrue(errorsOf(b).contains(a.address), () -> errorsOf(b));
        b.trecv(0, 10, 3, 1);
        c.tsend(b, 0, 10, 3, 2);
        assertEquals(0, c.next().errno());
        assertEquals(0, b.next().errno());
        b.assertAtRest();
    }

    /** Packets as C peers send them, with some bytes changed, cut or longer. */
    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15, 16})
    void mutatedPacketsAreTakenOrEndThatConnection(long seed) {
        List<String> captures = List.of(
            "04000000 00000000 0100000000000000 0000000000000000 0000000000000000"
                + "02000100 00000000 1000000000000000 0000000000000000 d204000000000000" + "41".repeat(16),
            "04020000 00000000 0100000000000000 0000000000000000 0000000000000000"
                + "02000000 00000000 400d030000000000 0000000000000000 0000000000000000"
                + "0000000000000000 400d030000000000 0000008000000000" + "00".repeat(72) + "0100000000000000",
            "04010010 00000000 0100000000000000 0900000000000000 0100000000000000"
                + "02000100 00000000 0003000000000000 0000000000000000 d204000000000000" + "42".repeat(16),
            "04030000 00000000 0100000000000000 0000000000000000" + "00".repeat(32) + "02000000" + "00".repeat(28));
        begin(seed);
        Random random = new Random(seed);
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        Engines.Node c = rig.add("c");
        b.trecv(0, 10, 1, 1);
        c.tsend(b, 0, 10, 1, 2);
        assertEquals(0, b.next().errno());
        int ended = 0;
        for (int round = 0; round < 200; round++) {
            if (links.network.connectionsUp() < 2) {
                ended++;
                b.trecv(0, 10, 1, 1);
                a.tsend(b, 0, 10, 1, 2);
                rig.settle();
                a.completions.takeAll();
                b.completions.takeAll();
            }
            byte[] bytes = HexFormat.of().parseHex(captures.get(random.nextInt(captures.size())).replace(" ", ""));
            for (int i = random.nextInt(4); i > 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            if (random.nextInt(4) == 0) {
                bytes = Arrays.copyOf(bytes, random.nextInt(2 * bytes.length));
            }
            links.network.send(a.address, Flags.MSG, 0, bytes);
            rig.settle();
            long unreserved = b.endpoint.receiver().scan().unreservedBytes();
            assertTrue(unreserved >= rig.settings.unexpectedBudgetBytes() / 2, "unreserved " + unreserved);
        }
        assertTrue(ended > 1, "connections ended " + ended);
        b.trecv(0, 10, 3, 1);
        c.tsend(b, 0, 10, 3, 2);
        assertEquals(0, b.next().errno());
    }

    static LongStream seeds() {
        return LongStream.range(0, 40);
    }

    /** Messages of which more than the sending is asked for end behind their receives; those without bytes before. */
    @ParameterizedTest
    @MethodSource("seeds")
    void confirmedMessagesEndWhenAReceiveHasThem(long seed) {
        begin(seed);
        script.randomize();
        Random random = new Random(seed);
        links.network.receives = seed % 2 == 0 ? 0 : 4 + random.nextInt(12);
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        long[] levels = {Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE};
        for (int round = 0; round < 30; round++) {
            int length = random.nextInt(4) == 0 ? 0 : 1 + random.nextInt(random.nextBoolean() ? 100 : 6000);
            long level = levels[random.nextInt(3)];
            boolean posted = random.nextBoolean();
            boolean fenced = random.nextInt(4) == 0;
            boolean refused = level == Flags.MATCH_COMPLETE && (fenced || length == 0);
            a.fill(0, length, round);
            if (posted && !refused) {
                b.trecv(8192, length, round, 1000);
            }
            a.send(Engines.TAGGED | level | (fenced ? Flags.FENCE : 0), a.buf(0), length, a.fiAddr(b), round, 0, round);
            if (refused) {
                assertEquals(FabricErrno.EOPNOTSUPP, a.next().errno());
                continue;
            }
            if (!posted) {
                rig.steps(50);
                if (length != 0) {
                    a.assertNoEntry();
                }
                b.trecv(8192, length, round, 1000);
            }
            CompletionReader.Entry sent = a.next();
            assertEquals(0, sent.errno());
            assertEquals(round, sent.context());
            if (length != 0) {
                CompletionReader.Entry received = b.completions.take();
                assertEquals(length, received.length());
            } else {
                assertEquals(0, b.next().length());
            }
            b.assertFilled(8192, length, round);
        }
        rig.settle();
        a.assertAtRest();
        b.assertAtRest();
    }

    /** A schedule of messages in both directions, of all lengths, posted for before and after they come. */
    @ParameterizedTest
    @MethodSource("seeds")
    void everyMessageArrivesOnceAndWhole(long seed) {
        begin(seed);
        script.randomize();
        Random random = new Random(seed);
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        run(random, a, b, 150);
        rig.settle();
        assertEquals(1, links.network.connectionsUp());
        a.assertAtRest();
        b.assertAtRest();
    }

    /** The same where both ends count receives, of which there are few; none comes without. */
    @ParameterizedTest
    @MethodSource("seeds")
    void everyMessageHasAReceiveWhereTheyAreCounted(long seed) {
        begin(seed);
        script.randomize();
        Random random = new Random(seed);
        links.network.receives = 4 + random.nextInt(12);
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        run(random, a, b, 150);
        rig.settle();
        assertEquals("[]", errorsOf(a));
        assertEquals("[]", errorsOf(b));
        a.assertAtRest();
        b.assertAtRest();
    }

    private void run(Random random, Engines.Node a, Engines.Node b, int count) {
        List<Engines.Node> nodes = List.of(a, b);
        int[] sent = new int[2];
        int[] posted = new int[2];
        int[] sendsDone = new int[2];
        int[] receivesDone = new int[2];
        // they end in another order than they began
        BitSet[] sends = {new BitSet(), new BitSet()};
        BitSet[] receives = {new BitSet(), new BitSet()};
        int[][] lengths = new int[2][count];
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < count; i++) {
                lengths[side][i] = random.nextInt(4) == 0 ? random.nextInt(6000) : random.nextInt(300);
            }
        }
        for (int step = 0; sendsDone[0] + sendsDone[1] + receivesDone[0] + receivesDone[1] < 4 * count; step++) {
            assertTrue(step < 500_000, () -> "sent " + List.of(sent[0], sent[1]) + ", posted "
                + List.of(posted[0], posted[1]) + ", received " + List.of(receivesDone[0], receivesDone[1])
                + ", seed " + script.seed());
            for (int side = 0; side < 2; side++) {
                Engines.Node own = nodes.get(side);
                Engines.Node other = nodes.get(1 - side);
                if (sent[side] < count && sent[side] < sends[side].nextClearBit(0) + SLOTS && random.nextInt(3) == 0) {
                    int i = sent[side];
                    int offset = slot(i);
                    own.fill(offset, lengths[side][i], i);
                    sent[side] += own.tsend(other, offset, lengths[side][i], i, i) == 0 ? 1 : 0;
                }
                if (posted[side] < count && posted[side] < receives[side].nextClearBit(0) + SLOTS
                    && random.nextInt(3) == 0) {
                    int i = posted[side];
                    posted[side] += own.trecv(
                        Engines.MEMORY / 2 + slot(i), lengths[1 - side][i], i, 1000 + i) == 0 ? 1 : 0;
                }
                for (CompletionReader.Entry entry : own.completions.takeAll()) {
                    assertEquals(0, entry.errno());
                    if (entry.context() < 1000) {
                        sendsDone[side]++;
                        sends[side].set((int) entry.context());
                    } else {
                        receivesDone[side]++;
                        int i = (int) entry.context() - 1000;
                        receives[side].set(i);
                        assertEquals(lengths[1 - side][i], entry.length());
                        own.assertFilled(Engines.MEMORY / 2 + slot(i), lengths[1 - side][i], i);
                    }
                }
            }
            rig.step();
        }
    }

    /** Memory of a message; by the time that a slot is used again its message is over. */
    private static int slot(int index) {
        return index % SLOTS * 6100;
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyOperationEndsWhenConnectionsAreCut(long seed) {
        begin(seed);
        script.randomize();
        Random random = new Random(seed);
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        List<Integer> open = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            b.trecv(Engines.MEMORY / 2 + slot(i), 6000, i, 1000 + i);
            if (a.tsend(b, slot(i), random.nextInt(6000), i, i) == 0) {
                open.add(i);
            }
            rig.steps(random.nextInt(4));
            if (i % 10 == 9) {
                links.network.cut();
            }
        }
        rig.settle();
        for (int i = 0; i < 30; i++) {
            b.endpoint.cancel(1000 + i);
        }
        rig.settle();
        a.assertAtRest();
        b.assertAtRest();
    }
}
