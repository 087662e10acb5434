package org.jfabric;

import java.lang.ref.Reference;
import org.agrona.MutableDirectBuffer;
import org.jfabric.client.DirectEntry;
import org.jfabric.client.Invoker;
import org.jfabric.client.UseGuard;
import org.jfabric.client.UseLock;
import org.jfabric.info.FabricErrno;

/**
 * Who may read a completion queue when: not before an endpoint reports to it nor after its close, one thread at a time,
 * and with an embedded driver in INVOKER mode behind a cycle.
 *
 * <p>Owner: the reading threads; {@link #open()} and {@link #close()} are control calls of any thread.
 */
final class CompletionAccess {
    private static final int UNBOUND = 0;
    private static final int READABLE = 1;
    private static final int CLOSED = 2;

    private final CompletionReader reader;
    private final LineWait wait;
    private final Invoker invoker;
    private final MessagePoll messages;
    private UseGuard guard;
    private UseLock lock;
    /** What a cycle leaves for the call that runs it; null where entries have slots always. */
    private DirectEntry direct;
    /** Volatile, because a control call of another thread must end what a waiting reader does. */
    private volatile int state;

    /**
     * The access to a fresh queue.
     *
     * @param reader  reads.
     * @param wait    waits, or null if no call may block.
     * @param invoker runs the cycle in front of each read, or null.
     * @param messages shows messages, behind a cycle that may lend them.
     * @param direct  shows an entry without a slot where nothing waits; null if all entries have slots.
     * @param guard   finds two threads that read at once.
     * @param lock    keeps reading threads apart where the domain asks for it, else null.
     */
    CompletionAccess(
        CompletionReader reader, LineWait wait, Invoker invoker, MessagePoll messages, DirectEntry direct,
        UseGuard guard, UseLock lock) {
        this.reader = reader;
        this.wait = wait;
        this.invoker = invoker;
        this.messages = messages;
        this.guard = guard;
        this.lock = lock;
        this.direct = wait == null ? direct : null;
    }

    /** An endpoint that reports here is enabled: from now on the queue may be read. */
    void open() {
        if (state == UNBOUND) {
            state = READABLE;
        }
    }

    /** Ends all use, and releases those who wait. */
    void close() {
        state = CLOSED;
        if (wait != null) {
            wait.close();
        }
    }

    boolean isHandling() {
        return reader.isHandling();
    }

    /** Of a closed queue: whether a reader may still be at its entries, or a batch shows them. */
    boolean isInUse() {
        if (reader.isHandling() || reader.isHeld()) {
            return true;
        }
        if (lock == null) {
            return false;
        }
        // who enters from now on finds it closed
        boolean isFree = lock.tryEnter();
        if (isFree) {
            lock.exit();
        }
        return !isFree;
    }

    /** From now on a lock keeps reading threads apart; no thread reads during this call. */
    void startLocking(UseGuard newGuard) {
        guard = newGuard;
        lock = new UseLock();
        if (direct != null) {
            direct.queue();
            direct = null;
        }
        messages.stopLending();
    }

    boolean isReadable() {
        return state == READABLE;
    }

    boolean isClosed() {
        return state == CLOSED;
    }

    int take(MutableDirectBuffer buffer, int offset, int count, Object sources, long sourcesAddress) {
        if (!begin()) {
            return -FabricErrno.EAGAIN;
        }
        try {
            int entered = enter(count);
            return entered < 0 ? entered : reader.copy(buffer, offset, count, sources, sourcesAddress);
        } finally {
            end();
        }
    }

    int takeWaiting(
        MutableDirectBuffer buffer, int offset, int count, Object sources, long sourcesAddress, long cond,
        long timeoutNs) {
        if (wait == null) {
            return state == CLOSED ? -FabricErrno.EOPBADSTATE : -FabricErrno.ENOSYS;
        }
        // where locks keep readers apart they are not held over a wait
        assert lock != null || guard.enter();
        try {
            int found = take(null, 0, 0, null, 0);
            if (found == -FabricErrno.EOPBADSTATE) {
                return found;
            }
            if (count < 0 || !reader.fits(buffer, offset, count)) {
                return -FabricErrno.EINVAL;
            }
            long startNs = System.nanoTime();
            int ended;
            do {
                ended = wait.await(cond, count, startNs, timeoutNs);
                found = take(buffer, offset, count, sources, sourcesAddress);
                // another thread was faster, or is reading, which may last as long as its handlers do
            } while (found == -FabricErrno.EAGAIN && ended == WaitLoop.READY
                && wait.mayContinue(startNs, timeoutNs) && yielded());
            // a thread that is still reading hides from others that the queue was closed
            return found == -FabricErrno.EAGAIN && state == CLOSED ? -FabricErrno.EOPBADSTATE : found;
        } finally {
            assert lock != null || guard.exit();
            Reference.reachabilityFence(this);
        }
    }

