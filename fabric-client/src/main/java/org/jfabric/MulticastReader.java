package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.WaitLine;
import org.jfabric.codec.control.GroupJoined;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.JoinAttr;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.GroupConsumer;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.layout.ReadPlaceDescriptor;

/**
 * Reads the messages of a group over link shm where its writer has put them: without receives, entries or copies, and
 * without the driver, which only says where the group ends. It is what {@link org.jfabric.stream.Subscription} stands
 * on, for programs that have an endpoint of their own.
 *
 * <pre>{@code
 * MulticastReader quotes = endpoint.openReader("jfabric://alpha/quotes", 0, new JoinAttr());
 * long sum = 0;
 * while (quotes.next() == 1) {
 *     sum += quotes.buffer().getLong(quotes.offset());
 * }
 * }</pre>
 *
 * <p>A message is the caller's until the next call of {@link #next()}: only then may the writer write there again. With
 * a writer that does not wait for its readers, or removes those that stall, each message is copied first, into memory
 * of this reader, and was not overwritten when it is shown. The memory of the ring is mapped for reading only; writing
 * there ends the process.
 *
 * <p>When it has ended because its writer died, close it. Once the writer is back with the same log, another reader
 * begins at the place of the next message ({@link JoinAttr#from}); a {@link org.jfabric.stream.Subscription} does that
 * by itself.
 *
 * <p>With an embedded driver in mode INVOKER calls that find nothing run its cycles, and so does now and then one that
 * finds a message.
 *
 * <p>The data path answers with numbers, and allocates nothing. Owner: one thread at a time.
 */
public final class MulticastReader implements AutoCloseable {
    /** One in so many empty calls looks for the driver, and in mode INVOKER runs it. */
    private static final int EMPTY_CALLS = 4;
    /** So many calls behind a message do not: the next one may be about to come. */
    private static final int CALLS_AFTER_MESSAGE = 16;

    private final MulticastGroup group;
    private final GroupConsumer ring;
    private final MemorySegment ringFile;
    private final MemorySegment queueFile;
    /** Native address of the queue's file, where this reader says how far it is. */
    private final long place;
    private final DriverState driver;
    private final Invoker invoker;
    private final QueueSignal signal;
    /** The writer may overwrite what was not read. */
    private final boolean copies;
    private final ChangeWait wait;
    private final UnsafeBuffer buffer;
    /** Added to a native address gives an offset in the buffer. */
    private final long toOffset;
    private final int publishDistance;
    /** How many calls after a message the counting of empty ones begins. */
    private final int callsAfterMessage;
    /** Empty calls in a row before the driver is stepped. */
    private final int emptyCallsPerStep;
    /** End of the records that may be read; reread when they are. */
    private long written;
    private boolean isFound;
    private boolean isGap;
    private long published;
    private long lost;
    private int emptyCalls;
    /** Why it has ended; a positive errno, or 0. */
    private int end;
    private volatile boolean isClosed;

    private MulticastReader(
        MulticastGroup group, Fabric fabric, GroupConsumer ring, MemorySegment ringFile, MemorySegment queueFile,
        boolean mayBlock) {
        this.group = group;
        this.ring = ring;
        this.ringFile = ringFile;
        this.queueFile = queueFile;
        this.place = queueFile.address();
        this.driver = fabric.driver();
        this.invoker = fabric.invoker();
        this.signal = fabric.connection().changeSignal();
        this.copies = ring.copy() != 0;
        long memory = copies ? ring.copy() : ringFile.address();
        this.buffer = new UnsafeBuffer(memory, copies ? ring.maxPayload()
            : GroupRingDescriptor.HEADER_LENGTH + ring.capacity());
        this.toOffset = -memory;
        this.publishDistance = ring.capacity() / ReadPlaceDescriptor.PLACES_PER_RING;
        this.written = ring.offset();
        this.published = ring.offset();
        // of another host's messages nothing comes into the ring but by the steps of this thread; the call that finds
        // the end of what a step has brought is left out, so that an answer is not sent behind another system call
        boolean isFed = group.address().startsWith(JoinAttr.STREAM_SCHEME);
        this.callsAfterMessage = isFed ? 1 : CALLS_AFTER_MESSAGE;
        this.emptyCallsPerStep = isFed ? 1 : EMPTY_CALLS;
        this.wait = !mayBlock ? null : new ChangeWait(this::mayHaveNext, fabric, invoker != null ? null
            : new WaitLine(place + CompletionQueueDescriptor.WAIT_OFFSET, queueFile));
    }

