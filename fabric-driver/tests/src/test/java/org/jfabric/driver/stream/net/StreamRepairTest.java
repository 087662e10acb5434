package org.jfabric.driver.stream.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jfabric.codec.stream.AcceptDecoder;
import org.jfabric.codec.stream.DataDecoder;
import org.jfabric.codec.stream.FragmentDecoder;
import org.jfabric.codec.stream.JoinDecoder;
import org.jfabric.codec.stream.LeaveDecoder;
import org.jfabric.codec.stream.LostDecoder;
import org.junit.jupiter.api.Test;

/** How long a loss takes, and who pays for it; in simulated time, without any chance. */
class StreamRepairTest {
    private static final int RING = 1 << 20;
    private static final long STEP_NS = 1_000;
    private static final UUID LOG = new UUID(1, 2);

    private final SimulatedPaths network = new SimulatedPaths(new SplittableRandom(1));
    private final ListSource source = new ListSource(LOG, 1, 0, RING);
    private final List<StreamNet> nets = new ArrayList<>();
    private final List<ListSink> sinks = new ArrayList<>();
    private final List<StreamReader> readers = new ArrayList<>();
    private StreamWriter writer;

    private void open(StreamPolicy policy, int hosts, int paths, boolean isMulticast) {
        StreamNet net = net();
        List<StreamPath> ways = new ArrayList<>();
        for (int i = 0; i < paths; i++) {
            SimulatedPaths.Port port = network.open("10.0.0.1", 4100 + i);
            if (isMulticast) {
                network.joinGroup(port, SimulatedPaths.name("239.0.0.1", 4100 + i));
            }
            ways.add(new StreamPath(
                net.open(port), isMulticast ? SimulatedPaths.name("239.0.0.1", 4100 + i) : null));
        }
        writer = net.publish("quotes", source, policy, ways);
        source.writer = writer;
        for (int host = 0; host < hosts; host++) {
            join(host, 4200, paths, isMulticast);
        }
        runUntil(() -> writer.readers().size() == hosts
            && writer.readers().stream().allMatch(reader -> reader.window() > 0), "joined");
        run(10_000_000);
    }

    private List<StreamPath> join(int host, int port0, int paths, boolean isMulticast) {
        StreamNet net = net();
        List<StreamPath> ways = new ArrayList<>();
        for (int i = 0; i < paths; i++) {
            SimulatedPaths.Port port = network.open("10.0.1." + host, port0 + i);
            if (isMulticast) {
                network.joinGroup(port, SimulatedPaths.name("239.0.0.1", 4100 + i));
            }
            ways.add(new StreamPath(net.open(port),
                SimulatedPaths.name(isMulticast ? "239.0.0.1" : "10.0.0.1", 4100 + i)));
        }
        ListSink sink = new ListSink("reader" + host, Map.of(LOG, source));
        sink.network = network;
        sinks.add(sink);
        readers.add(net.subscribe("quotes", "reader" + host, null, sink, ways));
        return ways;
    }

    private StreamNet net() {
        StreamNet net = new StreamNet(network.random::nextLong, SimulatedPaths.SILENCE_NS, network.nowNs);
        nets.add(net);
        return net;
    }

    private void step() {
        network.advance(network.nowNs + STEP_NS);
        nets.forEach(net -> net.step(network.nowNs));
        sinks.forEach(sink -> sink.consume(100));
    }

    private void run(long durationNs) {
        for (long end = network.nowNs + durationNs; network.nowNs < end;) {
            step();
        }
    }

