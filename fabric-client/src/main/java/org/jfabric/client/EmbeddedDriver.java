package org.jfabric.client;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A driver in INVOKER mode as its embedding client sees it: the client's calls run the duty cycle and go straight into
 * the engine. The driver module has the one implementation.
 *
 * <p>Thread rule: one thread at a time, for the driver and everything opened through it; or any thread, once a domain
 * was opened with a threading level that asks for it. Then whoever runs a cycle or posts holds {@link #lock()}.
 */
public abstract class EmbeddedDriver {
    private static final ScopedValue<EmbeddedDriver> CONNECTING = ScopedValue.newInstance();

    private final Object domains = new Object();
    private UseLock usedLock;
    private int lockingDomains;
    private final List<UnlockedDomain> unlocked = new ArrayList<>();

    protected EmbeddedDriver() {
    }

    /** The driver that the calling thread opens a fabric on by {@link #connect}, else null. */
    public static EmbeddedDriver connecting() {
        return CONNECTING.isBound() ? CONNECTING.get() : null;
    }

    /**
     * Opens a fabric on this driver, and not on one in another process. It is bound to the call, because no signature
     * of the API may have a type of this package.
     *
     * @param open opens the fabric.
     * @return what it returns.
     */
    public final <T> T connect(Supplier<T> open) {
        return ScopedValue.where(CONNECTING, this).call(open::get);
    }

    /**
     * The lock that a thread holds while it runs a cycle or posts. Returns null before the first domain that needs it;
     * it is never null again.
     */
    public final UseLock lock() {
        return usedLock;
    }

    /**
     * A domain is opened. All domains have one engine, so either all of them lock or none does. A domain that needs no
     * locks has them from the start while others need them. If it is there first, its objects get locks in the call
     * that opens one that needs them: until then one thread at a time used the driver, and during that call it is this
     * one.
     *
     * @param needsLocks whether its application wants to be kept apart.
     * @param domain     gets locks later, if it has none now.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} if it needs locks and the call comes from a handler of a
     *     domain without.
     */
    public final boolean onDomainOpened(boolean needsLocks, UnlockedDomain domain) {
        synchronized (domains) {
            if (!needsLocks && lockingDomains == 0) {
                unlocked.add(domain);
                return false;
            }
            unlocked.forEach(UnlockedDomain::requireNoHandler);
            if (usedLock == null) {
                usedLock = new UseLock(this::settle);
            }
            unlocked.forEach(UnlockedDomain::startLocking);
            lockingDomains += unlocked.size() + 1;
            unlocked.clear();
            return true;
        }
    }

    public final void onDomainClosed(UnlockedDomain domain) {
        synchronized (domains) {
            if (!unlocked.remove(domain)) {
                lockingDomains--;
            }
        }
    }

    /** Attaches the embedding client; there is no socket, because both live and die together. */
    public abstract Attachment attach();

    /**
     * Ends the embedding client: its objects are closed.
     *
     * @param clientId from {@link #attach()}.
     */
    public abstract void detach(long clientId);

    /**
     * Runs one duty cycle; the caller holds {@link #lock()} if there is one.
     *
     * @param messageLimit messages, with what else arrives, to take at most from each other driver; from 1.
     * @return work done, 0 if there was nothing to do.
     */
    public abstract int cycle(int messageLimit);

    /**
     * Runs a duty cycle after a pause: it also does what other cycles do now and then only, and handles all events that
     * the driver's thread has reported. The caller holds {@link #lock()} if there is one. Returns the work done, 0 if
     * there was nothing to do.
     */
    public abstract int catchUp(int messageLimit);

    /**
     * Runs the part of a duty cycle that moves messages: no clock, no commands, no timeouts. The caller holds
     * {@link #lock()} if there is one.
     *
     * @param messageLimit messages, with what else arrives, to take at most from each other driver; from 1.
     * @return work done, 0 if there was nothing to do.
     */
    public abstract int pollMessages(int messageLimit);

    /**
     * Whether a whole cycle has something to do now that {@link #pollMessages} leaves, or polls are so slow that
     * deadlines would be late if fewer of them were whole. Only while there is no {@link #lock()}.
     */
    public abstract boolean needsCycle();

    /**
     * Says that the calling thread is about to sleep at a descriptor of an object that it has armed, and polls
     * everything once more. From a return of true on, whatever gives a cycle something to do wakes the threads that
     * sleep at armed objects, once: a descriptor of a link, another process, another thread, or a deadline that passes.
     * The caller has just run a cycle, and holds {@link #lock()} if there is one. Returns false if there is something
     * to do, so that the thread must not sleep.
     */
    public abstract boolean prepareSleep();

    /** The calling thread does not sleep after all; its object is not armed any more. Any thread. */
    public abstract void cancelSleep();

    /** Wakes all threads that sleep at armed objects; any thread. */
    public abstract void wakeSleepers();

    /**
     * Adds an object of the client's own, which the driver does not know.
     *
     * @param sleeper woken until {@link #removeSleeper}.
     */
    public abstract void addSleeper(Sleeper sleeper);

    /**
     * Removes an object; any thread, which does not hold a lock that the object takes.
     *
     * @param sleeper not called any more after the return.
     */
    public abstract void removeSleeper(Sleeper sleeper);

    /**
     * A thread has used the engine, and is about to give {@link #lock()} back. If others sleep it leaves nothing to do
     * that no descriptor announces: it polls, or wakes them.
     */
    protected abstract void settle();

    /** The engine's side of an endpoint. Returns the port; valid until the endpoint is closed. */
    public abstract EndpointPort port(long endpointId);

    /** Where the cycles leave messages for the reader of a completion queue. */
    public abstract LentMessages lentMessages(long queueId);

    /**
     * Reads the clock by which the deadlines of control calls pass. Returns the nanoseconds, as of {@link
     * System#nanoTime()}.
     */
    public abstract long nanoTime();

    /** A control call waits, and its cycles have nothing to do: leaves the processor to others for a moment. */
    public abstract void pause();

    /** The application could not read a lent message, because its sender has cut the memory. */
    public abstract void onFault(InternalError error);
}