    /**
     * The reader of a membership.
     *
     * @param ready of the group.
     * @param queue whose file has the words of this reader.
     * @throws FabricException {@code FI_EIO} if the ring cannot be what it says.
     */
    static MulticastReader open(MulticastGroup group, GroupJoined ready, CompletionQueue queue, Fabric fabric) {
        MemorySegment file = fabric.connection().openReadOnly(
            FileType.GROUP, ready.ringNumber(), GroupRingDescriptor.HEADER_LENGTH);
        long capacity = UnsafeApi.getLong(file.address() + FileHeaderDescriptor.DATA_LENGTH_OFFSET);
        if (!GroupRingDescriptor.isValidCapacity(capacity)
            || file.byteSize() < GroupRingDescriptor.HEADER_LENGTH + capacity) {
            fabric.connection().release(file, false);
            throw new FabricException(FabricErrno.EIO, "the ring of group " + group.address() + " has "
                + file.byteSize() + " bytes, and its header says " + capacity,
                "Another process has changed the file: close the group's writer, and open it again.");
        }
        GroupConsumer ring = new GroupConsumer(file.address(), (int) capacity,
            (ready.ringFlags() & ReadPlaceDescriptor.IS_LOSSY) != 0, group.log() != null,
            (ready.ringFlags() & ReadPlaceDescriptor.MAY_OVERRUN) != 0, ready.ringOffset(), ready.position());
        // its pages are there: no fault of the first lap is to delay a message
        Libc.populate(file.address(), GroupRingDescriptor.HEADER_LENGTH + capacity, false);
        return new MulticastReader(group, fabric, ring, file, queue.memory(), queue.blocksCalls());
    }

    /**
     * The membership; closing it closes this reader.
     *
     * @return the group.
     */
    public MulticastGroup group() {
        return group;
    }

    /**
     * Finds the next message. The one before is given back.
     *
     * @return 1 for a message, which the other methods of this class describe; {@code -FI_EAGAIN} if there is none now;
     *     {@code -FI_ENODATA} if messages were lost, from {@link #nextPosition()} to before {@link #position()}, once:
     *     the next call finds the message there; {@code -FI_ESHUTDOWN} once all was read of a writer that has left,
     *     {@code -FI_ECONNRESET} of one that has died, {@code -FI_ETIMEDOUT} if this reader was removed because it did
     *     not read, {@code -FI_EIO} if the ring has what no writer writes; {@code -FI_ENODEV} if the driver is gone;
     *     {@code -FI_EOPBADSTATE} if closed.
     */
    public int next() {
        try {
            return find();
        } catch (InternalError fault) {
            return onFault(fault);
        }
    }

    private int find() {
        if (isFound) {
            isFound = false;
            ring.take();
            if (ring.offset() - published >= publishDistance) {
                publishLate();
            }
        } else if (isGap) {
            isGap = false;
            ring.skipGap();
        }
        int found = copies ? ring.next(written) : ring.nextWritten();
        if (found == GroupConsumer.MESSAGE) {
            isFound = true;
            emptyCalls = -callsAfterMessage;
            return 1;
        }
        return found == GroupConsumer.NONE ? nextOfRing() : without(found);
    }

    /**
     * Ends the reader if the ring's file was cut while it was read: to be called with an error of the system that came
     * while bytes of a message were read. Any other error is thrown.
     *
     * @param fault as it was caught.
     * @return {@code -FI_EIO}, as from now on {@link #next()}.
     */
    public int onFault(InternalError fault) {
        long page = Libc.pageBytes();
        long lastPage = ringFile.address() + (ringFile.byteSize() - 1 & -page);
        if (Libc.populate(lastPage, page, false) != -FabricErrno.EFAULT) {
            throw fault;
        }
        end = FabricErrno.EIO;
        isFound = false;
        written = ring.offset();
        return -end;
    }

    /** All that was written when it was last looked is read. */
    private int nextOfRing() {
        if (end != 0 || isClosed) {
            return isClosed ? -FabricErrno.EOPBADSTATE : -end;
        }
        if (!copies && emptyCalls + 1 < emptyCallsPerStep) {
            return whenEmpty(ring.offset());
        }
        written = ring.tail();
        int found = ring.next(written);
        if (found == GroupConsumer.MESSAGE) {
            emptyCalls = -callsAfterMessage;
            isFound = true;
            return 1;
        }
        return found == GroupConsumer.NONE ? whenEmpty(ring.offset()) : without(found);
    }

    /** There is no message at the cursor, for another reason than that none was written. */
    private int without(int found) {
        if (isClosed) {
            return -FabricErrno.EOPBADSTATE;
        }
        switch (found) {
            case GroupConsumer.GAP -> {
                // what a recorded group has overwritten is in its log
                lost += group.log() != null ? 0 : ring.position() - ring.nextPosition();
                isGap = true;
                return -FabricErrno.ENODATA;
            }
            case GroupConsumer.BROKEN -> {
                end = FabricErrno.EIO;
                return -end;
            }
            default -> {
                // what follows is overwritten: the driver reports the end, wherever that is
                return whenEmpty(Long.MAX_VALUE);
            }
        }
    }

