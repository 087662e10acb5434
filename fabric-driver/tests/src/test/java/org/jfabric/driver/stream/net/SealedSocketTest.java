package org.jfabric.driver.stream.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import org.jfabric.driver.kit.Effort;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Groups whose members have a key, and attackers who have recorded everything. */
@Tag("hostile")
class SealedSocketTest {
    private static final UUID LOG = new UUID(1, 2);
    private static final String GROUP = "quotes";
    private static final int MUTATIONS = Effort.rounds(5_000, 100_000);

    private record Seen(SimulatedPaths.Port from, SimulatedPaths.Port to, byte[] bytes) {
    }

    private final SplittableRandom random = new SplittableRandom(11);
    private final SimulatedPaths network = new SimulatedPaths(random.split());
    private final ListSource source = new ListSource(LOG, 1, 0, 1 << 14);
    private final SimulatedPaths.Port writerPort = network.open("10.0.0.1", 4100);
    private final SimulatedPaths.Port readerPort = network.open("10.0.1.1", 4200);
    private final SimulatedPaths.Port attacker = network.open("10.0.9.9", 6666);
    private final List<Seen> seen = new ArrayList<>();
    private SealedSocket writerSocket;
    private SealedSocket readerSocket;
    private StreamNet writerNet;
    private StreamNet readerNet;
    private ListSink reader;

    private static GroupKeys keys(int... bytes) {
        List<byte[]> secrets = new ArrayList<>();
        for (int each : bytes) {
            byte[] secret = new byte[GroupKeys.LENGTH_BYTES];
            Arrays.fill(secret, (byte) each);
            secrets.add(secret);
        }
        return new GroupKeys(secrets);
    }

    private void openWriter(GroupKeys keys) {
        writerSocket = new SealedSocket(writerPort, keys, GROUP, true, 0, random::nextLong, () -> network.nowNs);
        writerNet = new StreamNet(random::nextLong, SimulatedPaths.SILENCE_NS, network.nowNs);
        source.writer = writerNet.publish(
            GROUP, source, StreamPolicy.reliable(), List.of(new StreamPath(writerNet.open(writerSocket), null)));
    }

    private ListSink subscribe(GroupKeys keys) {
        return subscribe(new SealedSocket(
            readerPort, keys, GROUP, false, 0, random::nextLong, () -> network.nowNs));
    }

    private ListSink subscribe(StreamSocket socket) {
        readerSocket = socket instanceof SealedSocket sealed ? sealed : null;
        readerNet = new StreamNet(random::nextLong, SimulatedPaths.SILENCE_NS, network.nowNs);
        reader = new ListSink("reader", Map.of(LOG, source));
        readerNet.subscribe(
            GROUP, "reader", null, reader, List.of(new StreamPath(readerNet.open(socket), writerPort.name)));
        return reader;
    }

    private void step(long elapsedNs) {
        network.advance(network.nowNs + elapsedNs);
        writerNet.step(network.nowNs);
        readerNet.step(network.nowNs);
        if (reader != null) {
            reader.consume(100);
        }
    }

    private void stream(int messages) {
        for (int i = 0; i < messages; i++) {
            source.offer(new ListSource.Message(0, 0, 0, new byte[random.nextInt(i % 9 == 0 ? 1_900 : 300)]));
            step(50_000);
        }
    }

    private void settle() {
        for (int i = 0; i < 2_000; i++) {
            step(100_000);
        }
    }

    private static long ignored(SealedSocket socket) {
        return socket.unopened() + socket.plainDatagrams() + socket.unadmitted();
    }

    private void record() {
        network.loss = (from, to, bytes) -> {
            if (seen.size() < 20_000) {
                seen.add(new Seen(from, to, bytes));
            }
            return false;
        };
    }

