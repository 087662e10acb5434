package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.agrona.UnsafeApi;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.TransmitQueue;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.progress.EndpointQueues;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.driver.progress.QueuePoller;
import org.jfabric.driver.resource.Stage;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.MetricLabel;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which operations and entries are samples, and what their times contain. */
class StageSamplingTest {
    private static final int RING_LENGTH = 1 << 14;
    private static final int INTERVAL = 64;
    private static final long TAGGED = Flags.TAGGED | Flags.COMPLETION;
    private static final long HELD_NS = 5_000_000;
    private static final int STAMP_TYPE = 11;

    private final Arena arena = Arena.ofShared();
    private final Engines rig = new Engines(new Script(1));
    private final Engines.Node node = rig.add("a");
    private final Engines.Node peer = rig.add("b");
    private final Map<String, Long> words = new HashMap<>();
    private final StageTimes stages = StageTimes.open(INTERVAL, this::open);
    private final QueuePoller poller = new QueuePoller(1, 1);
    private final MemorySegment transmitFile = file();
    private final EndpointQueues queues;
    private final TransmitQueue transmit;
    private long context;

    StageSamplingTest() {
        node.engine.measure(stages);
        poller.measure(stages);
        long activity = arena.allocate(4096, 64).address();
        UnsafeApi.putLong(transmitFile.address() + RecordRingDescriptor.STAMP_DISTANCE_OFFSET,
            INTERVAL * RecordRingDescriptor.RECORD_ALIGNMENT);
        transmit = new TransmitQueue(
            transmitFile.address(), RING_LENGTH, 64, new QueueSignal(activity, 0, null), transmitFile);
        ProgressClient client = new ProgressClient(node.session, activity);
        queues = new EndpointQueues(
            node.endpoint, client, 0, transmitFile.address(), RING_LENGTH, file().address(), RING_LENGTH);
        poller.add(client);
        poller.add(queues);
    }

    @AfterEach
    void close() {
        rig.close();
        arena.close();
    }