    /** Nothing is found at the cursor; a group that ends before that offset has ended. */
    private int whenEmpty(long reached) {
        if (published != ring.offset()) {
            publish();
        }
        int errno = ReadPlaceDescriptor.endErrno(place);
        if (errno != 0 && ReadPlaceDescriptor.endOffset(place) <= reached) {
            end = errno;
            return -end;
        }
        if (++emptyCalls >= emptyCallsPerStep) {
            emptyCalls = 0;
            if (driver.isLost()) {
                end = FabricErrno.ENODEV;
                return -end;
            }
            if (invoker != null) {
                invoker.poll(0);
            }
        }
        return -FabricErrno.EAGAIN;
    }

    private void publish() {
        published = ring.offset();
        ReadPlaceDescriptor.store(place, published, ring.nextPosition(), lost);
    }

    /** A writer may wait for what was read: its driver is to see it, too. */
    private void publishLate() {
        publish();
        if (invoker != null) {
            invoker.poll(0);
        } else {
            UnsafeApi.fullFence();
            signal.onSleep();
        }
    }

    /**
     * The bytes in which the message lies.
     *
     * @return always the same buffer; only to be read.
     */
    public DirectBuffer buffer() {
        return buffer;
    }

    /**
     * Where the message begins.
     *
     * @return offset in {@link #buffer()}.
     */
    public int offset() {
        return (int) (ring.payload() + toOffset);
    }

    /**
     * The length of the message.
     *
     * @return bytes.
     */
    public int length() {
        return ring.payloadLength();
    }

    /**
     * The position of the message.
     *
     * @return as in its completion entry.
     */
    public long position() {
        return ring.position();
    }

    /**
     * The position of the next message that is given back, or the first one that was lost.
     *
     * @return that behind the last message that was given back.
     */
    public long nextPosition() {
        return ring.nextPosition();
    }

    /**
     * The flags of the message.
     *
     * @return {@link Flags#MULTICAST}, and as in its completion entry.
     */
    public long flags() {
        return ring.kind();
    }

    /**
     * The tag of the message.
     *
     * @return 0 for an untagged one.
     */
    public long tag() {
        return ring.tag();
    }

    /**
     * The remote CQ data of the message.
     *
     * @return 0 without.
     */
    public long data() {
        return ring.data();
    }

    /**
     * When the message arrived at this host: of a stream of another host whose address has
     * {@link JoinAttr#TIMES}. Of a message in several datagrams, when the last of them arrived; of one that was
     * repaired, when the repair did; of one that was read from the writer's log, 0.
     *
     * @return nanoseconds of the clock that the address names; 0 if it is not known, and of other groups.
     */
    public long timeNs() {
        return ring.timeNs();
    }

    /**
     * Waits until there may be something: spins for a while, then sleeps until the driver wakes it. With an embedded
     * driver in mode INVOKER it runs the driver's cycles meanwhile. The message that was found last is given back.
     *
     * @param timeoutNs nanoseconds; negative for no limit, 0 only checks.
     * @return 0 if {@link #next()} may answer something else than {@code -FI_EAGAIN}; {@code -FI_EAGAIN} after the
     *     time, or if the thread was interrupted, whose flag stays set; {@code -FI_ENODEV}, {@code -FI_EOPBADSTATE} as
     *     there; {@code -FI_ENOSYS} if the endpoint's queue for receives has no wait object.
     */
    public int await(long timeoutNs) {
        if (wait == null || isClosed) {
            return wait == null ? -FabricErrno.ENOSYS : -FabricErrno.EOPBADSTATE;
        }
        if (isFound) {
            isFound = false;
            ring.take();
        }
        publish();
        if (invoker != null) {
            invoker.poll(0);
        }
        int result = wait.awaitReady(1, 0, System.nanoTime(), timeoutNs);
        if (isClosed || driver.isLost()) {
            return isClosed ? -FabricErrno.EOPBADSTATE : -FabricErrno.ENODEV;
        }
        return result == WaitLoop.READY ? 0 : -FabricErrno.EAGAIN;
    }

    /** Whether a call of {@link #next()} may find something; any thread. */
    private boolean mayHaveNext() {
        return isClosed || ring.tail() != ring.offset() || ReadPlaceDescriptor.endErrno(place) != 0;
    }

    /**
     * Leaves the group. Has no effect if it is closed. Control call.
     *
     * @throws FabricException as {@link MulticastGroup#close()}.
     */
    @Override
    public void close() {
        group.close();
    }

    /** The membership has ended: what is still read is zeros. */
    void onLeft(Fabric fabric) {
        if (!isClosed) {
            isClosed = true;
            if (wait != null) {
                wait.markClosed();
                wait.wake();
            }
            ring.close();
            fabric.connection().release(ringFile, false);
            Reference.reachabilityFence(queueFile);
        }
    }

    @Override
    public String toString() {
        return "MulticastReader{" + group.address() + ", position=" + ring.nextPosition() + '}';
    }
}
