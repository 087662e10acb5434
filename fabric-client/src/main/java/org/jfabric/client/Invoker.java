package org.jfabric.client;

import org.jfabric.layout.RecordConsumer;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs the embedded driver's duty cycle in the calls of its client, and hands over the events that it left.
 *
 * <p>Owner: the thread that uses the domain; with {@link #lock()} any thread.
 */
public final class Invoker {
    /** Messages that a cycle takes from each other driver if its caller sets no limit. */
    private static final int MESSAGE_LIMIT = 64;
    /** Polls in close succession of which one looks for work that only a whole cycle does. */
    private static final int POLLS_PER_LOOK = 32;
    /**
     * What a poll that found nothing counts for: an application that begins to pause between its polls then notices the
     * end of a connection after 8 of them. With 2 it would be 16, and an empty poll would cost about 5 ns less.
     */
    private static final int EMPTY_POLL = 4;
    /** Time after which a whole cycle is run in the next look, whatever is to be done. */
    private static final long WHOLE_NS = 20_000;

    private final EmbeddedDriver driver;
    private final UseGuard guard = new UseGuard("the domain of a driver in mode INVOKER");
    private final RecordConsumer events;
    private final Runnable onEvents;
    private final Queue<Runnable> postponed = new ConcurrentLinkedQueue<>();
    private final AtomicInteger postponements = new AtomicInteger();
    private final PollPauses pauses;
    /** That of the last call that could show an entry without a slot. */
    private DirectEntry direct;
    private int polls;
    /** Numbers of polls: of the next look, of the last one, and of the last whole cycle. */
    private int nextLook = 1;
    private int lastLook;
    private int wholeCycle;
    private long wholeNs;
    /** Looks in successive polls: an application may poll several objects, then pause. */
    private int nearLooks;

    /**
     * The invoker of one embedding client.
     *
     * @param events   event ring, or null if there is none.
     * @param onEvents called after a cycle if the ring has something.
     */
    public Invoker(EmbeddedDriver driver, RecordConsumer events, Runnable onEvents) {
        this.driver = driver;
        this.events = events;
        this.onEvents = onEvents;
        this.pauses = new PollPauses(driver.nanoTime());
    }

    /** Guards everything that runs the driver's cycles or posts to its engine. */
    public UseGuard guard() {
        return guard;
    }

    /**
     * The lock that a thread holds in {@link #cycle()} and while it posts to the engine. Returns null where one thread
     * at a time uses the driver.
     */
    public UseLock lock() {
        return driver.lock();
    }

    /**
     * Where the cycles leave messages for the reader of a completion queue, as {@link EmbeddedDriver#lentMessages}.
     */
    public LentMessages lentMessages(long queueId) {
        return driver.lentMessages(queueId);
    }

    /** As {@link EmbeddedDriver#onFault}. */
    public void onFault(InternalError error) {
        driver.onFault(error);
    }

    /**
     * Has something done after the cycle that is being run, without any lock of this class: a call of the application,
     * or one that waits for other locks. One after the other, in this order.
     *
     * @param call never fails.
     */
    public void afterCycle(Runnable call) {
        postponed.add(call);
    }

    /**
     * Lets the driver move messages, for a call that reads entries. Reading the clock and polling for commands and
     * events of the driver costs more than a message, and none of it is urgent while calls come in close succession:
     * one in 32 looks whether such work is due, and then runs a whole {@link #cycle()}; once in 20 us one is run in any
     * case.
     *
     * <p>A call after a pause does all that has waited: messages alone do not bring up a connection, and the next call
     * may be as far away. The looks read the clock, which says what a pause is; after one the next 32 calls look.
     *
     * <p>No more frames are taken from a driver than the caller would read entries: receives are posted again when
     * entries are read, and messages that come before that have to be stored and copied once more.
     *
     * @param entryLimit entries that the caller would read; 0 if it does not read now, or waits.
     * @return work done, 0 if there was nothing to do.
     */
    public int poll(int entryLimit) {
        int messageLimit = entryLimit == 0 ? MESSAGE_LIMIT : Math.min(entryLimit, MESSAGE_LIMIT);
        if (++polls - nextLook >= 0) {
            int done = look(messageLimit);
            if (done >= 0) {
                return done;
            }
        }
        UseLock lock = driver.lock();
        if (lock != null) {
            lock.enter();
        }
        int work = 1;
        try {
            assert guard.enter();
            work = driver.pollMessages(messageLimit);
            assert guard.exit();
            return work;
        } finally {
            exit(lock, work);
        }
    }

    /**
     * As {@link #poll(int)}, for a call that would show one entry without a slot. Before the application is called in
     * here the entry gets its slot, because that call may look for it.
     *
     * @param entry      of the queue that is read; it may have an entry behind this.
     * @return as {@link #poll(int)}.
     */
    public int poll(int entryLimit, DirectEntry entry, long position) {
        direct = entry;
        entry.open(position);
        boolean ended = false;
        try {
            int work = poll(entryLimit);
            ended = true;
            return work;
        } finally {
            entry.close();
            if (!ended) {
                entry.queue();
            }
        }
    }

    /** The caller of {@link #poll} has found nothing to read. */
    public void onEmpty() {
        nextLook -= EMPTY_POLL - 1;
    }

    /**
     * Prepares for a sleep at a descriptor, after a {@link #cycle()}; see {@link EmbeddedDriver#prepareSleep()}. The
     * first poll after it is a whole cycle. Returns false if the thread must not sleep.
     */
    public boolean prepareSleep() {
        nextLook = polls + 1;
        wholeCycle = polls - POLLS_PER_LOOK;
        wholeNs = driver.nanoTime() - WHOLE_NS;
        UseLock lock = driver.lock();
        if (lock != null) {
            lock.enter();
        }
        try {
            assert guard.enter();
            boolean prepared = driver.prepareSleep();
            assert guard.exit();
            return prepared;
        } finally {
            exit(lock, 0);
        }
    }

    /** As {@link EmbeddedDriver#cancelSleep()}. */
    public void cancelSleep() {
        driver.cancelSleep();
    }

    /** As {@link EmbeddedDriver#wakeSleepers()}. */
    public void wakeSleepers() {
        driver.wakeSleepers();
    }

    /**
     * As {@link EmbeddedDriver#addSleeper}.
     *
     * @param sleeper woken until {@link #removeSleeper}.
     */
    public void addSleeper(Sleeper sleeper) {
        driver.addSleeper(sleeper);
    }

    /**
     * As {@link EmbeddedDriver#removeSleeper}.
     *
     * @param sleeper added before.
     */
    public void removeSleeper(Sleeper sleeper) {
        driver.removeSleeper(sleeper);
    }

    /** As {@link EmbeddedDriver#nanoTime()}. */
    public long nanoTime() {
        return driver.nanoTime();
    }

    /** As {@link EmbeddedDriver#pause()}. */
    public void pause() {
        driver.pause();
    }

    private static void exit(UseLock lock, int work) {
        if (lock == null) {
            return;
        }
        if (work == 0) {
            lock.exitUnused();
        } else {
            lock.exit();
        }
    }

    /** Runs a cycle if one is due; -1 if none is. */
    private int look(int messageLimit) {
        long nowNs = driver.nanoTime();
        boolean isAfterPause = pauses.isAfterPause(nowNs, polls - lastLook);
        nearLooks = pauses.isSeldom() ? POLLS_PER_LOOK : Math.max(0, nearLooks - 1);
        lastLook = polls;
        nextLook = polls + (nearLooks > 0 ? 1 : POLLS_PER_LOOK);
        if (isAfterPause) {
            wholeCycle = polls;
            wholeNs = nowNs;
            int work = cycle(messageLimit, true);
            pauses.onEnd(driver.nanoTime());
            return work;
        }
        if (polls - wholeCycle >= POLLS_PER_LOOK && (nowNs - wholeNs >= WHOLE_NS || needsCycle())) {
            wholeCycle = polls;
            wholeNs = nowNs;
            return cycle(messageLimit, false);
        }
        return -1;
    }

    private boolean needsCycle() {
        // with a lock other threads may be in the middle of what is asked about
        return driver.lock() != null || driver.needsCycle();
    }

    /** Runs one duty cycle; events are handed over after it. */
    public int cycle() {
        return cycle(MESSAGE_LIMIT, false);
    }

    private int cycle(int messageLimit, boolean isAfterPause) {
        UseLock lock = driver.lock();
        if (lock != null) {
            lock.enter();
        }
        int work = 1;
        boolean hasEvents;
        try {
            assert guard.enter();
            work = isAfterPause ? driver.catchUp(messageLimit) : driver.cycle(messageLimit);
            hasEvents = events != null && events.poll() != RecordConsumer.EMPTY;
            if (hasEvents) {
                onEvents.run();
                work++;
            }
            assert guard.exit();
        } finally {
            exit(lock, work);
        }
        if (hasEvents) {
            runPostponed();
        }
        return work;
    }

    private void runPostponed() {
        if (direct != null) {
            direct.queue();
        }
        // a thread that finds another one here leaves its calls to that one, so that they stay one after the other
        int seen = postponements.incrementAndGet();
        if (seen != 1) {
            return;
        }
        boolean ran = false;
        try {
            while (seen != 0) {
                for (Runnable call = postponed.poll(); call != null; call = postponed.poll()) {
                    call.run();
                }
                seen = postponements.addAndGet(-seen);
            }
            ran = true;
        } finally {
            if (!ran) {
                // a call failed: the next cycle with events continues, instead of waiting for this one for ever
                postponements.set(0);
            }
        }
    }
}
