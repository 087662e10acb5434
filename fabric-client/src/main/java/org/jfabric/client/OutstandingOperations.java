package org.jfabric.client;

import java.util.Arrays;
import org.jfabric.info.Flags;

/**
 * The operations of one completion queue that were posted to a driver and have no entry yet, for a client that outlives
 * the driver: what is left here when all entries were read has been lost with it.
 *
 * <p>An entry names its operation only by direction and context, so of several with the same it ends the oldest one.
 * Operations that write no entry when they succeed are not known one by one: only the newest are kept, and how many of
 * them have not ended is known from the queue's slots.
 *
 * <p>Owner: the holder of the lock of the queue's submissions.
 */
public final class OutstandingOperations {
    private static final int NONE = -1;
    private static final int INITIAL_CAPACITY = 64;

    private long[] contexts = new long[INITIAL_CAPACITY];
    private long[] flags = new long[INITIAL_CAPACITY];
    private long[] numbers = new long[INITIAL_CAPACITY];
    private RecordedPort[] ports = new RecordedPort[INITIAL_CAPACITY];
    /** The next one in the same list of {@link #heads}, or of the free ones. */
    private int[] next = new int[INITIAL_CAPACITY];
    private int[] heads = new int[2 * INITIAL_CAPACITY];
    private int[] tails = new int[2 * INITIAL_CAPACITY];
    private int free;
    private int count;
    /** The newest operations without an entry, in a circle; null until there is one. */
    private long[] silentContexts;
    private long[] silentFlags;
    private RecordedPort[] silentPorts;
    private final int silentCapacity;
    private long silentCount;

    /**
     * Without operations.
     *
     * @param mostOutstanding how many can be outstanding at a time, 1 or more.
     */
    public OutstandingOperations(long mostOutstanding) {
        silentCapacity = 1 << Long.SIZE - Long.numberOfLeadingZeros(Math.min(mostOutstanding, 1 << 22) - 1);
        chainFree(0);
        Arrays.fill(heads, NONE);
    }

    /**
     * Notes an operation that was posted.
     *
     * @param flags   of its error entry; a receive has {@link Flags#RECV}. With {@link Flags#COMPLETION} there is an
     *                entry in any case.
     * @param number  operations that the port had posted in this direction before.
     */
    void add(RecordedPort port, long context, long flags, long number) {
        if ((flags & Flags.COMPLETION) == 0) {
            addSilent(port, context, flags);
            return;
        }
        if (free == NONE) {
            grow();
        }
        int at = free;
        free = next[at];
        contexts[at] = context;
        this.flags[at] = flags;
        numbers[at] = number;
        ports[at] = port;
        append(at);
        count++;
    }

    /** An entry in a slot of the client was read, or is left to be read. */
    public void remove(long context, boolean isReceive) {
        int list = list(context, isReceive);
        int before = NONE;
        for (int at = heads[list]; at != NONE; before = at, at = next[at]) {
            if (contexts[at] == context && isReceive(flags[at]) == isReceive) {
                unlink(list, before, at);
                return;
            }
        }
    }

    /**
     * The driver closed an endpoint and had not taken its last operations, which have no entry.
     *
     * @param from      number of the first one that was not taken.
     */
    void removeUntaken(RecordedPort port, boolean isReceive, long from) {
        for (int list = 0; list < heads.length; list++) {
            int before = NONE;
            for (int at = heads[list]; at != NONE;) {
                int following = next[at];
                if (ports[at] == port && isReceive(flags[at]) == isReceive && numbers[at] >= from) {
                    unlink(list, before, at);
                } else {
                    before = at;
                }
                at = following;
            }
        }
    }

    /**
     * Ends the notes: all that are left were lost.
     *
     * @param outstanding operations that hold a slot, those without an entry included.
     * @param lost        gets each of them, in the order of posting within a direction and context.
     */
    public void drain(long outstanding, LostOperation lost) {
        long silent = Math.min(Math.min(outstanding - count, silentCount), silentCapacity);
        for (int list = 0; list < heads.length; list++) {
            for (int at = heads[list]; at != NONE; at = next[at]) {
                ports[at].onLost(flags[at]);
                lost.onLost(contexts[at], flags[at]);
            }
            heads[list] = NONE;
        }
        count = 0;
        for (long number = silentCount - silent; silent > 0 && number < silentCount; number++) {
            int at = (int) number & silentCapacity - 1;
            silentPorts[at].onLost(silentFlags[at]);
            lost.onLost(silentContexts[at], silentFlags[at]);
        }
        silentCount = 0;
    }

    /** Takes the operations that were lost. */
    @FunctionalInterface
    public interface LostOperation {
        void onLost(long context, long flags);
    }

    private static boolean isReceive(long flags) {
        return (flags & (Flags.RECV | Flags.MULTI_RECV)) != 0;
    }

    private void addSilent(RecordedPort port, long context, long flags) {
        if (silentContexts == null) {
            silentContexts = new long[silentCapacity];
            silentFlags = new long[silentCapacity];
            silentPorts = new RecordedPort[silentCapacity];
        }
        int at = (int) silentCount++ & silentCapacity - 1;
        silentContexts[at] = context;
        silentFlags[at] = flags;
        silentPorts[at] = port;
    }

    private int list(long context, boolean isReceive) {
        long hash = (context << 1 | (isReceive ? 1 : 0)) * 0x9E37_79B9_7F4A_7C15L;
        return (int) (hash >>> 32) & heads.length - 1;
    }

    private void append(int at) {
        int list = list(contexts[at], isReceive(flags[at]));
        next[at] = NONE;
        if (heads[list] == NONE) {
            heads[list] = at;
        } else {
            next[tails[list]] = at;
        }
        tails[list] = at;
    }

    private void unlink(int list, int before, int at) {
        if (before == NONE) {
            heads[list] = next[at];
        } else {
            next[before] = next[at];
        }
        if (tails[list] == at) {
            tails[list] = before;
        }
        ports[at] = null;
        next[at] = free;
        free = at;
        count--;
    }

    private void grow() {
        int old = contexts.length;
        int length = 2 * old;
        int[] oldHeads = heads;
        int[] oldNext = next;
        contexts = Arrays.copyOf(contexts, length);
        flags = Arrays.copyOf(flags, length);
        numbers = Arrays.copyOf(numbers, length);
        ports = Arrays.copyOf(ports, length);
        next = new int[length];
        heads = new int[2 * length];
        tails = new int[2 * length];
        Arrays.fill(heads, NONE);
        chainFree(old);
        for (int head : oldHeads) {
            for (int at = head; at != NONE; at = oldNext[at]) {
                append(at);
            }
        }
    }

    private void chainFree(int from) {
        for (int i = from; i < next.length; i++) {
            next[i] = i + 1 < next.length ? i + 1 : NONE;
        }
        free = from;
    }
}
