package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SplittableRandom;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.queue.ReceiveRequestEncoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Multi-receive buffers of clients that lie about lengths, least rooms and what they have read. */
@Tag("hostile")
@Timeout(120)
class MultiReceiveGarbageTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final long REGION_LENGTH = 1 << 16;
    private static final long CAPS = Flags.MSG | Flags.TAGGED | Flags.MULTI_RECV;
    private static final long BUFFER = Flags.MSG | Flags.COMPLETION | Flags.MULTI_RECV;
    private static final long SEND = Flags.MSG | Flags.COMPLETION;
    private static final int CQ_SIZE = 16;
    /** Sends: 256 may be. */
    private static final int MAX_OUTSTANDING = 200;
    private static final long[] BOUNDARIES = {0, 1, 7, 8, 63, 64, REGION_LENGTH, REGION_LENGTH + 1, Integer.MAX_VALUE,
        MemoryRegionDescriptor.OFFSET_MASK, Long.MAX_VALUE, Long.MIN_VALUE, -1, -8};

    private static void post(
        ControlClient client, ControlClient.Queues queues, long flags, long buf, long length, long minFree,
        long context) {
        int offset = Deadline.awaitValue("room", () -> {
            int claimed = queues.receive.claim(64);
            return claimed < 0 ? null : claimed;
        });
        new ReceiveRequestEncoder().wrap(new UnsafeBuffer(queues.receive.ringAddress() + offset + 8, 56), 0)
            .context(context).buf(buf).length(length).srcAddr(-1L).tag(0).ignore(minFree).flags(flags);
        queues.receive.commit(offset, 64, ReceiveRequestEncoder.TEMPLATE_ID);
        client.signal(queues);
    }

    private static void published(ControlClient.Queues queues, long position) {
        UnsafeApi.putLongRelease(
            null, queues.cq.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET, position);
    }

    private static int state(ControlClient.Queues queues) {
        return UnsafeApi.getIntVolatile(null, queues.cq.address() + CompletionQueueDescriptor.STATE_OFFSET);
    }

    @Test
    void shouldNeverWriteOutsideOfABufferWhateverItsFieldsSay() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open("multi-garbage", "", CAPS, 1 << 12, null);
        ControlClient.Region region = client.register(REGION_LENGTH);
        long self = client.insert(queues, queues.address);
        UnsafeApi.setMemory(region.data(), REGION_LENGTH, (byte) 0x11);
        int length = 1000;
        int[] outstanding = {0};
        for (int round = 0; round < 200; round++) {
            long buf = region.address(REGION_LENGTH / 2);
            boolean valid = random.nextBoolean();
            long bytes = valid ? length : BOUNDARIES[random.nextInt(BOUNDARIES.length)];
            long where = valid ? buf : random.nextBoolean() ? buf : random.nextLong();
            long kind = random.nextInt(4) == 0 ? Flags.TAGGED : 0;
            post(client, queues, BUFFER | kind, where, Math.min(bytes, REGION_LENGTH / 4),
                random.nextBoolean() ? random.nextLong() : BOUNDARIES[random.nextInt(BOUNDARIES.length)], 1);
            for (int i = 0; i < 4; i++) {
                Deadline.awaitParked("the driver's reading", queues.transmit::isDrained);
                client.send(queues, SEND, region.address(0), random.nextInt(2000), self, 0, 2);
                outstanding[0]++;
            }
            Deadline.awaitParked("the driver's reading",
                () -> queues.transmit.isDrained() && queues.receive.isDrained());
            outstanding[0] -= drain(queues);
            // by chance nothing was posted that takes messages: who submits more than it may is ended
            Deadline.awaitParked(() -> outstanding[0] + " sends, seed " + seed, () -> {
                if (outstanding[0] > MAX_OUTSTANDING && queues.receive.isDrained()) {
                    post(client, queues, BUFFER, region.address(REGION_LENGTH / 2), REGION_LENGTH / 4, 1, 1);
                }
                outstanding[0] -= drain(queues);
                return outstanding[0] <= MAX_OUTSTANDING;
            });
        }
        assertFalse(client.isEnded());
        assertEquals(CompletionQueueDescriptor.STATE_OPEN, state(queues));
        for (long i = 0; i < REGION_LENGTH / 2; i++) {
            assertEquals(0x11, UnsafeApi.getByte(region.data() + i), "byte " + i + ", seed " + seed);
        }
        for (long i = REGION_LENGTH * 3 / 4; i < REGION_LENGTH; i++) {
            assertEquals(0x11, UnsafeApi.getByte(region.data() + i), "byte " + i + ", seed " + seed);
        }
        client.close();
        DRIVER.assertReclaimed();
    }

    /** Takes what is there; how many of it were entries of sends. */
    private static int drain(ControlClient.Queues queues) {
        int sends = 0;
        long record;
        do {
            record = queues.cq.address() + CompletionQueueDescriptor.RECORDS_OFFSET
                + (queues.read & queues.cqCapacity - 1) * CompletionQueueDescriptor.RECORD_LENGTH;
            if ((int) UnsafeApi.getLongVolatile(null, record) != (int) queues.read + 1) {
                break;
            }
            sends += UnsafeApi.getLong(record + CompletionQueueDescriptor.BODY_OFFSET) == 2 ? 1 : 0;
            queues.read++;
            published(queues, queues.read);
        } while (true);
        return sends;
    }

    @Test
    void shouldHoldBackOnlyTheEndpointOfAClientThatNeverReads() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues lazy = client.open("multi-lazy", "", CAPS, CQ_SIZE, null);
        ControlClient.Queues sender = client.open("multi-sender", "", CAPS, 1 << 10, null);
        ControlClient.Region region = client.register(REGION_LENGTH);
        long toLazy = client.insert(sender, lazy.address);
        post(client, lazy, BUFFER, region.address(0), REGION_LENGTH, 64, 1);
        int sends = 200;
        for (int i = 0; i < sends; i++) {
            Deadline.awaitParked("the driver's reading", sender.transmit::isDrained);
            client.send(sender, SEND, region.address(0), 8, toLazy, 0, i);
        }
        for (int i = 0; i < sends; i++) {
            assertEquals(CompletionQueueDescriptor.KIND_SUCCESS, client.awaitCompletion(sender)[0], "send " + i);
            published(sender, sender.read);
        }
        assertEquals(CompletionQueueDescriptor.STATE_OPEN, state(lazy));
        long heldBack = lazy.cq.address() + CompletionQueueDescriptor.HELD_BACK_OFFSET;
        assertEquals(1, UnsafeApi.getIntVolatile(null, heldBack));
        // what the client writes there is never read by the driver
        UnsafeApi.putInt(heldBack, 0);
        for (int i = 0; i < sends; i++) {
            assertEquals(1, client.awaitCompletion(lazy)[1], "message " + i);
            published(lazy, lazy.read);
            client.signal(lazy);
        }
        assertEquals(CompletionQueueDescriptor.STATE_OPEN, state(lazy));
        assertFalse(client.isEnded());
        client.close();
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldOverrunOnlyTheQueueWhoseReadPositionIsImpossible() {
        for (long position : List.of(-1L, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 40, 100_000L)) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues bad = client.open("multi-bad", "", CAPS, CQ_SIZE, null);
            ControlClient.Queues good = client.open("multi-good", "", CAPS, 1 << 10, null);
            ControlClient.Region region = client.register(REGION_LENGTH);
            long toBad = client.insert(good, bad.address);
            long self = client.insert(good, good.address);
            published(bad, position);
            post(client, bad, BUFFER, region.address(0), REGION_LENGTH, 64, 1);
            for (int i = 0; i < 100; i++) {
                Deadline.awaitParked("the driver's reading", good.transmit::isDrained);
                client.send(good, SEND, region.address(0), 8, toBad, 0, i);
            }
            Deadline.awaitParked(() -> "no overrun with read position " + position,
                () -> state(bad) == CompletionQueueDescriptor.STATE_OVERRUN);
            for (int i = 0; i < 100; i++) {
                assertEquals(CompletionQueueDescriptor.KIND_SUCCESS, client.awaitCompletion(good)[0]);
                published(good, good.read);
            }
            post(client, good, BUFFER, region.address(1024), 64, 64, 5);
            client.send(good, SEND, region.address(0), 8, self, 0, 6);
            int ended = 0;
            for (int i = 0; i < 3; i++) {
                long context = client.awaitCompletion(good)[1];
                ended += context == 5 ? 1 : 0;
                assertTrue(context == 5 || context == 6, "context " + context);
            }
            assertEquals(2, ended);
            assertFalse(client.isEnded());
            client.close();
        }
        DRIVER.assertReclaimed();
    }

    /** The driver finds out in the middle of a message; the buffer loses that message and nothing else. */
    @Test
    void shouldGoOnWithABufferWhoseSenderCutItsMemory() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open("multi-survivor", "", CAPS, 1 << 8, null);
        ControlClient.Region region = client.register(1 << 20);
        long self = client.insert(queues, queues.address);
        post(client, queues, BUFFER, region.address(0), 1 << 20, 64, 1);
        int last = 0;
        for (int length : new int[] {64, 8192, 60_000}) {
            ControlClient bad = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues sender = bad.open("multi-cut-" + length, "");
            ControlClient.Region memory = bad.register(1 << 16);
            long to = bad.insert(sender, queues.address);
            CutFiles.cut(DRIVER.directory(), CutFiles.nameOf(memory.file()), 4096);
            bad.send(sender, SEND, memory.address(0), length, to, 0, 3);
            Deadline.awaitParked("the client's end", bad::isEnded);
            DRIVER.assertLogged("was ended", CutFiles.nameOf(memory.file()), "was cut");
            bad.close();
            UnsafeApi.putLong(region.data() + (1 << 19), length * 77L);
            client.send(queues, SEND, region.address(1 << 19), 8, self, 0, 4);
            boolean received = false;
            boolean sent = false;
            while (!received || !sent) {
                long[] entry = client.awaitCompletion(queues);
                published(queues, queues.read);
                long buf = UnsafeApi.getLong(queues.cq.address() + CompletionQueueDescriptor.RECORDS_OFFSET
                    + (queues.read - 1 & queues.cqCapacity - 1) * CompletionQueueDescriptor.RECORD_LENGTH + 32);
                sent |= entry[1] == 4;
                if (entry[1] == 1 && entry[0] == CompletionQueueDescriptor.KIND_SUCCESS) {
                    received = true;
                    int place = (int) (buf - region.address(0));
                    assertTrue(place >= last, place + " after " + last);
                    last = place + 8;
                    assertEquals(length * 77L, UnsafeApi.getLong(region.data() + place));
                }
            }
        }
        assertFalse(client.isEnded());
        client.close();
        DRIVER.assertReclaimed();
    }
}
