package org.jfabric.driver.engine;

import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.StreamHandler;

/**
 * The events of a peer whose messages come in pieces.
 *
 * <p>Owner: progress agent.
 */
final class PeerStreams extends StreamHandler {
    private final Peer peer;
    private final Receiver receiver;

    PeerStreams(Peer peer, PeerContext context) {
        this.peer = peer;
        this.receiver = context.receiver();
    }

    @Override
    public boolean canStore(long length) {
        return peer.credit().canHold(length);
    }

    @Override
    public void place(long flags, long tag, long data, long length, Placement placement) {
        receiver.place(peer, flags, tag, data, length, placement);
    }

    @Override
    public void onPlaced(Placement placement) {
        receiver.onPlaced(peer, placement);
    }

    @Override
    public void onAborted(Placement placement, int errno) {
        receiver.onAborted(peer, placement, errno);
    }

    @Override
    public void onAcknowledged(long operation, long levels, int errno) {
        peer.acknowledged(operation, levels, errno);
    }
}
