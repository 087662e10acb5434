package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.ReceiveQueue;
import org.jfabric.client.TransmitQueue;
import org.jfabric.driver.config.EngineConfig;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.progress.EndpointQueues;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.driver.progress.QueuePoller;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** In which cycle the first request of an endpoint is taken that was idle among a thousand, of which few work. */
class ColdQueueTest {
    private static final int ENDPOINTS = 1000;
    private static final int WORKING = 3;
    private static final int MOST_CYCLES = 64;
    private static final int RING_LENGTH = 4096;
    /** All queues are of one endpoint, which tells the last of them what has ended: no other one gets room back. */
    private static final int OUTSTANDING = 1 << 20;
    private static final int IDLE_CYCLES = 5000;
    private static final int ROTATION_CYCLES = EngineConfig.COLD_ROTATION_CYCLES.defaultValue();
    private static final long TAGGED = Flags.TAGGED | Flags.COMPLETION;

    private final Arena arena = Arena.ofShared();
    private final Engines rig = new Engines(new Script(1));
    private final QueuePoller poller = new QueuePoller(16, ROTATION_CYCLES);
    private final ReceiveQueue[] receives = new ReceiveQueue[ENDPOINTS];
    private final TransmitQueue[] transmits = new TransmitQueue[ENDPOINTS];
    private Engines.Node node;
    private long context;

    @BeforeEach
    void open() {
        rig.rxSize = 1 << 10;
        node = rig.add("a");
        MemorySegment activity = arena.allocate(ENDPOINTS, 64);
        ProgressClient client = new ProgressClient(node.session, activity.address());
        poller.add(client);
        QueueSignal lost = new QueueSignal(arena.allocate(64, 64).address(), 0, null);
        for (int i = 0; i < ENDPOINTS; i++) {
            MemorySegment transmitFile = file();
            MemorySegment receiveFile = file();
            QueueSignal signal = new QueueSignal(activity.address() + i, 0, null);
            transmits[i] = new TransmitQueue(transmitFile.address(), RING_LENGTH, OUTSTANDING, signal, transmitFile);
            // the driver never sees the byte of the last one
            receives[i] = new ReceiveQueue(receiveFile.address(), RING_LENGTH, OUTSTANDING,
                i < ENDPOINTS - 1 ? signal : lost, receiveFile);
            poller.add(new EndpointQueues(node.endpoint, client, i, transmitFile.address(), RING_LENGTH,
                receiveFile.address(), RING_LENGTH));
        }
    }

    @AfterEach
    void close() {
        rig.close();
        arena.close();
    }

    @Test
    void shouldTakeTheFirstRequestOfAColdEndpointWithinSixtyFourCycles() {
        cycles(IDLE_CYCLES);
        for (int cold = WORKING; cold < ENDPOINTS - 1; cold += 37) {
            post(cold);
            assertSoon(cold);
        }
        // they have worked; what they did is long ago again
        cycles(IDLE_CYCLES);
        for (int cold = ENDPOINTS - 2; cold >= WORKING; cold -= 41) {
            post(cold);
            assertSoon(cold);
            cycles(3);
        }
    }

    private void assertSoon(int cold) {
        int cycles = cyclesUntilTaken(cold);
        assertTrue(cycles <= MOST_CYCLES, "endpoint " + cold + " waited for " + cycles + " cycles");
    }

    /** The activity byte is written without a fence, so it may be lost when a queue cools down at that very moment. */
    @Test
    void shouldFindARequestWithoutItsActivityByteWithinOneRotation() {
        int cold = ENDPOINTS - 1;
        for (int i = 0; i < 5; i++) {
            cycles(IDLE_CYCLES + 1111 * i);
            post(cold);
            int cycles = cyclesUntilTaken(cold);
            assertTrue(cycles <= ROTATION_CYCLES, "taken after " + cycles + " cycles");
        }
    }

    /** The client sees the byte set, and the driver has just cleared it: the queue is looked at for a while after. */
    @Test
    void shouldTakeARequestSoonWhoseByteIsLostWhileTheQueueCools() {
        int cooling = ENDPOINTS - 1;
        for (int idle = 1020; idle < 1080; idle += 4) {
            post(cooling);
            cyclesUntilTaken(cooling);
            cycles(idle);
            post(cooling);
            assertSoon(cooling);
        }
    }

    private void post(int endpoint) {
        assertEquals(0, receives[endpoint].receive(TAGGED, node.buf(0), 8, -1, ++context, 0, context));
    }

    /** With traffic on the endpoints that work. */
    private void cycles(int count) {
        for (int i = 0; i < count; i++) {
            cycle();
        }
    }

    private void cycle() {
        int working = (int) (context % WORKING);
        post(working);
        // ends as soon as it is posted, so that not too many receives are outstanding
        assertEquals(0, transmits[working].cancel(context, receives[working].position()));
        poller.poll();
        node.completions.takeAll();
    }

    private int cyclesUntilTaken(int endpoint) {
        int cycles = 0;
        while (receives[endpoint].untaken() != 0) {
            cycle();
            cycles++;
            assertTrue(cycles <= ROTATION_CYCLES, "endpoint " + endpoint + " is not found");
        }
        return cycles;
    }

    private MemorySegment file() {
        return arena.allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, 4096);
    }
}
