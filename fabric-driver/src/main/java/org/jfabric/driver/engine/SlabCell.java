package org.jfabric.driver.engine;

import org.jfabric.driver.link.RemotePayload;

/**
 * One cell of a receive slab and the message in it. Owner: progress agent.
 */
final class SlabCell {
    static final int FREE = 0;
    /** A message is being received into it. */
    static final int FILLING = 1;
    /** An entry has handed it to the client, which owns it until it returns it. */
    static final int OUT = 2;
    /** The message is complete; its entry waits for earlier ones. */
    static final int READY = 3;
    /** The client has returned a lent message; its sender is still to be notified. */
    static final int RETURNED = 4;

    final int index;
    /** Native address of the first byte. */
    final long address;
    /** Offset of the first byte in the file. */
    final long place;
    int state;
    /** Number of uses; part of the context, so that a context of an earlier use is invalid. */
    int use;
    SlabCell nextFree;
    /** In {@link CellOrder}. */
    SlabCell nextTaken;
    SlabCell previousTaken;

    // of the message in it, once it is ready or out; the sender of an untagged message is set from the start
    PeerReceives from;
    long flags;
    long tag;
    long data;
    long length;
    /** In the log of its group, or -1. */
    long position;
    /** With FI_TIMESTAMP in its flags: when it arrived. */
    long timeNs;
    /** The message lies at its sender, and the cell says where. */
    boolean isLent;
    /** Of a lent message whose sender is gone: the positive errno of a claim; else 0. */
    int lostErrno;
    /** Of a lent message; made with the first one. */
    RemotePayload payload;
    SlabCell nextReturned;
    /** The whole message, if the cell has only its prefix: claimed, in the store or at its sender. */
    StoredMessage message;

    SlabCell(int index, long address, long place) {
        this.index = index;
        this.address = address;
        this.place = place;
    }

    /** Sets the message, or prefix of a message, that is in the cell. */
    void set(PeerReceives sender, long messageFlags, long messageTag, long messageData, long messageLength) {
        from = sender;
        flags = messageFlags;
        tag = messageTag;
        data = messageData;
        length = messageLength;
    }

    /** Sets what few messages have, those with {@link ReceiveOperation#OF_FEW} in their flags. */
    void set(long messagePosition, long messageTimeNs) {
        position = messagePosition;
        timeNs = messageTimeNs;
    }
}
