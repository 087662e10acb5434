package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.ReceiveQueue;
import org.jfabric.client.TransmitQueue;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.progress.EndpointQueues;
import org.jfabric.driver.progress.ParkingIdleStrategy;
import org.jfabric.driver.progress.ProgressAgent;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.driver.progress.QueuePoller;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.Inbox;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.info.Flags;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.ViewDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a driver's thread does in each cycle, and what in one of 32. */
class DutyCycleTest {
    private static final int RING_LENGTH = 4096;
    private static final int ROUND = 32;
    private static final long FAST_NS = 300;
    private static final long SLOW_NS = 5_000;
    private static final long TAGGED = Flags.TAGGED | Flags.COMPLETION;

    private final Arena arena = Arena.ofShared();
    private final Engines rig = new Engines(new Script(1));
    private final Engines.Node node = rig.add("a");
    private final ReceiveQueue receive;
    private final TransmitQueue transmit;
    private final QueuePoller poller = new QueuePoller(8, 1 << 14);
    private final SystemCounters counters;
    private final long cnc = arena.allocate(CncDescriptor.METADATA_OFFSET, 64).address();
    private final Inbox inbox = new Inbox();
    private final CycleClock clock;
    private final ProgressAgent agent;
    private long nowNs = Long.MAX_VALUE - 1_000_000;
    private int reads;
    private long context;

    DutyCycleTest() {
        counters = new SystemCounters(new CountersManager(
            new UnsafeBuffer(new byte[64 * CountersReader.METADATA_LENGTH]),
            new UnsafeBuffer(arena.allocate(64 * CountersReader.COUNTER_LENGTH, 64).asByteBuffer())));
        clock = new CycleClock(() -> {
            reads++;
            return nowNs;
        });
        agent = agent(node.engine);
        MemorySegment transmitFile = file();
        MemorySegment receiveFile = file();
        long activity = arena.allocate(4096, 64).address();
        QueueSignal signal = new QueueSignal(activity, 0, null);
        transmit = new TransmitQueue(transmitFile.address(), RING_LENGTH, 64, signal, transmitFile);
        receive = new ReceiveQueue(receiveFile.address(), RING_LENGTH, 64, signal, receiveFile);
        ProgressClient client = new ProgressClient(node.session, activity);
        poller.add(client);
        EndpointQueues queues = new EndpointQueues(
            node.endpoint, client, 0, transmitFile.address(), RING_LENGTH, receiveFile.address(), RING_LENGTH);
        poller.add(queues);
    }

    private ProgressAgent agent(Engine engine) {
        return new ProgressAgent(engine, poller, null, inbox, clock, counters, cnc, -1);
    }

    @AfterEach
    void close() {
        rig.close();
        arena.close();
    }

    @Test
    void shouldReadTheClockInOneOf32BusyCycles() {
        busyCycles(2 * ROUND, FAST_NS);
        reads = 0;
        busyCycles(100 * ROUND, FAST_NS);
        assertEquals(100, reads);
    }

    /** A command or a deadline never waits for more than one of them. */
    @Test
    void shouldReadTheClockInEachCycleWhileCyclesAreSlow() {
        busyCycles(2 * ROUND, FAST_NS);
        busyCycles(2 * ROUND, SLOW_NS);
        reads = 0;
        busyCycles(100, SLOW_NS);
        assertEquals(100, reads);
        busyCycles(2 * ROUND, FAST_NS);
        reads = 0;
        busyCycles(ROUND, FAST_NS);
        assertEquals(1, reads, "fast again");
    }

    @Test
    void shouldNoteASlowCycleAmongFastOnes() {
        long slowNs = 4_000_000;
        busyCycles(10 * ROUND + 7, FAST_NS);
        assertTrue(longest() < ROUND * FAST_NS * 2, "noted " + longest());
        busyCycles(1, slowNs);
        busyCycles(ROUND, FAST_NS);
        assertTrue(longest() >= slowNs && longest() <= slowNs + ROUND * FAST_NS, "noted " + longest());
    }

    @Test
    void shouldTakeACommandWithin32Cycles() {
        busyCycles(3 * ROUND + 5, FAST_NS);
        int[] taken = new int[1];
        inbox.post(() -> taken[0]++);
        busyCycles(ROUND, FAST_NS);
        assertEquals(1, taken[0]);
    }

    @Test
    void shouldPublishTheCyclesOfBothKinds() {
        busyCycles(1 << 17, FAST_NS);
        long published = UnsafeApi.getLong(cnc + CncDescriptor.CYCLES_OFFSET);
        assertTrue(published >= 1 << 16 && published <= 1 << 17, "published " + published);
    }

