package org.jfabric.driver.engine;

import org.jfabric.client.MessageLender;
import org.jfabric.driver.link.FrameChannel;

/**
 * What comes from one {@link Peer}: the messages that wait for receives, the receives that wait for payloads, the order
 * of the entries, and the credit that goes back to the peer. The receiving endpoint grants bytes; an eager message
 * spends its cost, which is granted again when the message is matched.
 *
 * <p>Owner: progress agent.
 */
final class PeerReceives {
    private final Peer peer;
    private final ByteCredit credit;
    /** The endpoint's place in the shared receive context that it uses, or null. */
    private final SharedReceives.Bound bound;
    private final OwedCredit owedCredit;
    private final Acknowledgements acknowledgements = new Acknowledgements(this);
    private final HeldMessages held;
    private final PullList pulls = new PullList();
    private final EntryOrder entryOrder = new EntryOrder();
    /** Whether the window has changed since the last grant was sent alone; a message may have carried it. */
    private boolean isResized;
    /** Whether it is in {@link OwedCredit}. */
    private boolean owesCredit;
    private PeerReceives nextOwing;
    /** Position in its group of the message that arrives; -1 of what is no group with a log. */
    private long position = -1;
    /** When the message that arrives has arrived; of messages with FI_TIMESTAMP. */
    private long timeNs;
    /** Set on an endpoint with buffered receives, once a message was lent. */
    private MessageLender lender;

    PeerReceives(Peer peer, MessageBudget budget, SharedReceives.Bound bound, OwedCredit owedCredit) {
        this.peer = peer;
        this.credit = peer.credit();
        this.bound = bound;
        this.owedCredit = owedCredit;
        this.held = new HeldMessages(this, budget);
    }

    /** The position in its group of the message that arrives; -1 if it has none. */
    long position() {
        return position;
    }

    void position(long newPosition) {
        position = newPosition;
    }

    /** When the message that arrives has arrived; valid if its flags have FI_TIMESTAMP. */
    long timeNs() {
        return timeNs;
    }

    void arrivedAt(long newTimeNs) {
        timeNs = newTimeNs;
    }

    /** Who it is, and the channel. Returns the same object for the life of this one. */
    Peer peer() {
        return peer;
    }

    /** The endpoint's place in the shared receive context that it uses. Returns null if its receives are its own. */
    SharedReceives.Bound bound() {
        return bound;
    }

    /** The acknowledgements for messages of this peer. Returns the same object for the life of this peer. */
    Acknowledgements acknowledgements() {
        return acknowledgements;
    }

    /**
     * Sets the peer's index in the address vector.
     *
     * @param newSource {@code fi_addr}, or {@link Peer#UNKNOWN_SOURCE}.
     */
    void source(int newSource) {
        peer.source(newSource);
        held.ofUnknownPeer(newSource < 0);
    }

    /** The grant for the next frame: the total bytes that this peer may have sent. Returns the low 32 bits. */
    int grant() {
        return credit.grant();
    }

    /** The call that should have carried the last {@link #grant()} was not accepted. */
    void grantNotSent() {
        credit.grantNotSent();
        scheduleIfGrantOwed();
    }

    /**
     * The queued messages of this peer that wait for receives. Returns their account; the same object for the life of
     * this peer.
     */
    HeldMessages held() {
        return held;
    }

    /**
     * The order in which the entries of this peer's messages are written. Returns the same object for as long as the
     * peer is known.
     */
    EntryOrder entryOrder() {
        return entryOrder;
    }

    /** Returns the credit of a message that was matched when it arrived. */
    void passed(long length) {
        credit.passed(length);
        scheduleIfGrantOwed();
    }

    /**
     * Returns the credit of a message that has left the unexpected store.
     *
     * @param messageEpoch {@link #epoch()} when it arrived.
     */
    void left(long length, int messageEpoch) {
        if (held.left(length, messageEpoch)) {
            forgetIfUnused();
        } else {
            scheduleIfGrantOwed();
        }
    }

    /** Counts the channels that this peer has had. */
    int epoch() {
        return credit.epoch();
    }

