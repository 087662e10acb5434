package org.jfabric.simulation.model;

/** What matching looks at in a receive, as it was posted. */
public class Receive {
    /** Takes messages of every sender. */
    public static final int ANY_SOURCE = -1;
    private static final int ALIGNMENT = 8;

    /** Unique in a run and growing in posting order. */
    public long context;
    public boolean tagged;
    /** 0 if untagged, as {@link #ignore}. */
    public long tag;
    public long ignore;
    /** The only sender that it takes messages of, or {@link #ANY_SOURCE}. */
    public int source = ANY_SOURCE;
    /** Room in bytes. */
    public int length;
    /** Takes many messages: a multi-receive buffer. */
    public boolean isBuffer;
    /** Address where the buffer begins. */
    public long base;
    /** A buffer with less room than that, in bytes, takes no more. */
    public long minFree;
    /** Bytes of a buffer that are behind the start of its next message. */
    public int used;

    /** The rule of the pages. */
    public final boolean accepts(Message candidate) {
        return tagged == candidate.tagged
            && (!tagged || (tag & ~ignore) == (candidate.tag & ~ignore))
            && (source == ANY_SOURCE || source == candidate.from);
    }

    /** Whether a message would go into it; a buffer that holds others refuses what is too long for the rest of it. */
    public final boolean fits(Message message) {
        return !isBuffer || used == 0 || message.length <= length - used;
    }

    /** Takes a message, which then says where it is. */
    public final void take(Message message) {
        message.place = used;
        message.placed = Math.min(message.length, length - used);
        used = isBuffer ? usedAfter(used, message.placed) : length;
    }

    /** Where the next message begins, behind one of so many bytes: at the next multiple of 8, or at the end. */
    public final int usedAfter(int place, int placed) {
        long end = base + place + placed;
        long next = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        return (int) Math.min(length, next - base);
    }

    /** Takes no further message. */
    public final boolean isFull() {
        return !isBuffer || length - used < minFree;
    }
}
