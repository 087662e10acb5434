package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.LentMessages;
import org.jfabric.client.OutstandingOperations;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.UseGuard;
import org.jfabric.client.UseLock;
import org.jfabric.client.WaitChannel;
import org.jfabric.client.WaitLine;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Mode;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.Threading;
import org.jfabric.info.WaitCondition;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.CompletionQueueDescriptor;

/**
 * Reports the end of operations: the driver writes entries into shared memory, this object reads them there.
 *
 * <pre>{@code
 * CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(1024));
 * int count = queue.poll(entry -> onEnd(entry.opContext()), 16);
 * }</pre>
 *
 * <p>Reading calls return a positive count or a negative fabric errno; they never throw or allocate, and only
 * {@link #sread} and {@link #sreadFrom} block:
 *
 * <ul>
 * <li>{@code -FI_EAGAIN}: nothing to read;</li>
 * <li>{@code -FI_EAVAIL}: the oldest unread entry is an error, {@link #readErr} takes it; errors never overtake
 *     successes;</li>
 * <li>{@code -FI_EOPBADSTATE}: closed, or no endpoint that reports here was enabled yet, or called from inside a
 *     {@link CompletionHandler};</li>
 * <li>{@code -FI_EINVAL}: count or buffer cannot be;</li>
 * <li>{@code -FI_EOVERRUN}: entries were lost because more operations were posted than the queue has slots; all that
 *     were written have been read, nothing more will come;</li>
 * <li>{@code -FI_ENODEV}: the driver is gone, and all that it wrote has been read.</li>
 * </ul>
 *
 * <p>Every operation of an endpoint, injects included, takes one of the queue's slots when it is posted and gives it
 * back when its entry was read, or when it ended without one; so a queue whose entries are read cannot overrun. Only in
 * a domain opened with {@link ResourceManagement#DISABLED} nothing is taken: posting asks for no slot, and an entry
 * that finds none overruns the queue for good. The other queues of the domain are not affected.
 *
 * <p>With an embedded driver in INVOKER mode each reading call moves messages before it reads. In close succession that
 * is all that most of them do, because the rest of a duty cycle costs more than a message; a call after a pause also
 * does what has waited: commands, connections, time-outs, endpoints that were quiet. A blocking call runs cycles until
 * it returns, and {@code FabricDriver.cycle()} runs a whole one at any time.
 *
 * <p>Four ways to read: {@link #read} and {@link #readFrom} copy entries in the queue's format, {@link #poll} shows
 * them to a handler, {@link #readInPlace} lends them until the next reading call, {@link #pollMessages} shows messages
 * of buffered receives to a handler of their own.
 *
 * <p>In a domain that keeps threads apart ({@link Threading#SAFE} and others, see {@link Domain}) any thread reads.
 * Each entry goes to one of them; a thread that comes while another one is reading, its handlers included, is answered
 * {@code -FI_EAGAIN} instead of waiting for it.
 *
 * <p>Owner otherwise: one thread at a time reads. One thread at a time posts to the endpoints that report here; it may
 * be another one than the reader, but not with an embedded driver in INVOKER mode. {@link #close()} is a control call.
 * Source: fi_cq(3).
 */
public final class CompletionQueue implements Fid {
    private static final long LONG_ARRAY_BASE = UnsafeApi.arrayBaseOffset(long[].class);

    private final CompletionReader reader;
    /** The same reader in a fabric that reconnects, else null. */
    private final RestartReader restarts;
    private CompletionCredits credits;
    private final CompletionAccess access;
    private final CompletionFormat format;
    private final Domain domain;
    private final CompletionQueueAttr attr;
    private long id;
    private final long context;
    private int size;
    private final WaitObject waitObject;
    private final LineWait wait;
    private final Waitable events = this::mayHaveEvents;
    private WaitSet waitSet;
    private final List<Endpoint> endpoints = new ArrayList<>();
    private long drainBegin;

