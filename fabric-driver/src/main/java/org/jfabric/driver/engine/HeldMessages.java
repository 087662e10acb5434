package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;

/**
 * The messages of one peer that wait here for receives: how many there are, and a counter that names both ends once
 * they use up what the peer may send, the counterpart of the one at the sender.
 *
 * <p>Owner: progress agent.
 */
final class HeldMessages {
    /** What the greatest configurable limit of a peer's driver allows; more is no peer of ours. */
    private static final int MAX_ANNOUNCEMENTS = 1 << 16;

    private final PeerContext context;
    private final Peer peer;
    private final ByteCredit credit;
    private boolean isOfStranger;
    private int stored;
    private int announcements;
    /** Address of the counter; 0 while the peer is not held back. */
    private long counter;

    HeldMessages(PeerContext context, Peer peer, ByteCredit credit, boolean isOfStranger) {
        this.context = context;
        this.peer = peer;
        this.credit = credit;
        this.isOfStranger = isOfStranger;
    }

    /**
     * Whether the peer is one that the application does not know, which shares memory with others of that kind.
     *
     * @return true if it is in no address vector, and not the other end of a connection.
     */
    boolean isOfStranger() {
        return isOfStranger;
    }

    void ofStranger(boolean isStranger) {
        if (isStranger != isOfStranger) {
            isOfStranger = isStranger;
            context.receiver().budget().move(credit.reservedBytes(), manyAnnouncements(), isStranger);
        }
    }

    /** A channel begins: what was reserved for the one before is given back, and a window taken. */
    void begin() {
        end();
        credit.begin(context.receiver().budget().takeWindow(isOfStranger));
    }

    /** The channel has ended: its credit goes back, but for what its messages hold until they leave. */
    void end() {
        context.receiver().budget().give(credit.end(), isOfStranger);
        close();
    }

    /**
     * Takes room for a message that nobody waits for.
     *
     * @param length bytes.
     * @return false if the peer sends more than it was granted.
     */
    boolean store(long length) {
        if (!credit.hold(length)) {
            return false;
        }
        stored++;
        show();
        return true;
    }

    /**
     * Takes room for a message of a peer that knows no credit, whether there is any or not.
     *
     * @param length bytes.
     */
    void storeAnyway(long length) {
        credit.holdAnyway(length);
        stored++;
        show();
    }

    /**
     * What the messages of a peer that knows no credit take beyond what is reserved for them.
     *
     * @return bytes; 0 or less if there is room for all.
     */
    long missingBytes() {
        return credit.missingBytes();
    }

    /**
     * More of the store's budget for a peer that knows no credit.
     *
     * @param bytes taken of the budget.
     */
    void extend(long bytes) {
        credit.extend(bytes);
    }

    /**
     * Credit that the messages use up.
     *
     * @return bytes.
     */
    long heldBytes() {
        return credit.heldBytes();
    }

    /** A stored message was matched or dropped; true if that made room for others than the peer. */
    boolean left(long length, int messageEpoch) {
        stored--;
        long free = credit.left(length, messageEpoch);
        show();
        if (free != 0) {
            context.receiver().budget().give(free, isOfStranger);
        }
        return free != 0;
    }

    /**
     * Takes room for an announcement that nobody waits for.
     *
     * @return false if there are more than any peer may have, or more than there is room for from strangers.
     */
    boolean announced() {
        boolean isOneOfMany = isOfStranger && announcements >= context.settings().announcementLimit();
        if (announcements == MAX_ANNOUNCEMENTS
            || isOneOfMany && !context.receiver().budget().takeAnnouncement()) {
            return false;
        }
        announcements++;
        show();
        return true;
    }

    /** A stored announcement was matched or dropped. */
    void announcementLeft() {
        if (isOfStranger && manyAnnouncements() > 0) {
            context.receiver().budget().giveAnnouncement();
        }
        announcements--;
        show();
    }

    /** Those that a stranger needs room for, as no peer with our own settings announces so many. */
    private int manyAnnouncements() {
        return Math.max(0, announcements - context.settings().announcementLimit());
    }

    int count() {
        return stored + announcements;
    }

    /** The channel has ended: the peer has nothing that could be held back. */
    void close() {
        if (counter != 0) {
            context.closeCounter(counter);
            counter = 0;
        }
    }

    private void show() {
        int limit = context.settings().announcementLimit();
        if (counter == 0) {
            if (!credit.isUsedUp() && announcements < limit) {
                return;
            }
            counter = context.openHoldingCounter(peer);
        } else if (credit.isHalfFree() && announcements <= limit >> 1) {
            // not at the same limit, or it would come and go with every message
            close();
            return;
        }
        UnsafeApi.putLongRelease(null, counter, count());
    }
}
