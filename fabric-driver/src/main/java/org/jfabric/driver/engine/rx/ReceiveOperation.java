package org.jfabric.driver.engine.rx;

import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.engine.peer.Peer;
import org.jfabric.driver.resource.RegisteredRegion;

/**
 * One receive from its posting to its completion. The records of an endpoint are made with it and used again.
 *
 * <p>Owner: progress agent.
 */
public final class ReceiveOperation extends PostedReceive {
    static final int FREE = 0;
    static final int POSTED = 1;
    /** The bytes of a streamed message go straight into the buffer. */
    static final int STREAMING = 2;
    /** Waits for the rest of a streamed message that goes into the unexpected store. */
    static final int FILLING = 3;
    /** The link fetches the announced payload. */
    static final int PULLING = 4;
    /** The peer has yet to be asked for segments. */
    static final int WANTS_SEGMENTS = 5;
    /** Segments arrive. */
    static final int SEGMENTS = 6;
    /** The entry is written; the peer has yet to be told that its payload was taken. */
    static final int FINISHING = 7;
    /** A peek has claimed its message and has yet to say so. */
    static final int CLAIMED = 8;

    /** Next receive that takes an announced payload of the same peer; {@link Peer}'s list. */
    public ReceiveOperation nextPull;
    /** Previous in {@link Peer}'s list. */
    public ReceiveOperation previousPull;
    /** Next receive with something to tell the peer; {@link Peer}'s list. */
    public ReceiveOperation nextControl;

    /** Low 32 bits: index in the pool; high: how often the record was used. */
    long id;
    int state;
    long context;
    long flags;
    long buf;
    long address;
    long length;
    RegisteredRegion region;
    ReceiveOperation nextFree;
    /** The message whose payload still streams into the store, in the state {@link #FILLING}. */
    StoredMessage filling;

    // of the message that it took
    Peer peer;
    long messageFlags;
    long messageTag;
    long messageData;
    long messageLength;
    long remoteOperation;
    long received;
    int finishErrno;
    /** Its entry is written, or it was retired. */
    boolean reported;

    ReceiveOperation(int index) {
        this.id = index;
    }

    void message(Peer newPeer, long newFlags, long newTag, long newData, long newLength) {
        peer = newPeer;
        messageFlags = newFlags;
        messageTag = newTag;
        messageData = newData;
        messageLength = newLength;
        received = 0;
    }

    /** Bytes of the message that fit. */
    long placedBytes() {
        return Math.min(messageLength, length);
    }
}