    /**
     * A fresh queue over its mapped file; domain may be null in tests of the reading side.
     *
     * @param attr as opened: the format is concrete, the size is the client's share.
     */
    CompletionQueue(
        Domain domain,
        long id,
        long context,
        CompletionQueueAttr attr,
        MemorySegment memory,
        int capacity,
        DriverState driver,
        Invoker invoker,
        long waitSpinNs,
        long waitSliceNs) {
        this.domain = domain;
        this.id = id;
        this.attr = attr;
        this.context = context;
        this.format = attr.format().resolved();
        this.size = (int) attr.size();
        boolean locks = domain != null && domain.locks();
        // where locks keep threads apart, the engine, its submitters and the readers each have their own one
        boolean oneUser = invoker != null && !locks;
        UseGuard submitters = oneUser ? invoker.guard() : new UseGuard("submission to completion queue " + id);
        UseLock submission = !locks ? null : invoker != null ? invoker.lock() : new UseLock();
        long share = domain != null && domain.mayOverrun() ? CompletionCredits.UNLIMITED : size;
        this.credits = new CompletionCredits(
            share, memory.address() + CompletionQueueDescriptor.RETIRED_OFFSET, submitters, submission);
        int sampleDistance = invoker == null ? 0
            : UnsafeApi.getInt(memory.address() + CompletionQueueDescriptor.SAMPLE_DISTANCE_OFFSET);
        if (sampleDistance > 0) {
            credits.sampleEvery(sampleDistance);
        }
        boolean keepsErrData = domain != null && domain.fabric().keepsErrData();
        this.restarts = domain == null || !domain.fabric().reconnects() ? null : new RestartReader(
            era(memory, capacity, credits), format, driver, keepsErrData, this::moveTo);
        this.reader = restarts != null ? restarts
            : new CompletionReader(memory, capacity, format, credits, driver, keepsErrData);
        this.waitObject = attr.waitObject();
        this.wait = !waitObject.blocksCalls() ? null : new LineWait(
            reader, new WaitLine(memory.address() + CompletionQueueDescriptor.WAIT_OFFSET, memory), attr, driver,
            invoker, waitSpinNs, waitSliceNs);
        LentMessages lent = oneUser ? invoker.lentMessages(id) : null;
        MessagePoll messages = new MessagePoll(reader, invoker, lent);
        this.access = new CompletionAccess(reader, wait, invoker, messages, lent == null ? null : lent.direct(),
            oneUser ? invoker.guard() : readersGuard(), locks ? new UseLock() : null);
    }

    /**
     * Copies entries in the queue's format back to back and gives back their slots.
     *
     * @param buffer receives the entries.
     * @param offset of the first one, in bytes.
     * @param count  most entries; 0 takes none and returns 0, {@code -FI_EAVAIL} or
     *               {@code -FI_EAGAIN} for what is in the queue.
     * @return entries stored, or a negative errno of this class.
     */
    public int read(MutableDirectBuffer buffer, int offset, int count) {
        return access.take(buffer, offset, count, null, 0);
    }

    /**
     * As {@link #read}, and stores the source of each received message.
     *
     * @param buffer   receives the entries.
     * @param offset   of the first one, in bytes.
     * @param count    most entries.
     * @param srcAddrs element i becomes the source of entry i, {@link FabricAddress#ADDR_NOTAVAIL} if there is none; at
     *                 least {@code count} elements.
     * @return entries stored, or a negative errno of this class.
     */
    public int readFrom(MutableDirectBuffer buffer, int offset, int count, long[] srcAddrs) {
        if (count > srcAddrs.length) {
            return -FabricErrno.EINVAL;
        }
        return access.take(buffer, offset, count, srcAddrs, LONG_ARRAY_BASE);
    }

    /**
     * As {@link #read}, and stores the source of each received message.
     *
     * @param buffer        receives the entries.
     * @param offset        of the first one, in bytes.
     * @param count         most entries.
     * @param sources       receives 8 bytes for each entry, its source or {@link FabricAddress#ADDR_NOTAVAIL}.
     * @param sourcesOffset of the first source, in bytes.
     * @return entries stored, or a negative errno of this class.
     */
    public int readFrom(
        MutableDirectBuffer buffer, int offset, int count, MutableDirectBuffer sources, int sourcesOffset) {
        if (sourcesOffset < 0 || sourcesOffset + (long) count * CompletionReader.SOURCE_LENGTH > sources.capacity()) {
            return -FabricErrno.EINVAL;
        }
        return access.take(buffer, offset, count, sources.byteArray(), sources.addressOffset() + sourcesOffset);
    }

