package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
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
    private final List<CompletionQueue> completionQueues = new ArrayList<>();
    private final List<Counter> counters = new ArrayList<>();
    private final List<PollSet> pollSets = new ArrayList<>();
    /** What queues and counters are mapped by. */
    private final Map<Fid, MemorySegment> files = new IdentityHashMap<>();

    DomainReports(Domain domain, ClientConductor conductor, DriverState driver) {
        this.domain = domain;
        this.conductor = conductor;
        this.driver = driver;
    }

    /** None of the queues has called a handler that has not returned. */
    void requireNoHandler() {
        for (CompletionQueue queue : completionQueues) {
            if (queue.isHandling()) {
                throw new FabricException(FabricErrno.EOPBADSTATE, "a domain whose threads are kept apart by locks is"
                    + " opened in a handler of a domain without locks; in threading mode INVOKER they share the engine",
                    "Open it before or after the call that reads " + queue + ".");
            }
        }
    }

    /** Their threads are kept apart from now on. */
    void startLocking() {
        completionQueues.forEach(queue -> queue.startLocking(conductor.invoker()));
        counters.forEach(Counter::startLocking);
    }

    /** A completion queue; the attributes are the caller's copy. */
    CompletionQueue openCompletionQueue(CompletionQueueAttr wanted, long context) {
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
        completionQueues.add(queue);
        if (waitSet != null) {
            waitSet.attach(queue.waitable());
        }
        return queue;
    }

    /** A counter; the attributes are the caller's copy. */
    Counter openCounter(CounterAttr wanted, long context) {
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
        counters.add(counter);
        if (waitSet != null) {
            waitSet.attach(counter.events());
        }
        return counter;
    }

    /** The driver is gone, and nothing more is posted to it. */
    void seal() {
        completionQueues.forEach(CompletionQueue::seal);
    }

    /** Opens all with the next driver. */
    void reopen() {
        for (CompletionQueue queue : completionQueues) {
            CompletionQueueReady ready = conductor.commands().openCompletionQueue(queue.attr());
            MemorySegment memory = map(ready);
            queue.reopen(ready.cqId(), ready.clientShare(), memory, ready.capacity());
            files.put(queue, memory);
        }
        for (Counter counter : counters) {
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
        PollSet pollSet = new PollSet(domain, conductor.invoker());
        pollSets.add(pollSet);
        return pollSet;
    }

    void close(CompletionQueue queue) {
        if (completionQueues.contains(queue)) {
            Domain.requireUnused("completion queue", queue.endpoints());
            requireNotPolled(queue);
            domain.commands().closeObject(ObjectKind.COMPLETION_QUEUE, queue.id(), () -> onClosed(queue));
        }
    }

    private void onClosed(CompletionQueue queue) {
        queue.markClosed();
        completionQueues.remove(queue);
        if (queue.waitSet() != null) {
            queue.waitSet().detach(queue.waitable());
        }
        conductor.connection().release(files.remove(queue), queue.isInUse());
    }

    void close(Counter counter) {
        if (counters.contains(counter)) {
            Domain.requireUnused("counter", counter.endpoints());
            requireNotPolled(counter);
            domain.work().requireUnused(counter);
            domain.commands().closeObject(ObjectKind.COUNTER, counter.id(), () -> onClosed(counter));
        }
    }

    private void onClosed(Counter counter) {
        counter.markClosed();
        counters.remove(counter);
        if (counter.waitSet() != null) {
            counter.waitSet().detach(counter.events());
        }
        conductor.connection().release(files.remove(counter), false);
    }

    void onClosed(PollSet pollSet) {
        pollSets.remove(pollSet);
    }

    boolean isEmpty() {
        return completionQueues.isEmpty() && counters.isEmpty() && pollSets.isEmpty();
    }

    /** From now on sends that end with an error count as not drained. */
    void onDrainBegins() {
        completionQueues.forEach(CompletionQueue::onDrainBegins);
    }

    /** Sends that ended with an error since {@link #onDrainBegins()}. */
    long failedSinceDrainBegan() {
        return completionQueues.stream().mapToLong(CompletionQueue::failedSinceDrainBegan).sum();
    }

    /** The fabric closes; the driver closes its side by itself. */
    void markAllClosed() {
        completionQueues.forEach(CompletionQueue::markClosed);
        counters.forEach(Counter::markClosed);
        pollSets.forEach(PollSet::markClosed);
        completionQueues.clear();
        counters.clear();
        pollSets.clear();
        files.clear();
    }

    /** The open objects, for messages. */
    @Override
    public String toString() {
        return completionQueues + " " + counters + ' ' + pollSets;
    }

    int completionQueueCount() {
        return completionQueues.size();
    }

    int counterCount() {
        return counters.size();
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
        for (PollSet pollSet : pollSets) {
            if (pollSet.contains(object)) {
                throw new FabricException(FabricErrno.EBUSY, object + " is in a poll set", "Remove it there first.");
            }
        }
    }
}
