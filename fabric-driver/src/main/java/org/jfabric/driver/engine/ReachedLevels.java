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
    private final Receiver receiver;
    private final UnexpectedStore store;

    // Of the message that is being placed. If an access to shared memory fails meanwhile its sender must be told, and
    // the virtual machine may report that when the message has left all lists already.
    private Peer inHandPeer;
    private int inHandEpoch;
    private long inHandAwaited;
    private long inHandOperation;

    ReachedLevels(Receiver receiver, UnexpectedStore store) {
        this.receiver = receiver;
        this.store = store;
    }

    /**
     * A whole message is here, whose sender waits for an acknowledgement.
     *
     * @param peer      its sender.
     * @param operation the sender's id of it.
     * @param flags     kind, {@code REMOTE_CQ_DATA}, one level, and {@code FENCE} perhaps.
     * @param tag       tag.
     * @param data      remote CQ data.
     * @param address   native address of the payload.
     * @param length    bytes.
     */
    void onMessage(Peer peer, long operation, long flags, long tag, long data, long address, int length) {
        if ((flags & Flags.FENCE) != 0 && !fence(peer, operation)) {
            return;
        }
        long level = (flags & Flags.MATCH_COMPLETE) != 0 ? Flags.MATCH_COMPLETE : Flags.DELIVERY_COMPLETE;
        taking(peer, peer.epoch(), level, operation);
        StoredMessage stored = receiver.take(peer, flags, tag, data, address, length);
        if (stored != null && level == Flags.MATCH_COMPLETE) {
            stored.awaited |= level;
            stored.operation = operation;
            inHandAwaited = 0;
        } else {
            taken(0);
        }
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