    /**
     * As {@link #read}, but on an empty queue waits for an entry, an error or the time. Also returns, with
     * {@code -FI_EAGAIN} if nothing can be read, after {@link #signal()} and when the thread is interrupted, whose flag
     * stays set; with {@code -FI_EOPBADSTATE} when the queue is closed meanwhile; with {@code -FI_ENODEV} when the
     * driver dies. The time is right to about 10 ms where nothing wakes the reader.
     *
     * <p>A virtual thread keeps its carrier while it sleeps here, for the whole time-out if nothing comes.
     *
     * @param buffer    receives the entries.
     * @param offset    of the first one, in bytes.
     * @param count     most entries; those that are there are returned at once, however many.
     * @param cond      on a queue opened with {@link WaitCondition#THRESHOLD} the entries to wait for, at most
     *                  {@code count}; 0 is 1; fewer are returned when the time is over. Ignored on others.
     * @param timeoutNs nanoseconds; negative for no limit, 0 does not wait.
     * @return as {@link #read}; {@code -FI_ENOSYS} on a queue opened with {@link WaitObject#NONE} or
     *     {@link WaitObject#SET}.
     */
    public int sread(MutableDirectBuffer buffer, int offset, int count, long cond, long timeoutNs) {
        return access.takeWaiting(buffer, offset, count, null, 0, cond, timeoutNs);
    }

    /**
     * As {@link #sread}, and stores the source of each received message.
     *
     * @param buffer    receives the entries.
     * @param offset    of the first one, in bytes.
     * @param count     most entries.
     * @param srcAddrs  as for {@link #readFrom(MutableDirectBuffer, int, int, long[])}.
     * @param cond      as for {@link #sread}.
     * @param timeoutNs as for {@link #sread}.
     * @return as {@link #sread}.
     */
    public int sreadFrom(
        MutableDirectBuffer buffer, int offset, int count, long[] srcAddrs, long cond, long timeoutNs) {
        if (count > srcAddrs.length) {
            return -FabricErrno.EINVAL;
        }
        return access.takeWaiting(buffer, offset, count, srcAddrs, LONG_ARRAY_BASE, cond, timeoutNs);
    }

    /**
     * As {@link #sread}, and stores the source of each received message.
     *
     * @param buffer        receives the entries.
     * @param offset        of the first one, in bytes.
     * @param count         most entries.
     * @param sources       receives 8 bytes for each entry.
     * @param sourcesOffset of the first source, in bytes.
     * @param cond          as for {@link #sread}.
     * @param timeoutNs     as for {@link #sread}.
     * @return as {@link #sread}.
     */
    public int sreadFrom(
        MutableDirectBuffer buffer, int offset, int count, MutableDirectBuffer sources, int sourcesOffset, long cond,
        long timeoutNs) {
        if (sourcesOffset < 0 || sourcesOffset + (long) count * CompletionReader.SOURCE_LENGTH > sources.capacity()) {
            return -FabricErrno.EINVAL;
        }
        return access.takeWaiting(
            buffer, offset, count, sources.byteArray(), sources.addressOffset() + sourcesOffset, cond, timeoutNs);
    }

    /**
     * Releases all threads that are blocked in {@link #sread} or {@link #sreadFrom} with {@code -FI_EAGAIN}; if there
     * are none, the next one that finds the queue empty returns at once. Adds no entry. Any thread.
     *
     * @return 0; {@code -FI_ENOSYS} on a queue without a wait object, {@code -FI_EOPBADSTATE} on a closed one.
     */
    public int signal() {
        if (access.isClosed()) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (waitSet != null) {
            waitSet.signal();
            return 0;
        }
        if (wait == null) {
            return -FabricErrno.ENOSYS;
        }
        wait.signal();
        return 0;
    }

    /**
     * Asks whether the calling thread may block on the queue's native object (fi_trywait): the channel or descriptor of
     * {@link WaitObject#FD}, the condition of {@link WaitObject#MUTEX_COND}. Must answer 0 before each such wait;
     * whatever comes after that wakes it, and now and then it wakes for nothing. Never read the channel: this call
     * does. One thread at a time waits so, because an answer other than 0 withdraws the one before.
     *
     * <p>With an embedded driver in INVOKER mode no thread has to run the cycles while the application sleeps at
     * {@link WaitObject#FD}: the descriptor is also readable when a cycle has something to do, which the next read
     * does, whatever object it is for. At {@link WaitObject#MUTEX_COND} some other thread has to run the cycles.
     *
     * @return 0 if it may; {@code -FI_EAGAIN} if there may be something to read or the queue was signalled, which this
     *     call takes: read until {@code -FI_EAGAIN}, then ask again; {@code -FI_ENOSYS} on a queue opened with another
     *     wait object, for a wait set ask the set; {@code -FI_EOPBADSTATE} on a closed one.
     */
    public int tryWait() {
        if (access.isClosed()) {
            return -FabricErrno.EOPBADSTATE;
        }
        return wait == null ? -FabricErrno.ENOSYS : wait.tryWait();
    }

