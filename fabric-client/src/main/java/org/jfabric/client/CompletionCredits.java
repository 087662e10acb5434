package org.jfabric.client;

import org.agrona.UnsafeApi;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Slots of a completion queue's client share that operations may still take, so that the queue cannot overrun.
 *
 * <p>Credit is {@code share - (reserved - released - retired)}: {@code reserved} counts submissions, {@code released}
 * entries read whose slot came from the client's share, {@code retired} operations that ended without an entry. The
 * submitting thread works against a limit that it refreshes only when it is reached, so that neither the reader's count
 * nor the driver's word moves between processors on each operation.
 *
 * <p>Owner: {@link #available()} and {@link #take()} belong to the one submitting thread, {@link #release(int)} to the
 * one reading thread; they may differ.
 */
public final class CompletionCredits {
    /** Share of a queue whose application keeps it from overrunning by itself: there is always one more. */
    public static final long UNLIMITED = Long.MAX_VALUE / 2;

    /** Far enough from the array's ends that no other object shares the line, or its neighbour. */
    private static final int RELEASED_INDEX = 16;
    private static final int GIVEN_BACK_INDEX = 32;
    private static final int PADDED_LENGTH = 48;

    private final AtomicLongArray shared = new AtomicLongArray(PADDED_LENGTH);
    private final UseGuard guard;
    private UseLock lock;
    private final long share;
    private final long retiredAddress;
    private long reserved;
    private long limit;
    /** The first send from this number of operations on is a sample. */
    private long sampleAt = Long.MAX_VALUE;
    private long sampleDistance;
    /** The lesser one of the limit and the next sample. */
    private long unsampledLimit;

    /**
     * Credits of a fresh queue.
     *
     * @param share          slots of the client, 1 or more, or {@link #UNLIMITED}.
     * @param retiredAddress native address of the word that the driver publishes.
     * @param guard          finds two threads that submit at once.
     */
    public CompletionCredits(long share, long retiredAddress, UseGuard guard) {
        this(share, retiredAddress, guard, null);
    }

    /**
     * Credits of a fresh queue to which perhaps several threads submit.
     *
     * @param share          slots of the client, 1 or more.
     * @param retiredAddress native address of the word that the driver publishes.
     * @param guard          finds two threads that submit at once.
     * @param lock           makes one thread at a time submit; null if the application does.
     */
    public CompletionCredits(long share, long retiredAddress, UseGuard guard, UseLock lock) {
        this.guard = guard;
        this.lock = lock;
        this.share = share;
        this.retiredAddress = retiredAddress;
        this.limit = share;
        this.unsampledLimit = share;
    }

    /** Guards what is submitted for entries of this queue: one thread at a time. */
    public UseGuard guard() {
        return guard;
    }

    /**
     * The lock that a thread holds while it submits for entries of this queue. Returns the lock, or null where one
     * thread at a time submits anyway.
     */
    public UseLock lock() {
        return lock;
    }

    /** From now on several threads may submit, one after the other. No thread does during this call. */
    public void startLocking(UseLock newLock) {
        lock = newLock;
    }

    /** Begins to submit: with a lock after other threads, else as the only one, which assertions check. */
    public void enter() {
        if (lock != null) {
            lock.enter();
        } else {
            assert guard.enter();
        }
    }

    /** Ends what {@link #enter()} began. */
    public void exit() {
        if (lock != null) {
            lock.exit();
        } else {
            assert guard.exit();
        }
    }

    /** Whether one more operation may be submitted. */
    public boolean available() {
        return reserved < limit || refresh();
    }

    /** As {@link #available()}, and the operation is no sample. */
    public boolean availableUnsampled() {
        return reserved < unsampledLimit || refreshUnsampled();
    }

    /** Makes one of so many operations a sample, if it is a send. */
    public void sampleEvery(long distance) {
        sampleDistance = distance;
        sampleAt = reserved + distance;
        unsampledLimit = Math.min(limit, sampleAt);
    }

    /** The next operation is a sample: after {@link #available()} was true and {@link #availableUnsampled()} false. */
    public void takeSample() {
        sampleAt = reserved + sampleDistance;
        unsampledLimit = Math.min(limit, sampleAt);
    }

    /** Whether operations are posted without a check for free slots, so that the queue may overrun. */
    public boolean isUnlimited() {
        return share == UNLIMITED;
    }

    /** Takes one slot; only after {@link #available()} said that there is one. */
    public void take() {
        reserved++;
    }

    /**
     * Gives back the slots of entries that were read.
     *
     * @param count entries whose slot came from the client's share.
     */
    public void release(int count) {
        if (count != 0) {
            // release: the read position was published before and must be seen before the credit is used
            shared.setRelease(RELEASED_INDEX, shared.getPlain(RELEASED_INDEX) + count);
        }
    }

    /**
     * Gives back the slots of requests that the driver will never take, because their endpoint was closed. Any thread.
     */
    public void giveBack(long count) {
        if (count != 0) {
            shared.getAndAdd(GIVEN_BACK_INDEX, count);
        }
    }

    /**
     * Slots that are free now. Returns 0 to the share; of {@link #UNLIMITED} far more than an endpoint can have
     * outstanding.
     */
    public long left() {
        refresh();
        return limit - reserved;
    }

    /**
     * Operations that have taken a slot and have neither ended without an entry nor an entry that was read. After the
     * end of the driver and of all submissions.
     */
    public long outstanding() {
        return reserved - shared.getAcquire(RELEASED_INDEX) - shared.getAcquire(GIVEN_BACK_INDEX)
            - UnsafeApi.getLongAcquire(null, retiredAddress);
    }

    private boolean refresh() {
        long released = shared.getAcquire(RELEASED_INDEX);
        limit = share + released + shared.getAcquire(GIVEN_BACK_INDEX)
            + UnsafeApi.getLongAcquire(null, retiredAddress);
        unsampledLimit = Math.min(limit, sampleAt);
        return reserved < limit;
    }

    private boolean refreshUnsampled() {
        refresh();
        return reserved < unsampledLimit;
    }
}
