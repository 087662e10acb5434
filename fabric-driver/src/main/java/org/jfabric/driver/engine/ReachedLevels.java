package org.jfabric.driver.engine;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Messages whose senders wait for an acknowledgement: that they are placed in a buffer or in the store ({@code
 * FI_DELIVERY_COMPLETE}), or in the buffer of a receive ({@code FI_MATCH_COMPLETE}).
 *
 * <p>The sender's id of the operation stays with a stored message. It is valid only on the channel on which the message
 * arrived; when that channel has ended, the sender has already written an error entry.
 *
 * <p>Owner: progress agent.
 */
final class ReachedLevels {
    private final UnexpectedStore store;

    // The message that is being placed. If an access to shared memory fails, its sender must be notified, and the
    // virtual machine may report the fault when the message has already left all lists.
    private Peer inHandPeer;
    private int inHandEpoch;
    private long inHandAwaited;
    private long inHandOperation;

    ReachedLevels(UnexpectedStore store) {
        this.store = store;
    }

    /** A complete message whose sender waits for a level is about to be placed. */
    void taking(Peer peer, long level, long operation) {
        taking(peer, peer.epoch(), level, operation);
    }

    /** A stored message is about to be placed in the buffer of a receive. */
    void taking(StoredMessage message) {
        taking(message.peer, message.epoch, message.awaited, message.operation);
    }

    private void taking(Peer peer, int epoch, long awaited, long operation) {
        inHandPeer = peer;
        inHandEpoch = epoch;
        inHandAwaited = awaited;
        inHandOperation = operation;
    }

    /** The message is stored without a receive; its sender is acknowledged when it is matched. */
    void stored(StoredMessage message, long level, long operation) {
        message.awaited |= level;
        message.operation = operation;
        inHandAwaited = 0;
    }

    /**
     * The message was placed, or is lost. Each acknowledgement is cleared before it is sent, so that it is sent once.
     */
    void taken(int errno) {
        Peer peer = inHandPeer;
        if (inHandEpoch != peer.epoch()) {
            inHandAwaited = 0;
            return;
        }
        long level = inHandAwaited & ~Flags.FENCE;
        if (level != 0) {
            inHandAwaited &= Flags.FENCE;
            peer.acknowledgements().send(inHandOperation, level, errno);
        }
        if (inHandAwaited != 0) {
            inHandAwaited = 0;
            peer.acknowledgements().leftFence(errno);
        }
    }

    /** An access to shared memory failed. */
    void recover() {
        lost(FabricErrno.EIO);
    }

    /** If a message is being placed whose sender waits, the sender is notified of the loss. */
    void lost(int errno) {
        if (inHandAwaited != 0) {
            taken(errno);
        }
    }

    /**
     * Registers a fence of the peer: it is acknowledged when all its messages that are stored now are matched. Visits
     * each stored message. Returns false if the fence violates the protocol, so that the channel was closed.
     */
    boolean fence(Peer peer, long operation) {
        int before = 0;
        int epoch = peer.epoch();
        for (int i = 0, count = store.messageCount(); i < count; i++) {
            StoredMessage message = store.message(i);
            if (message.state == StoredMessage.STORED && message.peer == peer && message.epoch == epoch) {
                before++;
                message.awaited |= Flags.FENCE;
            }
        }
        peer.acknowledgements().fence(operation, before);
        return peer.channel() != null;
    }
}