    /**
     * The channel of a queue opened with {@link WaitObject#FD}; readable when there is something. A selector with which
     * it is registered gives the descriptor back at its first selection after the queue was closed.
     *
     * @return non-blocking; only to be registered with selectors, never read, written or closed.
     * @throws FabricException {@link FabricErrno#ENODATA} for another wait object.
     */
    public SocketChannel channel() {
        return nativeWait().channel(waitObject);
    }

    /**
     * The number of the descriptor of a queue opened with {@link WaitObject#FD}, for system calls of the application's
     * own. Close the queue only when no thread waits in one.
     *
     * @return as {@link WaitObjectHandle#fd()}.
     * @throws FabricException as {@link WaitObjectHandle#fd()}.
     */
    public int fd() {
        return nativeWait().fd(waitObject);
    }

    /**
     * The lock and condition of a queue opened with {@link WaitObject#MUTEX_COND}.
     *
     * @return always the same pair; {@link MutexCond} describes how to wait on it.
     * @throws FabricException {@link FabricErrno#ENODATA} for another wait object.
     */
    public MutexCond mutexCond() {
        return nativeWait().mutexCond(waitObject);
    }

    /** The mapped file. */
    MemorySegment memory() {
        return reader.memory();
    }

    /** Whether calls may block until the driver wakes them. */
    boolean blocksCalls() {
        return waitObject.blocksCalls();
    }

    /** Answers {@link PortedCalls#control}. */
    int control(int command, WaitObjectHandle handle) {
        if (access.isClosed()) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (handle == null) {
            return -FabricErrno.EINVAL;
        }
        assert access.enterControl();
        try {
            if (waitSet != null && command == ControlCommand.GETWAIT.code()) {
                return waitSet.control(command, handle);
            }
            return LineWait.control(wait, command, waitObject, handle);
        } finally {
            assert access.exitControl();
        }
    }

    /**
     * Shows entries where they are, without a copy, and gives back their slots in the end. An exception of the handler
     * passes through; the entry it was thrown for counts as read.
     *
     * @param handler called for each entry, before this method returns.
     * @param limit   most entries; 0 as count 0 of {@link #read}.
     * @return entries shown, or a negative errno of this class.
     */
    public int poll(CompletionHandler handler, int limit) {
        return access.poll(handler, limit);
    }

    /**
     * Shows messages of endpoints with {@link Mode#BUFFERED_RECV} to one handler, and all other entries to another one,
     * in their order. A message is the handler's until it returns; {@link RecvContext#retain()}, a claim or a discard
     * ends that.
     *
     * <p>With an embedded driver in INVOKER mode short untagged messages from other drivers on the same host are shown
     * where they lie in the peer's memory, if no older entry waits in this queue: they are not copied, and have no
     * entry. Their sender could still change them, so whatever is decided by a value is read once; and it does not get
     * the room back before this call ends. In a domain that keeps threads apart nothing is shown so.
     *
     * <p>If a handler throws for a message without an entry, the others of this call are shown before the exception
     * passes through; later exceptions are added to it as suppressed ones. For entries it is as in {@link #poll}. If a
     * peer cuts the memory while it is read, the {@link InternalError} that the handler sees ends that peer, and does
     * not leave this call.
     *
     * @param messages called for each message, whole or not ({@link RecvContext#isWhole()}).
     * @param others   called for each entry that is not of such a message.
     * @param limit    most messages and entries; 0 as count 0 of {@link #read}.
     * @return messages and entries shown, or a negative errno of this class.
     */
    public int pollMessages(MessageHandler messages, CompletionHandler others, int limit) {
        return access.pollMessages(messages, others, limit);
    }

