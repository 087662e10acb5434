package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.WorkRequest;
import org.jfabric.codec.queue.WorkRequestEncoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.WorkRequestDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Garbage in requests of several pieces. */
@Tag("hostile")
@Timeout(120)
class VectorGarbageTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final int TYPE = WorkRequestEncoder.TEMPLATE_ID;
    private static final long REGION_LENGTH = 1 << 16;
    private static final long KIND = Flags.TAGGED | Flags.COMPLETION;
    private static final long ANY = -1L;
    private static final long[] BOUNDARIES = {
        1, 7, 63, REGION_LENGTH - 1, REGION_LENGTH + 1, Integer.MAX_VALUE, 1L << 31, 1L << 32,
        MemoryRegionDescriptor.OFFSET_MASK, MemoryRegionDescriptor.MAX_LENGTH, 2L << 48, Long.MAX_VALUE,
        Long.MIN_VALUE, -1, -8, -64};

    private static String name() {
        return "vector-" + Long.toHexString(new SplittableRandom().nextLong());
    }

    private static void post(
        ControlClient client, ControlClient.Queues queues, boolean transmit, long peer, long tag, long context,
        long[] pieces) {
        RecordProducer ring = transmit ? queues.transmit : queues.receive;
        int length = WorkRequestDescriptor.HEAD_LENGTH + Long.BYTES * pieces.length;
        int offset = Deadline.awaitValue("room", () -> claim(ring, length));
        long record = ring.ringAddress() + offset;
        block(ring, offset, transmit, pieces.length / 2).address(peer).tagOrRemoteAddr(tag).context(context);
        for (int i = 0; i < pieces.length; i++) {
            UnsafeApi.putLong(record + WorkRequestDescriptor.HEAD_LENGTH + i * 8L, pieces[i]);
        }
        ring.commit(offset, length, TYPE);
        client.signal(queues);
    }

    /** The block of a request with that many pieces. */
    private static WorkRequestEncoder block(RecordProducer ring, int offset, boolean transmit, int pieces) {
        return new WorkRequestEncoder().wrap(new UnsafeBuffer(
            ring.ringAddress() + offset + RecordRingDescriptor.WORD_LENGTH, WorkRequestEncoder.BLOCK_LENGTH), 0)
            .kind((short) (transmit ? WorkRequest.SEND : WorkRequest.RECEIVE)).pieces((short) pieces).flags(KIND)
            .context(0).address(0).tagOrRemoteAddr(0).ignoreOrKey(0).dataOrElements(0).form((short) 0)
            .datatype((short) 0).operation((short) 0).resultPiecesOrRanges((short) 0).comparePieces((short) 0)
            .isTriggered((short) 0);
    }

    private static Integer claim(RecordProducer ring, int length) {
        int offset = ring.claim(length);
        return offset < 0 ? null : offset;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldAnswerAnInvalidPieceWithAnErrorEntryAndGoOn(boolean transmit) {
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open(name(), "");
        ControlClient.Region region = client.register(REGION_LENGTH);
        long self = client.insert(queues, queues.address);
        int context = 0;
        for (int place = 0; place < 4; place++) {
            for (long value : BOUNDARIES) {
                long[] pieces = pieces(region);
                pieces[2 * place] = value;
                post(client, queues, transmit, transmit ? self : ANY, 1, ++context, pieces);
                Entries.assertError(client, queues, context, "address of piece " + place, value);
                if (value < 0 || value > REGION_LENGTH) {
                    pieces = pieces(region);
                    pieces[2 * place + 1] = value;
                    post(client, queues, transmit, transmit ? self : ANY, 1, ++context, pieces);
                    Entries.assertError(client, queues, context, "length of piece " + place, value);
                }
            }
            for (int bit = 40; bit < 64; bit++) {
                long[] pieces = pieces(region);
                pieces[2 * place] ^= 1L << bit;
                post(client, queues, transmit, transmit ? self : ANY, 1, ++context, pieces);
                Entries.assertError(client, queues, context, "bit of piece " + place, bit);
            }
        }
        if (transmit) {
            for (long dest : new long[] {self + 1, -1, Long.MIN_VALUE, 1L << 32}) {
                post(client, queues, true, dest, 1, ++context, pieces(region));
                Entries.assertError(client, queues, context, "destination", dest);
            }
        }
        assertWorks(client, queues, region, self);
    }

    private static long[] pieces(ControlClient.Region region) {
        return new long[] {region.address(0), 8, region.address(8), 8, region.address(16), 8, region.address(24), 8};
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndTheClientWhosePiecesDoNotFitTheRecord(boolean transmit) {
        int[][] records = {
            // length of the record, numbers of pieces, of results and of compare values, whether it is triggered
            {64, 1, 0, 0, 0}, {80, 0, 0, 0, 0}, {80, 2, 0, 0, 0}, {128, 3, 0, 0, 0}, {128, 5, 0, 0, 0},
            {144, 5, 0, 0, 0}, {127, 4, 0, 0, 0}, {129, 4, 0, 0, 0}, {128, 255, 0, 0, 0}, {128, 3, 1, 0, 0},
            {128, 3, 0, 1, 0}, {128, 4, 0, 0, 1}, {128, 2, 0, 0, 2}, {128, 2, 0, 0, 255}, {95, 0, 0, 0, 1},
            {63, 0, 0, 0, 0}, {56, 0, 0, 0, 0}, {8, 0, 0, 0, 0}};
        for (int[] values : records) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            RecordProducer ring = transmit ? queues.transmit : queues.receive;
            block(ring, 0, transmit, values[1]).resultPiecesOrRanges((short) values[2]).comparePieces((short) values[3])
                .isTriggered((short) values[4]);
            UnsafeApi.putLongRelease(null, ring.ringAddress(), RecordRingDescriptor.word(values[0], TYPE));
            client.signal(queues);
            String reason = client.expectEnded();
            assertTrue(reason.contains("type " + TYPE + " has " + values[0]), reason);
            client.close();
        }
        DRIVER.assertReclaimed();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldSurviveRandomPieces(boolean transmit) {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int session = 0; session < 10; session++) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            ControlClient.Region region = client.register(REGION_LENGTH);
            long self = client.insert(queues, queues.address);
            for (int i = 0; i < 200 && !client.isEnded(); i++) {
                long[] pieces = new long[2 * random.nextInt(5)];
                for (int k = 0; k < pieces.length; k++) {
                    pieces[k] = switch (random.nextInt(5)) {
                        case 0 -> random.nextLong();
                        case 1 -> BOUNDARIES[random.nextInt(BOUNDARIES.length)];
                        case 2 -> region.address(random.nextLong(REGION_LENGTH * 2));
                        case 3 -> random.nextInt(100);
                        default -> 0;
                    };
                }
                post(client, queues, transmit, transmit ? self : ANY, random.nextInt(3), i, pieces);
            }
            RecordProducer ring = transmit ? queues.transmit : queues.receive;
            Deadline.awaitParked("the driver's reading of all requests", () -> ring.isDrained() || client.isEnded());
            assertFalse(client.isEnded(), "ended for well-formed requests, seed " + seed);
            client.close();
        }
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldHoldRegionsUntilTheOperationHasEnded() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open(name(), "");
        ControlClient.Region region = client.register(REGION_LENGTH);
        long self = client.insert(queues, queues.address);
        // a receive that nobody serves, and the end of its client: both regions must go
        ControlClient.Region other = client.register(REGION_LENGTH);
        post(client, queues, false, ANY, 9, 1, new long[] {region.address(0), 8, other.address(0), 8});
        assertWorks(client, queues, region, self);
        client.close();
        DRIVER.assertReclaimed();
    }

    private static void assertWorks(
        ControlClient client, ControlClient.Queues queues, ControlClient.Region region, long self) {
        UnsafeApi.putLong(region.data(), 0x1234_5678_9ABCL);
        post(client, queues, false, ANY, 77, 501, new long[] {region.address(1024), 3, region.address(2048), 5});
        post(client, queues, true, self, 77, 502, new long[] {region.address(0), 5, region.address(5), 3});
        for (int i = 0; i < 2; i++) {
            long[] entry = client.awaitCompletion(queues);
            assertEquals(CompletionQueueDescriptor.KIND_SUCCESS, entry[0]);
            assertTrue(entry[1] == 501 || entry[1] == 502, "context " + entry[1]);
        }
        Entries.release(queues);
        for (int i = 0; i < 8; i++) {
            assertEquals(UnsafeApi.getByte(region.data() + i),
                UnsafeApi.getByte(region.data() + (i < 3 ? 1024 + i : 2045 + i)));
        }
    }
}