    private void runUntil(BooleanSupplier condition, String what) {
        long end = network.nowNs + 2_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertTrue(network.nowNs < end, () -> what + ": " + sinks + readers + writer.readers());
            step();
        }
    }

    private void offer(int length) {
        assertTrue(source.offer(new ListSource.Message(0, 0, 0, new byte[length])));
    }

    private static int template(byte[] bytes) {
        return bytes[2] & 0xff | (bytes[3] & 0xff) << 8;
    }

    private static boolean isMessage(byte[] bytes) {
        return template(bytes) == DataDecoder.TEMPLATE_ID || template(bytes) == FragmentDecoder.TEMPLATE_ID;
    }

    /** Loses the next datagrams with messages that come to a host. */
    private void lose(int host, int count) {
        AtomicInteger left = new AtomicInteger(count);
        network.loss = (from, to, bytes) -> isMessage(bytes) && to.host.equals("10.0.1." + host)
            && left.getAndDecrement() > 0;
    }

    @Test
    void shouldRepairOneDatagramWithinTwoRoundTripsWhenOthersFollow() {
        open(StreamPolicy.reliable(), 1, 1, false);
        lose(0, 1);
        long sentNs = network.nowNs;
        offer(64);
        step();
        offer(64);
        runUntil(() -> sinks.getFirst().next == 2, "repaired");
        long oneWayNs = network.delayNs;
        assertTrue(network.nowNs - sentNs <= oneWayNs + 2 * oneWayNs + 10 * STEP_NS,
            () -> "after " + (network.nowNs - sentNs) + " ns with " + oneWayNs + " ns one way");
    }

    @Test
    void shouldRepairTheLastDatagramWithinTwoRoundTrips() {
        open(StreamPolicy.reliable(), 1, 1, false);
        lose(0, 1);
        long sentNs = network.nowNs;
        offer(64);
        runUntil(() -> sinks.getFirst().next == 1, "repaired");
        assertTrue(network.nowNs - sentNs <= 4 * network.delayNs + 10 * STEP_NS,
            () -> "after " + (network.nowNs - sentNs) + " ns with " + network.delayNs + " ns one way");
    }

    @Test
    void shouldAskOnlyForTheFragmentThatIsMissing() {
        open(StreamPolicy.reliable(), 1, 1, false);
        AtomicInteger fragments = new AtomicInteger();
        network.loss = (from, to, bytes) -> isMessage(bytes) && fragments.incrementAndGet() == 5;
        offer(100_000);
        runUntil(() -> sinks.getFirst().next == 1, "repaired");
        assertEquals(1, writer.repairs(), "fragments sent again");
    }

    @Test
    void shouldRepairWithTheGroupWhenSeveralHostsMissTheSame() {
        open(StreamPolicy.reliable(), 4, 1, true);
        AtomicInteger left = new AtomicInteger(4);
        network.loss = (from, to, bytes) -> isMessage(bytes) && left.getAndDecrement() > 0;
        long before = writer.repairs();
        offer(64);
        step();
        offer(64);
        runUntil(() -> sinks.stream().allMatch(sink -> sink.next == 2), "repaired");
        assertTrue(writer.repairs() - before <= 3, () -> "repairs " + (writer.repairs() - before));
    }

    @Test
    void shouldRepairOnceInARoundTripHoweverOftenItIsAsked() {
        open(StreamPolicy.reliable(), 1, 1, false);
        lose(0, 1);
        network.doubledPerMille = 1000;
        offer(64);
        step();
        offer(64);
        runUntil(() -> sinks.getFirst().next == 2, "repaired");
        run(2 * network.delayNs);
        assertEquals(1, writer.repairs(), "repairs");
    }

    @Test
    void shouldSendOneDatagramForSeveralShortMessagesOfAStep() {
        open(StreamPolicy.reliable(), 1, 1, false);
        long before = writer.datagrams();
        for (int i = 0; i < 16; i++) {
            offer(64);
        }
        runUntil(() -> sinks.getFirst().next == 16, "received");
        assertEquals(1, writer.datagrams() - before);
    }

    @Test
    void shouldAskForNothingWhenTheOtherPathHasIt() {
        open(StreamPolicy.reliable(), 1, 2, false);
        network.loss = (from, to, bytes) -> isMessage(bytes) && to.name.port() == 4200;
        for (int i = 0; i < 1000; i++) {
            offer(64);
            run(20_000);
        }
        runUntil(() -> sinks.getFirst().next == 1000, "received");
        assertEquals(0, readers.getFirst().requests(), "requests");
        assertEquals(0, writer.repairs(), "repairs");
    }

    @Test
    void shouldWaitForASlowerPathBeforeItAsks() {
        network.slowPort = 4201;
        network.slowNs = network.delayNs / 2;
        open(StreamPolicy.reliable(), 1, 2, false);
        AtomicInteger messages = new AtomicInteger();
        network.loss = (from, to, bytes) -> isMessage(bytes) && to.name.port() == 4200
            && messages.incrementAndGet() % 10 == 0;
        for (int i = 0; i < 1000; i++) {
            offer(64);
            run(20_000);
        }
        runUntil(() -> sinks.getFirst().next == 1000, "received");
        assertEquals(0, readers.getFirst().requests(), "requests");
    }

    @Test
    void shouldAskWhenBothPathsHaveLostTheSame() {
        open(StreamPolicy.reliable(), 1, 2, false);
        long sentNs = network.nowNs;
        lose(0, 2);
        offer(64);
        step();
        offer(64);
        runUntil(() -> sinks.getFirst().next == 2, "repaired");
        assertTrue(network.nowNs - sentNs <= 3 * network.delayNs + 10 * STEP_NS,
            () -> "after " + (network.nowNs - sentNs) + " ns");
    }

    @Test
    void shouldLearnAtOnceThatAMessageIsLost() {
        open(StreamPolicy.lossy(), 1, 1, false);
        lose(0, 10_000);
        // more than a ring
        for (int i = 0; i < 200; i++) {
            offer(10_000);
            run(50_000);
        }
        AtomicInteger answers = new AtomicInteger();
        network.loss = (from, to, bytes) -> template(bytes) == LostDecoder.TEMPLATE_ID
            && answers.incrementAndGet() < 0;
        runUntil(() -> sinks.getFirst().next == 200, "gap and the rest");
        assertEquals(source.oldest(), sinks.getFirst().lost);
        assertEquals(1, sinks.getFirst().gaps);
        assertTrue(answers.get() > 0);
    }

    @Test
    void shouldSendNoMoreThanTheRingOfTheReaderHasRoomFor() {
        open(StreamPolicy.reliable(), 1, 1, false);
        ListSink slow = sinks.removeFirst();
        long end = network.nowNs + 100_000_000;
        while (network.nowNs < end) {
            source.offer(new ListSource.Message(0, 0, 0, new byte[1000]));
            step();
        }
        long most = RING - RING / 8 + SimulatedPaths.DATAGRAM_BYTES;
        assertTrue(slow.usedBytes() > most / 2 && slow.usedBytes() <= most, slow::toString);
        assertEquals(0, readers.getFirst().requests(), "requests");
        slow.consume(Integer.MAX_VALUE);
        sinks.add(slow);
        runUntil(() -> slow.next == source.next(), "all the rest");
    }

    @Test
    void shouldNotSendAnotherRingToAReaderThatDoesNotRead() {
        open(StreamPolicy.reliable(), 1, 1, false);
        nets.remove(1);
        int offered = 0;
        while (offered < 10_000 && source.offer(new ListSource.Message(0, 0, 0, new byte[1000]))) {
            offered++;
            network.advance(network.nowNs + STEP_NS);
            nets.forEach(net -> net.step(network.nowNs));
        }
        assertTrue(offered >= RING / 1088 - 1 && offered < 1024, "accepted " + offered);
    }

    /** A reliable writer waits for a reader that it does not know to have left. */
    @Test
    void shouldLeaveThoughTheDatagramsThatSaySoAreLost() {
        open(StreamPolicy.reliable(), 0, 1, false);
        StreamPath way = join(0, 4200, 1, false).getFirst();
        runUntil(() -> writer.readers().size() == 1, "joined");
        AtomicInteger left = new AtomicInteger(2);
        network.loss = (from, to, bytes) -> template(bytes) == LeaveDecoder.TEMPLATE_ID && left.getAndDecrement() > 0;
        long leftNs = network.nowNs;
        readers.getFirst().leave();
        nets.getLast().close(way.node());
        assertTrue(nets.getLast().isClosing());
        runUntil(() -> writer.readers().isEmpty() && !nets.getLast().isClosing(), "left, and the socket closed");
        assertTrue(network.nowNs - leftNs <= 50 * network.delayNs, () -> "after " + (network.nowNs - leftNs) + " ns");
    }

    /** It would be waited for until it counts as silent. */
    @Test
    void shouldNotComeBackByALateCopyOfItsJoin() {
        open(StreamPolicy.reliable(), 0, 1, false);
        List<Runnable> late = new ArrayList<>();
        network.loss = (from, to, bytes) -> {
            if (template(bytes) == JoinDecoder.TEMPLATE_ID) {
                late.add(() -> from.send(bytes, to.name));
            }
            return false;
        };
        List<StreamPath> ways = join(0, 4200, 1, false);
        runUntil(() -> writer.readers().size() == 1, "joined");
        readers.getFirst().leave();
        runUntil(() -> writer.readers().isEmpty(), "left");
        assertEquals(2, late.size(), "without a cookie, and with it");
        List.copyOf(late).forEach(Runnable::run);
        run(10 * network.delayNs);
        assertEquals(List.of("joined reader0", "left reader0 0"), source.events);
        // one of before does not take the place of another one at its address either
        readers.add(nets.getLast().subscribe("quotes", "reader1", null, new ListSink("reader1", Map.of(LOG, source)),
            ways));
        runUntil(() -> writer.readers().size() == 1, "joined by another one");
        late.get(1).run();
        run(10 * network.delayNs);
        assertEquals(List.of("joined reader0", "left reader0 0", "joined reader1"), source.events);
    }

    /** It does not have the number yet by which it would leave. */
    @Test
    void shouldLeaveThoughTheWriterWasNotHeardToAcceptIt() {
        open(StreamPolicy.reliable(), 0, 1, false);
        network.loss = (from, to, bytes) -> template(bytes) == AcceptDecoder.TEMPLATE_ID && readers.isEmpty();
        join(0, 4200, 1, false);
        StreamReader reader = readers.removeFirst();
        runUntil(() -> writer.readers().size() == 1, "joined");
        reader.leave();
        run(2 * network.delayNs);
        readers.add(reader);
        long leftNs = network.nowNs;
        runUntil(() -> writer.readers().isEmpty(), "left");
        assertTrue(network.nowNs - leftNs <= 50 * network.delayNs, () -> "after " + (network.nowNs - leftNs) + " ns");
    }

    @Test
    void shouldNotTakeThePlaceOfTheNextReaderWhileItLeaves() {
        open(StreamPolicy.reliable(), 0, 1, false);
        AtomicInteger joins = new AtomicInteger();
        // the first one has no cookie yet
        network.loss = (from, to, bytes) ->
            template(bytes) == JoinDecoder.TEMPLATE_ID && joins.getAndIncrement() > 0 && readers.isEmpty();
        List<StreamPath> ways = join(0, 4200, 1, false);
        StreamReader reader = readers.removeFirst();
        runUntil(() -> joins.get() > 1, "asks to join");
        reader.leave();
        readers.add(nets.getLast().subscribe("quotes", "reader1", null, new ListSink("reader1", Map.of(LOG, source)),
            ways));
        run(1_000_000_000);
        assertEquals(List.of("joined reader1"), source.events);
    }

    @Test
    void shouldCountAHostOnceForAQuorumWhenItsDriverWasKilledAndIsBack() {
        open(StreamPolicy.quorum(2), 1, 1, false);
        nets.removeLast();
        join(0, 4300, 1, false);
        runUntil(() -> writer.readers().size() == 2, "joined again");
        offer(64);
        runUntil(() -> sinks.getLast().next == 1, "received");
        run(50_000_000);
        assertEquals(1, writer.hosts());
        assertEquals(0, writer.needed(), "two hosts are to have it");
        join(1, 4200, 1, false);
        runUntil(() -> writer.hosts() == 2 && writer.needed() == 1, "joined by another host");
    }
}
