package org.jfabric.driver.stream.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.stream.DataDecoder;
import org.jfabric.codec.stream.MessageHeaderEncoder;
import org.jfabric.codec.stream.NakEncoder;
import org.jfabric.codec.stream.StatusEncoder;
import org.jfabric.driver.kit.Effort;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Datagrams of peers that lie, and of those that are no peers. */
@Tag("hostile")
class StreamHostileTest {
    private static final int RING = 1 << 14;
    private static final int PAYLOAD = 300;
    private static final int MUTATIONS_OF_A_KIND = Effort.rounds(7_500, 100_000);
    private static final int KINDS = 14;
    private static final UUID LOG = new UUID(1, 2);
    private static final String GROUP = "quotes";

    private record Seen(SimulatedPaths.Port from, SimulatedPaths.Port to, byte[] bytes) {
    }

    private final SplittableRandom random = new SplittableRandom(7);
    private final SimulatedPaths network = new SimulatedPaths(random.split());
    private final ListSource source = new ListSource(LOG, 1, 0, RING);
    private final StreamNet writerNet = new StreamNet(random::nextLong, SimulatedPaths.SILENCE_NS, 0);
    private final SimulatedPaths.Port writerPort = network.open("10.0.0.1", 4100);
    private final StreamNode writerNode = writerNet.open(writerPort);
    private final StreamNet readerNet = new StreamNet(random::nextLong, SimulatedPaths.SILENCE_NS, 0);
    private final SimulatedPaths.Port readerPort = network.open("10.0.1.1", 4200);
    private final StreamNode readerNode = readerNet.open(readerPort);
    private final SimulatedPaths.Port attacker = network.open("10.0.9.9", 6666);
    private final Map<Integer, List<Seen>> seen = new TreeMap<>();
    private StreamWriter writer;
    private long writerSentBytes;

    private void open() {
        writer = writerNet.publish(GROUP, source, StreamPolicy.lossy(), List.of(new StreamPath(writerNode, null)));
        source.writer = writer;
        network.loss = (from, to, bytes) -> {
            if (to == attacker) {
                writerSentBytes += bytes.length;
            }
            List<Seen> same = seen.computeIfAbsent(template(bytes), k -> new ArrayList<>());
            if (same.size() < 64) {
                same.add(new Seen(from, to, bytes));
            }
            return false;
        };
    }

    private static int template(byte[] bytes) {
        return bytes.length < 4 ? -1 : bytes[2] & 0xff | (bytes[3] & 0xff) << 8;
    }

    private StreamReader subscribe(StreamSink sink) {
        return readerNet.subscribe(GROUP, "reader", null, sink, List.of(new StreamPath(readerNode, writerPort.name)));
    }

    private void step(long elapsedNs) {
        network.advance(network.nowNs + elapsedNs);
        writerNet.step(network.nowNs);
        readerNet.step(network.nowNs);
    }

    private void offer(int length) {
        source.offer(new ListSource.Message(random.nextInt(4), 0, 0, new byte[length]));
    }

    /** Has every kind of datagram sent once, by what a stream does. */
    private void recordAll() {
        network.lostPerMille = 100;
        for (int round = 0; round < 40; round++) {
            LooseSink sink = new LooseSink();
            StreamReader reader = subscribe(sink);
            if (round % 8 == 0) {
                // to a group that is not there
                readerNet.subscribe("none", "reader", null, new LooseSink(),
                    List.of(new StreamPath(readerNode, writerPort.name)));
            }
            for (int i = 0; i < 300; i++) {
                step(20_000);
                offer(i % 7 == 0 ? 1_900 : random.nextInt(PAYLOAD));
                if (round % 10 == 5 && i == 200) {
                    for (int k = 0; k < 100; k++) {
                        offer(1_000);
                    }
                }
            }
            if (round % 2 != 0) {
                writer.close(108);
                for (int i = 0; i < 400; i++) {
                    step(1_000_000);
                }
                writer.release();
                // its reader is unknown now
                long member = reader.member();
                sendStatus(readerPort, member == 0 ? 1 : member);
                writer = writerNet.publish(
                    GROUP, source, StreamPolicy.lossy(), List.of(new StreamPath(writerNode, null)));
                source.writer = writer;
            }
            for (int i = 0; i < 20; i++) {
                step(100_000);
            }
            reader.leave();
        }
        network.lostPerMille = 0;
        seen.remove(-1);
        assertEquals(KINDS, seen.size(), () -> "kinds " + seen.keySet());
    }

