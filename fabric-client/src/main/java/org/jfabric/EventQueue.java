package org.jfabric;

import java.nio.channels.SelectableChannel;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.Invoker;
import org.jfabric.ffi.Affinity;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;

/**
 * Reports events other than completions of transfers: completions of asynchronous control calls, connections, failures
 * of peers and queues, and events that the application writes itself.
 *
 * <pre>{@code
 * EventQueue events = fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.UNSPEC));
 * int result = events.sread(entry, 1_000_000_000L, 0);
 * }</pre>
 *
 * <p>Reading and writing calls return 1 for one event, or a negative fabric errno; they never throw:
 *
 * <ul>
 * <li>{@code -FI_EAGAIN}: nothing to read; of a write: the queue is full, nothing was written;</li>
 * <li>{@code -FI_EAVAIL}: the oldest unread entry is an error, {@link #readErr} takes it; errors never overtake
 *     events;</li>
 * <li>{@code -FI_ETOOSMALL}: the bytes of the oldest event do not fit into {@link EventEntry#dataBuffer}; it
 *     stays;</li>
 * <li>{@code -FI_EOPBADSTATE}: closed;</li>
 * <li>{@code -FI_EBADFLAGS}, {@code -FI_EINVAL}: flags or arguments cannot be;</li>
 * <li>{@code -FI_EOVERRUN}: an event found no room and was lost; all before it have been read, nothing more will
 *     come;</li>
 * <li>{@code -FI_ENODEV}: the driver is gone, and everything before that has been read. Events of the application are
 *     taken and read all the same;</li>
 * <li>{@code -FI_ENOSYS}: a wait on a queue without wait object, or a write to one opened without
 *     {@link Flags#WRITE}.</li>
 * </ul>
 *
 * <p>The events are: {@link EventType#AV_COMPLETE} for insertions into an address vector that was opened with
 * {@link Flags#EVENT}; error entries when a bound endpoint loses a peer, or when a completion queue of it overruns;
 * {@link EventType#CONNREQ} for a {@link PassiveEndpoint}, {@link EventType#CONNECTED} and {@link EventType#SHUTDOWN}
 * for an {@link Endpoint}, and error entries for connections that are not made; {@link EventType#JOIN_COMPLETE} for
 * each multicast group that an endpoint joins; and events of the application. Registration is never asynchronous, so
 * {@link EventType#MR_COMPLETE} comes only if the application writes it.
 *
 * <p>The queue lives in this process. With an attached driver the client's thread writes into it. With an embedded
 * driver in INVOKER mode the driver's events come in its cycles: each read, wait and {@link #tryWait} runs one first,
 * so these are calls of the one thread that uses the domain; {@link #write(int, Object, long, long, long)} never runs
 * one and may come from any thread in every mode.
 *
 * <p>Otherwise any thread may call, also several readers at a time, each with a holder of its own; an event goes to one
 * of them. Reading allocates nothing. {@link #close()} is a control call. Source: fi_eq(3).
 */
public final class EventQueue implements Fid {
    static final int DEFAULT_SIZE = 256;
    static final int MAX_SIZE = 1 << 16;
    private static final UnsafeBuffer NO_BYTES = new UnsafeBuffer(0, 0);

    private final Fabric fabric;
    private final long context;
    private final boolean writable;
    private final boolean keepsErrData;
    private final WaitObject waitObject;
    private final Invoker invoker;
    /** Also the monitor of everything that changes and that sleepers wait on. */
    private final QueuedEvents ring;
    private final Waitable waitable = this::isReady;
    private final EventWait wait;
    /** Endpoints and address vectors bound to this queue; control path, under the fabric's lock. */
    private final List<Object> users = new ArrayList<>();
    private WaitSet waitSet;
    private boolean overrun;
    private boolean gone;
    private volatile boolean closed;

    /** A queue without events; the fabric may be null in tests of the queue alone. */
    EventQueue(Fabric fabric, EventQueueAttr attr, long context, Invoker invoker) {
        check(attr);
        this.fabric = fabric;
        this.context = context;
        this.invoker = invoker;
        this.keepsErrData = fabric != null && fabric.keepsErrData();
        writable = (attr.flags() & Flags.WRITE) != 0;
        waitObject = attr.waitObject();
        ring = new QueuedEvents(attr.size() == 0 ? DEFAULT_SIZE : (int) attr.size());
        wait = new EventWait(waitable, ring, waitObject, invoker);
    }

