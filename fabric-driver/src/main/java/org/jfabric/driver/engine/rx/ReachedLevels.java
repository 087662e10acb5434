package org.jfabric.driver.engine.rx;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.engine.peer.Peer;

/**
 * Messages whose senders wait to be told what they reached: placed in a buffer or kept in the store
 * ({@code FI_DELIVERY_COMPLETE}), or placed in the buffer of a receive ({@code FI_MATCH_COMPLETE}).
 *
 * <p>The sender's id of the operation stays with a stored message. It means something only to the channel over which
 * the message came: when that has ended the sender knows already, by an error entry.
 *
 * <p>Owner: progress agent.
 */
public final class ReachedLevels {
    private final Receiver receiver;
    private final UnexpectedStore store;

    // of the message that is being placed, so that its sender is told if an access to shared memory fails meanwhile
    private Peer inHandPeer;
    private long inHandOperation;
    private long inHandLevel;

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
    public void onMessage(Peer peer, long operation, long flags, long tag, long data, long address, int length) {
        if ((flags & Flags.FENCE) != 0 && !fence(peer, operation)) {
            return;
        }
        long level = (flags & Flags.MATCH_COMPLETE) != 0 ? Flags.MATCH_COMPLETE : Flags.DELIVERY_COMPLETE;
        inHandPeer = peer;
        inHandOperation = operation;
        inHandLevel = level;
        StoredMessage stored = receiver.take(peer, flags, tag, data, address, length);
        inHandPeer = null;
        if (stored != null && level == Flags.MATCH_COMPLETE) {
            stored.awaited |= level;
            stored.operation = operation;
        } else {
            peer.acknowledgements().send(operation, level, 0);
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

    /** A message with something awaited has left the store: it was placed in the buffer of a receive, or is lost. */
    static void left(Peer peer, int epoch, long awaited, long operation, int errno) {
        if (epoch != peer.epoch()) {
            return;
        }
        if ((awaited & Flags.MATCH_COMPLETE) != 0) {
            peer.acknowledgements().send(operation, Flags.MATCH_COMPLETE, errno);
        }
        if ((awaited & Flags.FENCE) != 0) {
            peer.acknowledgements().leftFence(errno);
        }
    }

    /** An access to shared memory failed while a message was being placed. */
    void recover() {
        Peer peer = inHandPeer;
        inHandPeer = null;
        if (peer != null) {
            peer.acknowledgements().send(inHandOperation, inHandLevel, FabricErrno.EIO);
        }
    }
}