    private MemorySegment file() {
        return arena.allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, 4096);
    }

    private long open(int type, String label) {
        long word = arena.allocate(Long.BYTES, Long.BYTES).address();
        words.put(label, word);
        return word;
    }

    private long count(Stage stage) {
        return words.entrySet().stream().filter(word -> word.getKey().contains('"' + stage.label() + "\",le="))
            .mapToLong(word -> UnsafeApi.getLong(word.getValue())).sum();
    }

    private long sumNs(Stage stage) {
        return UnsafeApi.getLong(
            words.get(MetricLabel.text("jfabric_stage_latency_seconds", "stage", stage.label())));
    }

    private void send(long destination) {
        assertEquals(0, transmit.send(TAGGED, node.buf(0), 8, destination, 7, 0, ++context));
    }

    private void poll() {
        while (transmit.untaken() != 0) {
            poller.poll();
        }
        rig.settle();
        node.completions.takeAll();
        peer.completions.takeAll();
        stages.publish();
    }

    private static void hold() {
        long endNs = System.nanoTime() + HELD_NS;
        while (System.nanoTime() - endNs < 0) {
            LockSupport.parkNanos(endNs - System.nanoTime());
        }
    }

    @Test
    void shouldSampleOneOfSoManyOperationsAndTakeItInTheSameStepAsItsTimeStamp() {
        long destination = node.fiAddr(peer);
        for (int i = 1; i <= 4 * INTERVAL + 1; i++) {
            assertEquals(0, peer.trecv(0, 8, 7, i));
            send(destination);
            assertEquals(1, poller.poll(), "operation " + i);
            assertEquals(0, transmit.untaken());
            poll();
            assertEquals((i - 1) / INTERVAL, count(Stage.SUBMIT_TO_ENGINE), "operation " + i);
            assertEquals((i - 1) / INTERVAL, count(Stage.ENGINE_TO_WIRE), "operation " + i);
        }
        assertTrue(sumNs(Stage.SUBMIT_TO_ENGINE) > 0);
    }

    @Test
    void shouldContainTheTimeForWhichTheDriverRanNoCycle() {
        long destination = node.fiAddr(peer);
        for (int i = 0; i < INTERVAL; i++) {
            send(destination);
            poll();
        }
        send(destination);
        hold();
        poll();
        assertEquals(1, count(Stage.SUBMIT_TO_ENGINE));
        assertTrue(sumNs(Stage.SUBMIT_TO_ENGINE) >= HELD_NS, () -> sumNs(Stage.SUBMIT_TO_ENGINE) + " ns");
        assertTrue(sumNs(Stage.ENGINE_TO_WIRE) < sumNs(Stage.SUBMIT_TO_ENGINE));
    }

    /** The link is not polled, so the channel to the peer does not open. */
    @Test
    void shouldContainTheTimeForWhichASendWaitsForItsPeer() {
        long nowhere = 4711;
        for (int i = 0; i < INTERVAL; i++) {
            send(nowhere);
            poll();
        }
        send(node.fiAddr(peer));
        assertEquals(1, poller.poll());
        stages.publish();
        assertEquals(1, count(Stage.SUBMIT_TO_ENGINE));
        assertEquals(0, count(Stage.ENGINE_TO_WIRE), "it waits");
        hold();
        poll();
        assertEquals(1, count(Stage.ENGINE_TO_WIRE));
        assertTrue(sumNs(Stage.ENGINE_TO_WIRE) >= HELD_NS, () -> sumNs(Stage.ENGINE_TO_WIRE) + " ns");
    }

    @Test
    void shouldNotTimeTheWayToALinkOfAnOperationThatFails() {
        for (int i = 0; i <= 2 * INTERVAL; i++) {
            send(4711);
            poll();
        }
        assertEquals(2, count(Stage.SUBMIT_TO_ENGINE));
        assertEquals(0, count(Stage.ENGINE_TO_WIRE));
    }

    @Test
    void shouldEndAClientWhoseTimeStampIsTooShortAndIgnoreImpossibleTimes() {
        RecordProducer client = new RecordProducer(transmitFile.address() + RecordRingDescriptor.HEADER_LENGTH,
            RING_LENGTH, transmitFile.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET);
        for (long time : new long[] {Long.MAX_VALUE, Long.MIN_VALUE, System.nanoTime() + HELD_NS * 1_000_000}) {
            int offset = client.claim(RecordRingDescriptor.STAMP_LENGTH);
            UnsafeApi.putLong(
                client.ringAddress() + offset + RecordRingDescriptor.WORD_LENGTH, time);
            client.commit(offset, RecordRingDescriptor.STAMP_LENGTH, STAMP_TYPE);
        }
        poller.pollAll();
        poller.pollAll();
        poller.pollAll();
        stages.publish();
        assertEquals(0, count(Stage.SUBMIT_TO_ENGINE));
        client.commit(client.claim(8), 8, STAMP_TYPE);
        AssertionError ended = assertThrows(AssertionError.class, poller::pollAll);
        assertTrue(ended.getMessage().contains("a record of type 11 has 8 bytes"), ended.getMessage());
    }

    /** The client's side by the layout alone. */
    @Test
    void shouldStampOneEntryOfEachIntervalAndAtMostEightThatAreNotRead() {
        CompletionReader reader = new CompletionReader(2048);
        CompletionWriter writer = reader.writer;
        writer.enter(new FlushList());
        writer.sample(stages);
        long file = writer.fileAddress();
        write(writer, 11 * INTERVAL);
        for (long number = 0; number < 11 * INTERVAL; number++) {
            long sample = number / INTERVAL - 1;
            boolean isSample = number % INTERVAL == 0 && sample >= 0 && sample < 8;
            assertEquals(!isSample ? 0 : CompletionQueueDescriptor.FLAG_BUFFERED
                | CompletionQueueDescriptor.FLAG_STAMPED | CompletionQueueDescriptor.FLAG_WITHOUT_CELL
                | sample << CompletionQueueDescriptor.STAMP_SHIFT, flags(file, number), "entry " + number);
        }
        stages.publish();
        assertEquals(0, count(Stage.ENTRY_TO_READ));
        hold();
        read(file, 0, System.nanoTime());
        read(file, 1, System.nanoTime() + HELD_NS * 1_000_000);
        stages.publish();
        assertEquals(1, count(Stage.ENTRY_TO_READ), "the other one was read in the future");
        assertTrue(sumNs(Stage.ENTRY_TO_READ) >= HELD_NS);
        reader.takeAll();
        write(writer, 3 * INTERVAL);
        assertEquals(2, LongStream.range(11 * INTERVAL, 14 * INTERVAL)
            .filter(number -> flags(file, number) != 0).count(), "as many as were read");
        writer.leave();
        stages.remove(writer);
        reader.free();
    }

    private static void write(CompletionWriter writer, int count) {
        for (int i = 0; i < count; i++) {
            writer.success(0, 0, i, 0, 0, 0, 0, 0, 0);
        }
    }

    private static long flags(long file, long number) {
        return UnsafeApi.getLong(file + CompletionQueueDescriptor.RECORDS_OFFSET
            + number * CompletionQueueDescriptor.RECORD_LENGTH) >>> 56;
    }

    private static void read(long file, int index, long ns) {
        UnsafeApi.putLong(
            file + CompletionQueueDescriptor.READ_TIMES_OFFSET + (long) index * Long.BYTES, ns);
    }
}
