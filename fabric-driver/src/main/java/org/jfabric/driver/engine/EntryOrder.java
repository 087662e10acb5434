package org.jfabric.driver.engine;

import java.util.Set;

/**
 * Keeps the entries of one peer's messages in the order in which the messages were matched.
 *
 * <p>Most messages are whole when they are matched, and their entries are written at once. The payload of others comes
 * later: in segments, by a pull of the link, or as the rest of a stream. While such a message is <em>awaited</em>, the
 * entries of all messages of this peer that were matched after it wait here. Other peers' entries never do.
 *
 * <pre>
 *   first                                      last
 *   awaited ---- ended ---- ended ---- awaited ---- ended       ended: the message is placed or lost, the entry waits
 * </pre>
 *
 * <p>A message that is longer than the endpoint's eager limit is not awaited, unless the application asked for
 * {@code FI_ORDER_STRICT}: it would hold back short ones for as long as its payload needs. Its own entry still waits
 * for the awaited messages that were matched before it.
 *
 * <p>Nothing waits for itself: the payload of the oldest message depends on no younger message. Owner: progress agent.
 */
final class EntryOrder {
    /** Only the first leaves, so the list needs one direction. */
    private ReceiveOperation first;
    private ReceiveOperation last;
    private long matched;

    /**
     * Whether no message is awaited.
     *
     * @return true if every entry may be written at once.
     */
    boolean isEmpty() {
        return first == null;
    }

    /** Nothing waits any more, because the endpoint closes. */
    void clear() {
        first = null;
        last = null;
    }

    /** A message was matched whose payload comes later. */
    void begin(ReceiveOperation operation, boolean isAwaited) {
        operation.matchedNumber = ++matched;
        if (isAwaited) {
            append(operation);
        }
    }

    /**
     * A message is placed or lost.
     *
     * @return true if its entry may be written now; else it has its place here, and the caller marks it as ended.
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

    /** The oldest, if its entry was only waiting for older ones; it leaves. */
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

    /** A message that was not awaited finds its place; true if that is in front of all others. */
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
