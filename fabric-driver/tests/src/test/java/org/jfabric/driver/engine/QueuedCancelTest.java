package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.ReceiveQueue;
import org.jfabric.client.TransmitQueue;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.progress.EndpointQueues;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.driver.progress.QueuePoller;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cancels of an attached client: they travel in one queue and may be meant for an operation in the other one. */
class QueuedCancelTest {
    private static final int RING_LENGTH = 4096;
    private static final long TAGGED = Flags.TAGGED | Flags.COMPLETION;

    private final Arena arena = Arena.ofShared();
    private final Engines rig = new Engines(new Script(1));
    private final Engines.Node node = rig.add("a");
    private final long destination = node.fiAddr(rig.add("b"));
    private final MemorySegment transmitFile = file();
    private final MemorySegment receiveFile = file();
    private final QueueSignal signal = new QueueSignal(arena.allocate(64, 64).address(), 0, null);
    private final TransmitQueue transmit = new TransmitQueue(
        transmitFile.address(), RING_LENGTH, 64, signal, transmitFile);
    private final ReceiveQueue receive = new ReceiveQueue(receiveFile.address(), RING_LENGTH, 64, signal, receiveFile);
    private final ProgressClient client = new ProgressClient(node.session, arena.allocate(4096, 64).address());
    private final EndpointQueues queues = new EndpointQueues(
        node.endpoint, client, 0, transmitFile.address(), RING_LENGTH, receiveFile.address(), RING_LENGTH);

    @AfterEach
    void close() {
        rig.close();
        arena.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 64})
    void shouldNeverLetACancelOvertakeTheOperationThatItWasPostedAfter(int batch) {
        QueuePoller poller = poller(batch);
        for (int seed = 1; seed <= 200; seed++) {
            Random random = new Random(seed);
            Set<Long> cancelled = new HashSet<>();
            Set<Long> kept = new HashSet<>();
            long context = seed * 1000L;
            for (int i = 0; i < 20; i++) {
                context++;
                if (random.nextBoolean()) {
                    send(context);
                } else {
                    receive(context);
                }
                if (random.nextInt(3) == 0) {
                    assertEquals(0, transmit.cancel(context, receive.position()));
                    cancelled.add(context);
                } else {
                    kept.add(context);
                }
                if (random.nextInt(8) == 0) {
                    poller.poll();
                }
            }
            drain(poller);
            String where = "seed " + seed;
            assertEquals(cancelled, ended(where), where);
            // the others are still there, so a cancel finds each of them now
            for (long one : kept) {
                assertEquals(0, transmit.cancel(one, receive.position()));
                drain(poller);
            }
            assertEquals(kept, ended(where), where);
        }
    }

    @Test
    @Requirement("EP-069")
    void shouldCancelOneOfSeveralOperationsWithTheContext() {
        QueuePoller poller = poller(8);
        send(7);
        receive(7);
        receive(7);
        send(7);
        for (int i = 0; i < 4; i++) {
            assertEquals(0, transmit.cancel(7, receive.position()));
            drain(poller);
            assertEquals(1, node.completions.takeAll().size(), "cancel " + i);
        }
        assertEquals(0, transmit.cancel(7, receive.position()));
        drain(poller);
        node.assertNoEntry();
    }

    @Test
    void shouldPostNothingIfTheQueueIsFull() {
        QueuePoller poller = poller(64);
        receive(5);
        int posted = 0;
        while (transmit.cancel(99, receive.position()) == 0) {
            posted++;
        }
        long position = transmit.position();
        assertEquals(-FabricErrno.EAGAIN, transmit.cancel(5, receive.position()));
        assertEquals(position, transmit.position());
        drain(poller);
        assertTrue(posted > 10);
        node.assertNoEntry();
        assertEquals(0, transmit.cancel(5, receive.position()));
        drain(poller);
        assertEquals(5, node.completions.take().context());
    }

    @Test
    void shouldEndAClientWhoseCancelNamesAnImpossiblePosition() {
        QueuePoller poller = poller(8);
        assertEquals(0, transmit.cancel(1, RING_LENGTH + 64L));
        AssertionError ended = assertThrows(AssertionError.class, () -> drain(poller));
        assertTrue(ended.getMessage().contains("names position"), ended.getMessage());
    }

    @Test
    void shouldNotGoRoundInCirclesBetweenTheQueues() {
        QueuePoller poller = poller(64);
        for (int i = 0; i < 40; i++) {
            assertEquals(0, receive.cancel(1, RING_LENGTH));
            assertEquals(0, transmit.cancel(1, RING_LENGTH));
        }
        drain(poller);
        assertEquals(0, transmit.untaken());
        node.assertNoEntry();
    }

    private void send(long context) {
        // nobody steps the link, so the send waits for its channel
        assertEquals(0, transmit.send(TAGGED, node.buf(0), 8, destination, context, 0, context));
    }

    private void receive(long context) {
        assertEquals(0, receive.receive(TAGGED, node.buf(0), 8, -1, context, 0, context));
    }

    private QueuePoller poller(int batch) {
        QueuePoller poller = new QueuePoller(batch, 1);
        poller.add(client);
        poller.add(queues);
        return poller;
    }

    private Set<Long> ended(String where) {
        Set<Long> contexts = new HashSet<>();
        for (CompletionReader.Entry entry : node.completions.takeAll()) {
            assertEquals(FabricErrno.ECANCELED, entry.errno(), where);
            assertTrue(contexts.add(entry.context()), where + ": twice " + entry);
        }
        return contexts;
    }

    private static void drain(QueuePoller poller) {
        while (poller.poll() != 0) {
            Thread.onSpinWait();
        }
    }

    private MemorySegment file() {
        return arena.allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, 4096);
    }
}
