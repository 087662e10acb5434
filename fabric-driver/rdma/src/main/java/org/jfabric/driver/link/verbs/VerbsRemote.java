package org.jfabric.driver.link.verbs;

import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.TransmitOperation;

/**
 * Remote memory access by the cards: each access is one work request or a few, the peer's card executes it, and the
 * work completion is the answer. Keys are those of the peer's card, addresses are virtual ones of the peer's driver.
 *
 * <p>Owner: progress agent.
 */
final class VerbsRemote extends RemoteChannel {
    private final VerbsConnection connection;
    private final VerbsLink link;

    VerbsRemote(VerbsConnection connection, VerbsLink link) {
        this.connection = connection;
        this.link = link;
    }

    /** Of the orders that are offered; a later write may overtake a read. */
    @Override
    public boolean keepsOrder() {
        return true;
    }

    /** No access is longer than the longest one that is offered, which is one request. */
    @Override
    public long pieceLimitBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public int write(TransmitOperation operation, long length, int grant) {
        return posted(connection.writer().write(operation));
    }

    @Override
    public int read(TransmitOperation operation, int grant) {
        return posted(connection.writer().read(operation));
    }

    @Override
    public int atomic(TransmitOperation operation, int grant) {
        return posted(connection.writer().atomic(operation));
    }

    private int posted(int result) {
        // the send ring may have requests to post
        link.activate(connection);
        return result;
    }
}