    /**
     * Takes the oldest event, if it is no error.
     *
     * @param entry receives the event.
     * @param flags 0, or {@link Flags#PEEK} to leave the event in the queue.
     * @return 1, or a negative errno of this class.
     */
    public int read(EventEntry entry, long flags) {
        int refused = refusal(entry, flags);
        if (refused != 0) {
            return refused;
        }
        progress();
        return take(entry, flags);
    }

    /**
     * Takes the oldest entry if it is an error. Error data is copied, see {@link EventError#errDataBuffer}.
     *
     * @param error receives every member.
     * @param flags 0, or {@link Flags#PEEK} to leave the entry in the queue.
     * @return 1, or {@code -FI_EAGAIN} if the oldest entry is no error, or another negative errno of this class. On a
     *     queue that overran and was read to its end always 1, with {@link FabricErrno#EOVERRUN} and this queue as fid.
     */
    public int readErr(EventError error, long flags) {
        int refused = refusal(error, flags);
        if (refused != 0) {
            return refused;
        }
        progress();
        synchronized (ring) {
            QueuedEvents.Slot slot = closed ? null : ring.first();
            if (slot == null) {
                int result = whenEmpty();
                if (result == -FabricErrno.EOVERRUN) {
                    error.set(this, context, 0, FabricErrno.EOVERRUN, keepsErrData);
                    return 1;
                }
                return result;
            }
            if (slot.err == 0) {
                return -FabricErrno.EAGAIN;
            }
            error.set(slot, keepsErrData);
            consume(flags);
            return 1;
        }
    }

    /**
     * As {@link #read}, and waits until there is something to answer.
     *
     * <p>Also ended by an error entry, by {@link #close()}, and by the driver's end. An interrupt ends it with
     * {@code -FI_EAGAIN}, and the thread stays interrupted. With an embedded driver the wait runs its cycles.
     *
     * @param entry     receives the event.
     * @param timeoutNs nanoseconds; negative for no limit, 0 does not wait.
     * @param flags     as for {@link #read}.
     * @return 1, or {@code -FI_EAGAIN} when the time is over, or another negative errno of this class;
     *     {@code -FI_ENOSYS} always if the queue was opened with {@link WaitObject#NONE} or {@link WaitObject#SET}.
     */
    public int sread(EventEntry entry, long timeoutNs, long flags) {
        if (waitObject == WaitObject.NONE || waitObject == WaitObject.SET) {
            return -FabricErrno.ENOSYS;
        }
        int result = read(entry, flags);
        if (result != -FabricErrno.EAGAIN || timeoutNs == 0) {
            return result;
        }
        long startNs = System.nanoTime();
        int ended;
        do {
            ended = wait.awaitReady(1, 0, startNs, timeoutNs);
            result = take(entry, flags);
            // another reader was faster
        } while (result == -FabricErrno.EAGAIN && ended == WaitLoop.READY && wait.mayContinue(startNs, timeoutNs));
        return result;
    }

    /**
     * Writes an event of the application: a number, an object and two values. Readers are woken.
     *
     * @param event     any number, for example that of {@link EventType#NOTIFY}.
     * @param fid       the object that it is about, or null.
     * @param data      shown as {@link EventEntry#data()}.
     * @param opContext shown as {@link EventEntry#context()}.
     * @param flags     0; no bits are defined.
     * @return 1, or a negative errno of this class: {@code -FI_ENOSYS} without {@link Flags#WRITE} at open,
     *     {@code -FI_EAGAIN} if the queue is full. Such events never overrun it.
     */
    public int write(int event, Object fid, long data, long opContext, long flags) {
        return write(event, fid, opContext, data, NO_BYTES, 0, 0, flags);
    }

