package org.jfabric.driver.link.shm;

import java.util.Arrays;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.PlainMessages;
import org.jfabric.driver.resource.FaultPoint;

/**
 * Which connections a step polls. Those that have something to do are <em>hot</em>: each step polls them. One whose
 * ring was empty for many steps and that waits for nothing becomes <em>cold</em>: of it a step only reads the next word
 * of its ring, one load that depends on no other. A whole step reads the words of all cold ones. A plain step without
 * messages reads those of a quarter; one with messages reads four for each, but at least those of 1 in 32, so that a
 * hundred idle peers cost an active one a fifth of its message. So a message of an idle peer waits for about five
 * steps, or while about as many messages of others are taken as a quarter of the number of idle peers.
 *
 * <p>A cold connection becomes hot again with the first record in its ring, and by {@link #wake}, which it calls itself
 * when it has something to do for another reason.
 *
 * <p>Owner: progress agent.
 */
final class ShmPollOrder extends PlainMessages {
    /** Steps in which the ring of a hot connection was empty before it becomes cold. */
    static final int EMPTY_STEPS = 512;
    private static final int LEAST_SCANNED = 8;
    private static final int IDLE_SHARE_SHIFT = 2;
    private static final int READ_PER_MESSAGE = 4;
    private static final int BUSY_SHARE_SHIFT = 5;

    private ShmConnection[] hot = new ShmConnection[8];
    private int hotCount;
    private ShmConnection[] cold = new ShmConnection[8];
    /** Addresses of the next words of their rings. */
    private long[] words = new long[8];
    private int coldCount;
    /** Cold ones whose peers may sleep: what is sent to those needs a whole step. */
    private int coldSleepers;
    /** Where the next plain step reads on. */
    private int cursor;

    void add(ShmConnection connection) {
        if (hotCount + coldCount == hot.length) {
            // each array has room for all, so that none grows in a step
            hot = Arrays.copyOf(hot, hot.length << 1);
            cold = Arrays.copyOf(cold, hot.length);
            words = Arrays.copyOf(words, hot.length);
        }
        addHot(connection);
    }

    /** Before memory of the connection is unmapped. */
    void remove(ShmConnection connection) {
        if (connection.isCold) {
            makeHot(connection);
        }
        removeHot(connection);
    }

    /** What a plain step polls if it does all that a whole one would do, else null. */
    PlainMessages plainMessages() {
        for (int i = 0; i < hotCount; i++) {
            if (!hot[i].isResident()) {
                return null;
            }
        }
        // the only one by itself: calls are inlined only so deep
        return coldSleepers != 0 ? null : hotCount == 1 && coldCount == 0 ? hot[0] : this;
    }

    /** Makes a whole step of all connections. */
    int poll(int limit) {
        if (coldCount != 0) {
            scanAll();
        }
        int work = 0;
        // from the last to the first: a connection that ends is replaced by the last one
        for (int i = hotCount - 1; i >= 0; i--) {
            if (i < hotCount) {
                ShmConnection connection = hot[i];
                int taken = connection.poll(limit);
                work += taken;
                note(connection, taken);
            }
        }
        return work;
    }

    @Override
    public int pollPlain(int limit) {
        int work = 0;
        for (int i = hotCount - 1; i >= 0; i--) {
            if (i < hotCount) {
                ShmConnection connection = hot[i];
                int taken = connection.pollPlain(limit);
                if (taken < 0) {
                    return taken - work;
                }
                work += taken;
                note(connection, taken);
            }
        }
        return coldCount == 0 ? work : scanSome(limit, work);
    }

    /** Makes a connection hot; has no effect if it is. */
    void wake(ShmConnection connection) {
        if (!connection.isCold) {
            return;
        }
        // a pending fault is raised here, not between the moves; nothing below touches shared memory
        FaultPoint.pass();
        makeHot(connection);
    }

    private void makeHot(ShmConnection connection) {
        int last = --coldCount;
        int place = connection.place;
        cold[place] = cold[last];
        cold[place].place = place;
        words[place] = words[last];
        cold[last] = null;
        coldSleepers -= connection.mayPeerPark() ? 1 : 0;
        addHot(connection);
    }

    private void removeHot(ShmConnection connection) {
        int last = --hotCount;
        hot[connection.place] = hot[last];
        hot[connection.place].place = connection.place;
        hot[last] = null;
    }

    private void addHot(ShmConnection connection) {
        connection.isCold = false;
        connection.emptySteps = 0;
        connection.place = hotCount;
        hot[hotCount++] = connection;
    }

    /** A single connection stays hot: there is nothing to save. */
    private void note(ShmConnection connection, int taken) {
        if (taken != 0) {
            connection.emptySteps = 0;
        } else if (++connection.emptySteps >= EMPTY_STEPS && hotCount + coldCount > 1) {
            makeCold(connection);
        }
    }

    private void makeCold(ShmConnection connection) {
        connection.emptySteps = 0;
        if (!connection.mayBeCold()) {
            return;
        }
        FaultPoint.pass();
        removeHot(connection);
        connection.isCold = true;
        connection.place = coldCount;
        words[coldCount] = connection.nextWordAddress();
        cold[coldCount++] = connection;
        coldSleepers += connection.mayPeerPark() ? 1 : 0;
    }

    /** Reads the next words of those that a plain step reads, and takes the messages that it finds. */
    private int scanSome(int limit, int taken) {
        int share = Math.max(LEAST_SCANNED, coldCount + (1 << IDLE_SHARE_SHIFT) - 1 >> IDLE_SHARE_SHIFT);
        int count = taken == 0
            ? share : Math.min(share, Math.max(READ_PER_MESSAGE * taken, coldCount >> BUSY_SHARE_SHIFT));
        int from = cursor < coldCount ? cursor : 0;
        int to = Math.min(from + count, coldCount);
        cursor = to;
        long found = 0;
        for (int i = from; i < to; i++) {
            found |= UnsafeApi.getLongOpaque(null, words[i]);
        }
        // a pending fault of one of these rings must not be raised in the step of another connection
        FaultPoint.pass();
        return found == 0 ? taken : takeFound(limit, taken, from, to);
    }

    private int takeFound(int limit, int taken, int from, int to) {
        int work = taken;
        for (int i = to - 1; i >= from; i--) {
            // fewer than before if one was woken
            if (i < coldCount && UnsafeApi.getLongOpaque(null, words[i]) != 0) {
                ShmConnection found = cold[i];
                wake(found);
                int more = found.pollPlain(limit);
                if (more < 0) {
                    return more - work;
                }
                work += more;
            }
        }
        return work;
    }

    /**
     * Wakes those with a record. If one of the rings was truncated all are woken, so that each meets the fault in its
     * own step, which says whose it is.
     */
    private void scanAll() {
        try {
            for (int i = coldCount - 1; i >= 0; i--) {
                if (UnsafeApi.getLongOpaque(null, words[i]) != 0) {
                    wake(cold[i]);
                }
            }
            FaultPoint.pass();
        } catch (InternalError truncated) {
            while (coldCount != 0) {
                wake(cold[coldCount - 1]);
            }
            // it may also be of what this step did before
            throw truncated;
        }
    }
}
