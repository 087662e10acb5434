package org.jfabric.driver.engine;

import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.StreamHandler;

/**
 * Handles the events of a peer whose messages are streamed in pieces.
 *
 * <p>Owner: progress agent.
 */
final class PeerStreams extends StreamHandler {
    private final Peer peer;
    private final Receiver receiver;
    private final ByteCredit credit;

    PeerStreams(Peer peer, Receiver receiver, ByteCredit credit) {
        this.peer = peer;
        this.receiver = receiver;
        this.credit = credit;
    }

    @Override
    public boolean canStore(long length) {
        return credit.canHold(length);
    }

    @Override
    public void place(long flags, long tag, long data, long length, Placement placement) {
        receiver.place(peer, flags, tag, data, length, placement);
    }

    @Override
    public void onPlaced(Placement placement) {
        credit.received(placement.lengthBytes());
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
