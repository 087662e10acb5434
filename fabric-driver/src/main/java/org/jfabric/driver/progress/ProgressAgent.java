package org.jfabric.driver.progress;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.Agent;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.engine.Engine;
import org.jfabric.driver.engine.EngineCounters;
import org.jfabric.driver.engine.EngineSession;
import org.jfabric.driver.engine.QueueView;
import org.jfabric.driver.engine.QueueViews;
import org.jfabric.driver.log.AgentLog;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.Inbox;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.Sleepers;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.driver.stream.table.TableWatches;
import org.jfabric.ffi.Affinity;
import org.jfabric.layout.CncDescriptor;

import java.util.ArrayList;
import java.util.List;

/**
 * The duty cycle of the data path: tasks of other threads, the clients' queues, then the engine with its links.
 *
 * <p>A whole cycle reads the clock and polls the inbox and every link. While cycles are fast, 31 of 32 are short ones
 * and do only what messages wait for, see {@link #pollMessages(int)}: the rest costs as much as a message. Once cycles
 * take longer than {@value #FAST_NS} ns all of them are whole, so that neither a command nor a deadline waits for 31
 * long ones.
 *
 * <p>Everything of the engine, the queues of all clients and their completion queues belongs to the thread that
 * runs it.
 */
public final class ProgressAgent implements Agent {
    private static final int INBOX_LIMIT = 64;
    /** Most messages that a cycle takes from each peer of each link, unless the application gives a limit. */
    public static final int LINK_BATCH = 64;
    private static final int PUBLISH_CYCLES = 1 << 16;
    private static final int SHORT_CYCLES = 31;
    /** Mean time in nanoseconds up to which a cycle is fast; reading the clock is a large part of a fast cycle. */
    private static final long FAST_NS = 1_000;
    /** Time between two whole cycles up to which deadlines and descriptors can wait for longer. */
    private static final long FAST_PERIOD_NS = 100_000;

    private final Engine engine;
    private final QueuePoller poller;
    private final FaultInspector faults;
    private final Inbox inbox;
    private final CycleClock clock;
    private final SystemCounters counters;
    private final long cncAddress;
    private final int cpu;
    private final QueueViews views = new QueueViews();
    private final TableWatches tables = new TableWatches();
    private boolean ownThread;
    private Sleepers sleepers;
    private String roleName = "jfabric-progress";
    /** 0 for none. */
    private long requestsAddress;
    private long cycles;
    private long publishedCycles;
    private long wholeCycle;
    private int shortLeft;
    private boolean fast;
    private boolean isTimeOld;
    private long lastCycleNs;
    private CycleTimes times;
    private StageTimes stages = StageTimes.OFF;
    private long publishedRequests;

    /**
     * Wiring of the agent.
     *
     * @param faults   finds the truncated file after a failed access.
     * @param cncAddress native address of the {@code cnc} file; 0 for a thread that does not publish its cycles.
     * @param cpu      processor for the thread, -1 for any.
     */
    public ProgressAgent(
        Engine engine,
        QueuePoller poller,
        FaultInspector faults,
        Inbox inbox,
        CycleClock clock,
        SystemCounters counters,
        long cncAddress,
        int cpu) {
        this.engine = engine;
        this.poller = poller;
        this.faults = faults;
        this.inbox = inbox;
        this.clock = clock;
        this.counters = counters;
        this.cncAddress = cncAddress;
        this.cpu = cpu;
        this.times = new CycleTimes(
            EngineCounters.NONE, counters, Long.MAX_VALUE, new AgentLog(error -> { }));
    }

    /**
     * Publishes how long cycles and samples of messages take; called before the thread starts.
     *
     * @param newTimes  without entries.
     * @param newStages without entries.
     */
    public void measure(CycleTimes newTimes, StageTimes newStages) {
        times = newTimes;
        stages = newStages;
        engine.measure(newStages);
        poller.measure(newStages);
    }

    /**
     * States that the thread runs nothing but this agent, so that between two whole cycles a link gets work only by the
     * clients' queues; called before the thread starts.
     */
    public void ownThread() {
        ownThread = true;
    }

    /**
     * Sets where threads of the application sleep that run this agent; before its first cycle.
     *
     * @param newSleepers null for an agent that a thread of the driver runs.
     */
    public void sleepers(Sleepers newSleepers) {
        sleepers = newSleepers;
    }

    /**
     * Counts the requests of this thread apart from those of the others; called before it starts.
     *
     * @param address native address of the counter's value.
     */
    public void countRequestsAt(long address) {
        requestsAddress = address;
    }

    /**
     * Names the thread; called before it starts.
     *
     * @param newName shown by tools of the operating system and the Java runtime.
     */
    public void roleName(String newName) {
        roleName = newName;
    }

