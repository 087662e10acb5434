package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.agrona.UnsafeApi;
import org.agrona.collections.LongArrayList;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.DriverState;
import org.jfabric.client.OutstandingOperations;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.WaitLine;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * The reader of a completion queue that outlives its driver. It reads the file of a driver that has ended to its end,
 * then shows an error for each operation that was posted and has no entry, then continues in the file of the next
 * driver.
 *
 * <pre>
 *   entries of driver 1  --seal()--&gt;  lost operations  --follow()--&gt;  entries of driver 2  ...
 * </pre>
 *
 * <p>Owner: the reading thread, which holds the lock of the queue's readers; {@link #seal()} and {@link #follow} come
 * from control calls, under the fabric's lock, {@link #isReady()} from any thread.
 */
final class RestartReader extends CompletionReader {
    private static final long SHOWN_FLAGS = Flags.SEND | Flags.RECV | Flags.MSG | Flags.TAGGED | Flags.RMA
        | Flags.READ | Flags.WRITE | Flags.ATOMIC | Flags.MULTI_RECV | Flags.PEEK | Flags.DISCARD | Flags.CLAIM;

    /** The queue as one driver made it. */
    static final class Era {
        private final MemorySegment memory;
        private final int capacity;
        private final CompletionCredits credits;
        private final OutstandingOperations operations;
        private final WaitLine line;
        private volatile QueueSignal driverSignal;
        /** Nothing more is posted to the driver, and it writes nothing more. */
        private volatile boolean isSealed;
        /** Of the driver after this one, once there is one. */
        private volatile Era next;

        /** A fresh file; {@code line} is where readers sleep. */
        Era(MemorySegment memory, int capacity, CompletionCredits credits, OutstandingOperations operations,
            WaitLine line) {
            this.memory = memory;
            this.capacity = capacity;
            this.credits = credits;
            this.operations = operations;
            this.line = line;
        }

        CompletionCredits credits() {
            return credits;
        }

        OutstandingOperations operations() {
            return operations;
        }
    }

    private final Consumer<WaitLine> onMoved;
    /** Context and flags of each operation that was lost. */
    private final LongArrayList lost = new LongArrayList();
    private int nextLost;
    /** The lost operations of the file being read are known. */
    private boolean isSettled;
    /** All of them were read, too. */
    private volatile boolean isEmptied;
    private volatile Era era;
    /** The file before and the copy of it: other threads may still search for entries there, by address. */
    private Object previous;
    /** Where operations are posted to. */
    private volatile Era last;

    /** A reader at the start of a fresh file; {@code onMoved} gets the line where its readers sleep from then on. */
    RestartReader(
        Era first, CompletionFormat format, DriverState driver, boolean keepsErrData, Consumer<WaitLine> onMoved) {
        super(first.memory, first.capacity, format, first.credits, driver, keepsErrData);
        this.era = first;
        this.last = first;
        this.onMoved = onMoved;
    }

    /** Where operations are posted to. */
    Era last() {
        return last;
    }

    /** The driver is gone, and all submissions of the queue were suspended. */
    void seal() {
        last.isSealed = true;
        // behind that store, see moveTo
        UnsafeApi.storeStoreFence();
        hasSuccessor(true);
    }

    /** Continues there, after all that the drivers before have left. */
    void follow(Era fresh) {
        // the one before may be of a driver that ended while everything was opened
        last.isSealed = true;
        last.next = fresh;
        last = fresh;
        hasSuccessor(true);
    }

    /** Finds out which operations were lost, without taking entries; the calling thread reads. */
    void settle() {
        if (isSettled || !era.isSealed) {
            return;
        }
        isSettled = true;
        // a driver that is closing may still end operations, which count as lost from here on
        readCopy();
        CompletionCredits credits = credits();
        credits.enter();
        try {
            OutstandingOperations operations = era.operations;
            long unread = 0;
            long end = end();
            for (long number = position(); number != end; number++) {
                if (isOfClient(number)) {
                    operations.remove(contextOf(number), endsReceive(number));
                    unread++;
                }
            }
            operations.drain(credits.outstanding() - unread, (context, flags) -> {
                lost.addLong(context);
                lost.addLong(flags);
            });
        } finally {
            credits.exit();
        }
        isEmptied = lost.isEmpty();
    }

    @Override
    void release(long next, int ofClient) {
        if (ofClient != 0 && !isSettled) {
            CompletionCredits credits = credits();
            credits.enter();
            try {
                for (long number = position(); number != next; number++) {
                    if (isOfClient(number)) {
                        era.operations.remove(contextOf(number), endsReceive(number));
                    }
                }
            } finally {
                credits.exit();
            }
        }
        super.release(next, ofClient);
    }

    @Override
    int whenSuspect() {
        Era read = era;
        boolean isSealed = read.isSealed;
        int result = super.whenSuspect();
        if (!isEmpty() || result == -FabricErrno.EOVERRUN) {
            return result;
        }
        if (isSealed) {
            settle();
            if (nextLost < lost.size()) {
                return -FabricErrno.EAVAIL;
            }
            if (read.next != null) {
                moveTo(read.next);
                return -FabricErrno.EAGAIN;
            }
        }
        return driver().isLost() ? -FabricErrno.ENODEV : -FabricErrno.EAGAIN;
    }

    @Override
    int readLost(CompletionError error) {
        long context = lost.getLong(nextLost);
        long flags = lost.getLong(nextLost + 1);
        nextLost += 2;
        if (nextLost == lost.size()) {
            lost.clear();
            nextLost = 0;
            isEmptied = true;
        }
        int err = (flags & Flags.ATOMIC) != 0 ? FabricErrno.EREMOTEIO : FabricErrno.ECONNRESET;
        emptied(error).opContext(context).flags(flags & SHOWN_FLAGS).err(err).provErrno(err);
        return 1;
    }

    @Override
    public boolean isReady() {
        return super.isReady() || isBehindEntries();
    }

    @Override
    public boolean isReady(long needed, long seenErrors) {
        return super.isReady(needed, seenErrors) || isBehindEntries() && !super.isReady();
    }

    @Override
    void driverSignal(QueueSignal signal) {
        last.driverSignal = signal;
        if (last == era) {
            super.driverSignal(signal);
        }
    }

    /** Whether a reader that finds no more entries of a driver finds something else. */
    private boolean isBehindEntries() {
        Era read = era;
        return read.isSealed && (!isEmptied || read.next != null);
    }

    private void moveTo(Era following) {
        previous = new Object[] {era, memory()};
        isSettled = false;
        isEmptied = false;
        begin(following.memory, following.capacity, following.credits);
        era = following;
        super.driverSignal(following.driverSignal);
        hasSuccessor(false);
        // whoever seals it now is seen here, or finds the mark cleared before setting it
        UnsafeApi.fullFence();
        if (following.isSealed) {
            hasSuccessor(true);
        }
        onMoved.accept(following.line);
    }

    @Override
    public String toString() {
        return "RestartReader{position=" + position() + ", lost=" + lost.size() / 2
            + (previous == null ? "" : ", not the first driver") + '}';
    }
}
