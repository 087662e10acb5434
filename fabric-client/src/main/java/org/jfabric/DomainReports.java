package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jfabric.client.ClientConductor;
import org.jfabric.client.DriverState;
import org.jfabric.client.WaitChannel;
import org.jfabric.codec.control.CompletionQueueReady;
import org.jfabric.codec.control.CounterReady;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.CounterDescriptor;
import org.jfabric.layout.FileType;

/**
 * The objects to which operations of one domain report: its completion queues and counters, and their poll sets.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
final class DomainReports {
    private final Domain domain;
    private final ClientConductor conductor;
    private final DriverState driver;
    private final Children.Kind<CompletionQueue> completionQueues;
    private final Children.Kind<Counter> counters;
    private final Children.Kind<PollSet> pollSets;
    /** What queues and counters are mapped by. */
    private final Map<Fid, MemorySegment> files = new IdentityHashMap<>();

    DomainReports(Domain domain, Children children, ClientConductor conductor, DriverState driver) {
        this.domain = domain;
        this.conductor = conductor;
        this.driver = driver;
        completionQueues = children.kind(this::requireUnused, CompletionQueue::markClosed)
            .inDriver(ObjectKind.COMPLETION_QUEUE, CompletionQueue::id, this::onClosed);
        counters = children.kind(this::requireUnused, Counter::markClosed)
            .inDriver(ObjectKind.COUNTER, Counter::id, this::onClosed);
        pollSets = children.kind(PollSet::requireEmpty, PollSet::markClosed);
    }

    /** None of the queues has called a handler that has not returned. */
    void requireNoHandler() {
        for (CompletionQueue queue : completionQueues.all()) {
            if (queue.isHandling()) {
                throw new FabricException(FabricErrno.EOPBADSTATE, "a domain whose threads are kept apart by locks is"
                    + " opened in a handler of a domain without locks; in threading mode INVOKER they share the engine",
                    "Open it before or after the call that reads " + queue + ".");
            }
        }
    }

    /** Their threads are kept apart from now on. */
    void startLocking() {
        completionQueues.all().forEach(queue -> queue.startLocking(conductor.invoker()));
        counters.all().forEach(Counter::startLocking);
    }

    /** A completion queue; the attributes are the caller's copy. */
    CompletionQueue openCompletionQueue(CompletionQueueAttr wanted, long context) {
        return completionQueues.open(() -> newCompletionQueue(wanted, context));
    }

    private CompletionQueue newCompletionQueue(CompletionQueueAttr wanted, long context) {
        WaitSet waitSet = waitSet(wanted.waitObject(), wanted.waitSetId());
        CompletionQueueReady ready =
            domain.fabric().withRoom(() -> conductor.commands().openCompletionQueue(wanted));
        CompletionQueue queue = opened(ObjectKind.COMPLETION_QUEUE, ready.cqId(), ready.waitToken(), channel -> {
            MemorySegment memory = map(ready);
            wanted.format(CompletionFormat.of(ready.format())).size(ready.clientShare());
            CompletionQueue fresh = new CompletionQueue(domain, ready.cqId(), context, wanted, memory,
                ready.capacity(), driver, conductor.invoker(), domain.fabric().waitSpinNs(), LineWait.SLICE_NS);
            fresh.onOpened(waitSet, channel);
            files.put(fresh, memory);
            return fresh;
        });
        if (waitSet != null) {
            waitSet.attach(queue.waitable());
        }
        return queue;
    }

    /** A counter; the attributes are the caller's copy. */
    Counter openCounter(CounterAttr wanted, long context) {
        return counters.open(() -> newCounter(wanted, context));
    }

    private Counter newCounter(CounterAttr wanted, long context) {
        WaitSet waitSet = waitSet(wanted.waitObject(), wanted.waitSetId());
        CounterReady ready =
            domain.fabric().withRoom(() -> conductor.commands().openCounter(wanted));
        Counter counter = opened(ObjectKind.COUNTER, ready.counterId(), ready.waitToken(), channel -> {
            MemorySegment memory = map(ready);
            Counter fresh = new Counter(domain, ready.counterId(), context, wanted, memory, driver,
                conductor.invoker(), domain.fabric().waitSpinNs(), LineWait.SLICE_NS);
            fresh.onOpened(waitSet, channel);
            if (domain.work().isOffered()) {
                fresh.onTriggersOffered(conductor.connection().changeSignal());
            }
            files.put(fresh, memory);
            return fresh;
        });
        if (waitSet != null) {
            waitSet.attach(counter.events());
        }
        return counter;
    }

    /** The driver is gone, and nothing more is posted to it. */
    void seal() {
        completionQueues.all().forEach(CompletionQueue::seal);
    }

    /** Opens all with the next driver. */
    void reopen() {
        for (CompletionQueue queue : completionQueues.all()) {
            CompletionQueueReady ready = conductor.commands().openCompletionQueue(queue.attr());
            MemorySegment memory = map(ready);
            queue.reopen(ready.cqId(), ready.clientShare(), memory, ready.capacity());
            files.put(queue, memory);
        }
        for (Counter counter : counters.all()) {
            CounterReady ready = conductor.commands().openCounter(counter.attr());
            MemorySegment memory = map(ready);
            counter.reopen(ready.counterId(), memory);
            files.put(counter, memory);
        }
    }

    private MemorySegment map(CompletionQueueReady ready) {
        return conductor.connection().open(FileType.COMPLETION_QUEUE, ready.fileNumber(), 0,
            CompletionQueueDescriptor.fileLength(ready.capacity()));
    }

    private MemorySegment map(CounterReady ready) {
        return conductor.connection().open(FileType.COUNTER, ready.fileNumber(), 0, CounterDescriptor.FILE_LENGTH);
    }

    PollSet openPollSet() {
        return pollSets.open(() -> {
            if (domain.info().fabricAttr().isVersion2()) {
                throw Fabric.setsRemoved(domain.info().fabricAttr().apiVersion());
            }
            return new PollSet(domain, conductor.invoker());
        });
    }

    private void requireUnused(CompletionQueue queue) {
        Domain.requireUnused("completion queue", queue.endpoints());
        requireNotPolled(queue);
    }

    private void onClosed(CompletionQueue queue) {
        if (queue.waitSet() != null) {
            queue.waitSet().detach(queue.waitable());
        }
        conductor.connection().release(files.remove(queue), queue.isInUse());
    }

    private void requireUnused(Counter counter) {
        Domain.requireUnused("counter", counter.endpoints());
        requireNotPolled(counter);
        domain.work().requireUnused(counter);
    }

    private void onClosed(Counter counter) {
        if (counter.waitSet() != null) {
            counter.waitSet().detach(counter.events());
        }
        conductor.connection().release(files.remove(counter), false);
    }

    /** From now on sends that end with an error count as not drained. */
    void onDrainBegins() {
        completionQueues.all().forEach(CompletionQueue::onDrainBegins);
    }

    /** Sends that ended with an error since {@link #onDrainBegins()}. */
    long failedSinceDrainBegan() {
        return completionQueues.all().stream().mapToLong(CompletionQueue::failedSinceDrainBegan).sum();
    }

    List<CompletionQueue> completionQueues() {
        return completionQueues.all();
    }

    List<Counter> counters() {
        return counters.all();
    }

    private WaitSet waitSet(WaitObject waitObject, long waitSetId) {
        requireOffered(waitObject);
        return waitObject == WaitObject.SET ? domain.fabric().waitSet(waitSetId) : null;
    }

    /** Checks what the driver cannot know; it checks everything else itself. */
    private void requireOffered(WaitObject waitObject) {
        if (waitObject == WaitObject.SET && domain.info().fabricAttr().isVersion2()) {
            throw Fabric.setsRemoved(domain.info().fabricAttr().apiVersion());
        }
        if (!waitObject.existsHere() || waitObject == WaitObject.POLLFD) {
            throw new FabricException(FabricErrno.ENOSYS, "the wait object is " + waitObject
                + ", offered are NONE, UNSPEC, SET, FD, MUTEX_COND and YIELD", "Open with one of them.");
        }
        domain.fabric().requireShareable(waitObject);
        domain.fabric().requireRestartable(waitObject == WaitObject.NONE || waitObject == WaitObject.UNSPEC
            || waitObject == WaitObject.YIELD, "a queue or counter with wait object " + waitObject,
            "Use NONE, UNSPEC or YIELD");
    }

    /** Makes the client's object of one that the driver has opened; closes it there if that fails. */
    private <T> T opened(ObjectKind kind, long id, long waitToken, Function<WaitChannel, T> maker) {
        T made = null;
        WaitChannel channel = null;
        try {
            channel = conductor.openWaitChannel(id, waitToken);
            made = maker.apply(channel);
            return made;
        } finally {
            if (made == null) {
                if (channel != null) {
                    channel.close();
                }
                domain.fabric().discard(kind, id);
            }
        }
    }

    private void requireNotPolled(Fid object) {
        for (PollSet pollSet : pollSets.all()) {
            if (pollSet.contains(object)) {
                throw new FabricException(FabricErrno.EBUSY, object + " is in a poll set", "Remove it there first.");
            }
        }
    }
}
