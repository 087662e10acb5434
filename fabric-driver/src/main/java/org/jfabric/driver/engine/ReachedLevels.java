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
    private PeerReceives inHandFrom;
    private int inHandEpoch;
    private long inHandAwaited;
    private long inHandOperation;

    ReachedLevels(UnexpectedStore store) {
        this.store = store;
    }

    /** A complete message whose sender waits for a level is about to be placed. */
    void taking(PeerReceives from, long level, long operation) {
        taking(from, from.epoch(), level, operation);
    }

    /** A stored message is about to be placed in the buffer of a receive. */
    void taking(StoredMessage message) {
        taking(message.from, message.epoch, message.awaited, message.operation);
    }

    private void taking(PeerReceives from, int epoch, long awaited, long operation) {
        inHandFrom = from;
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
        PeerReceives from = inHandFrom;
        if (inHandEpoch != from.epoch()) {
            inHandAwaited = 0;
            return;
        }
        long level = inHandAwaited & ~Flags.FENCE;
        if (level != 0) {
            inHandAwaited &= Flags.FENCE;
            from.acknowledgements().send(inHandOperation, level, errno);
        }
        if (inHandAwaited != 0) {
            inHandAwaited = 0;
            from.acknowledgements().leftFence(errno);
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
    boolean fence(PeerReceives from, long operation) {
        int before = 0;
        int epoch = from.epoch();
        for (int i = 0, count = store.messageCount(); i < count; i++) {
            StoredMessage message = store.message(i);
            if (message.state == StoredMessage.STORED && message.from == from && message.epoch == epoch) {
                before++;
                message.awaited |= Flags.FENCE;
            }
        }
        from.acknowledgements().fence(operation, before);
        return from.peer().channel() != null;
    }
}
