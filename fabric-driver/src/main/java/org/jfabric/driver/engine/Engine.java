package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.List;
import org.agrona.ErrorHandler;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.PlainMessages;
import org.jfabric.driver.log.AgentLog;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * All endpoints and links of a driver, and the step of the duty cycle that serves them.
 *
 * <p>The progress agent calls {@link #poll(int)} in its duty cycle; control commands call the other methods on the same
 * thread. Owner: progress agent.
 */
public final class Engine {
    private final EngineSettings settings;
    private final EngineCounters counters;
    private final CycleClock clock;
    private final Link[] links;
    private final AgentLog log;
    private final FlushList flushList = new FlushList();
    private final TrafficMeters meters;
    private StageTimes stages = StageTimes.OFF;
    private final PeerSchedule schedule = new PeerSchedule();
    private final OwedCredit owedCredit = new OwedCredit();
    private long violations;
    private long lastRequestId;
    private int requestIdStep = 1;
    private InternalError fault;
    /** Whether work arrives in {@link #quickMessages} only; if that is null, in no link. */
    private boolean quick;
    private PlainMessages quickMessages;

    /**
     * An engine without endpoints.
     *
     * @param links        loaded links, the preferred ones first.
     */
    public Engine(EngineSettings settings, List<Link> links, ErrorHandler errorHandler) {
        this(settings, links, new AgentLog(errorHandler), EngineCounters.NONE, new CycleClock());
    }

    /**
     * An engine without endpoints, whose state can be watched.
     *
     * @param links    loaded links, the preferred ones first.
     * @param log      of the agent, for rare events and for peers that violate the protocol.
     */
    public Engine(
        EngineSettings settings,
        List<Link> links,
        AgentLog log,
        EngineCounters counters,
        CycleClock clock) {
        this.counters = counters;
        this.meters = new TrafficMeters(counters);
        this.clock = clock;
        this.settings = settings;
        this.links = links.toArray(new Link[0]);
        this.log = log;
    }

    public EngineSettings settings() {
        return settings;
    }

    /**
     * Makes the numbers of connection requests unique among the engines of a driver.
     *
     * @param index   of this engine, from 0; the remainder of all its numbers.
     */
    public void numberRequests(int index, int engines) {
        lastRequestId = index;
        requestIdStep = engines;
    }

    /** Samples how long messages take in their stages; called before there is an endpoint or a completion queue. */
    public void measure(StageTimes newStages) {
        stages = newStages;
    }

    StageTimes stages() {
        return stages;
    }

    /** The agent's log, for rare events. */
    AgentLog log() {
        return log;
    }

    EngineCounters counters() {
        return counters;
    }

    TrafficMeters meters() {
        return meters;
    }

    /**
     * Shows a client among the counters, until {@link #closeSession}.
     *
     * @param name    as the application has set it, may be empty.
     * @param pid     of its process, 0 if it is not known.
     */
    public void showClient(EngineSession session, String name, long pid) {
        meters.open(session.clientId(), name, pid);
    }

    /**
     * Publishes some of the counts of endpoints and peers, if it is time; in each whole cycle. Returns whether a round
     * begins, ten times a second at most.
     */
    public boolean publishTraffic(long nowNs) {
        return meters.poll(nowNs);
    }

    /**
     * Publishes all counts of endpoints and peers, if the last time is not just now; before the thread sleeps. Returns
     * false if there was a round less than a millisecond before.
     */
    public boolean publishAllTraffic(long nowNs) {
        return meters.pollAll(nowNs);
    }

    CycleClock clock() {
        return clock;
    }

    /**
     * Does one bounded step of work: polls the links, serves the scheduled peers and publishes to the clients.
     *
     * @param limit messages to take at most from each peer of each link.
     * @return work done; 0 if there was nothing to do.
     */
    public int poll(int limit) {
        int work = 0;
        if (schedule.owes()) {
            schedule.settle();
        }
        if (quick) {
            PlainMessages messages = quickMessages;
            if (messages != null) {
                work = messages.pollPlain(limit);
            }
            if (work >= 0) {
                if (schedule.isClear()) {
                    return flushList.isEmpty() ? work : work + flushList.flush();
                }
                work += flush();
                // what was sent for a peer may have given a link work
                findQuick();
                return work;
            }
            leaveQuick();
            work = -1 - work;
        }
        Link[] polled = links;
        for (int i = 0; i < polled.length; i++) {
            work += polled[i].poll(limit);
        }
        return work + flush();
    }

    /** Sends credit that no message has carried; in each whole cycle. */
    public void sendCredit(long nowNs) {
        owedCredit.send(nowNs);
    }

    private int flush() {
        int work = 0;
        if (!schedule.isClear()) {
            work += schedule.flush();
        }
        return work + flushList.flush();
    }

    /**
     * Checks whether all work arrives by plain messages of one link, or in no link at all because all are idle. Then
     * {@link #poll(int)} asks only that link for those, until another kind of message is next, or until
     * {@link #leaveQuick()}, which every call makes that may give a link or the engine work. Called at the end of a
     * whole cycle, and after a poll in which scheduled peers were served.
     */
    public void findQuick() {
        PlainMessages plain = null;
        leaveQuick();
        if (fault != null || !schedule.isClear()) {
            return;
        }
        for (Link link : links) {
            if (!link.isIdle()) {
                PlainMessages only = link.plainMessages();
                if (only == null || plain != null) {
                    return;
                }
                plain = only;
            }
        }
        quickMessages = plain;
        quick = true;
    }

    /** Whether the next poll asks one link for plain messages only, or none. */
    public boolean isQuick() {
        return quick;
    }

    /** A link may have work: the next poll serves all links. */
    public void leaveQuick() {
        quick = false;
        quickMessages = null;
    }

    /** Whether peers wait for space in their channels, so that the thread must poll again soon. */
    public boolean hasScheduled() {
        return !schedule.isClear() || schedule.owes();
    }

    /** Prepares all links for sleep. Returns false if one of them has work. */
    public boolean arm() {
        boolean armed = !hasScheduled();
        for (Link link : links) {
            armed &= link.arm();
        }
        return armed;
    }

    /** Whether {@link #poll} has to be called again after a while although nothing arrives. */
    public boolean hasTimers() {
        for (Link link : links) {
            if (link.hasTimers()) {
                return true;
            }
        }
        return false;
    }

    /** The driver may sleep from now on, which its peers do not expect. */
    public void onMayPark() {
        leaveQuick();
        for (Link link : links) {
            link.onMayPark();
        }
    }

    public void addCompletionQueue(CompletionWriter writer) {
        flushList.add(writer);
        writer.sample(stages);
    }

    /**
     * Removes a completion queue added by {@link #addCompletionQueue}.
     *
     * @param writer of the queue; no endpoint uses it any more.
     */
    public void removeCompletionQueue(CompletionWriter writer) {
        flushList.remove(writer);
        stages.remove(writer);
    }

    public void addCounter(CounterWriter writer) {
        flushList.add(writer);
    }

    /**
     * Removes a counter added by {@link #addCounter}.
     *
     * @param writer of the counter; no endpoint uses it any more.
     */
    public void removeCounter(CounterWriter writer) {
        flushList.remove(writer);
    }

    /**
     * Enables an endpoint whose operations are not counted.
     *
     * @param linkNames           names of its links, the preferred one first; all must be loaded.
     * @param receiveCompletions  for its receives, may be the same.
     * @throws FabricException {@code FI_ENODEV} if a link is not loaded, or the error of a link that refuses the
     *     endpoint; then it is attached to no link.
     */
    public EngineEndpoint addEndpoint(
        EngineSession session,
        EndpointSettings endpoint,
        List<String> linkNames,
        AddressTable addresses,
        CompletionWriter transmitCompletions,
        CompletionWriter receiveCompletions) {
        return addEndpoint(session, endpoint, linkNames, addresses,
            new EndpointCompletions(transmitCompletions, receiveCompletions, EndpointCounters.NONE, false), null);
    }

    /**
     * Adds an endpoint, perhaps one that uses a shared receive context.
     *
     * @param linkNames      names of the links to use, the preferred one first; empty of a shared receive context.
     * @param completions    its queues and counters, {@link EndpointCompletions#NONE} of a shared receive context.
     * @param receiveContext the shared receive context that it uses, or null.
     * @throws FabricException {@code FI_ENODEV} if a link is not loaded, or the error of a link that refuses the
     *     endpoint; then it is attached to no link.
     */
    public EngineEndpoint addEndpoint(
        EngineSession session,
        EndpointSettings endpoint,
        List<String> linkNames,
        AddressTable addresses,
        EndpointCompletions completions,
        EngineEndpoint receiveContext) {
        List<Link> chosen = links(linkNames);
        EngineEndpoint result = new EngineEndpoint(
            this, session, endpoint, chosen, addresses, completions, receiveContext);
        boolean opened = false;
        try {
            result.open();
            session.endpoints().add(result);
            if (completions.receive() != null) {
                meters.open(result);
            }
            opened = true;
            result.log(EventKind.ENDPOINT_ENABLED, 0, 0, endpoint.address());
        } finally {
            if (!opened) {
                // detach it from the links that accepted it, and from the address vector
                result.close(FabricErrno.ECONNREFUSED);
            }
        }
        return result;
    }

    /**
     * Closes an endpoint: its operations end without entries, and its channels to the peers are closed, which these
     * learn with the reason where the link can say it.
     *
     * @param endpoint from {@link #addEndpoint}.
     */
    public void removeEndpoint(EngineEndpoint endpoint) {
        // asked first: what fails behind the removal would leave it open for ever
        int reason = endpoint.session().errnoOfClose();
        if (endpoint.session().endpoints().remove(endpoint)) {
            endpoint.close(reason);
            endpoint.log(EventKind.ENDPOINT_CLOSED, 0, 0, endpoint.settings().address());
            meters.close(endpoint);
        }
    }

    /** Creates a passive endpoint, which does not listen yet. */
    public EnginePassiveEndpoint addPassiveEndpoint(EngineSession session, long passiveId) {
        EnginePassiveEndpoint passive = new EnginePassiveEndpoint(this, session, passiveId);
        session.passiveEndpoints().add(passive);
        return passive;
    }

    /**
     * Closes a passive endpoint: requests without an answer are rejected. Ignored if it is closed already.
     *
     * @param passive from {@link #addPassiveEndpoint}, or null.
     */
    public void removePassiveEndpoint(EngineSession session, EnginePassiveEndpoint passive) {
        if (session.passiveEndpoints().remove(passive)) {
            passive.close();
        }
    }

    /** Ends a client: its endpoints and its regions. */
    public void closeSession(EngineSession session) {
        session.end();
        for (EnginePassiveEndpoint passive : List.copyOf(session.passiveEndpoints())) {
            removePassiveEndpoint(session, passive);
        }
        // the last ones first: shared receive contexts are older than the endpoints that use them
        for (EngineEndpoint endpoint : List.copyOf(session.endpoints()).reversed()) {
            removeEndpoint(endpoint);
        }
        session.work().close();
        session.regions().closeAll();
        meters.close(session.clientId());
    }

    /** Ends all links. */
    public void close() {
        for (Link link : links) {
            link.close();
        }
    }

    /**
     * Records that an access to shared memory failed, because a process truncated a file. The code that catches the
     * error changes no state. The next cycle takes the error with {@link #takeFault()}, determines whose file it was,
     * and ends the operations that were being processed.
     */
    public void fault(InternalError error) {
        fault = error;
        leaveQuick();
    }

    /** Whether {@link #takeFault()} would return an error. */
    public boolean hasFault() {
        return fault != null;
    }

    /** Takes the error that {@link #fault(InternalError)} recorded since the last call. Returns the error, or null. */
    public InternalError takeFault() {
        InternalError taken = fault;
        fault = null;
        return taken;
    }

    /**
     * Ends every operation that was being processed when an access failed, with an error entry; all others continue.
     *
     * @param sessions all that have not ended.
     */
    public void recover(List<EngineSession> sessions) {
        schedule.clear();
        owedCredit.clear();
        flushList.recover();
        // all of them first: a recovery may schedule peers of other endpoints
        for (EngineSession session : sessions) {
            session.endpoints().forEach(EngineEndpoint::unschedulePeers);
        }
        for (EngineSession session : sessions) {
            for (EngineEndpoint endpoint : session.endpoints()) {
                endpoint.recover();
            }
        }
    }

    /** The number of protocol violations of peers so far. */
    public long violations() {
        return violations;
    }

    long nextRequestId() {
        lastRequestId += requestIdStep;
        return lastRequestId;
    }

    PeerSchedule schedule() {
        return schedule;
    }

    OwedCredit owedCredit() {
        return owedCredit;
    }

    void onViolation(EngineEndpoint endpoint, Peer peer, String reason) {
        // the close of the channel may have to wait for space in the ring
        quickMessages = null;
        violations++;
        log.onError(new FabricException(
            FabricErrno.EIO,
            "peer " + peer.address() + " of " + endpoint.settings().address() + ' ' + reason,
            "Its channel was closed; both drivers should run the same version of JFabric"));
    }

    /**
     * Links by their names.
     *
     * @return the links, in the same order.
     * @throws FabricException {@code FI_ENODEV} if a link is not loaded.
     */
    public List<Link> links(List<String> linkNames) {
        List<Link> chosen = new ArrayList<>();
        for (String name : linkNames) {
            int before = chosen.size();
            for (Link link : links) {
                // two for addresses of this driver, if it has several progress threads
                if (link.name().equals(name)) {
                    chosen.add(link);
                }
            }
            if (chosen.size() == before) {
                throw new FabricException(
                    FabricErrno.ENODEV,
                    "link " + name + " is not loaded in this driver",
                    "Add it to the option jfabric.link.enabled of the driver");
            }
        }
        return chosen;
    }
}