    /**
     * Adds a receive that takes an announced payload of this peer.
     *
     * @param operation in no list.
     */
    void addPull(ReceiveOperation operation) {
        pulls.add(operation);
        held.countReceive(1);
    }

    /** Removes a receive that {@link #addPull} has added. */
    void removePull(ReceiveOperation operation) {
        pulls.remove(operation);
        held.countReceive(-1);
    }

    /** The first of these receives, in no particular order. Returns null if there is none. */
    ReceiveOperation firstPull() {
        return pulls.first();
    }

    /** Queues a receive's control message to the peer until the channel has space. */
    void enqueueControl(ReceiveOperation operation) {
        pulls.addControl(operation);
        peer.schedule();
    }

    /** Sends the control messages that wait, as far as the channel has space. Returns their number. */
    int flushControl(Pulls sending) {
        int work = 0;
        while (pulls.hasControl()) {
            ReceiveOperation operation = pulls.takeControl();
            if (!sending.tellPeer(this, operation)) {
                pulls.returnControl(operation);
                return work;
            }
            work++;
        }
        return work;
    }

    /** Sends the acknowledgements that wait; returns false if they, or control messages, are left. */
    boolean flushAcknowledgements() {
        return !pulls.hasControl() && acknowledgements.flush();
    }

    /** The lender of this peer's messages; null before the first one. */
    MessageLender lender() {
        return lender;
    }

    void lender(MessageLender newLender) {
        lender = newLender;
    }

    /** The peer has used half of its window, or cannot use it: the window changes once before the next grant. */
    void resizeWindow() {
        if (peer.frames() != null && !(isResized && credit.hasUnsentGrant())) {
            isResized = held.resize();
            scheduleIfGrantOwed();
        }
    }

    private void scheduleIfGrantOwed() {
        if (peer.frames() == null) {
            return;
        }
        if (credit.isGrantOwed()) {
            peer.schedule();
        } else {
            oweCredit();
        }
    }

    /** Has {@link #sendCredit()} called after a while. */
    void oweCredit() {
        if (!owesCredit) {
            owesCredit = true;
            nextOwing = owedCredit.add(this);
        }
    }

    /** Sends the grant alone, if so much of it is owed. Returns false if the channel is full. */
    boolean flushGrant() {
        FrameChannel frames = peer.frames();
        if (frames != null && credit.isGrantOwed()) {
            resizeWindow();
            // it may have shrunk
            if (credit.isGrantOwed()) {
                if (frames.sendGrant(grant()) < 0) {
                    grantNotSent();
                    return false;
                }
                isResized = false;
            }
        }
        return true;
    }

    /**
     * Sends credit that no message has carried for a while, if the peer is so far ahead that it may wait for it;
     * another one must not be woken. The peer was taken from the list. Returns the peer that was behind it.
     */
    PeerReceives sendCredit() {
        PeerReceives next = nextOwing;
        nextOwing = null;
        owesCredit = false;
        FrameChannel frames = peer.frames();
        if (frames != null && credit.hasUnsentGrant() && (credit.isHalfHeld() || frames.hasMore())) {
            boolean isSent = false;
            try {
                isSent = frames.sendGrant(grant()) >= 0;
            } finally {
                // also if memory of the peer was cut
                if (isSent) {
                    isResized = false;
                } else {
                    grantNotSent();
                }
            }
        }
        return next;
    }

    /** The list of {@link OwedCredit} was lost. */
    void unlisted() {
        owesCredit = false;
        nextOwing = null;
    }

    /** The channel is down: drops what waited for it. */
    void clear() {
        pulls.clearControl();
        acknowledgements.clear();
    }

    /** Closes with the endpoint. */
    void close() {
        held.close();
        entryOrder.clear();
        clear();
    }

    /** Forgets a peer that is down and not in the address vector, once its last message has left the store. */
    void forgetIfUnused() {
        if (peer.isDown() && peer.source() < 0 && credit.heldBytes() == 0) {
            peer.context().forget(peer);
        }
    }
}