    private static byte[] sized(int blockLength, java.util.function.Consumer<UnsafeBuffer> fill) {
        byte[] bytes = new byte[MessageHeaderEncoder.ENCODED_LENGTH + blockLength];
        fill.accept(new UnsafeBuffer(bytes));
        return bytes;
    }

    private void sendStatus(SimulatedPaths.Port from, long member) {
        from.send(sized(StatusEncoder.BLOCK_LENGTH, buffer -> new StatusEncoder()
            .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder()).member(member)), writerPort.name);
    }

    private byte[] nak(long member, long first, long end) {
        return sized(NakEncoder.BLOCK_LENGTH + NakEncoder.RangesEncoder.HEADER_SIZE
            + NakEncoder.RangesEncoder.sbeBlockLength(), buffer -> new NakEncoder()
            .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder()).member(member)
            .rangesCount(1).next().first(first).end(end).firstByte(0).endByte(0));
    }

    private byte[] mutate(byte[] bytes) {
        byte[] mutated = bytes.clone();
        switch (random.nextInt(5)) {
            case 0 -> mutated = Arrays.copyOf(mutated, random.nextInt(mutated.length + 1));
            case 1 -> mutated = Arrays.copyOf(mutated, Math.min(1408, mutated.length + random.nextInt(64)));
            case 2 -> {
                int at = 8 + random.nextInt(Math.max(1, mutated.length - 8));
                for (int i = at; i < Math.min(mutated.length, at + 8); i++) {
                    mutated[i] = (byte) (random.nextBoolean() ? 0xff : 0x7f);
                }
            }
            default -> {
                for (int i = random.nextInt(4); i >= 0 && mutated.length > 0; i--) {
                    mutated[random.nextInt(mutated.length)] ^= (byte) (1 << random.nextInt(8));
                }
            }
        }
        return mutated;
    }

    @Test
    void shouldTakeNoHarmOfDatagramsThatArePartlyWrong() {
        open();
        recordAll();
        List<Seen> kinds = seen.values().stream().flatMap(List::stream).toList();
        LooseSink sink = new LooseSink();
        StreamReader reader = subscribe(sink);
        for (int i = 0; i < MUTATIONS_OF_A_KIND * KINDS; i++) {
            if (sink.isOver) {
                reader.leave();
                sink = new LooseSink();
                reader = subscribe(sink);
            }
            Seen one = kinds.get(random.nextInt(kinds.size()));
            byte[] bytes = mutate(refreshed(one.bytes, reader));
            one.from.send(bytes, one.to.name);
            if (i % 16 == 0) {
                offer(random.nextInt(PAYLOAD));
                step(10_000 + random.nextLong(200_000));
            }
            assertTrue(writer.readers().size() <= 2, () -> writer.readers().toString());
        }
        assertTrue(writerNode.malformed() + readerNode.malformed() > MUTATIONS_OF_A_KIND);
        // a new reader reads as if nothing had been
        reader.leave();
        ListSink strict = new ListSink("strict", Map.of(LOG, source));
        subscribe(strict);
        for (int i = 0; i < 1000; i++) {
            step(10_000);
            offer(100);
        }
        for (int i = 0; i < 1000; i++) {
            step(100_000);
        }
        assertEquals(source.next(), strict.next, strict::toString);
    }

    /** Puts the numbers of today into an old datagram, or it would be ignored for them alone. */
    private byte[] refreshed(byte[] bytes, StreamReader reader) {
        byte[] fresh = bytes.clone();
        UnsafeBuffer buffer = new UnsafeBuffer(fresh);
        int template = template(bytes);
        if (bytes.length >= 24) {
            if (template <= 7) {
                buffer.putLong(8, reader.stream());
                if (template <= 5 && random.nextBoolean()) {
                    buffer.putLong(16, Math.max(0, reader.next() + random.nextInt(-3, 8)));
                }
            } else if (template <= 11) {
                buffer.putLong(8, reader.member());
            } else {
                buffer.putLong(8, reader.id());
            }
        }
        return fresh;
    }

    @Test
    void shouldIgnoreDatagramsOfOtherAddresses() {
        open();
        recordAll();
        List<Seen> kinds = seen.values().stream().flatMap(List::stream).toList();
        ListSink sink = new ListSink("strict", Map.of(LOG, source));
        StreamReader reader = subscribe(sink);
        int offered = 0;
        for (int i = 0; i < MUTATIONS_OF_A_KIND; i++) {
            Seen one = kinds.get(random.nextInt(kinds.size()));
            byte[] bytes = refreshed(one.bytes, reader);
            if (template(bytes) != 13 && template(bytes) != 14) {
                attacker.send(random.nextBoolean() ? bytes : mutate(bytes), one.to.name);
            }
            if (i % 8 == 0) {
                offer(random.nextInt(PAYLOAD));
                offered++;
                step(20_000);
            }
        }
        for (int i = 0; i < 1000; i++) {
            step(100_000);
        }
        assertTrue(offered > 0);
        assertEquals(source.next(), sink.next, sink::toString);
        assertEquals(0, sink.gaps);
        assertTrue(!sink.isOver(), sink::toString);
    }

    @Test
    void shouldSendLessThanItGotBeforeACookieHasComeBack() {
        open();
        recordAll();
        writerSentBytes = 0;
        long sentBytes = 0;
        int readers = writer.readers().size();
        for (int i = 0; i < MUTATIONS_OF_A_KIND; i++) {
            for (int kind : new int[] {9, 10, 11, 12}) {
                Seen one = seen.get(kind).get(random.nextInt(seen.get(kind).size()));
                byte[] bytes = random.nextInt(4) == 0 ? mutate(one.bytes) : one.bytes.clone();
                if (bytes.length >= 24) {
                    UnsafeApi.putLong(bytes, org.agrona.BufferUtil.ARRAY_BASE_OFFSET + 8, random.nextLong());
                }
                attacker.send(bytes, writerPort.name);
                sentBytes += bytes.length;
            }
            if (i % 64 == 0) {
                step(1_000);
            }
            attacker.take();
        }
        step(10 * network.delayNs);
        assertTrue(writerSentBytes > 0);
        assertTrue(writerSentBytes < sentBytes, writerSentBytes + " bytes for " + sentBytes);
        assertEquals(readers, writer.readers().size());
    }

    @Test
    void shouldBoundWhatAMemberGetsForRequests() {
        open();
        LooseSink sink = new LooseSink();
        StreamReader reader = subscribe(sink);
        for (int i = 0; i < 200; i++) {
            step(20_000);
            offer(PAYLOAD);
        }
        long[] bytes = {0};
        network.loss = (from, to, datagram) -> {
            bytes[0] += to == readerPort && template(datagram) == DataDecoder.TEMPLATE_ID ? datagram.length : 0;
            return false;
        };
        long durationNs = 100_000_000;
        for (long end = network.nowNs + durationNs; network.nowNs < end;) {
            readerPort.send(nak(reader.member(), 0, Long.MAX_VALUE), writerPort.name);
            step(10_000);
        }
        // 64 KiB in a millisecond
        long most = (durationNs / 1_000_000 + 2) * (64 << 10);
        assertTrue(bytes[0] > 0 && bytes[0] <= most, () -> bytes[0] + " bytes of repairs");
    }

    /** A host that believes everything, as long as it is in order. */
    private static final class LooseSink extends StreamSink {
        private long next = -1;
        private boolean isOver;

        @Override
        public void onJoined(LogPosition start, int ringBytes, int flags) {
            next = start.position();
        }

        @Override
        public boolean hasRoom(int payloadLength) {
            return true;
        }

        @Override
        public void write(long position, int flags, long tag, long data, long payload, int payloadLength) {
            assertEquals(next, position);
            assertTrue(payloadLength >= 0 && payloadLength < 1 << 27, () -> "length " + payloadLength);
            next++;
            if (payloadLength > 0) {
                UnsafeApi.getByte(payload);
                UnsafeApi.getByte(payload + payloadLength - 1);
            }
        }

        @Override
        public void gap(long first, long last) {
            assertEquals(next, first);
            assertTrue(last >= first);
            next = last + 1;
        }

        @Override
        public void behind(long position) {
            isOver = true;
        }

        @Override
        public void end(int errno) {
            isOver = true;
        }

        @Override
        public long window() {
            return UNLIMITED;
        }

        @Override
        public long consumed() {
            return Math.max(0, next);
        }

        @Override
        public void onNotice(FabricException notice) {
            assertTrue(notice.getMessage() != null);
        }
    }
}