    /**
     * Lends entries where they are, without a copy: they keep their slots until {@link CompletionBatch#release()} or
     * the next reading call of this queue, and go with one update of the shared position. For the driver they are
     * unread until then, so that posting answers {@code -FI_EAGAIN} the earlier the longer the batch is kept.
     *
     * @param batch is filled, or left empty if the result is not positive; it must not hold entries of another queue.
     * @param limit most entries; 0 as count 0 of {@link #read}.
     * @return entries held, or a negative errno of this class; {@code -FI_EINVAL} for a batch that holds entries of
     *     another queue, {@code -FI_EOPNOTSUPP} in a domain that keeps threads apart, where the next reading call,
     *     which gives the entries back, could be another thread's.
     */
    public int readInPlace(CompletionBatch batch, int limit) {
        return access.hold(this, batch, limit);
    }

    /**
     * The message that an entry of an endpoint with {@link Mode#BUFFERED_RECV} hands out.
     *
     * @param entry as it is shown to a handler or in a batch; any entry of this queue.
     * @return the message; null if the entry is of another kind, whatever its context is, or the message was given
     *     back.
     */
    public RecvContext recvContext(Completion entry) {
        return entry.isBuffered() ? recvContext(entry.opContext()) : null;
    }

    /**
     * The message that an entry of an endpoint with {@link Mode#BUFFERED_RECV} hands out, for entries that were copied
     * by {@link #read}.
     *
     * <p>The context of such a message is always negative. An application whose own contexts are never negative may
     * call this for all entries. An application with negative contexts must call it only for success entries of
     * receives ({@link Flags#RECV}) that have neither {@link Flags#CLAIM} nor a context of its own, or use
     * {@link #recvContext(Completion)}, which is unambiguous.
     *
     * @param opContext of the entry; of one that was read, or is being shown to a handler.
     * @return the message; null if the context is of another kind, or the message was given back.
     */
    public RecvContext recvContext(long opContext) {
        ReceiveSlab slab = reader.slabs().find(opContext);
        return slab == null ? null : slab.find(opContext);
    }

    /**
     * Takes the oldest unread entry if it is an error.
     *
     * @param error receives every member, whatever the queue's format; error data goes where
     *              {@link CompletionError#errDataBuffer} says, and never to the caller's memory if the fabric was
     *              opened with an API version below 1.5.
     * @param flags 0; no bits are defined.
     * @return 1, or {@code -FI_EAGAIN} if the oldest entry is no error, {@code -FI_EBADFLAGS} for flags, or another
     *     negative errno of this class. On a queue that overran and was read to its end always 1, with
     *     {@link FabricErrno#EOVERRUN}.
     */
    public int readErr(CompletionError error, long flags) {
        return flags != 0 ? -FabricErrno.EBADFLAGS : access.readErr(error);
    }

    /**
     * Says what an error entry's {@code provErrno} means.
     *
     * @param provErrno of {@link CompletionError#provErrno()}, of either sign.
     * @return text, never empty.
     */
    public String strerror(int provErrno) {
        return strerror(provErrno, null, null, 0, 0);
    }

    /**
     * Says what an error entry's {@code provErrno} and error data mean.
     *
     * @param provErrno of {@link CompletionError#provErrno()}, of either sign.
     * @param data      of {@link CompletionError#errData()}, or null.
     * @param buffer    receives the text too, cut and ended by a zero byte within {@code len}; or null.
     * @param offset    of the text in the buffer.
     * @param len       bytes that may be used of the buffer.
     * @return text, never empty.
     */
    public String strerror(int provErrno, DirectBuffer data, MutableDirectBuffer buffer, int offset, int len) {
        return ErrorText.of(provErrno, data, buffer, offset, len);
    }

    /**
     * Entries that the queue can hold for operations of this client; at least what was asked for.
     *
     * @return slots, 1 or more.
     */
    public int size() {
        return size;
    }

    /**
     * Format of the entries, never {@link CompletionFormat#UNSPEC}.
     *
     * @return the concrete format.
     */
    public CompletionFormat format() {
        return format;
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
        return FidClass.CQ;
    }

    @Override
    public boolean isOpen() {
        return !access.isClosed();
    }

    /**
     * Closes the queue; unread entries are lost. Has no effect if it is already closed. Control path. Its space in the
     * driver's directory comes back at once, unless a handler is at an entry or a batch holds some: call it when no
     * thread reads.
     *
     * @throws FabricException {@link FabricErrno#EBUSY} while an endpoint that reports here is open; the queue
     *     stays as it is. {@link FabricErrno#ETIMEDOUT} as {@link Fid#close()}.
     */
    @Override
    public void close() {
        domain.close(this);
    }

