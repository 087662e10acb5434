package org.jfabric.driver.engine;

import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.info.Flags;

/**
 * Visits the records of a receive side one by one, by their place in memory: the place of a record does not change with
 * its state. Owner: progress agent.
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

    /** The number of untagged receives that wait for a message. */
    int postedUntagged() {
        return untagged.postedCount();
    }

    /** The number of places of receives. Returns a count that never changes. */
    int receives() {
        return pool.size();
    }

    /**
     * Visits the receive at a place, if there is one.
     *
     * @param place   from 0.
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

    /** The number of places of messages. Returns a count that may grow. */
    int messages() {
        return store.messageCount();
    }

    /**
     * Visits the unexpected message at a place, if there is one.
     *
     * @param place   from 0.
     */
    void visitMessage(int place, QueueVisitor visitor) {
        StoredMessage message = store.message(place);
        if (message.isWaiting() || message.isClaimed()) {
            visitor.onUnexpected(
                (message.flags & Flags.TAGGED) != 0, message.tag(), message.from.peer(), message.source(),
                message.state == StoredMessage.ANNOUNCED, message.state == StoredMessage.LOST ? 0 : message.length,
                message.sinceNs);
        }
    }

    /**
     * The number of messages whose payload is in the unexpected store. Returns a count; empty messages have no block.
     */
    int storedBlocks() {
        return store.storedBlocks();
    }

    /** The bytes of the budget that are not reserved as a peer's credit. */
    long unreservedBytes() {
        return store.budget().unreservedBytes();
    }
}
