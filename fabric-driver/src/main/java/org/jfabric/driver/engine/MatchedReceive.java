package org.jfabric.driver.engine;

import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.resource.RegisteredRegion;

/**
 * What each message touches of the receive that it takes: where the receive is, what it asked for, and what it got. The
 * fields of a class lie together in memory, so the rarely used ones are in the subclass: with very many receives posted
 * the cache lines of each decide what a message costs.
 *
 * <p>Owner: progress agent.
 */
abstract class MatchedReceive extends PostedReceive {
    /** Low 32 bits: index in the pool; high: how often the record was used. */
    long id;
    /** Time of the cycle in which it was posted; for those who look. */
    long sinceNs;
    long context;
    long flags;
    long buf;
    /** Native address of the buffer; not looked at where it is in several pieces. */
    long address;
    long length;
    // of the message that it took
    long messageFlags;
    long messageTag;
    long messageData;
    long messageLength;
    int state;
    /** How it ended, of a part, of a buffer, or of a claim that gives its message up. */
    int endErrno;
    /** Its entry is written, or it was retired; of a part: how it ended is known. */
    boolean reported;
    final boolean isPart;
    RegisteredRegion region;
    /** The buffer's pieces, or null: it is in one. */
    PieceList pieces;
    /** The sender of the message. */
    Peer peer;
    /** Where the message goes on an endpoint with buffered receives, or null. */
    SlabCell cell;
    ReceiveOperation nextFree;

    MatchedReceive(int index, boolean isPart) {
        this.id = index;
        this.isPart = isPart;
    }
}
