package org.jfabric.driver.engine;

import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.StreamHandler;

/**
 * Handles the events of a peer whose messages are streamed in pieces.
 *
 * <p>Owner: progress agent.
 */
final class PeerStreams extends StreamHandler {
    private final PeerSends sends;
    private final PeerReceives receives;
    private final Receiver receiver;
    private final ByteCredit credit;

    PeerStreams(PeerSends sends, Receiver receiver) {
        this.sends = sends;
        this.receives = sends.receives();
        this.receiver = receiver;
        this.credit = sends.peer().credit();
    }

    @Override
    public boolean canStore(long length) {
        return credit.canHold(length);
    }

    @Override
    public void place(long flags, long tag, long data, long length, Placement placement) {
        receiver.place(receives, flags, tag, data, length, placement);
    }

    @Override
    public void position(long position) {
        receives.position(position);
    }

    @Override
    public boolean onGap(long first, long last) {
        return receiver.gap(receives, first, last);
    }

    @Override
    public void onPlacedAt(Placement placement, long timeNs) {
        receiver.arrivedAt(receives, placement, timeNs);
        onPlaced(placement);
    }

    @Override
    public void onPlaced(Placement placement) {
        credit.received(placement.lengthBytes());
        receiver.onPlaced(receives, placement);
    }

    @Override
    public void onAborted(Placement placement, int errno) {
        receiver.onAborted(receives, placement, errno);
    }

    @Override
    public void onAcknowledged(long operation, long levels, int errno) {
        sends.acknowledged(operation, levels, errno);
    }
}
