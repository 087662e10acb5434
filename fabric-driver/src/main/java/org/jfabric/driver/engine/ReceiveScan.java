package org.jfabric.driver.engine;

import org.jfabric.Flags;
import org.jfabric.driver.engine.match.TagMatcher;

/**
 * Shows the records of a receive side one by one, by their place in memory: a place stays where it is whatever becomes
 * of the record. Owner: progress agent.
 */
final class ReceiveScan {
    private final ReceivePool pool;
    private final UnexpectedStore store;
    private final TagMatcher untagged;

    ReceiveScan(ReceivePool pool, UnexpectedStore store, TagMatcher untagged) {
        this.pool = pool;
        this.store = store;
        this.untagged = untagged;
    }

    /**
     * Untagged receives that wait for a message.
     *
     * @return a count.
     */
    int postedUntagged() {
        return untagged.postedCount();
    }

    /**
     * Places of receives.
     *
     * @return a count that never changes.
     */
    int receives() {
        return pool.size();
    }

    /**
     * Shows a receive, if there is one.
     *
     * @param place   from 0.
     * @param visitor told.
     */
    void visitReceive(int place, QueueVisitor visitor) {
        ReceiveOperation operation = pool.get(place);
        if (operation.isPosted()) {
            visitor.onPosted(
                (operation.flags & Flags.TAGGED) != 0, operation.tag(), operation.ignore(), operation.source(),
                operation.length, operation.sinceNs);
        } else if (operation.state != ReceiveState.FREE) {
            visitor.onUnderWay();
        }
    }

    /**
     * Places of messages.
     *
     * @return a count that may grow.
     */
    int messages() {
        return store.messageCount();
    }

    /**
     * Shows an unexpected message, if there is one.
     *
     * @param place   from 0.
     * @param visitor told.
     */
    void visitMessage(int place, QueueVisitor visitor) {
        StoredMessage message = store.message(place);
        if (message.isWaiting() || message.isClaimed()) {
            visitor.onUnexpected(
                (message.flags & Flags.TAGGED) != 0, message.tag(), message.peer, message.source(),
                message.state == StoredMessage.ANNOUNCED, message.state == StoredMessage.LOST ? 0 : message.length,
                message.sinceNs);
        }
    }

    /**
     * Messages whose payload is in the unexpected store.
     *
     * @return a count; empty messages hold no block.
     */
    int storedBlocks() {
        return store.storedBlocks();
    }

    /**
     * Bytes of the budget that are no peer's credit.
     *
     * @return bytes.
     */
    long unreservedBytes() {
        return store.budget().unreservedBytes();
    }
}
