package org.jfabric.driver.engine;

import org.jfabric.driver.engine.match.UnexpectedMessage;
import org.jfabric.driver.link.RemotePayload;

/**
 * A message that came before a receive for it. Records are used again. Owner: progress agent.
 */
final class StoredMessage extends UnexpectedMessage {
    static final int FREE = 0;
    /** The payload is in the store. */
    static final int STORED = 1;
    /** The payload is still streaming into the store. */
    static final int FILLING = 2;
    /** The payload waits at the sender. */
    static final int ANNOUNCED = 3;
    /** Claimed, and its sender went before the payload was here; whoever claimed it has yet to be told. */
    static final int LOST = 4;

    final RemotePayload payload = new RemotePayload();
    final int index;
    int state;
    Peer peer;
    int epoch;
    /** Time of the cycle in which it came; for those who look. */
    long sinceNs;
    long flags;
    long data;
    long length;
    long block;
    /** What the sender waits for: the level {@code MATCH_COMPLETE}, and whether its fence waits for this message. */
    long awaited;
    /** The sender's id, if it waits for the level. */
    long operation;
    /** Copied whole by the engine itself while it is filling: no link will tell of its end. */
    boolean resident;
    /** Its connection is not read: the payload is still in the peer's or the system's hands, and there is no block. */
    boolean paused;
    /** What comes of it after a pause goes straight to the receive that took it, or is dropped. */
    boolean inPlace;
    /** The receive that was posted while the payload was filling. */
    ReceiveOperation receive;
    /** Why it is {@link #LOST}, a positive fabric errno. */
    int errno;
    StoredMessage nextFree;

    StoredMessage(int index) {
        this.index = index;
    }
}
