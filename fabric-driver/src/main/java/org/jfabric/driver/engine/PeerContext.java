package org.jfabric.driver.engine;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.layout.WaitLabel;

/**
 * The services of an endpoint that its peers use. Owner: progress agent.
 */
abstract class PeerContext {
    /** For the endpoint's implementation. */
    protected PeerContext() {
    }

    /** The transmit side. */
    abstract Sender sender();

    /** The receive side. */
    abstract Receiver receiver();

    /** The endpoint's place in the shared receive context that it uses. Returns null if its receives are its own. */
    abstract SharedReceives.Bound bound();

    /** This side's memory, for the peers' remote accesses. */
    abstract RemoteTarget remoteTarget();

    abstract EngineSettings settings();

    /** The sampled times of messages. */
    abstract StageTimes stages();

    /** Longest payload that is sent eagerly. */
    abstract int eagerLimitBytes();

    /**
     * Begins a channel to a peer that has none, or fails it.
     *
     * @param peer down or new.
     */
    abstract void connect(Peer peer);

    /**
     * Hands what waits for a peer to another of its addresses.
     *
     * @param peer  that could not be connected; nothing was sent to it.
     * @param errno positive fabric errno.
     * @return false if there is no other: the peer has failed.
     */
    abstract boolean connectElsewhere(Peer peer, int errno);

    /** Asks for {@link Peer#flush()} in this or the next cycle. */
    abstract void schedule(Peer peer);

    /**
     * Schedules {@link PeerRemote#settleInTurn()} for the begin of the next poll.
     *
     * @param remote has answers that are held back; in no list.
     */
    abstract void owe(PeerRemote remote);

    /** Has {@link Peer#sendCredit()} called after a while. */
    abstract void oweCredit(Peer peer);

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
     * Operations of a peer are about to end with errors; {@link #onPeerDown} follows when they have.
     *
     * @param channel to the peer, or null.
     */
    abstract void onFailing(Channel channel);

    /** The operations of a peer have ended, and nothing is reported to the application. */
    abstract void onFailed();

    /**
     * A peer is down; reported to the application.
     *
     * @param errno positive fabric errno.
     */
    abstract void onPeerDown(Peer peer, int errno);

    /** Whether another context of a peer's endpoint is still connected. */
    abstract boolean isUpElsewhere(Peer peer);

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