    /** A thread that may sleep needs the time of each cycle without work, once; not that of the others. */
    @Test
    void shouldReadTheClockOnceInEachIdleCycleOfAThreadThatMaySleep() {
        ParkingIdleStrategy idle = new ParkingIdleStrategy(
            agent, null, inbox, counters, clock, cnc, Long.MAX_VALUE, Long.MAX_VALUE);
        for (int i = 0; i < 3 * ROUND; i++) {
            busyCycles(1, FAST_NS);
            idle.idle(1);
        }
        reads = 0;
        for (int i = 0; i < ROUND; i++) {
            busyCycles(1, FAST_NS);
            idle.idle(1);
        }
        assertEquals(1, reads, "busy");
        reads = 0;
        for (int i = 0; i < 10 * ROUND; i++) {
            nowNs += FAST_NS;
            assertEquals(0, agent.doWork());
            idle.idle(0);
        }
        assertEquals(10 * ROUND, reads, "idle");
    }

    @Test
    void shouldNotPollLinksThatAreIdleInShortCycles() {
        IdleLink link = new IdleLink();
        ProgressAgent own = agent(new Engine(rig.settings, List.of(link), node.errors::add));
        own.ownThread();
        for (int i = 0; i < 2 * ROUND; i++) {
            own.doWork();
        }
        link.polls = 0;
        for (int i = 0; i < 10 * ROUND; i++) {
            own.doWork();
        }
        assertEquals(10, link.polls);
        inbox.post(() -> link.isIdle = false);
        for (int i = 0; i < ROUND; i++) {
            own.doWork();
        }
        link.polls = 0;
        for (int i = 0; i < 10 * ROUND; i++) {
            own.doWork();
        }
        assertEquals(10 * ROUND, link.polls, "it has something to do");
    }

    /** The thread also runs the conductor, which gives links work without asking. */
    @Test
    void shouldPollEveryLinkInEachCycleOfASharedThread() {
        IdleLink link = new IdleLink();
        ProgressAgent shared = agent(new Engine(rig.settings, List.of(link), node.errors::add));
        for (int i = 0; i < 10 * ROUND; i++) {
            shared.doWork();
        }
        assertEquals(10 * ROUND, link.polls);
    }

    /** The cycles before may have been short ones, which leave snapshots alone. */
    @Test
    void shouldNotSleepBeforeASnapshotIsComplete() {
        ProgressAgent own = agent(new Engine(rig.settings, List.of(new IdleLink()), node.errors::add));
        MemorySegment view = arena.allocate(ViewDescriptor.FILE_LENGTH, 64);
        try (DescriptorWatcher watcher = new DescriptorWatcher()) {
            ParkingIdleStrategy idle = new ParkingIdleStrategy(own, watcher, inbox, counters, clock, cnc, 0, 1);
            idle.idle(0);
            assertEquals(1, counters.value(SystemCounter.PARKED), "a thread without work sleeps");
            own.addView(new QueueView(node.endpoint, node.session, 1, view.address()));
            while (UnsafeApi.getLong(view.address() + ViewDescriptor.SEQUENCE_OFFSET) != 2) {
                idle.idle(0);
                assertEquals(1, counters.value(SystemCounter.PARKED));
            }
        }
    }

    private void busyCycles(int count, long cycleNs) {
        for (int i = 0; i < count; i++) {
            nowNs += cycleNs;
            assertEquals(0, receive.receive(TAGGED, node.buf(0), 8, -1, ++context, 0, context));
            assertEquals(0, transmit.cancel(context, receive.position()));
            assertTrue(agent.doWork() > 0);
            node.completions.takeAll();
        }
    }

    private long longest() {
        return counters.value(SystemCounter.CYCLE_MAX_NS);
    }

    private MemorySegment file() {
        return arena.allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, 4096);
    }

    /** A link that says whether it has something to do. */
    private static final class IdleLink extends Link {
        private boolean isIdle = true;
        private int polls;

        @Override
        public String name() {
            return "idle";
        }

        @Override
        public boolean reaches(String remoteAddress) {
            return false;
        }

        @Override
        public void attach(LocalEndpoint endpoint) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void detach(LocalEndpoint endpoint) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int poll(int limit) {
            polls++;
            return 0;
        }

        @Override
        public boolean isIdle() {
            return isIdle;
        }

        @Override
        public boolean arm() {
            return isIdle;
        }

        @Override
        public void close() {
            isIdle = true;
        }
    }
}