    /**
     * Writes an event of the application that carries bytes. Readers are woken.
     *
     * @param event  any number, for example that of {@link EventType#NOTIFY}.
     * @param bytes  holds the bytes, which are copied and shown as {@link EventEntry#bytes()}.
     * @param offset of the first byte.
     * @param length in bytes, 0 to {@link EventEntry#MAX_DATA_LENGTH}.
     * @param flags  0; no bits are defined.
     * @return 1, or a negative errno as for {@link #write(int, Object, long, long, long)}; {@code -FI_EINVAL} if the
     *     range is not within the buffer, or too long.
     */
    public int writeBytes(int event, DirectBuffer bytes, int offset, int length, long flags) {
        if (bytes == null || offset < 0 || length < 0 || length > EventEntry.MAX_DATA_LENGTH
            || offset > bytes.capacity() - length) {
            return -FabricErrno.EINVAL;
        }
        return write(event, null, 0, 0, bytes, offset, length, flags);
    }

    /**
     * Says whether a thread may block on the queue's own wait object now (fi_trywait). Of {@link #channel()} this
     * only saves a turn, because the channel is readable exactly while a read would not answer {@code -FI_EAGAIN}. With
     * an embedded driver in INVOKER mode it must answer 0 before each wait: it runs a cycle and arms the channel, which
     * is then also readable when a cycle has something to do, without which nothing of the driver comes.
     *
     * @return 0, or {@code -FI_EAGAIN} if there is something to read, or {@code -FI_ENOSYS} if the queue
     *     was opened with {@link WaitObject#NONE} or, ask the set then, {@link WaitObject#SET}.
     */
    public int tryWait() {
        if (waitObject == WaitObject.NONE || waitObject == WaitObject.SET) {
            return -FabricErrno.ENOSYS;
        }
        progress();
        boolean waits = wait.prepare() && !isReady();
        if (!waits) {
            wait.disarm();
        }
        return waits ? 0 : -FabricErrno.EAGAIN;
    }

    /**
     * Returns the wait object that the queue was opened with.
     *
     * @return the wait object.
     */
    public WaitObject waitObject() {
        return waitObject;
    }

    /**
     * The wait object of a queue opened with {@link WaitObject#FD} (FI_GETWAIT): readable exactly while a read would
     * not answer {@code -FI_EAGAIN}. It is non-blocking, to be registered with a {@link java.nio.channels.Selector} for
     * reading; only the queue reads it.
     *
     * @return the channel. {@link #close()} makes it readable for ever, so that a selector that is about to sleep is
     *     woken, and leaves it open: the caller closes it after the queue. One that is first asked for after the
     *     close is closed.
     * @throws FabricException with {@link FabricErrno#ENODATA} if the queue has another wait object.
     */
    public SelectableChannel channel() {
        SelectableChannel channel = wait.channel();
        if (channel == null) {
            throw otherWaitObject("FD");
        }
        return channel;
    }

    /** Answers {@link PortedCalls#control}. */
    int control(int command, WaitObjectHandle handle) {
        boolean isObject = command == ControlCommand.GETWAIT.code();
        if (!isObject && command != ControlCommand.GETWAITOBJ.code()) {
            return -FabricErrno.ENOSYS;
        }
        if (handle == null) {
            return -FabricErrno.EINVAL;
        }
        if (isObject && waitSet != null) {
            return waitSet.control(command, handle);
        }
        if (isObject && wait.channel() == null && wait.pair() == null) {
            return -FabricErrno.ENODATA;
        }
        handle.waitObject(waitObject);
        if (isObject) {
            handle.channel(wait.channel());
            handle.mutexCond(wait.pair());
        }
        return 0;
    }

    /**
     * The lock and condition of a queue opened with {@link WaitObject#MUTEX_COND} (FI_GETWAIT). A waiting thread takes
     * the lock, reads, and as long as the answer is {@code -FI_EAGAIN} awaits the condition. Hold the lock for nothing
     * else, least of all over a control call: the thread that brings events, and the answers to control calls, takes it
     * too. The condition is signalled after an event or error was written, and at the end of the queue or the driver.
     * With an embedded driver await it with a limit and read, to run the cycles.
     *
     * @return always the same pair.
     * @throws FabricException with {@link FabricErrno#ENODATA} if the queue has another wait object.
     */
    public MutexCond mutexCond() {
        MutexCond pair = wait.pair();
        if (pair == null) {
            throw otherWaitObject("MUTEX_COND");
        }
        return pair;
    }