    int poll(CompletionHandler handler, int limit) {
        if (direct != null && limit > 0) {
            return pollDirect(handler, limit);
        }
        if (!begin()) {
            return -FabricErrno.EAGAIN;
        }
        try {
            int entered = enter(limit);
            return entered < 0 ? entered : reader.handle(handler, limit);
        } finally {
            end();
        }
    }

    /** There is no lock. */
    private int pollDirect(CompletionHandler handler, int limit) {
        assert guard.enter();
        try {
            int prepared = prepare(limit);
            if (prepared < 0) {
                return prepared;
            }
            DirectEntry entry = direct;
            int work = invoker.poll(limit, entry, reader.position());
            if (entry.isPending()) {
                return reader.handle(entry, handler);
            }
            if (work == 0 && reader.isEmpty()) {
                invoker.onEmpty();
            }
            return reader.handle(handler, limit);
        } finally {
            assert guard.exit();
        }
    }

    int pollMessages(MessageHandler handler, CompletionHandler others, int limit) {
        if (!begin()) {
            return -FabricErrno.EAGAIN;
        }
        try {
            int prepared = prepare(limit);
            return prepared < 0 ? prepared : messages.poll(handler, others, limit);
        } finally {
            end();
        }
    }

    int readErr(CompletionError error) {
        if (!begin()) {
            return -FabricErrno.EAGAIN;
        }
        try {
            int entered = enter(1);
            return entered < 0 ? entered : reader.readErr(error);
        } finally {
            end();
        }
    }

    int hold(CompletionQueue queue, CompletionBatch batch, int limit) {
        if (lock != null) {
            return -FabricErrno.EOPNOTSUPP;
        }
        assert guard.enter();
        try {
            int entered = enter(limit);
            if (entered < 0) {
                return entered;
            }
            // entries of this queue were given back just now
            return batch.isHolding() ? -FabricErrno.EINVAL : reader.hold(queue, batch, limit);
        } finally {
            assert guard.exit();
        }
    }

    /** The driver is gone: finds out what was lost with it, unless a reader is about to do so. */
    void settle(RestartReader restarts) {
        if (lock.tryEnter()) {
            try {
                restarts.settle();
            } finally {
                lock.exit();
            }
        }
    }

    /** Gives back what a batch holds. */
    void release() {
        // another thread that is reading has given them back before it read
        if (begin()) {
            reader.releaseHeld();
            end();
        }
    }

    /** For assertions: begins a call other than a read. */
    boolean enterControl() {
        return lock != null || guard.enter();
    }

    /** For assertions: the end of what {@link #enterControl()} began. */
    boolean exitControl() {
        return lock != null || guard.exit();
    }

    /** False if another thread is reading: no thread waits for a reader, which may be in a handler. */
    private boolean begin() {
        if (lock != null && !lock.tryEnter()) {
            return false;
        }
        assert guard.enter();
        return true;
    }

    private void end() {
        assert guard.exit();
        if (lock != null) {
            lock.exit();
        }
    }

    private int enter(int count) {
        int prepared = prepare(count);
        if (prepared == 0 && invoker != null && invoker.poll(count) == 0 && reader.isEmpty()) {
            invoker.onEmpty();
        }
        return prepared;
    }

    private int prepare(int count) {
        if (state != READABLE || reader.isHandling()) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (count < 0) {
            return -FabricErrno.EINVAL;
        }
        if (direct != null) {
            // a cycle in which the application is called reads the queue
            direct.queue();
        }
        // before the cycle, so that the driver finds the slots
        reader.releaseHeld();
        return 0;
    }

    private static boolean yielded() {
        Thread.yield();
        return true;
    }
}
