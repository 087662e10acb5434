package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.CompletionQueueOverrunDecoder;
import org.jfabric.codec.queue.CancelRequestEncoder;
import org.jfabric.codec.queue.ReceiveRequestEncoder;
import org.jfabric.codec.queue.SendRequestEncoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.ControlFileDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Garbage in everything that an attached client can write. */
@Tag("hostile")
@Timeout(120)
class QueueGarbageTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final int SEND = SendRequestEncoder.TEMPLATE_ID;
    private static final int RECEIVE = ReceiveRequestEncoder.TEMPLATE_ID;
    private static final int CANCEL = CancelRequestEncoder.TEMPLATE_ID;
    private static final int CANCEL_LENGTH = 8 + CancelRequestEncoder.BLOCK_LENGTH;
    private static final long REGION_LENGTH = 1 << 16;
    private static final long KIND = Flags.TAGGED | Flags.COMPLETION;
    private static final long[] BOUNDARIES = {
        0, 1, 7, 63, 64, REGION_LENGTH - 1, REGION_LENGTH, REGION_LENGTH + 1, Integer.MAX_VALUE, 1L << 31, 1L << 32,
        MemoryRegionDescriptor.OFFSET_MASK, MemoryRegionDescriptor.MAX_LENGTH, 2L << 48, Long.MAX_VALUE,
        Long.MIN_VALUE, -1, -8, -64};

    private static String name() {
        return "hostile-" + Long.toHexString(new SplittableRandom().nextLong());
    }

    @Test
    void shouldAnswerAnInvalidFieldWithAnErrorEntryAndGoOn() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open(name(), "");
        ControlClient.Region region = client.register(REGION_LENGTH);
        long self = client.insert(queues, queues.address);
        int context = 1;
        for (long value : BOUNDARIES) {
            // not an address of the client: another region, another generation, or an offset outside of it
            client.send(queues, KIND, value, 8, self, 1, ++context);
            Entries.assertError(client, queues, context, "buf", value);
            client.receive(queues, value, 8, 1, ++context);
            Entries.assertError(client, queues, context, "buf of a receive", value);
            if (value < 0 || value > REGION_LENGTH) {
                client.send(queues, KIND, region.address(0), value, self, 1, ++context);
                Entries.assertError(client, queues, context, "length", value);
                client.receive(queues, region.address(0), value, 1, ++context);
                Entries.assertError(client, queues, context, "length of a receive", value);
            }
            client.send(queues, KIND, region.address(REGION_LENGTH - 4), Math.max(5, value), self, 1, ++context);
            Entries.assertError(client, queues, context, "length beyond the end", value);
            if (value != self) {
                client.send(queues, KIND, region.address(0), 8, value, 1, ++context);
                Entries.assertError(client, queues, context, "destination", value);
            }
        }
        for (int bit = 0; bit < Byte.SIZE; bit++) {
            client.send(queues, KIND, region.address(0) ^ 1L << 40 + bit, 8, self, 1, ++context);
            Entries.assertError(client, queues, context, "generation bit", bit);
        }
        for (int bit = 0; bit < Short.SIZE; bit++) {
            client.send(queues, KIND, region.address(0) ^ 1L << 48 + bit, 8, self, 1, ++context);
            Entries.assertError(client, queues, context, "region bit", bit);
        }
        assertWorks(client, queues, region, self);
    }

    /**
     * Fields of all kinds at random: what is well-formed never ends the client, the rest ends only that one. Nobody
     * else notices.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldSurviveRandomRequests(boolean transmit) {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int session = 0; session < 20; session++) {
            boolean wellFormed = session % 2 == 0;
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            ControlClient.Region region = client.register(REGION_LENGTH);
            client.insert(queues, queues.address);
            RecordProducer ring = transmit ? queues.transmit : queues.receive;
            int known = transmit ? SEND : RECEIVE;
            for (int i = 0; i < 200 && !client.isEnded(); i++) {
                boolean isCancel = random.nextInt(10) == 0;
                boolean isBroken = !wellFormed && random.nextInt(50) == 0;
                int length = isBroken ? 8 + random.nextInt(300) : isCancel ? CANCEL_LENGTH : 64;
                int offset = Deadline.awaitValue("room", () -> claim(ring, length));
                long body = ring.ringAddress() + offset + 8;
                fill(random, body, length - 8, region);
                if (wellFormed && isCancel) {
                    UnsafeApi.putLong(body + CancelRequestEncoder.otherPositionEncodingOffset(), 0);
                }
                if (wellFormed && transmit && !isCancel) {
                    long flags = body + SendRequestEncoder.flagsEncodingOffset();
                    UnsafeApi.putLong(flags, UnsafeApi.getLong(flags) & ~Flags.INJECT);
                }
                ring.commit(offset, length,
                    isBroken && random.nextBoolean() ? random.nextInt(16) : isCancel ? CANCEL : known);
                client.signal(queues);
            }
            Deadline.awaitParked("the driver's reading of all requests", () -> ring.isDrained() || client.isEnded());
            assertFalse(wellFormed && client.isEnded(), "ended for well-formed requests, seed " + seed);
            client.close();
        }
        DRIVER.assertReclaimed();
    }

    private static Integer claim(RecordProducer ring, int length) {
        int offset = ring.claim(length);
        return offset < 0 ? null : offset;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndTheClientForEveryImpossibleRecordWord(boolean transmit) {
        int known = transmit ? SEND : RECEIVE;
        int ring = ringLength(transmit);
        List<int[]> words = new ArrayList<>();
        for (int length : new int[] {1, 7, 8, 63, 65, 72, ring, ring + 1, ring + 64, 1 << 20, 1 << 30,
            Integer.MAX_VALUE, Integer.MIN_VALUE, -1, -64, 0}) {
            words.add(new int[] {length, known});
        }
        for (int type : new int[] {0, 1, 5, 6, 7, 8, 100, Integer.MAX_VALUE, -1, Integer.MIN_VALUE,
            transmit ? RECEIVE : SEND}) {
            words.add(new int[] {64, type});
        }
        words.add(new int[] {CANCEL_LENGTH - 1, CANCEL});
        words.add(new int[] {CANCEL_LENGTH + 8, CANCEL});
        for (int[] word : words) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            RecordProducer producer = transmit ? queues.transmit : queues.receive;
            UnsafeApi.putLongRelease(
                null, producer.ringAddress(), RecordRingDescriptor.word(word[0], word[1]));
            client.signal(queues);
            String reason = client.expectEnded();
            String queue = (transmit ? "transmit" : "receive") + " queue of endpoint " + queues.address;
            assertTrue(reason.contains(queue) && reason.contains(Integer.toString(word[0])),
                "word " + word[0] + ' ' + word[1] + ": " + reason);
            DRIVER.assertLogged("was ended: " + queue + " is corrupt", "it can connect again");
            client.close();
        }
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldEndTheClientWhoseRecordCrossesTheEndOfTheRing() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open(name(), "");
        long capacity = queues.transmit.capacity();
        // cancels of nothing lead to the last line of the ring
        for (long position = 0; position < capacity - 64; position += 64) {
            Deadline.awaitParked("room", () -> cancel(client, queues, 99));
        }
        Deadline.awaitParked("the last line", queues.transmit::isDrained);
        UnsafeApi.putLongRelease(null, queues.transmit.ringAddress() + capacity - 64,
            RecordRingDescriptor.word(128, SEND));
        client.signal(queues);
        assertTrue(client.expectEnded().contains("length 128"));
    }

    @Test
    void shouldNotBeMisledByPaddingRoundTheRing() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open(name(), "");
        UnsafeApi.putLongRelease(null, queues.transmit.ringAddress(),
            RecordRingDescriptor.word(queues.transmit.capacity(), RecordRingDescriptor.PADDING_TYPE));
        client.signal(queues);
        assertTrue(client.expectEnded().contains("type 1"));
    }

    /** Positions and counts that the driver has written are never read back by it. */
    @Test
    void shouldNotReadBackWhatItPublished() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open(name(), "");
        ControlClient.Region region = client.register(REGION_LENGTH);
        long self = client.insert(queues, queues.address);
        for (long value : BOUNDARIES) {
            for (var file : List.of(queues.tq, queues.rq)) {
                for (int offset = FileHeaderDescriptor.HEADER_LENGTH; offset < RecordRingDescriptor.HEADER_LENGTH;
                    offset += Long.BYTES) {
                    UnsafeApi.putLong(file.address() + offset, value);
                }
            }
            for (int offset = 0; offset < FileHeaderDescriptor.HEADER_LENGTH; offset += Long.BYTES) {
                UnsafeApi.putLong(queues.tq.address() + offset, value);
                UnsafeApi.putLong(queues.cq.address() + offset, value);
                UnsafeApi.putLong(region.file().address() + offset, value);
                UnsafeApi.putLong(client.control.address() + offset, value);
            }
            UnsafeApi.putLong(queues.cq.address() + CompletionQueueDescriptor.WRITTEN_OFFSET, value);
            UnsafeApi.putLong(queues.cq.address() + CompletionQueueDescriptor.RETIRED_OFFSET, value);
            UnsafeApi.putLong(queues.cq.address() + CompletionQueueDescriptor.STATE_OFFSET, value);
            assertWorks(client, queues, region, self);
        }
    }

    @Test
    void shouldOverrunOnlyTheQueueWhoseReadPositionIsImpossible() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        List<Long> positions = new ArrayList<>(List.of(-1L, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 40, 100_000L));
        // another one in each run: to overrun a queue takes long
        positions.add(random.nextLong() | 1L << 33);
        for (long position : positions) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues bad = client.open(name(), "");
            ControlClient.Queues good = client.open(name(), "");
            UnsafeApi.putLongRelease(
                null, bad.cq.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET, position);
            // an error entry for each: an address that does not exist
            for (int i = 0; i < bad.cqCapacity + 10; i++) {
                Deadline.awaitParked("room", () -> bad.transmit.isDrained());
                client.send(bad, KIND, 0, 8, 0, 0, i + 1);
            }
            Deadline.awaitParked(() -> "no overrun with read position " + position, () -> UnsafeApi.getIntVolatile(
                null, bad.cq.address() + CompletionQueueDescriptor.STATE_OFFSET)
                == CompletionQueueDescriptor.STATE_OVERRUN);
            var told = client.expect(CompletionQueueOverrunDecoder.TEMPLATE_ID);
            assertEquals(bad.cqId, new CompletionQueueOverrunDecoder().wrap(
                told.body(), 0, CompletionQueueOverrunDecoder.BLOCK_LENGTH, 0).cqId());
            ControlClient.Region region = client.register(REGION_LENGTH);
            assertWorks(client, good, region, client.insert(good, good.address));
            assertFalse(client.isEnded());
            client.close();
        }
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldSurviveGarbageOverWholeFiles() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 10; i++) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            client.register(REGION_LENGTH);
            var files = List.of(queues.cq, queues.tq, queues.rq, client.control);
            for (int round = 0; round < 20 && !client.isEnded(); round++) {
                var file = files.get(i % files.size());
                for (long offset = 0; offset < Math.min(file.lengthBytes(), 16 << 10); offset += Long.BYTES) {
                    UnsafeApi.putLong(file.address() + offset, random.nextLong());
                }
                client.signal(queues);
                client.doorbell();
            }
            DRIVER.bystanders().assertGoOn(2);
            client.close();
        }
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldIgnoreActivityBytesWithoutMeaning() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open(name(), "");
        ControlClient.Region region = client.register(REGION_LENGTH);
        long activity = client.control.address()
            + ControlFileDescriptor.activityOffset(client.ringLength, client.ringLength);
        for (int i = 0; i < ControlFileDescriptor.ACTIVITY_LENGTH; i++) {
            UnsafeApi.putByte(activity + i, (byte) -1);
        }
        assertWorks(client, queues, region, client.insert(queues, queues.address));
        // and a client that never sets any is found by the rotation
        UnsafeApi.setMemory(activity, ControlFileDescriptor.ACTIVITY_LENGTH, (byte) 0);
        assertWorks(client, queues, region, client.insert(queues, queues.address));
    }

    @Test
    void shouldEndTheClientForGarbageInItsCommandRing() {
        List<int[]> words = List.of(new int[] {8, 1}, new int[] {8, 200}, new int[] {8, -1}, new int[] {9, 2},
            new int[] {-5, 2}, new int[] {Integer.MAX_VALUE, 2}, new int[] {7, 2}, new int[] {8, 2},
            new int[] {16, 3}, new int[] {40, 7});
        for (int[] word : words) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            UnsafeApi.putLongRelease(
                null, client.commands.ringAddress(), RecordRingDescriptor.word(word[0], word[1]));
            client.doorbell();
            String reason = client.expectEnded();
            assertTrue(reason.contains("the command ring is corrupt"), word[0] + " " + word[1] + ": " + reason);
            DRIVER.assertLogged("the command ring is corrupt");
            client.close();
        }
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldSurviveRandomCommands() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        UnsafeBuffer body = new UnsafeBuffer(new byte[4096]);
        for (int session = 0; session < 40; session++) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            for (int i = 0; i < 60 && !client.isEnded(); i++) {
                int length = random.nextInt(10) == 0 ? random.nextInt(600) : 900 + random.nextInt(1200);
                // mostly zeros, so that many commands are well-formed and go further than the first check
                body.setMemory(0, body.capacity(), (byte) 0);
                body.putLong(0, i + 1);
                int changes = random.nextInt(12);
                for (int change = 0; change < changes; change++) {
                    int at = 8 + random.nextInt(length + 1) & ~7;
                    body.putLong(at, random.nextBoolean()
                        ? random.nextLong() : BOUNDARIES[random.nextInt(BOUNDARIES.length)]);
                }
                int type = random.nextInt(20) == 0 ? random.nextInt(256) : 1 + random.nextInt(37);
                if (client.commands.claim(8 + length) < 0) {
                    break;
                }
                client.command(type, body, length);
                while (client.pollEvent() != null) {
                    Thread.onSpinWait();
                }
            }
            Deadline.awaitParked("the driver's reading", () -> client.commands.isDrained() || client.isEnded());
            client.close();
        }
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldEndTheClientWhoseEventPositionIsImpossible() {
        for (long position : new long[] {-64, 63, 1 << 20, Long.MAX_VALUE, Long.MIN_VALUE}) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            long word = client.control.address() + ControlFileDescriptor.eventRingOffset(client.ringLength)
                + RecordRingDescriptor.CONSUMER_POSITION_OFFSET;
            UnsafeApi.putLongRelease(null, word, position);
            // answers until the ring is full make the driver look at the position
            Deadline.awaitParked("the end", () -> {
                if (client.commands.claim(128) >= 0) {
                    client.register(0, 0);
                }
                UnsafeApi.putLongRelease(null, word, position);
                return client.isEnded();
            });
            DRIVER.assertLogged("position");
            client.close();
        }
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldEndTheClientThatSubmitsMoreThanItMay() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open(name(), "");
        ControlClient.Region region = client.register(REGION_LENGTH);
        for (int i = 0; i < 100_000 && !client.isEnded(); i++) {
            if (queues.receive.claim(64) >= 0) {
                client.receive(queues, region.address(0), 8, 5, i);
            }
        }
        assertTrue(client.expectEnded().contains("more operations submitted"));
    }

    private static boolean cancel(ControlClient client, ControlClient.Queues queues, long context) {
        int offset = queues.transmit.claim(CANCEL_LENGTH);
        if (offset < 0) {
            return false;
        }
        UnsafeApi.putLong(queues.transmit.ringAddress() + offset + 8, context);
        UnsafeApi.putLong(queues.transmit.ringAddress() + offset + 16, queues.receive.position());
        queues.transmit.commit(offset, CANCEL_LENGTH, CANCEL);
        client.signal(queues);
        return true;
    }

    private static int ringLength(boolean transmit) {
        try (ControlClient client = new ControlClient(DRIVER.directory(), () -> { })) {
            ControlClient.Queues queues = client.open(name(), "");
            return (transmit ? queues.transmit : queues.receive).capacity();
        }
    }

    private static void fill(SplittableRandom random, long address, int length, ControlClient.Region region) {
        for (int i = 0; i + Long.BYTES <= length; i += Long.BYTES) {
            long value = switch (random.nextInt(6)) {
                case 0 -> random.nextLong();
                case 1 -> BOUNDARIES[random.nextInt(BOUNDARIES.length)];
                case 2 -> region.address(random.nextLong(REGION_LENGTH * 2));
                case 3 -> KIND;
                case 4 -> 1L << random.nextInt(64);
                default -> 0;
            };
            UnsafeApi.putLong(address + i, value);
        }
    }

    private static void assertWorks(
        ControlClient client, ControlClient.Queues queues, ControlClient.Region region, long self) {
        UnsafeApi.putLong(region.data(), 0x1234_5678_9ABCL);
        client.receive(queues, region.address(1024), 8, 77, 501);
        client.send(queues, KIND, region.address(0), 8, self, 77, 502);
        for (int i = 0; i < 2; i++) {
            long[] entry = client.awaitCompletion(queues);
            assertEquals(CompletionQueueDescriptor.KIND_SUCCESS, entry[0]);
            assertTrue(entry[1] == 501 || entry[1] == 502, "context " + entry[1]);
        }
        Entries.release(queues);
        assertEquals(0x1234_5678_9ABCL, UnsafeApi.getLong(region.data() + 1024));
    }
}
