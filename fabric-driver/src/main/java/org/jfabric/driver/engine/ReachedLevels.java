package org.jfabric.driver.engine;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;

/**
 * Messages whose senders wait to be told what they reached: placed in a buffer or kept in the store
 * ({@code FI_DELIVERY_COMPLETE}), or placed in the buffer of a receive ({@code FI_MATCH_COMPLETE}).
 *
 * <p>The sender's id of the operation stays with a stored message. It means something only to the channel over which
 * the message came: when that has ended the sender knows already, by an error entry.
 *
 * <p>Owner: progress agent.
 */
final class ReachedLevels {
    private final UnexpectedStore store;

    // Of the message that is being placed. If an access to shared memory fails meanwhile its sender must be told, and
    // the virtual machine may report that when the message has left all lists already.
    private Peer inHandPeer;
    private int inHandEpoch;
    private long inHandAwaited;
    private long inHandOperation;

    ReachedLevels(UnexpectedStore store) {
        this.store = store;
    }

    /** A message that is here as a whole, and whose sender waits for a level, is about to be placed. */
    void taking(Peer peer, long level, long operation) {
        taking(peer, peer.epoch(), level, operation);
    }

    /** A message with something awaited is about to be placed in the buffer of a receive. */
    void taking(StoredMessage message) {
        taking(message.peer, message.epoch, message.awaited, message.operation);
    }

    private void taking(Peer peer, int epoch, long awaited, long operation) {
        inHandPeer = peer;
        inHandEpoch = epoch;
        inHandAwaited = awaited;
        inHandOperation = operation;
    }

    /** It waits for a receive: its sender is told when it has one. */
    void stored(StoredMessage message, long level, long operation) {
        message.awaited |= level;
        message.operation = operation;
        inHandAwaited = 0;
    }

    /** It was placed, or is lost; each answer is noted once, before it goes. */
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

    /** An access to shared memory failed; if a message was being placed its sender is told that it is lost. */
    void recover() {
        if (inHandAwaited != 0) {
            taken(FabricErrno.EIO);
        }
    }

    /**
     * The peer is to be told when all messages of it that are stored now are matched; looks at each stored message.
     *
     * @return false if the peer may not ask that now, so that its channel was closed.
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
