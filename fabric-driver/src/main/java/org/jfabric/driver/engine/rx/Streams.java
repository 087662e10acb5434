package org.jfabric.driver.engine.rx;

import org.jfabric.driver.engine.peer.Peer;
import org.jfabric.driver.link.Placement;

/**
 * Messages that come in pieces: the link asks where they go when they begin, and tells when they are whole or lost.
 *
 * <p>Owner: progress agent.
 */
final class Streams {
    /** A placement token with this bit names a stored message, else a receive. */
    private static final long STORED_TOKEN = 1L << 31;

    private final Receiver receiver;
    private final ReceivePool pool;
    private final UnexpectedStore store;

    Streams(Receiver receiver, ReceivePool pool, UnexpectedStore store) {
        this.receiver = receiver;
        this.pool = pool;
        this.store = store;
    }

    void place(Peer peer, long flags, long tag, long data, long length, Placement placement) {
        if (Receiver.isImpossible(length)) {
            placement.set(Placement.Action.REFUSE, 0, 0, 0);
            peer.violation("began a message of " + length + " bytes");
            return;
        }
        ReceiveOperation operation = receiver.arrive(peer, flags, tag, length);
        if (operation != null) {
            operation.message(peer, flags & Receiver.MESSAGE_BITS, tag, data, length);
            operation.state = ReceiveOperation.STREAMING;
            operation.received = 0;
            peer.addPull(operation);
            placement.set(
                Placement.Action.DIRECT, operation.address, operation.pieces, operation.placedBytes(), operation.id);
            return;
        }
        StoredMessage message = receiver.store(peer, flags, tag, data, length);
        if (message == null) {
            placement.set(Placement.Action.REFUSE, 0, 0, 0);
        } else {
            message.state = StoredMessage.FILLING;
            placement.set(Placement.Action.STORE, message.block, length, message.index | STORED_TOKEN);
        }
    }

    void onPlaced(Peer peer, Placement placement) {
        if ((placement.token() & STORED_TOKEN) == 0) {
            ReceiveOperation operation = pool.find(placement.token());
            if (operation != null && operation.state == ReceiveOperation.STREAMING) {
                peer.removePull(operation);
                peer.passed(operation.messageLength);
                receiver.complete(operation);
                receiver.release(operation);
            }
            return;
        }
        StoredMessage message = store.message(placement.token() & ~STORED_TOKEN);
        if (message == null || message.state != StoredMessage.FILLING || message.peer != peer) {
            return;
        }
        message.state = StoredMessage.STORED;
        if (message.receive != null) {
            peer.removePull(message.receive);
            receiver.deliver(message.receive, message);
        }
    }

    void onAborted(Peer peer, Placement placement, int errno) {
        if ((placement.token() & STORED_TOKEN) == 0) {
            ReceiveOperation operation = pool.find(placement.token());
            if (operation != null && operation.state == ReceiveOperation.STREAMING) {
                peer.removePull(operation);
                peer.passed(operation.messageLength);
                receiver.fail(operation, 0, errno);
            }
            return;
        }
        StoredMessage message = store.message(placement.token() & ~STORED_TOKEN);
        if (message != null && message.state == StoredMessage.FILLING && message.peer == peer) {
            if (message.receive != null) {
                peer.removePull(message.receive);
            }
            receiver.abort(message, errno);
        }
    }
}
