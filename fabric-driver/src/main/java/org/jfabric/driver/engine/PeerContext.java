package org.jfabric.driver.engine;

import org.jfabric.driver.resource.StageTimes;
import org.jfabric.layout.WaitLabel;

/**
 * The services of an endpoint that its peers use. Owner: progress agent.
 */
abstract class PeerContext {
    /** For the endpoint's implementation. */
    protected PeerContext() {
    }

    abstract EngineSettings settings();

    /** The sampled times of messages. */
    abstract StageTimes stages();

    /** Longest payload that is sent eagerly. */
    abstract int eagerLimitBytes();

    /** A link may have work: a channel begins. */
    abstract void leaveQuick();

    /** A peer could not be connected, and is tried by another of its addresses. */
    abstract void onNextLink(int errno, String address);

    /**
     * Drops a peer that nothing refers to any more. If it connects again, it is a new peer.
     *
     * @param peer without a place in the address vector and without stored messages.
     */
    abstract void forget(Peer peer);

    /**
     * A peer is about to be dropped: its counts are published for the last time.
     *
     * @param peer known until now.
     */
    abstract void onForgotten(Peer peer);

    abstract void onPeerUp(Peer peer);

    /** Sends to a peer wait, because it grants neither bytes nor announcements. */
    abstract void onCreditWaitBegan(Peer peer, int sends);

    /** A wait for credit that was not short has ended. */
    abstract void onCreditWaitEnded(Peer peer, long ns, int sends);

    /**
     * With what the operations of a peer end. Without connections none of them is part of an orderly end: the peer has
     * not got the messages. Returns positive fabric errno.
     */
    abstract int errnoOfOperations(int errno);

    /**
     * A peer is down; reported to the application.
     *
     * @param errno positive fabric errno.
     */
    abstract void onPeerDown(Peer peer, int errno);

    /** A peer violates the protocol; reported to the error log. */
    abstract void onViolation(Peer peer, String reason);

    /** A message was stored beyond the budget, because a receive may wait for one behind it. */
    abstract void onReadBeyondBudget(Peer peer, long bytes);

    /**
     * A receive may wait for a message that is not read, because the second bound of the budget is reached.
     *
     * @param peer that is not read.
     */
    abstract void onBudgetUsedUp(Peer peer);

    /**
     * Opens the counter of operations that wait: for {@code CREDIT} of the peer this endpoint's, otherwise the peer's
     * for this endpoint.
     *
     * @return native address of its 8 bytes.
     */
    abstract long openWaitCounter(Peer peer, WaitLabel reason);

    abstract void closeCounter(long address);

    /** The time of the duty cycle. Returns the nanoseconds, as last read by the duty cycle. */
    abstract long nowNs();
}
