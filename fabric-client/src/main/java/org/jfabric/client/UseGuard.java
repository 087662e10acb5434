package org.jfabric.client;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Finds two threads in something that one thread at a time may use. Only called in {@code assert} statements, so it
 * costs nothing where assertions are off.
 *
 * <p>A thread may enter again what it is in: a handler posts from inside a read.
 */
public final class UseGuard {
    private final AtomicReference<Thread> user = new AtomicReference<>();
    private final String what;
    private int depth;

    /** A guard without a user. */
    public UseGuard(String what) {
        this.what = what;
    }

    /**
     * The calling thread begins to use it.
     *
     * @throws AssertionError naming both threads if another one is in it.
     */
    public boolean enter() {
        Thread me = Thread.currentThread();
        Thread other = user.get();
        if (other != me) {
            other = user.compareAndExchange(null, me);
            if (other != null) {
                throw new AssertionError(what + " is used by thread \"" + me.getName() + "\" while thread \""
                    + other.getName() + "\" uses it; only one at a time may");
            }
        }
        depth++;
        return true;
    }

    /** The calling thread has ended one use. */
    public boolean exit() {
        if (--depth == 0) {
            user.set(null);
        }
        return true;
    }
}
