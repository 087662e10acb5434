package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.WaitChannel;
import org.jfabric.client.WaitLine;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Threading;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.CounterDescriptor;

/**
 * Counts completed operations of endpoints: one value for successes, an error value for failures. Each operation counts
 * in one of them.
 *
 * <pre>{@code
 * endpoint.bind(counter, Flags.RECV);
 * int result = counter.await(1000, 1_000_000_000L);
 * }</pre>
 *
 * <p>An endpoint counts here the kinds of operations for which {@link Endpoint#bind(Fid, long)} bound it, when they
 * reach their completion level, whether or not they write a completion entry. A failure counts in the error value and
 * has an error entry in the completion queue as well. Several endpoints may share a counter. An application may also
 * use a counter for its own purposes, without any endpoint.
 *
 * <p>A counter can start operations: {@link TriggeredContext}, {@link DeferredWork}.
 *
 * <p>An operation is counted after its entry and its payload were written: a thread that sees the count sees these.
 * Both values are taken modulo 2^63, so they are never negative.
 *
 * <p>Calls other than control calls never throw or allocate; they return a value or a negative errno:
 *
 * <ul>
 * <li>{@code -FI_EOPBADSTATE}: closed;</li>
 * <li>{@code -FI_EINVAL}: a negative argument;</li>
 * <li>{@code -FI_ENOSYS}: waiting on a counter that was not opened for it.</li>
 * </ul>
 *
 * <p>After the driver has ended the last values stay readable, and {@link #await} returns {@code -FI_ENODEV} unless the
 * threshold is already reached.
 *
 * <p>With an embedded driver in INVOKER mode {@link #read}, {@link #readErr}, {@link #await} and {@link #tryWait} run
 * duty cycles, so they belong to the thread that uses the domain.
 *
 * <p>Owner otherwise: any thread reads, adds and sets. One thread at a time waits, in a domain that keeps threads apart
 * ({@link Threading#SAFE} and others, see {@link Domain}) any number. Source: fi_cntr(3); fi_endpoint(3), section
 * fi_ep_bind.
 */
public final class Counter implements Fid {
    private final Domain domain;
    private final CounterAttr attr;
    private long id;
    private final long context;
    private final WaitObject waitObject;
    private final CounterValues values;
    private final DriverState driver;
    private final Invoker invoker;
    private final LineWait wait;
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final Waitable events = this::mayHaveEvents;
    private WaitSet waitSet;
    /** Wakes a driver that waits for changes of the client; null in a domain without the capability TRIGGER. */
    private QueueSignal driverSignal;
    private long awaitedAddress;
    private volatile boolean closed;

    /** A fresh counter over its mapped file; domain may be null in tests of the waiting side. */
    Counter(
        Domain domain,
        long id,
        long context,
        CounterAttr attr,
        MemorySegment memory,
        DriverState driver,
        Invoker invoker,
        long waitSpinNs,
        long waitSliceNs) {
        this.domain = domain;
        this.id = id;
        this.context = context;
        this.attr = attr;
        this.waitObject = attr.waitObject();
        this.driver = driver;
        this.invoker = invoker;
        this.values = new CounterValues(
            memory, domain != null && domain.locks(), domain != null && domain.fabric().reconnects());
        this.wait = !waitObject.blocksCalls() ? null : new LineWait(
            values, new WaitLine(memory.address() + CounterDescriptor.WAIT_OFFSET, memory),
            new CompletionQueueAttr().waitObject(waitObject), driver, invoker, waitSpinNs, waitSliceNs);
    }

    /**
     * Operations that succeeded, and the values added (fi_cntr_read).
     *
     * @return the value, or a negative errno of this class.
     */
    public long read() {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        cycle();
        return values.read();
    }

    /** Several threads use the domain from now on. */
    void startLocking() {
        values.waitedForByMany();
    }

    /**
     * Operations that failed, and the error values added (fi_cntr_readerr). The reason of each failure is in the
     * completion queue.
     *
     * @return the error value, or a negative errno of this class.
     */
    public long readErr() {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        cycle();
        return values.readErr();
    }