    /** RFC 5869 has no vector with this label; the extract and expand steps are those of its formulas. */
    @Test
    void shouldDeriveTheKeyAsRfc5869() throws Exception {
        byte[] use = GroupKeys.use(true, 0, GROUP);
        byte[] derived = keys(7).subkey(0, 3, 4, use, 5).getEncoded();
        javax.crypto.Mac mac = javax.crypto.Mac.getInstance("HmacSHA256");
        byte[] salt = java.nio.ByteBuffer.allocate(16).putLong(3).putLong(4).array();
        mac.init(new javax.crypto.spec.SecretKeySpec(salt, "HmacSHA256"));
        byte[] pseudoRandom = mac.doFinal(keys(7).secrets().getFirst());
        mac.init(new javax.crypto.spec.SecretKeySpec(pseudoRandom, "HmacSHA256"));
        mac.update("jfabric stream 1".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        mac.update(java.nio.ByteBuffer.allocate(4).putInt(5).array());
        mac.update(new byte[] {1, 0});
        mac.update(GROUP.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        assertArrayEquals(Arrays.copyOf(mac.doFinal(new byte[] {1}), 16), derived);
        for (byte[] other : List.of(
            keys(8).subkey(0, 3, 4, use, 5).getEncoded(), keys(7).subkey(0, 2, 4, use, 5).getEncoded(),
            keys(7).subkey(0, 3, 5, use, 5).getEncoded(), keys(7).subkey(0, 3, 4, use, 6).getEncoded(),
            keys(7).subkey(0, 3, 4, GroupKeys.use(false, 0, GROUP), 5).getEncoded(),
            keys(7).subkey(0, 3, 4, GroupKeys.use(true, 1, GROUP), 5).getEncoded(),
            keys(7).subkey(0, 3, 4, GroupKeys.use(true, 0, "other"), 5).getEncoded())) {
            assertNotEquals(Arrays.toString(derived), Arrays.toString(other));
        }
    }

    @Test
    void shouldOpenEachNumberOnceWhateverTheOrder() {
        SealedSession session = new SealedSession(1, 2, new byte[0]);
        SplittableRandom order = new SplittableRandom(3);
        java.util.Set<Long> opened = new java.util.HashSet<>();
        long newest = -1;
        for (int i = 0; i < 300_000; i++) {
            long number = Math.max(0, newest + order.nextLong(-9_000, i % 1000 == 0 ? 20_000 : 50));
            boolean isLate = newest - number >= 1 << 13;
            assertEquals(!isLate && !opened.contains(number), session.isNew(number), "number " + number);
            if (session.isNew(number)) {
                session.opened(number);
                opened.add(number);
                newest = Math.max(newest, number);
            }
        }
        assertTrue(!session.isNew(-1) && !session.isNew(Long.MAX_VALUE));
    }

    @Test
    void shouldBringEverythingOverALossyPathWithoutUsingANumberTwice() {
        openWriter(keys(1));
        ListSink sink = subscribe(keys(1));
        network.lostPerMille = 100;
        network.latePerMille = 50;
        record();
        stream(3_000);
        settle();
        assertEquals(source.next(), sink.next, sink::toString);
        assertTrue(sink.next > 1_000, sink::toString);
        assertEquals(0, sink.gaps);
        // what was sent twice was sealed anew
        Map<String, byte[]> numbers = new TreeMap<>();
        for (Seen each : seen) {
            byte[] before = numbers.put(Arrays.toString(Arrays.copyOf(each.bytes, 24)), each.bytes);
            assertTrue(before == null || Arrays.equals(before, each.bytes));
        }
        assertTrue(numbers.size() > 1_000);
    }

    @Test
    void shouldAcceptNothingOfAChangedDatagram() {
        openWriter(keys(1));
        ListSink sink = subscribe(keys(1));
        network.lostPerMille = 50;
        record();
        stream(1_000);
        settle();
        network.lostPerMille = 0;
        network.loss = (from, to, bytes) -> false;
        long refused = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            Seen one = seen.get(random.nextInt(seen.size()));
            byte[] bytes = one.bytes.clone();
            switch (random.nextInt(4)) {
                case 0 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
                case 1 -> bytes = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(16));
                default -> bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            SimulatedPaths.Port from = random.nextBoolean() ? one.from : attacker;
            from.send(bytes, one.to.name);
            refused++;
            // keys are made for so many unknown sessions at a time; without them nothing would be opened
            if (i % 32 == 0) {
                step(2_000_000);
                if (sink.next == source.next()) {
                    source.offer(new ListSource.Message(0, 0, 0, new byte[100]));
                }
            }
        }
        settle();
        assertEquals(refused, ignored(writerSocket) + ignored(readerSocket));
        assertEquals(source.next(), sink.next, sink::toString);
        assertEquals(1, source.writer.readers().size());
        assertEquals(FabricErrno.EKEYREJECTED, writerSocket.takeNotice().errno());
        assertNull(writerSocket.takeNotice());
    }

    @Test
    void shouldIgnoreWhatWasRecordedInThisAndInAnEarlierSession() {
        record();
        openWriter(keys(1));
        ListSink sink = subscribe(keys(1));
        stream(500);
        settle();
        assertEquals(source.next(), sink.next);
        // both run again: everything that was recorded is sealed well, and of yesterday
        openWriter(keys(1));
        readerNet = new StreamNet(random::nextLong, SimulatedPaths.SILENCE_NS, network.nowNs);
        List<Seen> old = List.copyOf(seen);
        network.loss = (from, to, bytes) -> false;
        for (Seen one : old) {
            one.from.send(one.bytes, one.to.name);
            attacker.send(one.bytes, one.to.name);
            step(200_000);
        }
        assertEquals(0, source.writer.readers().size());
        sink = subscribe(keys(1));
        stream(200);
        seen.clear();
        record();
        stream(200);
        List<Seen> today = List.copyOf(seen);
        network.loss = (from, to, bytes) -> false;
        for (List<Seen> replayed : List.of(old, today)) {
            for (Seen one : replayed) {
                one.from.send(one.bytes, one.to.name);
                step(200_000);
            }
        }
        settle();
        assertEquals(source.next(), sink.next, sink::toString);
        assertEquals(0, sink.gaps);
        assertEquals(1, source.writer.readers().size());
        assertTrue(ignored(writerSocket) > 100 && ignored(readerSocket) > 100);
    }

    /** Members of a multicast group get each other's datagrams, and their own. */
    @Test
    void shouldNameNoKeyWhenAllMembersHaveIt() {
        SocketName group = SimulatedPaths.name("239.0.0.1", 4100);
        List<SealedSocket> sockets = new ArrayList<>();
        List<StreamNet> nets = new ArrayList<>();
        List<ListSink> sinks = new ArrayList<>();
        ListSource second = new ListSource(new UUID(3, 4), 1, 0, 1 << 14);
        for (int i = 0; i < 4; i++) {
            SimulatedPaths.Port port = network.open("10.0.2." + i, 4100);
            network.joinGroup(port, group);
            sockets.add(new SealedSocket(port, keys(1), GROUP, i < 2, 0, random::nextLong, () -> network.nowNs));
            nets.add(new StreamNet(random::nextLong, SimulatedPaths.SILENCE_NS, network.nowNs));
        }
        for (int i : new int[] {0, 2, 3}) {
            List<StreamPath> way = List.of(new StreamPath(nets.get(i).open(sockets.get(i)), group));
            if (i == 0) {
                source.writer = nets.get(i).publish(GROUP, source, StreamPolicy.reliable(), way);
            } else {
                sinks.add(new ListSink("reader" + i, Map.of(LOG, source)));
                nets.get(i).subscribe(GROUP, "reader" + i, null, sinks.getLast(), way);
            }
        }
        for (int i = 0; i < 5_000; i++) {
            if (i == 1_500) {
                nets.get(1).publish(GROUP, second, StreamPolicy.reliable(),
                    List.of(new StreamPath(nets.get(1).open(sockets.get(1)), group)));
            }
            // in the end more datagrams than unknown ones are looked at
            network.advance(network.nowNs + (i < 3_000 ? 1_000_000 : 10_000));
            nets.forEach(net -> net.step(network.nowNs));
            sinks.forEach(sink -> sink.consume(100));
            source.offer(new ListSource.Message(0, 0, 0, new byte[random.nextInt(300)]));
        }
        sinks.forEach(sink -> assertTrue(sink.next > 3_500, sink::toString));
        assertEquals(0, sockets.getFirst().unadmitted());
        sockets.forEach(socket -> assertNull(socket.takeNotice()));
        assertTrue(source.events.contains("other 10.0.2.1:4100"), source.events::toString);
        assertEquals(List.of("other 10.0.2.0:4100"), second.events);
    }

    @Test
    void shouldNameNoKeyWhenItHearsReadersOfTheLastWriter() {
        openWriter(keys(1));
        subscribe(keys(1));
        stream(50);
        // at the same address
        openWriter(keys(1));
        stream(500);
        assertTrue(writerSocket.unadmitted() > 0);
        assertNull(writerSocket.takeNotice());
    }

    @Test
    void shouldChangeTheKeyWithoutAPause() {
        openWriter(keys(1));
        ListSink sink = subscribe(keys(1));
        network.lostPerMille = 20;
        stream(300);
        for (GroupKeys step : List.of(keys(1, 2), keys(2, 1), keys(2))) {
            readerSocket.keys(step);
            stream(300);
            writerSocket.keys(step);
            stream(300);
        }
        network.lostPerMille = 0;
        settle();
        assertEquals(source.next(), sink.next, sink::toString);
        assertEquals(0, sink.gaps);
        // who has the old key alone is out
        readerSocket.keys(keys(1));
        source.offer(new ListSource.Message(0, 0, 0, new byte[8]));
        for (int i = 0; i < 80; i++) {
            step(100_000_000);
        }
        assertEquals(source.next() - 1, sink.next);
        assertEquals(0, source.writer.readers().size());
    }

    @Test
    void shouldNotMixMembersWithAndWithoutThisKey() {
        openWriter(keys(1));
        for (StreamSocket socket : List.of(new SealedSocket(
            readerPort, keys(2), GROUP, false, 0, random::nextLong, () -> network.nowNs), readerPort,
            new SealedSocket(readerPort, keys(1), "other", false, 0, random::nextLong, () -> network.nowNs))) {
            ListSink sink = subscribe(socket);
            long unopened = writerSocket.unopened();
            long plain = writerSocket.plainDatagrams();
            for (int i = 0; i < 100; i++) {
                step(10_000_000);
            }
            assertNull(sink.start, sink::toString);
            assertEquals(socket == readerPort, writerSocket.plainDatagrams() > plain);
            assertEquals(socket != readerPort, writerSocket.unopened() > unopened);
            assertEquals(0, source.writer.readers().size());
        }
        assertTrue(writerSocket.takeNotice().getMessage().contains("quotes"));
    }
}