    /** Begins the histograms of duty cycles and stages anew; progress thread. */
    public void resetCycleTimes() {
        times.reset();
        stages.reset();
    }

    @Override
    public void onStart() {
        if (cpu >= 0) {
            Affinity.bind(cpu);
        }
    }

    /** One duty cycle of the driver's thread, whole or short. */
    @Override
    public int doWork() {
        if (shortLeft > 0) {
            shortLeft--;
            cycles++;
            isTimeOld = true;
            return pollMessages(LINK_BATCH);
        }
        int work = doWork(LINK_BATCH);
        if (ownThread) {
            engine.findQuick();
        }
        return work;
    }

    /**
     * One whole duty cycle.
     *
     * @param messageLimit messages to take at most from each peer of each link.
     * @return work done, 0 if there was nothing to do.
     */
    public int doWork(int messageLimit) {
        long nowNs = clock.update();
        isTimeOld = false;
        int work = 0;
        // a task of the inbox may end the only connection, or give another link work
        engine.leaveQuick();
        try {
            onCycle(nowNs);
            if (engine.publishTraffic(nowNs)) {
                times.publish();
                stages.publish();
            }
            engine.sendCredit(nowNs);
            work = inbox.drain(INBOX_LIMIT) + views.poll(nowNs) + tables.poll();
            FaultPoint.pass();
        } catch (InternalError ex) {
            onFault(ex);
        }
        return work + pollMessages(messageLimit);
    }

    /**
     * The part of the cycle that messages wait for: the clients' queues, the links, scheduled operations. It reads no
     * clock and takes no commands; in INVOKER the rest need not run whenever an application polls for a completion.
     *
     * @param messageLimit messages to take at most from each peer of each link.
     * @return work done, 0 if there was nothing to do.
     */
    public int pollMessages(int messageLimit) {
        int work = 0;
        try {
            work = engine.hasFault() ? recover() : 0;
            work += poller.poll();
            work += engine.poll(messageLimit);
            FaultPoint.pass();
        } catch (InternalError ex) {
            onFault(ex);
            work++;
        }
        return work;
    }

    @Override
    public String roleName() {
        return roleName;
    }

    /** Polls everything once more, after the parked word was set. Returns the work done; 0 if the thread may sleep. */
    public int pollBeforeSleep() {
        int work = 0;
        try {
            work = inbox.drain(INBOX_LIMIT) + recover();
            // the cycles before were perhaps short ones, which leave views alone
            work += views.poll(timeNs()) + tables.pollBeforeSleep();
            work += poller.pollAll();
            work += engine.poll(LINK_BATCH);
            if (work == 0 && !engine.arm()) {
                work = 1;
            }
            if (work == 0) {
                publish();
                if (engine.publishAllTraffic(clock.nowNs())) {
                    times.publish();
                    stages.publish();
                }
            }
            FaultPoint.pass();
        } catch (InternalError ex) {
            onFault(ex);
            work++;
        }
        return work;
    }

    /** Returns true if peers wait for room, so that the thread has to poll again soon without being woken. */
    boolean hasScheduled() {
        return engine.hasScheduled();
    }

    /** The time asleep is not the length of a cycle. */
    public void onWoken() {
        lastCycleNs = 0;
        shortLeft = 0;
    }

    /** The thread did something else than cycles: the next cycle is whole, and measures how long that took. */
    void onPaused() {
        shortLeft = 0;
    }

    /** Whether little time passed between the last two whole cycles. */
    public boolean isFast() {
        return fast;
    }

    /** The time of the last cycle, in nanoseconds; after a short one the clock is read. */
    long timeNs() {
        if (isTimeOld) {
            isTimeOld = false;
            return clock.update();
        }
        return clock.nowNs();
    }

    /** Serves a client; progress thread. */
    public void addClient(ProgressClient client) {
        poller.add(client);
    }

    /**
     * Shows a client among the counters, as one thread of the driver does; progress thread.
     *
     * @param client added before.
     * @param name   as the application has set it, may be empty.
     * @param pid    of its process, 0 if it is not known.
     */
    public void showClient(ProgressClient client, String name, long pid) {
        engine.showClient(client.session(), name, pid);
    }

    /** Serves an endpoint's queues; progress thread. */
    public void addQueues(EndpointQueues queues) {
        poller.add(queues);
    }

    /**
     * Stops serving an endpoint's queues, which are not accessed any more; progress thread.
     *
     * @param queues added before.
     */
    public void removeQueues(EndpointQueues queues) {
        poller.remove(queues);
    }

    /**
     * Serves a completion queue; progress thread.
     *
     * @param client its owner.
     */
    public void addCompletionQueue(ProgressClient client, CompletionWriter writer) {
        client.writers().add(writer);
        engine.addCompletionQueue(writer);
    }

