package org.jfabric;

/**
 * A wait object for the application's own {@code poll}, {@code epoll} or condition wait, which it may use after
 * {@code tryWait} has returned 0. Any thread.
 */
abstract class NativeWait {
    /**
     * A thread is about to wait; one more check of what it waits for must follow.
     *
     * @return false if it would not wait, because the object has come to its end.
     */
    abstract boolean arm();

    /**
     * The object is armed; called before the caller's last check.
     *
     * @return false if the thread must not wait, because nothing would wake it for what is to be done now.
     */
    boolean prepare() {
        return true;
    }

    /** The thread does not wait after all. */
    abstract void disarm();

    /** Wakes waiting threads, because of something that is not an entry. */
    abstract void signal();

    /** Wakes waiting threads, and gives the object back. */
    abstract void close();

    /** Shows the object to the application. */
    abstract void describe(WaitObjectHandle handle);
}
