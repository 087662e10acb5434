package org.jfabric.driver.engine;

import org.jfabric.driver.link.Channel;

/**
 * What the peers of one endpoint need of it. Owner: progress agent.
 */
abstract class PeerContext {
    /** For the endpoint's implementation. */
    protected PeerContext() {
    }

    /**
     * The transmit side.
     *
     * @return the sender.
     */
    abstract Sender sender();

    /**
     * The receive side.
     *
     * @return the receiver.
     */
    abstract Receiver receiver();

    /**
     * Limits of the engine.
     *
     * @return the settings.
     */
    abstract EngineSettings settings();

    /**
     * Longest payload that is sent at once.
     *
     * @return bytes.
     */
    abstract int eagerLimitBytes();

    /**
     * Begins a channel to a peer that has none, or fails it.
     *
     * @param peer down or new.
     */
    abstract void connect(Peer peer);

    /**
     * Asks for {@link Peer#flush()} in this or the next cycle.
     *
     * @param peer with something to do.
     */
    abstract void schedule(Peer peer);

    /**
     * A peer is gone that nothing here knows any more; if it comes back it is a new one.
     *
     * @param peer without a place in the address vector and without stored messages.
     */
    abstract void forget(Peer peer);

    /**
     * Operations of a peer are about to end with errors; {@link #onPeerDown} follows when they have.
     *
     * @param channel to the peer, or null.
     */
    abstract void onFailing(Channel channel);

    /**
     * A peer is gone; for the application's eyes.
     *
     * @param peer  failed.
     * @param errno positive fabric errno.
     */
    abstract void onPeerDown(Peer peer, int errno);

    /**
     * A peer breaks the protocol; for the error log.
     *
     * @param peer   whose channel is about to be closed.
     * @param reason what was seen.
     */
    abstract void onViolation(Peer peer, String reason);

    /**
     * Makes the counter that shows how many sends a peer holds back.
     *
     * @param peer that grants no more credit.
     * @return native address of its 8 bytes.
     */
    abstract long openHeldBackCounter(Peer peer);

    /**
     * Makes the counter that shows how many messages of a peer wait here and hold it back.
     *
     * @param peer whose credit is used up.
     * @return native address of its 8 bytes.
     */
    abstract long openHoldingCounter(Peer peer);

    /**
     * Gives a counter back.
     *
     * @param address from {@link #openHeldBackCounter} or {@link #openHoldingCounter}.
     */
    abstract void closeCounter(long address);

    /**
     * The time of the duty cycle.
     *
     * @return nanoseconds, as last read.
     */
    abstract long nowNs();
}
