package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.WorkRequest;
import org.jfabric.codec.control.WaitObj;
import org.jfabric.codec.queue.WorkConditionEncoder;
import org.jfabric.codec.queue.WorkRequestEncoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.CounterDescriptor;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.WorkRequestDescriptor;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clients whose requests for work that counters start are garbage, and clients that die while it waits. */
@Tag("hostile")
@Timeout(120)
class TriggerGarbageTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final int TYPE = WorkRequestEncoder.TEMPLATE_ID;
    private static final int HEAD = WorkRequestDescriptor.TRIGGERED_HEAD_LENGTH;
    private static final long CAPS = Flags.RMA | Flags.ATOMIC | Flags.TAGGED | Flags.MSG | Flags.TRIGGER;
    private static final long SEND = Flags.TAGGED | Flags.COMPLETION;
    private static final long WRITE = Flags.RMA | Flags.WRITE | Flags.COMPLETION;
    private static final long ATOMIC = Flags.ATOMIC | Flags.WRITE | Flags.COMPLETION;
    private static final int LENGTH = 1 << 16;

    private static String name() {
        return "trigger-" + Long.toHexString(new SplittableRandom().nextLong());
    }

    /** A request whose block and condition are filled at random where it is not said; returns the block. */
    private static WorkRequestEncoder request(RecordProducer ring, int offset, SplittableRandom random, int kind) {
        UnsafeBuffer body = new UnsafeBuffer(
            ring.ringAddress() + offset + RecordRingDescriptor.WORD_LENGTH, HEAD - RecordRingDescriptor.WORD_LENGTH);
        for (int i = 0; i < body.capacity(); i += 8) {
            body.putLong(i, random.nextLong());
        }
        return new WorkRequestEncoder().wrap(body, 0).kind((short) kind).resultPiecesOrRanges((short) 0)
            .comparePieces((short) 0).isTriggered((short) 1);
    }

    private static WorkConditionEncoder condition(RecordProducer ring, int offset) {
        return new WorkConditionEncoder().wrap(new UnsafeBuffer(
            ring.ringAddress() + offset + WorkRequestDescriptor.HEAD_LENGTH, WorkConditionEncoder.BLOCK_LENGTH), 0);
    }

    /** A send of a word of the region that waits for a counter. */
    static void sendAt(
        ControlClient client, ControlClient.Queues queues, ControlClient.Count counter, long threshold, long dest,
        long address, long context) {
        int offset = claim(queues.transmit, HEAD + 16);
        request(queues.transmit, offset, new SplittableRandom(3), WorkRequest.SEND).pieces((short) 1).flags(SEND)
            .context(context).address(dest).tagOrRemoteAddr(9);
        condition(queues.transmit, offset).counterId(counter.id()).threshold(threshold).workId(0).completionId(0);
        UnsafeApi.putLong(queues.transmit.ringAddress() + offset + HEAD, address);
        UnsafeApi.putLong(queues.transmit.ringAddress() + offset + HEAD + 8, 8);
        queues.transmit.commit(offset, HEAD + 16, TYPE);
        client.signal(queues);
    }

    private static int claim(RecordProducer ring, int length) {
        return Deadline.awaitValue("room", () -> {
            int claimed = ring.claim(length);
            return claimed < 0 ? null : claimed;
        });
    }

    @ParameterizedTest
    @CsvSource({
        // queue, kind, bytes behind the head, pieces or elements, flags
        "t, 1, 15, 1, SEND", "t, 1, 17, 1, SEND", "t, 1, 0, 1, SEND", "t, 1, 16, 0, SEND", "t, 1, 80, 5, SEND",
        "t, 1, 16, 255, SEND", "t, 1, 16, 129, SEND", "t, 1, 16, 1, NONE", "t, 1, 16, 1, BOTH",
        "t, 1, 16, 1, WRITE", "t, 1, 16, 15, INJECT", "t, 1, 16, 1, INJECT", "t, 1, -1, 0, SEND",
        "t, 1, -32, 0, SEND", "t, 1, -88, 0, SEND", "t, 2, 16, 1, SEND", "t, 0, 16, 1, SEND", "t, 5, 16, 1, SEND",
        "t, 255, 16, 1, SEND", "t, 3, 16, 1, SEND", "t, 3, 16, 1, READ_WRITE", "t, 3, 16, 0, READ_INJECT",
        "t, 4, 16, 1, SEND", "t, 4, 16, 1, ATOMIC_READ", "t, 4, 17, 1, ATOMIC", "t, 4, 16, -1, ATOMIC",
        "t, 4, 16, 1000, ATOMIC", "t, 4, 16, 1, ATOMIC_INJECT", "t, 4, 16, 3, ATOMIC_INJECT",
        "t, 1, 16, 1, THRESHOLD", "r, 2, 15, 1, SEND", "r, 2, 16, 2, SEND", "r, 2, 16, 1, PEEK",
        "r, 2, 16, 0, INJECT", "r, 1, 16, 1, SEND", "r, 3, 16, 1, WRITE", "r, 4, 16, 1, ATOMIC"})
    void shouldEndTheClientWhoseRequestIsNone(String queue, int kind, int behind, long count, String flags) {
        ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
        ControlClient.Queues queues = client.open(name(), "", CAPS, 0, null);
        ControlClient.Count counter = client.openCounter(WaitObj.NONE);
        RecordProducer ring = queue.equals("t") ? queues.transmit : queues.receive;
        int offset = claim(ring, HEAD + Math.max(0, behind));
        request(ring, offset, new SplittableRandom(1), kind).dataOrElements(count)
            .pieces((short) (kind != WorkRequest.ATOMIC ? count : flags.equals("ATOMIC_INJECT") ? 0 : 1))
            .flags(switch (flags) {
                case "NONE" -> Flags.COMPLETION;
                case "BOTH" -> SEND | Flags.MSG;
                case "WRITE" -> WRITE;
                case "INJECT" -> SEND | Flags.INJECT;
                case "PEEK" -> SEND | Flags.PEEK;
                case "READ_WRITE" -> WRITE | Flags.READ;
                case "READ_INJECT" -> Flags.RMA | Flags.READ | Flags.INJECT;
                case "ATOMIC" -> ATOMIC;
                case "ATOMIC_INJECT" -> ATOMIC | Flags.INJECT;
                case "ATOMIC_READ" -> Flags.ATOMIC | Flags.READ;
                default -> SEND;
            }).form((short) 0).datatype((short) 6).operation((short) 2);
        condition(ring, offset).counterId(counter.id()).workId(0).completionId(0)
            .threshold(flags.equals("THRESHOLD") ? -1 : 0);
        ring.commit(offset, HEAD + behind, TYPE);
        client.signal(queues);
        String reason = client.expectEnded();
        assertTrue(reason.contains("queue of endpoint") && reason.contains("type " + TYPE), reason);
        client.close();
        DRIVER.assertReclaimed();
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "4, 1048576"})
    void shouldEndTheClientWithoutTheCapability(int kind, long caps) {
        ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
        ControlClient.Queues queues = client.open(name(), "", Flags.TAGGED | caps, 0, null);
        int offset = claim(queues.transmit, HEAD);
        request(queues.transmit, offset, new SplittableRandom(2), kind).pieces((short) 0).dataOrElements(0)
            .flags(kind == WorkRequest.ATOMIC ? ATOMIC : SEND).form((short) 0).datatype((short) 6)
            .operation((short) 2);
        condition(queues.transmit, offset).threshold(0);
        queues.transmit.commit(offset, HEAD, TYPE);
        client.signal(queues);
        String reason = client.expectEnded();
        assertTrue(reason.contains("FI_EOPNOTSUPP"), reason);
        client.close();
    }

    /** Each request has one entry, with a documented reason if its fields are wrong. */
    @Test
    void shouldAnswerEachWellFormedRequestOnceWhateverItNames() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open(name(), "", CAPS, 0, null);
        ControlClient.Count counter = client.openCounter(WaitObj.NONE);
        ControlClient.Region region = client.register(LENGTH);
        long self = client.insert(queues, queues.address);
        Set<Integer> reasons = Set.of(FabricErrno.EFAULT, FabricErrno.EINVAL, FabricErrno.EKEYREJECTED,
            FabricErrno.EBADFLAGS, FabricErrno.EOPNOTSUPP, FabricErrno.EACCES);
        int failed = 0;
        long changes = 0;
        for (int i = 1; i <= 3000; i++) {
            int kind = random.nextInt(4) == 0 ? WorkRequest.ACCESS : WorkRequest.SEND;
            int pieces = random.nextInt(5);
            boolean isKnown = random.nextInt(8) != 0;
            boolean isLate = random.nextBoolean();
            long flags = kind == WorkRequest.SEND ? SEND : WRITE;
            int offset = claim(queues.transmit, HEAD + 16 * pieces);
            request(queues.transmit, offset, random, kind).pieces((short) pieces).flags(flags).context(i)
                .address(random.nextInt(3) == 0 ? random.nextLong() : self);
            condition(queues.transmit, offset).counterId(isKnown ? counter.id() : random.nextLong())
                .threshold(isLate ? ++changes : 0).workId(random.nextBoolean() ? 0 : random.nextLong())
                .completionId(random.nextInt(3) == 0 ? random.nextLong() : random.nextBoolean() ? counter.id() : 0);
            long first = queues.transmit.ringAddress() + offset + HEAD;
            for (int k = 0; k < pieces; k++) {
                UnsafeApi.putLong(first + 16L * k, random.nextInt(6) == 0 ? random.nextLong() : region.address(64));
                UnsafeApi.putLong(first + 16L * k + 8, random.nextInt(6) == 0 ? random.nextLong() : 8);
            }
            queues.transmit.commit(offset, HEAD + 16 * pieces, TYPE);
            client.signal(queues);
            // the driver's own counts only help to reach the threshold
            UnsafeApi.putLongRelease(
                null, counter.file().address() + CounterDescriptor.ADDED_OFFSET, changes);
            client.signal(queues);
            long[] entry = client.awaitCompletion(queues);
            assertEquals(i, entry[1], "seed " + seed);
            if (entry[0] != CompletionQueueDescriptor.KIND_SUCCESS) {
                failed++;
                int err = Entries.lastErrno(queues);
                assertTrue(reasons.contains(err), () -> FabricErrno.name(err) + ", seed " + seed);
            }
            Entries.release(queues);
        }
        assertTrue(failed > 100, failed + ", seed " + seed);
        assertFalse(client.isEnded(), "seed " + seed);
    }

    @Test
    void shouldReclaimAllWhenAClientDiesWhoseWorkWaits() {
        SplittableRandom random = new SplittableRandom(System.nanoTime());
        FabricNode peer = DRIVER.opened(Bystanders.node("loopback", DRIVER.directory()));
        for (int round = 0; round < 4; round++) {
            int posted = 0;
            try (TestProcess child = ChildMain.start(
                "wait", DRIVER.directory(), peer.endpoint.name(), Long.toString(random.nextLong()))) {
                for (; posted < 64; posted++) {
                    assertEquals(0, peer.endpoint.trecv(peer.memory.address(), 64, -1L, 1, 0, 1));
                }
                child.awaitLine("running");
                LockSupport.parkNanos(random.nextLong(3_000_000));
                child.kill();
            }
            Deadline.awaitParked(() -> "not reclaimed: " + DRIVER.view().counters(), () -> {
                peer.poll();
                return DRIVER.view().counter("clients") == 3 && DRIVER.view().counter("counters") == 0
                    && DRIVER.view().counter("endpoints") == 3;
            });
        }
        peer.close();
        DRIVER.assertReclaimed();
    }
}