    @Override
    public String toString() {
        return "CompletionQueue{id=" + id + ", format=" + format + ", size=" + size + ", capacity=" + reader.capacity()
            + ", endpoints=" + endpoints.size() + (access.isClosed() ? ", closed" : "") + '}';
    }

    long id() {
        return id;
    }

    /** Takes the objects opened besides the queue's own file, before the queue is used; each may be null. */
    void onOpened(WaitSet newWaitSet, WaitChannel channel) {
        waitSet = newWaitSet;
        if (channel != null) {
            wait.open(channel);
        }
    }

    /** The wait set that this queue signals, or null. */
    WaitSet waitSet() {
        return waitSet;
    }

    /** Polled by a wait set. */
    Waitable waitable() {
        return reader;
    }

    /** Polled by a poll set: ready if a read may find something, or the driver has ended. */
    Waitable events() {
        return events;
    }

    Domain domain() {
        return domain;
    }

    /** Sets the signal that wakes the driver after a read has freed slots for which messages wait. */
    void driverSignal(QueueSignal signal) {
        reader.driverSignal(signal);
    }

    /** Receive slabs of the endpoints that report here. */
    ReceiveSlabs slabs() {
        return reader.slabs();
    }

    CompletionCredits credits() {
        return credits;
    }

    /** What is posted and has no entry yet, in a fabric that reconnects. */
    OutstandingOperations operations() {
        return restarts.last().operations();
    }

    /** The driver is gone, and nothing more is posted to it. */
    void seal() {
        restarts.seal();
        access.settle(restarts);
    }

    /** Attributes with which the next driver opens it. */
    CompletionQueueAttr attr() {
        return attr.copy();
    }

    /** The next driver has opened it; readers come there after all that was before. */
    void reopen(long newId, int share, MemorySegment memory, int capacity) {
        id = newId;
        size = share;
        credits = new CompletionCredits(share, memory.address() + CompletionQueueDescriptor.RETIRED_OFFSET,
            credits.guard(), credits.lock());
        restarts.follow(era(memory, capacity, credits));
    }

    private static RestartReader.Era era(MemorySegment memory, int capacity, CompletionCredits credits) {
        return new RestartReader.Era(memory, capacity, credits, new OutstandingOperations(capacity),
            new WaitLine(memory.address() + CompletionQueueDescriptor.WAIT_OFFSET, memory));
    }

    private void moveTo(WaitLine line) {
        if (wait != null) {
            wait.moveTo(line);
        }
    }

    /** Whether a thread is in a handler of this queue. */
    boolean isHandling() {
        return access.isHandling();
    }

    /** With an embedded driver: submitters and readers are kept apart from now on, as those of other domains. */
    void startLocking(Invoker invoker) {
        credits.startLocking(invoker.lock());
        access.startLocking(readersGuard());
    }

    private UseGuard readersGuard() {
        return new UseGuard("completion queue " + id);
    }

    /** Endpoints bound to this queue; control path, under the fabric's lock. */
    List<Endpoint> endpoints() {
        return endpoints;
    }

    /** An endpoint that reports here is enabled: from now on the queue may be read. */
    void onEndpointEnabled() {
        access.open();
    }

    /** Remembers which entries are there, before the fabric waits for its sends to end. */
    void onDrainBegins() {
        drainBegin = reader.end();
    }

    /** Sends whose error entries came since {@link #onDrainBegins()}, whether or not they were read. */
    long failedSinceDrainBegan() {
        return reader.failedSends(drainBegin);
    }

    void markClosed() {
        access.close();
    }

    /** After {@link #markClosed()}: whether its entries are still looked at. */
    boolean isInUse() {
        return access.isInUse();
    }

    private boolean mayHaveEvents() {
        return access.isReadable() && reader.mayHaveEvents();
    }

    private LineWait nativeWait() {
        if (wait == null) {
            throw new FabricException(FabricErrno.ENODATA, "wait object " + waitObject
                + " has no channel of the queue's own", "Open with FD, or ask the wait set.");
        }
        return wait;
    }

    /** Gives back what a batch holds. */
    void release() {
        access.release();
    }
}
