package org.jfabric;

import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.WaitChannel;
import org.jfabric.client.WaitLine;
import org.jfabric.layout.CounterDescriptor;

import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Counts operations of endpoints that have ended: one value for successes, an error value for failures, and each
 * operation in one of them.
 *
 * <p>An endpoint counts here what it was bound for by {@link Endpoint#bind(Counter, long)}, whether an operation writes
 * a completion entry or not, at the moment at which it reaches its completion level. A failure counts in the error
 * value and has an error entry in the completion queue as well. Several endpoints may share a counter. It can also be
 * used for the application's own purposes, without any endpoint.
 *
 * <p>What ended is counted behind its entry and its payload: who sees the count sees these. Both values are taken
 * modulo 2^63, so they are never negative.
 *
 * <p>Calls never throw or allocate, but for control calls; they answer a value or a negative errno:
 *
 * <ul>
 * <li>{@code -FI_EOPBADSTATE}: closed;</li>
 * <li>{@code -FI_EINVAL}: a negative argument;</li>
 * <li>{@code -FI_ENOSYS}: waiting on a counter that was not opened for it.</li>
 * </ul>
 *
 * <p>After the driver's end the last values stay readable, and {@link #await} answers {@code -FI_ENODEV} unless the
 * value is there already.
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
    private final long id;
    private final long context;
    private final WaitObject waitObject;
    private final CounterValues values;
    private final DriverState driver;
    private final Invoker invoker;
    private final CompletionWait wait;
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final Waitable events = this::mayHaveEvents;
    private WaitSet waitSet;
    private volatile boolean closed;

    /** A fresh counter over its mapped file; domain may be null in tests of the waiting side. */
    Counter(
        Domain domain,
        long id,
        long context,
        WaitObject waitObject,
        MemorySegment memory,
        DriverState driver,
        Invoker invoker,
        long waitSpinNs,
        long waitSliceNs) {
        this.domain = domain;
        this.id = id;
        this.context = context;
        this.waitObject = waitObject;
        this.driver = driver;
        this.invoker = invoker;
        this.values = new CounterValues(memory, domain != null && domain.locks());
        this.wait = !waitObject.blocksCalls() ? null : new CompletionWait(
            values, new WaitLine(memory.address() + CounterDescriptor.WAIT_OFFSET, memory),
            new CompletionQueueAttr().waitObject(waitObject), driver, invoker, waitSpinNs, waitSliceNs);
    }

    /**
     * Operations that ended with success, and what was added (fi_cntr_read).
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

    /**
     * Operations that failed, and what was added to them (fi_cntr_readerr). What went wrong stands in the completion
     * queue.
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
     * Sets the value (fi_cntr_set). What the driver counts during the call comes on top of it.
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
     * Sets the error value (fi_cntr_seterr), which ends every {@link #await} if it changes. What the driver counts
     * during the call comes on top of it.
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
     * begun ends it too. The time is right to about 10 ms where nothing wakes the thread. A virtual thread keeps its
     * carrier while it sleeps here.
     *
     * @param threshold value to be reached, 0 or more.
     * @param timeoutNs nanoseconds; negative for no limit, 0 only looks.
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
        // before the cycle: what fails in it is a change
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
        if (driver.isGone()) {
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
     * Tells about the wait object (fi_control).
     *
     * @param command code of {@link ControlCommand#GETWAIT} or {@link ControlCommand#GETWAITOBJ}.
     * @param handle  receives it; with {@link WaitObject#SET} the set's.
     * @return as {@link CompletionQueue#control}.
     */
    @Override
    public int control(int command, WaitObjectHandle handle) {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (handle == null) {
            return -FabricErrno.EINVAL;
        }
        if (waitSet != null && command == ControlCommand.GETWAIT.code()) {
            return waitSet.control(command, handle);
        }
        return CompletionWait.control(wait, command, waitObject, handle);
    }

    /**
     * What the counter was opened with.
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
     * Closes the counter; threads that wait return. Again does nothing. Control path.
     *
     * @throws FabricException with {@link FabricErrno#EBUSY} while an endpoint that counts here is open, or while the
     *     counter is in a poll set; it then stays open.
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

    /** What is opened besides the counter's own file, before anybody uses it; each may be null. */
    void onOpened(WaitSet newWaitSet, WaitChannel channel) {
        waitSet = newWaitSet;
        if (channel != null) {
            wait.open(channel);
        }
    }

    /** The wait set that this counter signals, or null. */
    WaitSet waitSet() {
        return waitSet;
    }

    /** What a wait set and a poll set look at. */
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
        if (waitSet != null) {
            waitSet.onReady();
        } else if (wait != null) {
            wait.wakeIfWanted();
        }
    }

    private CompletionWait nativeWait() {
        if (wait == null) {
            throw new FabricException(FabricErrno.ENODATA, "wait object " + waitObject
                + " has no channel of the counter's own", "Open with FD, or ask the wait set.");
        }
        return wait;
    }
}
