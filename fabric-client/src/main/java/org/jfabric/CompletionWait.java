package org.jfabric;

import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.WaitChannel;
import org.jfabric.client.WaitLine;

import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * How a reader of one completion queue waits, or who waits for a counter or for all of a wait set: it spins briefly,
 * then sleeps on a word that the driver wakes, in slices short enough to notice what nobody wakes for: an interrupt,
 * the end of the driver.
 *
 * <p>With an embedded driver in INVOKER mode nobody else runs the duty cycle, so the waiting thread runs it, yields,
 * and naps when nothing happens for long. With {@link WaitObject#YIELD} it yields on every round.
 *
 * <p>Waiting with means of the application's own begins with {@link #tryWait()}, if the queue was opened for it.
 *
 * <p>Owner: {@link #await}, {@link #awaitReady} and {@link #goesOn} belong to the reading thread; on a wait set, and in
 * a domain that keeps threads apart, any number of threads waits at a time. The others come from any thread.
 */
final class CompletionWait {
    /** Longest sleep without a look at interrupt and driver. */
    static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(10);

    /** The wait ended because something can be read. */
    static final int READY = 0;
    /** The wait was ended by a signal, which is taken. */
    static final int SIGNALLED = 1;
    /** The wait ended by time, interrupt, close or the driver's end. */
    static final int OVER = 2;

    private static final long CYCLES_BEFORE_NAP_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long NAP_NS = TimeUnit.MICROSECONDS.toNanos(20);

    private final AtomicInteger signals = new AtomicInteger();
    private final WaitSource source;
    private final WaitLine line;
    private final DriverState driver;
    private final Invoker invoker;
    private final boolean yields;
    private final boolean counts;
    private final long spinNs;
    private final long sliceNs;
    private NativeWait nativeWait;
    private volatile int signalsTaken;
    private volatile boolean closed;

    /**
     * The waiting side of a queue.
     *
     * @param source    looked at for entries.
     * @param line      slept on.
     * @param attr      wait object and condition.
     * @param driver    whose end is noticed.
     * @param invoker   runs the embedded driver's cycle, or null.
     * @param spinNs    how long to look without sleeping.
     * @param sliceNs   longest single sleep; negative for no limit.
     */
    CompletionWait(
        WaitSource source,
        WaitLine line,
        CompletionQueueAttr attr,
        DriverState driver,
        Invoker invoker,
        long spinNs,
        long sliceNs) {
        this.source = source;
        this.line = line;
        this.driver = driver;
        this.invoker = invoker;
        this.yields = attr.waitObject() == WaitObject.YIELD;
        this.counts = attr.waitCondition() == WaitCondition.THRESHOLD;
        this.spinNs = spinNs;
        this.sliceNs = sliceNs;
        if (attr.waitObject() == WaitObject.MUTEX_COND) {
            MutexCondWait pair = new MutexCondWait(line, this::isDue, sliceNs);
            pair.start();
            nativeWait = pair;
        }
    }

    /**
     * Takes the channel of {@link WaitObject#FD}, before anybody waits.
     *
     * @param channel to be closed with this object, or null.
     */
    void open(WaitChannel channel) {
        if (channel != null) {
            nativeWait = new ChannelWait(line, channel);
        }
    }

    /**
     * Waits until enough entries, an error entry or the overrun state can be read, or there is a reason to wait no
     * longer: a signal, an interrupt, a close, the driver's end, the time.
     *
     * @param cond      entries wanted, if the queue was opened with {@link WaitCondition#THRESHOLD}; else ignored.
     * @param count     most entries that the caller takes.
     * @param startNs   when the wait began.
     * @param timeoutMs milliseconds from then on; negative for no limit.
     * @return {@link #READY}, {@link #SIGNALLED} or {@link #OVER}.
     */
    int await(long cond, int count, long startNs, int timeoutMs) {
        long timeoutNs = timeoutMs < 0 ? -1 : TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        return awaitReady(needed(cond, count), 0, startNs, timeoutNs);
    }

    /**
     * As {@link #await}, in the terms of what is waited for.
     *
     * @param needed     as {@link WaitSource#isReady(long, long)} takes it.
     * @param seenErrors as {@link WaitSource#isReady(long, long)} takes it.
     * @param startNs    when the wait began.
     * @param timeoutNs  nanoseconds from then on; negative for no limit.
     * @return {@link #READY}, {@link #SIGNALLED} or {@link #OVER}.
     */
    int awaitReady(long needed, long seenErrors, long startNs, long timeoutNs) {
        int seenSignals = signalsTaken;
        long limitNs = timeoutNs < 0 ? Long.MAX_VALUE : timeoutNs;
        while (!source.isReady(needed, seenErrors)) {
            int nowSignals = signals.get();
            if (nowSignals != seenSignals) {
                // one signal releases all who waited when it came, or, if nobody did, the next one
                signalsTaken = nowSignals;
                return SIGNALLED;
            }
            long waitedNs = System.nanoTime() - startNs;
            if (isOver() || waitedNs >= limitNs) {
                return OVER;
            }
            round(needed, seenErrors, seenSignals, waitedNs, limitNs - waitedNs);
        }
        return READY;
    }

    /**
     * Whether somebody whom {@link #await} told {@link #READY}, but who found nothing, may wait once more.
     *
     * @param startNs   when the wait began.
     * @param timeoutMs milliseconds from then on; negative for no limit.
     * @return false if the time is over, or there is a signal, which this call takes, or another reason to end.
     */
    boolean goesOn(long startNs, int timeoutMs) {
        boolean late = timeoutMs >= 0 && System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        return !late && !isOver() && !takeSignal();
    }

    /**
     * Says that the application is about to wait at the native object, unless there is a reason not to.
     *
     * @return 0: whatever comes from now on wakes it; {@code -FI_EAGAIN} if there is an entry, an error, a signal
     *     (which this call takes) or the driver's end; {@code -FI_ENOSYS} without such an object;
     *     {@code -FI_EOPBADSTATE} if closed.
     */
    int tryWait() {
        if (nativeWait == null) {
            return closed ? -FabricErrno.EOPBADSTATE : -FabricErrno.ENOSYS;
        }
        if (invoker != null) {
            invoker.cycle();
        }
        boolean waits = nativeWait.arm();
        int result = 0;
        if (closed) {
            result = -FabricErrno.EOPBADSTATE;
        } else if (!waits || source.isReady() || takeSignal() || driver.isGone()) {
            result = -FabricErrno.EAGAIN;
        }
        if (result != 0) {
            nativeWait.disarm();
        }
        return result;
    }

    /** Answers {@link CompletionQueue#control}; wait is null for an object without one. */
    static int control(CompletionWait wait, int command, WaitObject waitObject, WaitObjectHandle handle) {
        if (command != ControlCommand.GETWAIT.code() && command != ControlCommand.GETWAITOBJ.code()) {
            return -FabricErrno.ENOSYS;
        }
        boolean object = command == ControlCommand.GETWAIT.code();
        if (object && (wait == null || wait.nativeWait == null)) {
            return -FabricErrno.ENODATA;
        }
        handle.waitObject(waitObject);
        if (object) {
            wait.nativeWait.describe(handle);
        }
        return 0;
    }

    /** The channel of {@link WaitObject#FD}. */
    SocketChannel channel(WaitObject waitObject) {
        SocketChannel channel = describe(waitObject).channel();
        if (channel == null) {
            throw new FabricException(FabricErrno.ENODATA, "wait object " + waitObject + " has no channel",
                "Open with FD.");
        }
        return channel;
    }

    /** The number of the descriptor of {@link WaitObject#FD}. */
    int fd(WaitObject waitObject) {
        return describe(waitObject).fd();
    }

    /** Releases the threads that wait now, or the next one that is about to wait on an empty queue. */
    void signal() {
        signals.incrementAndGet();
        wake();
    }

    /** Lets those who wait look again. */
    void wake() {
        line.wakeAll();
        if (nativeWait != null) {
            nativeWait.signal();
        }
    }

    /** As {@link #wake()}, without a system call if nobody waits; after the store for which they are woken. */
    void wakeIfWanted() {
        if (line.isWanted()) {
            wake();
        }
    }

    /** Releases all who wait, for ever. */
    void close() {
        closed = true;
        line.wakeAll();
        if (nativeWait != null) {
            nativeWait.close();
        }
    }

    private WaitObjectHandle describe(WaitObject waitObject) {
        WaitObjectHandle handle = new WaitObjectHandle();
        handle.waitObject(waitObject);
        control(this, ControlCommand.GETWAIT.code(), waitObject, handle);
        return handle;
    }

    /** Whether somebody who waits at a native object has to be woken. */
    private boolean isDue() {
        return closed || source.isReady() || signals.get() != signalsTaken || driver.isGone();
    }

    private boolean takeSignal() {
        int now = signals.get();
        if (now == signalsTaken) {
            return false;
        }
        signalsTaken = now;
        return true;
    }

    /** Entries that release a waiter: as many as the threshold says, at most what the read takes or the queue has. */
    private int needed(long cond, int count) {
        if (!counts || cond == 0) {
            return 1;
        }
        int most = Math.max(1, Math.min(count, source.capacity()));
        return cond < 0 || cond > most ? most : (int) cond;
    }

    private boolean isOver() {
        return closed || driver.isGone() || Thread.currentThread().isInterrupted();
    }

    private void round(long needed, long seenErrors, int seenSignals, long waitedNs, long leftNs) {
        if (invoker != null) {
            // who waits longer has the time for the driver's events, too
            if ((waitedNs < spinNs ? invoker.poll(0) : invoker.cycle()) == 0) {
                pause(waitedNs);
            }
        } else if (yields) {
            Thread.yield();
        } else if (waitedNs < spinNs) {
            Thread.onSpinWait();
        } else {
            sleep(needed, seenErrors, seenSignals, leftNs);
        }
    }

    private void pause(long waitedNs) {
        if (waitedNs < spinNs) {
            Thread.onSpinWait();
        } else if (yields || waitedNs < CYCLES_BEFORE_NAP_NS) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(NAP_NS);
        }
    }

    private void sleep(long needed, long seenErrors, int seenSignals, long leftNs) {
        int seen = line.signal();
        line.announce(source.wakeAt(needed));
        if (!source.isReady(needed, seenErrors) && !isOver() && signals.get() == seenSignals) {
            line.sleep(seen, sliceNs < 0 ? leftNs : Math.min(sliceNs, leftNs));
        }
    }
}
