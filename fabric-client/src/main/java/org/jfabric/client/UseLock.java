package org.jfabric.client;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps threads apart in something that one thread at a time may use; only domains with a threading level that asks for
 * it have such locks, all others have null in their place.
 *
 * <p>A thread may enter again what it is in: a handler posts from inside a read. Entering and leaving allocates nothing
 * while no thread waits.
 *
 * <p><b>Order.</b> The fabric's lock of control calls comes before every lock of this class. A thread that has called
 * {@link #enter()} therefore does not call the application, make a control call or sleep before {@link #exit()}.
 * Readers of a completion queue only {@link #tryEnter()}: no thread waits for one, so a reader may call handlers, which
 * may do anything.
 */
public final class UseLock {
    private final ReentrantLock lock = new ReentrantLock();
    private final Runnable afterUse;

    /** Creates a lock that is free. */
    public UseLock() {
        this(null);
    }

    /** Creates a lock that calls {@code afterUse} before each release. */
    UseLock(Runnable afterUse) {
        this.afterUse = afterUse;
    }

    /** Begins a use, after those of other threads. */
    public void enter() {
        lock.lock();
    }

    /**
     * Begins a use if no other thread is in one. Returns false if there is one; {@link #exit()} must not be called
     * then.
     */
    public boolean tryEnter() {
        return lock.tryLock();
    }

    /** Ends what {@link #enter()} or {@link #tryEnter()} began. */
    public void exit() {
        try {
            if (afterUse != null && lock.getHoldCount() == 1) {
                afterUse.run();
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #exit()}, after a use that has changed nothing. */
    void exitUnused() {
        lock.unlock();
    }
}
