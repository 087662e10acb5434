package org.jfabric;

import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.WaitChannel;
import org.jfabric.client.WaitLine;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.WaitCondition;
import org.jfabric.info.WaitObject;

/**
 * The waiting for what a driver fills: a completion queue, a counter or a wait set. Threads sleep on a word that the
 * driver wakes, in slices short enough to notice what wakes no sleeper: an interrupt, the end of the driver.
 *
 * <p>Waiting with means of the application's own begins with {@link #tryWait()}, if the object was opened for it.
 */
final class LineWait extends WaitLoop {
    /** Longest sleep without a check of interrupt and driver. */
    static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Volatile, because the thread that connects to the next driver changes that of a counter. */
    private volatile WaitLine line;
    private final boolean counts;
    private final long sliceNs;
    private NativeWait nativeWait;

    /**
     * The waiting side of a queue.
     *
     * @param source  checked for entries.
     * @param line    slept on.
     * @param attr    wait object and condition.
     * @param driver  whose end is noticed.
     * @param invoker runs the embedded driver's cycle, or null.
     * @param spinNs  how long to check without sleeping.
     * @param sliceNs longest single sleep; negative for no limit.
     */
    LineWait(
        Waitable source,
        WaitLine line,
        CompletionQueueAttr attr,
        DriverState driver,
        Invoker invoker,
        long spinNs,
        long sliceNs) {
        super(source, driver, invoker, attr.waitObject() == WaitObject.YIELD, spinNs);
        this.line = line;
        this.counts = attr.waitCondition() == WaitCondition.THRESHOLD;
        this.sliceNs = sliceNs;
        if (attr.waitObject() == WaitObject.MUTEX_COND) {
            MutexCondWait pair = new MutexCondWait(line, this::isDue, sliceNs);
            pair.start();
            nativeWait = pair;
        }
    }

    /**
     * Takes the channel of {@link WaitObject#FD}, before any thread waits.
     *
     * @param channel to be closed with this object, or null.
     */
    void open(WaitChannel channel) {
        if (channel != null) {
            nativeWait = new ChannelWait(line, channel, invoker());
        }
    }

    /**
     * Waits until enough entries, an error entry or the overrun state can be read, or there is a reason to wait no
     * longer.
     *
     * @param cond      entries wanted, if the queue was opened with {@link WaitCondition#THRESHOLD}; else ignored.
     * @param count     most entries that the caller takes.
     * @param startNs   when the wait began.
     * @param timeoutNs nanoseconds from then on; negative for no limit.
     * @return {@link #READY}, {@link #SIGNALLED} or {@link #OVER}.
     */
    int await(long cond, int count, long startNs, long timeoutNs) {
        return awaitReady(needed(cond, count), 0, startNs, timeoutNs);
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
            return isClosed() ? -FabricErrno.EOPBADSTATE : -FabricErrno.ENOSYS;
        }
        cycle();
        boolean waits = nativeWait.arm() && nativeWait.prepare();
        int result = 0;
        if (isClosed()) {
            result = -FabricErrno.EOPBADSTATE;
        } else if (!waits || takeReason()) {
            result = -FabricErrno.EAGAIN;
        }
        if (result != 0) {
            nativeWait.disarm();
        }
        return result;
    }

    /** Answers {@link PortedCalls#control}; wait is null for an object without one. */
    static int control(LineWait wait, int command, WaitObject waitObject, WaitObjectHandle handle) {
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
        if (!(describe(waitObject).channel() instanceof SocketChannel channel)) {
            throw new FabricException(FabricErrno.ENODATA, "wait object " + waitObject + " has no channel",
                "Open with FD.");
        }
        return channel;
    }

    /** The lock and condition of {@link WaitObject#MUTEX_COND}. */
    MutexCond mutexCond(WaitObject waitObject) {
        MutexCond pair = describe(waitObject).mutexCond();
        if (pair == null) {
            throw new FabricException(FabricErrno.ENODATA, "wait object " + waitObject + " has no condition",
                "Open with MUTEX_COND.");
        }
        return pair;
    }

    /** The number of the descriptor of {@link WaitObject#FD}. */
    int fd(WaitObject waitObject) {
        return describe(waitObject).fd();
    }

    @Override
    void wake() {
        line.wakeAll();
        if (nativeWait != null) {
            nativeWait.signal();
        }
    }

    /** As {@link #wake()}, without a system call if no thread waits; after the store for which they are woken. */
    void wakeIfWanted() {
        if (line.isWanted()) {
            wake();
        }
    }

    /** Threads sleep on another line from now on; those that sleep notice it at the end of their slice. */
    void moveTo(WaitLine next) {
        WaitLine before = line;
        line = next;
        before.wakeAll();
    }

    /** Releases all who wait, for ever. */
    void close() {
        markClosed();
        line.wakeAll();
        if (nativeWait != null) {
            nativeWait.close();
        }
    }

    @Override
    void sleep(long needed, long seenErrors, int seenSignals, long leftNs) {
        int seen = line.signal();
        line.announce(source().wakeAt(needed));
        if (!isDone(needed, seenErrors, seenSignals)) {
            line.sleep(seen, sliceNs < 0 ? leftNs : Math.min(sliceNs, leftNs));
        }
    }

    private WaitObjectHandle describe(WaitObject waitObject) {
        WaitObjectHandle handle = new WaitObjectHandle();
        handle.waitObject(waitObject);
        control(this, ControlCommand.GETWAIT.code(), waitObject, handle);
        return handle;
    }

    /** Entries that release a waiter: as many as the threshold says, at most what the read takes or the queue has. */
    private int needed(long cond, int count) {
        if (!counts || cond == 0) {
            return 1;
        }
        int most = Math.max(1, Math.min(count, source().capacity()));
        return cond < 0 || cond > most ? most : (int) cond;
    }
}
