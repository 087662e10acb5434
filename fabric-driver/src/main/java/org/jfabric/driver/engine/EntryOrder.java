package org.jfabric.driver.engine;

import java.util.Set;

/**
 * Keeps the completion entries of one peer's messages in the order in which the messages were matched.
 *
 * <p>Most messages are complete when they are matched, and their entries are written immediately. The payload of other
 * messages arrives later: in segments, by a pull of the link, or as the rest of a stream. While such a message is
 * <em>awaited</em>, the entries of all messages of this peer that were matched after it wait here. Entries of different
 * peers never wait for each other.
 *
 * <pre>
 *   first                                      last
 *   awaited ---- ended ---- ended ---- awaited ---- ended       ended: the message is placed or lost, the entry waits
 * </pre>
 *
 * <p>A message that is longer than the endpoint's eager limit is not awaited, unless the application asked for {@code
 * FI_ORDER_STRICT}: it would delay short messages for as long as its payload takes. Its own entry still waits for the
 * awaited messages that were matched before it.
 *
 * <p>There is no deadlock: the payload of the oldest message depends on no later message. Owner: progress agent.
 */
final class EntryOrder {
    /** Only the first is removed, so the list is singly linked. */
    private ReceiveOperation first;
    private ReceiveOperation last;
    private long matched;

    /** Returns whether no message is awaited. */
    boolean isEmpty() {
        return first == null;
    }

    /** Drops all waiting entries, because the endpoint closes. */
    void clear() {
        first = null;
        last = null;
    }

    /** Registers a matched message whose payload arrives later. */
    void begin(ReceiveOperation operation, boolean isAwaited) {
        operation.matchedNumber = ++matched;
        if (isAwaited) {
            append(operation);
        }
    }

    /**
     * Returns whether the entry of a placed or lost message may be written now.
     *
     * @return true if it may; else the message has its place in the order, and the caller marks it as ended.
     */
    boolean isTurnOf(ReceiveOperation operation) {
        if (operation.late.inOrder) {
            if (operation != first) {
                return false;
            }
            removeFirst();
            return true;
        }
        if (first == null) {
            return true;
        }
        if (operation.matchedNumber == 0) {
            operation.matchedNumber = ++matched;
            append(operation);
            return false;
        }
        return insert(operation);
    }

    /** Removes and returns the oldest message if it has ended; else returns null. */
    ReceiveOperation pollEnded() {
        ReceiveOperation oldest = first;
        if (oldest == null || !oldest.isEnded()) {
            return null;
        }
        removeFirst();
        return oldest;
    }

    void addTo(Set<ReceiveOperation> operations) {
        for (ReceiveOperation operation = first; operation != null; operation = operation.late.nextInOrder) {
            operations.add(operation);
        }
    }

    private void append(ReceiveOperation operation) {
        operation.late.nextInOrder = null;
        operation.late.inOrder = true;
        if (last == null) {
            first = operation;
        } else {
            last.late.nextInOrder = operation;
        }
        last = operation;
    }

    /**
     * Inserts a message that was not awaited at its place; returns true, without inserting it, if that is the first.
     */
    private boolean insert(ReceiveOperation operation) {
        if (operation.matchedNumber < first.matchedNumber) {
            return true;
        }
        ReceiveOperation before = first;
        while (before.late.nextInOrder != null && before.late.nextInOrder.matchedNumber < operation.matchedNumber) {
            before = before.late.nextInOrder;
        }
        operation.late.nextInOrder = before.late.nextInOrder;
        operation.late.inOrder = true;
        before.late.nextInOrder = operation;
        if (before == last) {
            last = operation;
        }
        return false;
    }

    private void removeFirst() {
        ReceiveOperation removed = first;
        first = removed.late.nextInOrder;
        if (first == null) {
            last = null;
        }
        removed.late.inOrder = false;
        removed.late.nextInOrder = null;
    }
}