    /**
     * Stops serving a completion queue; progress thread.
     *
     * @param client its owner.
     * @param writer no endpoint uses it any more.
     */
    public void removeCompletionQueue(ProgressClient client, CompletionWriter writer) {
        client.writers().remove(writer);
        engine.removeCompletionQueue(writer);
    }

    /**
     * Serves a counter; progress thread.
     *
     * @param client    its owner.
     */
    public void addCounter(ProgressClient client, long counterId, CounterWriter writer) {
        client.counters().add(writer);
        writer.takePosted(() -> poller.takePosted(client));
        client.session().work().add(counterId, writer);
        engine.addCounter(writer);
    }

    /**
     * Ends serving a counter, and cancels what waits for it; progress thread.
     *
     * @param client its owner.
     * @param writer no endpoint uses it any more.
     */
    public void removeCounter(ProgressClient client, CounterWriter writer) {
        client.counters().remove(writer);
        client.session().work().remove(writer);
        engine.removeCounter(writer);
    }

    /** Executes what a client has posted into its queues so far; progress thread. */
    public void takePosted(ProgressClient client) {
        poller.takePosted(client);
    }

    /** Wakes threads of the embedding application at a wait point that has its channel; progress thread. */
    public void addSleeper(WaitPoint point) {
        sleepers.add(point);
    }

    /**
     * Ends what {@link #addSleeper} began; progress thread.
     *
     * @param point added before, or not.
     */
    public void removeSleeper(WaitPoint point) {
        if (sleepers != null) {
            sleepers.remove(point);
        }
    }

    /** Adds an endpoint's queue view, which is written from now on; progress thread. */
    public void addView(QueueView view) {
        views.add(view);
    }

    /**
     * Removes an endpoint's queue view; progress thread.
     *
     * @param view its file is not accessed any more.
     */
    public void removeView(QueueView view) {
        views.remove(view);
    }

    /** Tables whose readers this thread wakes; progress thread. */
    public TableWatches tables() {
        return tables;
    }

    /**
     * Ends a client: its memory is not accessed afterwards, except regions that operations of others still read.
     * Calling it again does nothing. Progress thread.
     */
    public void endClient(ProgressClient client) {
        poller.remove(client);
        views.removeAll(client.session());
        engine.closeSession(client.session());
        for (CompletionWriter writer : client.writers()) {
            engine.removeCompletionQueue(writer);
        }
        client.writers().clear();
        client.counters().forEach(engine::removeCounter);
        client.counters().clear();
    }

    /** Notes a failed access to shared memory on this thread; the next cycle handles it. */
    public void onFault(InternalError error) {
        engine.fault(error);
    }

    /** Ends the clients with truncated files, then completes the pending work of all others. */
    private int recover() {
        InternalError error = engine.takeFault();
        if (error == null) {
            return 0;
        }
        List<ProgressClient> ended = new ArrayList<>();
        for (SharedFiles.Cut cut : faults.inspect(error)) {
            for (ProgressClient client : poller.clients()) {
                if (client.session().clientId() == cut.clientId()) {
                    client.session().corrupt(cut.reason());
                    // before anything else, so that ending one client does not access another one's files
                    poller.leave(client);
                    client.writers().forEach(CompletionWriter::abandon);
                    client.counters().forEach(CounterWriter::abandon);
                    ended.add(client);
                }
            }
        }
        ended.forEach(this::endClient);
        engine.recover(sessions());
        return 1;
    }

    /** The clients of this thread. Returns the sessions of those that have not ended, as a new list. */
    public List<EngineSession> sessions() {
        List<EngineSession> all = new ArrayList<>();
        for (ProgressClient client : poller.clients()) {
            all.add(client.session());
        }
        return all;
    }

    private void onCycle(long nowNs) {
        long last = lastCycleNs;
        lastCycleNs = nowNs;
        cycles++;
        shortLeft = 0;
        if (last != 0) {
            long elapsedNs = nowNs - last;
            times.record(elapsedNs, cycles - wholeCycle);
            fast = elapsedNs <= FAST_PERIOD_NS;
            shortLeft = elapsedNs <= FAST_NS * (cycles - wholeCycle) ? SHORT_CYCLES : 0;
        }
        wholeCycle = cycles;
        if (cycles - publishedCycles >= PUBLISH_CYCLES) {
            publish();
        }
    }

    private void publish() {
        publishedCycles = cycles;
        if (cncAddress != 0) {
            UnsafeApi.putLongRelease(null, cncAddress + CncDescriptor.CYCLES_OFFSET, cycles);
        }
        long requests = poller.requests();
        counters.add(SystemCounter.REQUESTS, requests - publishedRequests);
        publishedRequests = requests;
        if (requestsAddress != 0) {
            UnsafeApi.putLongOpaque(null, requestsAddress, requests);
        }
    }
}
