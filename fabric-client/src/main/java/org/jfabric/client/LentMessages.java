package org.jfabric.client;

/**
 * Messages that a cycle leaves where they arrived, for the call that runs it: they have no entries in the completion
 * queue, and are shown before those that it holds.
 *
 * <pre>
 *   closed --- open(): a call begins to read ---&gt; open --- lend() ... lend(), by its cycle ---+
 *     ^                                                                                        |
 *     '--- giveBack(): all were shown ------------- closed, with messages &lt;---- close() ------'
 * </pre>
 *
 * <p>It is open only for the one call that will show what is lent, and only while the queue has no entry that this call
 * has not read: so lent messages and entries keep their order. Owner: the thread that runs the driver's cycles.
 */
public final class LentMessages {
    /** Most messages at a time. */
    public static final int MAX = 64;

    private static final long CLOSED = -1;

    private final MessageLender[] lenders = new MessageLender[MAX];
    private final long[] addresses = new long[MAX];
    private final int[] lengths = new int[MAX];
    private final long[] sources = new long[MAX];
    private final LentRing[] ringOf = new LentRing[MAX];
    private final LentRing[] rings = new LentRing[MAX];
    private int count;
    private int ringCount;
    private int limit;
    private long openAt = CLOSED;
    private final DirectEntry direct = new DirectEntry();

    /** Without messages, closed. */
    public LentMessages() {
    }

    /**
     * The place of the one entry that a cycle leaves to its caller. Returns the same object for the life of this one.
     */
    public DirectEntry direct() {
        return direct;
    }

    // ---- the reading call ----

    /**
     * Lets the cycle that follows lend messages.
     *
     * @param position entries that were read; there must be no other ones.
     * @param most     messages to lend at most.
     */
    public void open(long position, int most) {
        limit = Math.min(most, MAX);
        openAt = position;
    }

    /** The cycle has ended: nothing more is lent. */
    public void close() {
        openAt = CLOSED;
    }

    public int count() {
        return count;
    }

    /**
     * Whether there is nothing to give back.
     *
     * @return false also if rings were asked, and kept nothing.
     */
    public boolean isEmpty() {
        return ringCount == 0;
    }

    /**
     * The lender of a message.
     *
     * @param index from 0, in the order of arrival.
     */
    public MessageLender lender(int index) {
        return lenders[index];
    }

    /**
     * Where a message is.
     *
     * @param index from 0.
     * @return native address.
     */
    public long address(int index) {
        return addresses[index];
    }

    /**
     * How long a message is.
     *
     * @param index from 0.
     */
    public int length(int index) {
        return lengths[index];
    }

    /**
     * Who has sent a message.
     *
     * @param index from 0.
     */
    public long source(int index) {
        return sources[index];
    }

    /**
     * Whether a message can still be read, after an access to one has failed.
     *
     * @param index from 0.
     * @return false if its memory was cut.
     */
    public boolean isThere(int index) {
        return !ringOf[index].endIfCut();
    }

    /**
     * Finds out after a failed access whether a peer has cut what it lends. That peer is ended in the next cycle.
     * Returns false if none has.
     */
    public boolean endCut() {
        boolean found = false;
        for (int i = 0; i < ringCount; i++) {
            found |= rings[i].endIfCut();
        }
        return found;
    }

    /**
     * Gives all back; the references stay, which are those of the next messages mostly.
     *
     * @throws InternalError as {@link LentRing#giveBack()}; then it is to be called again.
     */
    public void giveBack() {
        count = 0;
        while (ringCount != 0) {
            rings[ringCount - 1].giveBack();
            rings[--ringCount] = null;
        }
    }

    // ---- the cycle ----

    /** Whether a message may be lent now. */
    public boolean isOpen(long written) {
        return openAt == written && count < limit;
    }

    /**
     * Lends a message; only if {@link #isOpen}.
     *
     * @param ring    where it lies.
     * @return false if the ring does not keep more.
     */
    public boolean lend(MessageLender lender, LentRing ring, long address, int length, long source) {
        // first: what is kept is given back in any case, also if a memory fault is raised in here
        if (ringCount == 0 || rings[ringCount - 1] != ring) {
            retain(ring);
        }
        if (!ring.keep(address)) {
            return false;
        }
        int index = count;
        if (ringOf[index] != ring) {
            ringOf[index] = ring;
        }
        if (lenders[index] != lender) {
            // a store of a reference costs the collector's barrier; mostly it is the same one
            lenders[index] = lender;
        }
        addresses[index] = address;
        lengths[index] = length;
        sources[index] = source;
        count = index + 1;
        return true;
    }

    private void retain(LentRing ring) {
        for (int i = 0; i < ringCount; i++) {
            if (rings[i] == ring) {
                return;
            }
        }
        ring.retain();
        rings[ringCount++] = ring;
    }
}
