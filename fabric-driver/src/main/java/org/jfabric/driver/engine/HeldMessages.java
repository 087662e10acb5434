package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.layout.WaitLabel;

/**
 * The queued messages of one peer that wait for receives: their number, and a counter for the operator that exists
 * while they use up the peer's credit. The sender has the corresponding counter ({@link Outbox}). Also the number of
 * receives that unfinished messages of the peer hold.
 *
 * <p>Owner: progress agent.
 */
final class HeldMessages {
    /** The greatest limit that a driver can be configured with; a peer that announces more violates the protocol. */
    private static final int MAX_ANNOUNCEMENTS = 1 << 16;

    private final PeerReceives from;
    private final PeerContext context;
    private final ByteCredit credit;
    private final MessageBudget budget;
    private boolean isOfUnknownPeer;
    private int stored;
    private int announcements;
    /** Receives whose payload is not here yet. */
    private int receives;
    /** Bytes of the peer's messages that the application is shown where they lie. */
    private long lentBytes;
    /** Address of the counter; 0 while the peer has credit. */
    private long counter;

    HeldMessages(PeerReceives from, MessageBudget budget) {
        this.from = from;
        this.context = from.peer().context();
        this.credit = from.peer().credit();
        this.budget = budget;
        this.isOfUnknownPeer = from.peer().source() < 0;
    }

    /** Returns whether the peer is unknown to the application. Unknown peers have a common quota of the budget. */
    boolean isOfUnknownPeer() {
        return isOfUnknownPeer;
    }

    void ofUnknownPeer(boolean isUnknown) {
        if (isUnknown != isOfUnknownPeer) {
            isOfUnknownPeer = isUnknown;
            budget.move(credit.reservedBytes(), manyAnnouncements(), receives, isUnknown);
        }
    }

    /** Counts a receive that waits for a payload of the peer; -1 if it has ended. */
    void countReceive(int more) {
        receives += more;
        if (isOfUnknownPeer) {
            budget.countUnknownReceives(more);
        }
    }

    /** Begins a channel: returns the reservation of the previous one and takes a window. */
    void begin() {
        end();
        credit.begin(budget.takeWindow(isOfUnknownPeer));
    }

    /** Makes the window greater or smaller by what all peers use; false if it stays as it is. */
    boolean resize() {
        long more = budget.resize(credit.windowBytes(), isOfUnknownPeer);
        long change = more == 0 ? 0 : credit.resize(more);
        if (change < 0) {
            budget.give(-change, isOfUnknownPeer);
        }
        return change != 0;
    }

    /** Ends the channel and returns its credit, except for the bytes of messages that are still stored. */
    void end() {
        budget.give(credit.end(), isOfUnknownPeer);
        close();
    }

    /** Accounts a message without a receive. Returns false if the peer sends more than it was granted. */
    boolean store(long length) {
        if (!credit.hold(length)) {
            return false;
        }
        stored++;
        if (credit.isHalfHeld()) {
            from.resizeWindow();
        }
        show();
        return true;
    }

    /** Accounts a message of a peer without credit, even beyond its reservation. */
    void storeAnyway(long length) {
        credit.holdAnyway(length);
        stored++;
        show();
    }

    /**
     * Bytes that the messages of a peer without credit use beyond its reservation. Returns the bytes; 0 or less if
     * everything fits.
     */
    long missingBytes() {
        return credit.missingBytes();
    }

    /** Extends the reservation of a peer without credit. */
    void extend(long bytes) {
        credit.extend(bytes);
    }

    /** The credit that the stored messages use. */
    long heldBytes() {
        return credit.heldBytes();
    }

    /**
     * Accounts a stored message that was matched or dropped; returns true if bytes were returned to the endpoint's
     * budget.
     */
    boolean left(long length, int messageEpoch) {
        stored--;
        long free = credit.left(length, messageEpoch);
        show();
        if (free != 0) {
            budget.give(free, isOfUnknownPeer);
        }
        return free != 0;
    }

    /**
     * Accounts an announcement without a receive. Returns false if there are more than any peer may have, or if the
     * quota of unknown peers is used up.
     */
    boolean announced() {
        boolean isOneOfMany = isOfUnknownPeer && announcements >= context.settings().announcementLimit();
        if (announcements == MAX_ANNOUNCEMENTS
            || isOneOfMany && !budget.takeAnnouncement()) {
            return false;
        }
        announcements++;
        show();
        return true;
    }

    /** Accounts a stored announcement that was matched or dropped. */
    void announcementLeft() {
        if (isOfUnknownPeer && manyAnnouncements() > 0) {
            budget.giveAnnouncement();
        }
        announcements--;
        show();
    }

    /**
     * Accounts an announced message that the application is shown where it lies.
     *
     * @param bytes      of the message, not negative.
     * @return false if it must be copied, because the limit is reached.
     */
    boolean lend(long bytes, long limitBytes) {
        if (bytes > limitBytes - lentBytes) {
            return false;
        }
        lentBytes += bytes;
        return true;
    }

    /** Accounts a message that the application has given back. */
    void lentLeft(long bytes) {
        lentBytes -= bytes;
    }

    /** Announcements beyond our own limit, which count against the quota of unknown peers. */
    private int manyAnnouncements() {
        return Math.max(0, announcements - context.settings().announcementLimit());
    }

    int count() {
        return stored + announcements;
    }

    /** Closes the counter, because the channel has ended. */
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
            counter = context.openWaitCounter(from.peer(), WaitLabel.RECEIVES);
        } else if (credit.isHalfFree() && announcements <= limit >> 1) {
            // a lower limit than for opening, so that the counter is not opened and closed with every message
            close();
            return;
        }
        UnsafeApi.putLongRelease(null, counter, count());
    }
}
