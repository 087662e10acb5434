package org.jfabric.driver.engine;

import org.jfabric.driver.engine.match.UnexpectedMessage;
import org.jfabric.driver.link.RemotePayload;

/**
 * A message that arrived before a receive for it. Records are reused. Owner: progress agent.
 */
final class StoredMessage extends UnexpectedMessage {
    static final int FREE = 0;
    /** The payload is in the store. */
    static final int STORED = 1;
    /** The payload is still streaming into the store. */
    static final int FILLING = 2;
    /** The payload waits at the sender. */
    static final int ANNOUNCED = 3;
    /** Claimed, but its sender went down before the payload was complete; the claim is still to be completed. */
    static final int LOST = 4;

    final RemotePayload payload = new RemotePayload();
    final int index;
    int state;
    PeerReceives from;
    int epoch;
    /** Time of the cycle in which it arrived; for views. */
    long sinceNs;
    long flags;
    long data;
    long length;
    /** In the log of its group, or -1. */
    long position;
    /** With FI_TIMESTAMP in its flags: when it arrived. */
    long timeNs;
    long block;
    /** Acknowledgements that the sender waits for: {@code MATCH_COMPLETE}, and {@code FENCE} if its fence waits. */
    long awaited;
    /** The sender's id, if it waits for the level. */
    long operation;
    /** It is announced, and its sender lends it. */
    boolean isLent;
    /** The engine itself copies the complete message while it is filling: no link reports the end of the copy. */
    boolean resident;
    /** Its connection is not read: the payload is still with the peer or in the kernel, and it has no block. */
    boolean paused;
    /** Claimed by no application: no receive takes it before it is complete ({@link WaitingMessages#holdBack}). */
    boolean isHeldBack;
    /** Bytes that arrive after a pause are placed directly in the receive that took it, or are dropped. */
    boolean inPlace;
    /** The receive that was posted while the payload was filling. */
    ReceiveOperation receive;
    /** The reason if it is {@link #LOST}: a positive fabric errno. */
    int errno;
    StoredMessage nextFree;

    StoredMessage(int index) {
        this.index = index;
    }
}