    /**
     * Adds to the value (fi_cntr_add); nothing that the driver counts at the same time is lost.
     *
     * @param value 0 or more.
     * @return 0, or a negative errno of this class.
     */
    public int add(long value) {
        int refused = refusal(value);
        if (refused == 0) {
            values.add(value);
            wakeWaiting();
        }
        return refused;
    }

    /**
     * Adds to the error value (fi_cntr_adderr), which ends every {@link #await} if it changes.
     *
     * @param value 0 or more.
     * @return 0, or a negative errno of this class.
     */
    public int addErr(long value) {
        int refused = refusal(value);
        if (refused == 0) {
            values.addErr(value);
            wakeWaiting();
        }
        return refused;
    }

    /**
     * Sets the value (fi_cntr_set). Operations that the driver counts during the call are added to it.
     *
     * @param value 0 or more.
     * @return 0, or a negative errno of this class.
     */
    public int set(long value) {
        int refused = refusal(value);
        if (refused == 0) {
            values.set(value);
            wakeWaiting();
        }
        return refused;
    }

    /**
     * Sets the error value (fi_cntr_seterr), which ends every {@link #await} if it changes. Operations that
     * fail during the call are added to it.
     *
     * @param value 0 or more.
     * @return 0, or a negative errno of this class.
     */
    public int setErr(long value) {
        int refused = refusal(value);
        if (refused == 0) {
            values.setErr(value);
            wakeWaiting();
        }
        return refused;
    }

    /**
     * Waits until the value has reached a threshold (fi_cntr_wait). An error value that changes after the call has
     * begun ends it too. The timeout is accurate to about 10 ms. A virtual thread keeps its
     * carrier while it sleeps here.
     *
     * @param threshold value to be reached, 0 or more.
     * @param timeoutNs nanoseconds; negative for no limit, 0 only checks.
     * @return 0 if the value is the threshold or more; {@code -FI_EAVAIL} if it is not but the error value has changed;
     *     {@code -FI_ETIMEDOUT}; {@code -FI_EINTR} if the thread was interrupted, whose flag stays set;
     *     {@code -FI_ENODEV} if the driver is gone; {@code -FI_ENOSYS} on a counter opened with {@link WaitObject#NONE}
     *     or {@link WaitObject#SET}; or another negative errno of this class.
     */
    public int await(long threshold, long timeoutNs) {
        int refused = refusal(threshold);
        if (refused != 0 || wait == null) {
            return refused != 0 ? refused : -FabricErrno.ENOSYS;
        }
        // before the cycle, so that a failure in it counts as a change
        long seenErrors = values.errorValue();
        cycle();
        wait.awaitReady(threshold, seenErrors, System.nanoTime(), timeoutNs);
        if (values.read() >= threshold) {
            return 0;
        }
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (values.errorValue() != seenErrors) {
            return -FabricErrno.EAVAIL;
        }
        if (driver.isLost()) {
            return -FabricErrno.ENODEV;
        }
        return Thread.currentThread().isInterrupted() ? -FabricErrno.EINTR : -FabricErrno.ETIMEDOUT;
    }

    /**
     * Asks whether the calling thread may block on the counter's native object (fi_trywait); the rules are those of
     * {@link CompletionQueue#tryWait()}. Any count wakes it.
     *
     * @return 0 if it may; {@code -FI_EAGAIN} if the value has changed since {@link #read} or {@link #await}, or
     *     the error value since {@link #readErr}; {@code -FI_ENOSYS} on a counter opened with an object that is not
     *     native; {@code -FI_EOPBADSTATE} on a closed one.
     */
    public int tryWait() {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        return wait == null ? -FabricErrno.ENOSYS : wait.tryWait();
    }

    /**
     * The channel of a counter opened with {@link WaitObject#FD}, readable after a value has changed.
     *
     * @return as {@link CompletionQueue#channel()}.
     * @throws FabricException {@link FabricErrno#ENODATA} for another wait object.
     */
    public SocketChannel channel() {
        return nativeWait().channel(waitObject);
    }

    /**
     * The number of the descriptor of a counter opened with {@link WaitObject#FD}.
     *
     * @return as {@link WaitObjectHandle#fd()}.
     * @throws FabricException as {@link WaitObjectHandle#fd()}.
     */
    public int fd() {
        return nativeWait().fd(waitObject);
    }