    /**
     * Says what an error entry's {@code provErrno} means.
     *
     * @param provErrno of {@link EventError#provErrno()}, of either sign.
     * @return text, never empty.
     */
    public String strerror(int provErrno) {
        return strerror(provErrno, null, null, 0, 0);
    }

    /**
     * Says what an error entry's {@code provErrno} and error data mean.
     *
     * @param provErrno of {@link EventError#provErrno()}, of either sign.
     * @param data      of {@link EventError#errData()}, or null.
     * @param buffer    receives the text too, cut and ended by a zero byte within {@code len}; or null.
     * @param offset    of the text in the buffer.
     * @param len       bytes that may be used of the buffer.
     * @return text, never empty.
     */
    public String strerror(int provErrno, DirectBuffer data, MutableDirectBuffer buffer, int offset, int len) {
        return ErrorText.of(provErrno, data, buffer, offset, len);
    }

    /**
     * Unread events that the queue can hold.
     *
     * @return 1 or more; what was asked for, or 256 if that was 0.
     */
    public int size() {
        return ring.size();
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
        return FidClass.EQ;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    /**
     * Closes the queue; unread events are lost, and waiting threads are woken. Has no effect if it is already
     * closed. Control path.
     *
     * @throws FabricException with {@link FabricErrno#EBUSY} while an object that is bound to it is open; the queue
     *     stays as it is.
     */
    @Override
    public void close() {
        if (fabric.close(this)) {
            onClosed();
        }
    }

    void requireUnused() {
        if (!users.isEmpty()) {
            throw new FabricException(FabricErrno.EBUSY,
                "the event queue is bound to objects that are open: " + users, "Close them first.");
        }
    }

    @Override
    public String toString() {
        synchronized (ring) {
            return "EventQueue{context=" + context + ", waitObject=" + waitObject + ", size=" + ring.size()
                + ", unread=" + ring.count() + (overrun ? ", overrun" : "") + (gone ? ", driver gone" : "")
                + (closed ? ", closed" : "") + '}';
        }
    }

    Fabric fabric() {
        return fabric;
    }

    List<Object> users() {
        return users;
    }

    /** Adds an event of this library; without room the queue is overrun. Any thread. */
    void report(EventType event, Object fid, long opContext, long data) {
        add(event.code(), fid, null, opContext, data, 0, 0, NO_BYTES);
    }

    /** Adds an event of a connection, as {@link #report}; the info is null but for a request. */
    void report(EventType event, Fid fid, Info info, long data, byte[] bytes) {
        add(event.code(), fid, info, fid.context(), data, 0, 0, new UnsafeBuffer(bytes));
    }

    /** Adds an error entry of this library; without room the queue is overrun. Any thread. */
    void reportError(Object fid, long opContext, long data, int err, byte[] errData) {
        reportError(fid, opContext, data, err, err, errData);
    }

    void reportError(Object fid, long opContext, long data, int err, int provErrno, byte[] errData) {
        add(0, fid, null, opContext, data, err, provErrno, new UnsafeBuffer(errData));
    }

    /** Joins a wait set, before the queue is used; under the fabric's lock. */
    void join(WaitSet set) {
        waitSet = set;
        set.attach(waitable);
    }

    private boolean isReady() {
        synchronized (ring) {
            return isReadable();
        }
    }

    /** The driver is gone: nothing of it comes any more. */
    void onDriverGone() {
        synchronized (ring) {
            gone = true;
        }
        signalled();
    }

    /** Closes it for good; under the fabric's lock. {@link #onClosed()} has to follow. */
    void markClosed() {
        synchronized (ring) {
            closed = true;
            ring.clear();
        }
        if (waitSet != null) {
            waitSet.detach(waitable);
        }
    }

    /** Wakes the threads that wait for a queue that was just closed; with no lock held. */
    void onClosed() {
        wait.close();
        if (waitSet != null) {
            waitSet.onReady();
        }
    }

    /**
     * There may be something to read: wakes all who wait for this queue. Called after each change that a sleeper
     * must see, with no lock held, because the application reads with its lock held.
     */
    void signalled() {
        wait.wake();
        if (waitSet != null) {
            waitSet.onReady();
        }
    }

    private void add(
        int event, Object fid, Info info, long opContext, long data, int err, int provErrno, DirectBuffer bytes) {
        synchronized (ring) {
            if (closed || overrun) {
                return;
            }
            overrun = !ring.add(event, fid, opContext, data, err, bytes, 0, bytes.capacity());
            if (!overrun) {
                ring.detail(info, provErrno);
            }
        }
        signalled();
    }

    private int write(
        int event, Object fid, long opContext, long data, DirectBuffer bytes, int offset, int length, long flags) {
        if (!writable) {
            return -FabricErrno.ENOSYS;
        }
        if (flags != 0) {
            return -FabricErrno.EBADFLAGS;
        }
        synchronized (ring) {
            if (closed) {
                return -FabricErrno.EOPBADSTATE;
            }
            if (overrun) {
                return -FabricErrno.EOVERRUN;
            }
            if (!ring.add(event, fid, opContext, data, 0, bytes, offset, length)) {
                return -FabricErrno.EAGAIN;
            }
        }
        signalled();
        return 1;
    }

    private static int refusal(Object holder, long flags) {
        if ((flags & ~Flags.PEEK) != 0) {
            return -FabricErrno.EBADFLAGS;
        }
        return holder == null ? -FabricErrno.EINVAL : 0;
    }

    private int take(EventEntry entry, long flags) {
        synchronized (ring) {
            QueuedEvents.Slot slot = closed ? null : ring.first();
            if (slot == null) {
                return whenEmpty();
            }
            if (slot.err != 0) {
                return -FabricErrno.EAVAIL;
            }
            if (!entry.hasRoomFor(slot)) {
                return -FabricErrno.ETOOSMALL;
            }
            entry.set(slot);
            consume(flags);
            return 1;
        }
    }

    private void progress() {
        if (invoker != null && !closed) {
            invoker.cycle();
        }
    }

    /** Drops the oldest entry unless it was only peeked at; under the monitor. */
    private void consume(long flags) {
        if ((flags & Flags.PEEK) == 0) {
            ring.consume();
            wait.onTaken();
        }
    }

    private boolean isReadable() {
        return ring.count() != 0 || overrun || gone || closed;
    }

    private int whenEmpty() {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (overrun) {
            return -FabricErrno.EOVERRUN;
        }
        return gone ? -FabricErrno.ENODEV : -FabricErrno.EAGAIN;
    }

    private FabricException otherWaitObject(String needed) {
        return new FabricException(FabricErrno.ENODATA, "the wait object is " + waitObject + ", needed is " + needed,
            "Open the event queue with WaitObject." + needed + '.');
    }

    private static void check(EventQueueAttr attr) {
        long unknown = attr.flags() & ~(Flags.WRITE | Flags.AFFINITY);
        if (unknown != 0) {
            throw new FabricException(FabricErrno.EINVAL, "open flags are "
                + Flags.toString(attr.flags(), Flags.Kind.EQ_OPEN) + ", known are WRITE and AFFINITY");
        }
        if (attr.size() < 0 || attr.size() > MAX_SIZE) {
            throw new FabricException(FabricErrno.EINVAL, "the size is " + attr.size() + " events, needed is 0 to "
                + MAX_SIZE, "Use several queues, or read more often.");
        }
        int processors = Affinity.processors();
        if ((attr.flags() & Flags.AFFINITY) != 0
            && (attr.signalingVector() < 0 || attr.signalingVector() >= processors)) {
            throw new FabricException(FabricErrno.EINVAL, "the signaling vector is " + attr.signalingVector()
                + ", needed is a processor, 0 to " + (processors - 1));
        }
        switch (attr.waitObject()) {
            case NONE, UNSPEC, SET, FD, MUTEX_COND, YIELD -> {
            }
            default -> throw new FabricException(FabricErrno.ENOSYS, "the wait object is " + attr.waitObject()
                + ", offered are NONE, UNSPEC, SET, FD, MUTEX_COND and YIELD", "Open with one of these.");
        }
    }
}
