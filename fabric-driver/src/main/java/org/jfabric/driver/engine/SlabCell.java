package org.jfabric.driver.engine;


/**
 * One cell of a receive slab and the message in it. Owner: progress agent.
 */
final class SlabCell {
    static final int FREE = 0;
    /** A message is on its way into it. */
    static final int FILLING = 1;
    /** An entry hands it out; it is the client's until it comes back. */
    static final int OUT = 2;
    /** The message is there; the entries of others are written before its own. */
    static final int READY = 3;

    final int index;
    /** Native address of the first byte. */
    final long address;
    /** Offset of the first byte in the file. */
    final long place;
    int state;
    /** How often it was used, so that a context of an earlier use means nothing. */
    int use;
    SlabCell nextFree;
    /** In {@link CellOrder}. */
    SlabCell nextTaken;
    SlabCell previousTaken;

    // of the message in it, once it is ready or out; the sender of an untagged one from the start
    Peer peer;
    long flags;
    long tag;
    long data;
    long length;
    /** The whole message, if only its begin is here: claimed, in the store or at its sender. */
    StoredMessage message;

    SlabCell(int index, long address, long place) {
        this.index = index;
        this.address = address;
        this.place = place;
    }

    /** A message is in it, or its begin. */
    void set(Peer sender, long messageFlags, long messageTag, long messageData, long messageLength) {
        peer = sender;
        flags = messageFlags;
        tag = messageTag;
        data = messageData;
        length = messageLength;
    }
}