    /**
     * The lock and condition of a counter opened with {@link WaitObject#MUTEX_COND}.
     *
     * @return always the same pair; {@link MutexCond} describes how to wait on it.
     * @throws FabricException {@link FabricErrno#ENODATA} for another wait object.
     */
    public MutexCond mutexCond() {
        return nativeWait().mutexCond(waitObject);
    }

    /** Answers {@link PortedCalls#control}. */
    int control(int command, WaitObjectHandle handle) {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (handle == null) {
            return -FabricErrno.EINVAL;
        }
        if (waitSet != null && command == ControlCommand.GETWAIT.code()) {
            return waitSet.control(command, handle);
        }
        return LineWait.control(wait, command, waitObject, handle);
    }

    /**
     * Returns the wait object that the counter was opened with.
     *
     * @return the wait object.
     */
    public WaitObject waitObject() {
        return waitObject;
    }

    /**
     * Context given at open.
     *
     * @return the value.
     */
    @Override
    public long context() {
        return context;
    }

    @Override
    public FidClass fidClass() {
        return FidClass.CNTR;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    /**
     * Closes the counter; threads that wait return. Has no effect if it is already closed. Control path.
     *
     * @throws FabricException {@link FabricErrno#EBUSY} while an endpoint that counts here is open, while the
     *     counter is in a poll set, or while triggered operations or deferred work wait for it or are to count here; it
     *     then stays open. Regions do not keep it open: their accesses are not counted any more.
     *     {@link FabricErrno#ETIMEDOUT} as {@link Fid#close()}.
     */
    @Override
    public void close() {
        domain.close(this);
    }

    @Override
    public String toString() {
        return "Counter{id=" + id + ", waitObject=" + waitObject + ", value=" + values.value() + ", errors="
            + values.errorValue() + ", endpoints=" + endpoints.size() + (closed ? ", closed" : "") + '}';
    }

    long id() {
        return id;
    }

    Domain domain() {
        return domain;
    }

    /** Takes the objects opened besides the counter's own file, before it is used; each may be null. */
    void onOpened(WaitSet newWaitSet, WaitChannel channel) {
        waitSet = newWaitSet;
        if (channel != null) {
            wait.open(channel);
        }
    }

    /** Work may wait for the counter; before it is used. */
    void onTriggersOffered(QueueSignal signal) {
        awaitedAddress = values.address() + CounterDescriptor.AWAITED_OFFSET;
        driverSignal = signal;
    }

    /** Attributes with which the next driver opens it. */
    CounterAttr attr() {
        return attr;
    }

    /** The next driver has opened it, which continues with its values. */
    void reopen(long newId, MemorySegment memory) {
        id = newId;
        values.moveTo(memory);
        if (wait != null) {
            wait.moveTo(new WaitLine(memory.address() + CounterDescriptor.WAIT_OFFSET, memory));
        }
    }

    /** The wait set that this counter signals, or null. */
    WaitSet waitSet() {
        return waitSet;
    }

    /** Polled by a wait set and a poll set. */
    Waitable events() {
        return events;
    }

    /** Endpoints bound to this counter; control path, under the fabric's lock. */
    List<Endpoint> endpoints() {
        return endpoints;
    }

    void markClosed() {
        closed = true;
        if (wait != null) {
            wait.close();
        }
    }

    private boolean mayHaveEvents() {
        return !closed && values.isReady();
    }

    private int refusal(long argument) {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        return argument < 0 ? -FabricErrno.EINVAL : 0;
    }

    private void cycle() {
        if (invoker != null) {
            invoker.poll(0);
        }
    }

    /** The driver wakes for what it counts, not for what the client adds. */
    private void wakeWaiting() {
        if (driverSignal != null) {
            driverSignal.onChange(awaitedAddress);
        }
        if (waitSet != null) {
            waitSet.onReady();
        } else if (wait != null) {
            wait.wakeIfWanted();
        }
    }

    private LineWait nativeWait() {
        if (wait == null) {
            throw new FabricException(FabricErrno.ENODATA, "wait object " + waitObject
                + " has no channel of the counter's own", "Open with FD, or ask the wait set.");
        }
        return wait;
    }
}
