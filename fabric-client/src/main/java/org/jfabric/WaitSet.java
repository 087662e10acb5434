package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.WaitChannel;
import org.jfabric.client.WaitLine;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.WaitDescriptor;

/**
 * One wait object for several completion queues, event queues and counters (fi_wait_open): those opened with
 * {@link WaitObject#SET} and {@link #id()}.
 *
 * <pre>{@code
 * WaitSet set = fabric.openWaitSet(new WaitSetAttr());
 * CompletionQueueAttr attr = new CompletionQueueAttr().waitObject(WaitObject.SET).waitSetId(set.id());
 * }</pre>
 *
 * <p>It does not report which one it was; read all of them, or ask a {@link PollSet}. Any number of threads may
 * {@link #await}, one at a time waits at the native object; with an embedded driver in INVOKER mode only the thread
 * that uses the domain waits, because waiting runs the cycles. Source: fi_poll(3), section fi_wait_open; fi_cq(3),
 * section fi_cq_open, wait_set.
 */
public final class WaitSet implements Fid {
    private final Fabric fabric;
    private final long id;
    private final WaitObject waitObject;
    private final DriverState driver;
    private final Invoker invoker;
    private final LineWait wait;
    private final Members members = new Members();
    private final MemorySegment memory;
    private volatile boolean closed;

    /** A set over its mapped file; the channel is null but for {@link WaitObject#FD}. */
    WaitSet(
        Fabric fabric, long id, WaitObject waitObject, MemorySegment memory, WaitChannel channel, DriverState driver,
        Invoker invoker, long waitSpinNs, long waitSliceNs) {
        this.fabric = fabric;
        this.id = id;
        this.waitObject = waitObject;
        this.memory = memory;
        this.driver = driver;
        this.invoker = invoker;
        this.wait = new LineWait(
            members, new WaitLine(memory.address() + WaitDescriptor.WAIT_FILE_OFFSET, memory),
            new CompletionQueueAttr().waitObject(waitObject), driver, invoker, waitSpinNs, waitSliceNs);
        wait.open(channel);
    }

    /**
     * Number of the set, for {@link CompletionQueueAttr#waitSetId(long)}.
     *
     * @return from 1.
     */
    public long id() {
        return id;
    }

    /**
     * Returns the wait object that the set was opened with.
     *
     * @return the wait object.
     */
    public WaitObject waitObject() {
        return waitObject;
    }

    /**
     * Waits until one of the queues has something to read, or a counter's value or error value has changed since it was
     * last read (fi_wait). Unread entries and changes keep the set signalled. A virtual thread keeps its carrier while
     * it sleeps here.
     *
     * @param timeoutNs nanoseconds; negative for no limit, 0 only checks.
     * @return 0 if something can be read or a queue was signalled ({@link CompletionQueue#signal()});
     *     {@code -FI_ETIMEDOUT}; {@code -FI_EINTR} if the thread was interrupted, whose flag stays set;
     *     {@code -FI_EOPBADSTATE} if the set is closed; {@code -FI_ENODEV} if the driver is gone.
     */
    public int await(long timeoutNs) {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (invoker != null) {
            invoker.poll(0);
        }
        int ended = wait.await(0, 1, System.nanoTime(), timeoutNs);
        Reference.reachabilityFence(memory);
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (ended == WaitLoop.SIGNALLED || members.isReady()) {
            return 0;
        }
        if (driver.isGone()) {
            return -FabricErrno.ENODEV;
        }
        return Thread.currentThread().isInterrupted() ? -FabricErrno.EINTR : -FabricErrno.ETIMEDOUT;
    }

    /**
     * Asks whether the calling thread may block on the set's native object (fi_trywait); see
     * {@link CompletionQueue#tryWait()}.
     *
     * @return 0, or {@code -FI_EAGAIN} if a queue may have something to read, {@code -FI_ENOSYS} for a set without
     *     native object, {@code -FI_EOPBADSTATE} if it is closed.
     */
    public int tryWait() {
        return closed ? -FabricErrno.EOPBADSTATE : wait.tryWait();
    }

    /**
     * The channel of a set opened with {@link WaitObject#FD}.
     *
     * @return as {@link CompletionQueue#channel()}.
     * @throws FabricException {@link FabricErrno#ENODATA} for another wait object.
     */
    public SocketChannel channel() {
        return wait.channel(waitObject);
    }

    /**
     * The number of the descriptor of a set opened with {@link WaitObject#FD}.
     *
     * @return as {@link WaitObjectHandle#fd()}.
     * @throws FabricException as {@link WaitObjectHandle#fd()}.
     */
    public int fd() {
        return wait.fd(waitObject);
    }

    /**
     * The lock and condition of a set opened with {@link WaitObject#MUTEX_COND}.
     *
     * @return always the same pair; {@link MutexCond} describes how to wait on it.
     * @throws FabricException {@link FabricErrno#ENODATA} for another wait object.
     */
    public MutexCond mutexCond() {
        return wait.mutexCond(waitObject);
    }

    /** Answers {@link PortedCalls#control}. */
    int control(int command, WaitObjectHandle handle) {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        return handle == null ? -FabricErrno.EINVAL : LineWait.control(wait, command, waitObject, handle);
    }

    @Override
    public FidClass fidClass() {
        return FidClass.WAIT;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    /**
     * Closes the set; threads that wait return. Has no effect if it is already closed. Control path.
     *
     * @throws FabricException {@link FabricErrno#EBUSY} while a queue or counter of it is open,
     *     {@link FabricErrno#ETIMEDOUT} as {@link Fid#close()}.
     */
    @Override
    public void close() {
        fabric.close(this);
    }

    @Override
    public String toString() {
        return "WaitSet{id=" + id + ", waitObject=" + waitObject + ", members=" + members.array.length
            + (closed ? ", closed" : "") + '}';
    }

    /** Adds a member, under the fabric's lock. Its writer must wake the set's line. */
    void attach(Waitable waitable) {
        members.add(waitable);
    }

    /** The set does not wait for this any more; under the fabric's lock. */
    void detach(Waitable waitable) {
        members.remove(waitable);
    }

    /** Whether anything is attached; under the fabric's lock. */
    void requireUnused() {
        if (members.array.length != 0) {
            throw new FabricException(FabricErrno.EBUSY, this + " is used by queues or counters that are open",
                "Close them first.");
        }
    }

    /** Releases those who wait, or the next one. */
    void signal() {
        wait.signal();
    }

    /** Something that is attached can be read, and no driver wakes the set for it. */
    void onReady() {
        wait.wakeIfWanted();
    }

    void markClosed() {
        closed = true;
        wait.close();
    }

    /** Its file. */
    MemorySegment memory() {
        return memory;
    }

    /** Replaced as a whole under the fabric's lock, read by any thread. */
    private static final class Members implements Waitable {
        private volatile Waitable[] array = new Waitable[0];

        @Override
        public boolean isReady() {
            Waitable[] seen = array;
            for (int i = 0; i < seen.length; i++) {
                if (seen[i].isReady()) {
                    return true;
                }
            }
            return false;
        }

        void add(Waitable waitable) {
            List<Waitable> next = new ArrayList<>(List.of(array));
            next.add(waitable);
            array = next.toArray(Waitable[]::new);
        }

        void remove(Waitable waitable) {
            List<Waitable> next = new ArrayList<>(List.of(array));
            next.remove(waitable);
            array = next.toArray(Waitable[]::new);
        }
    }
}
