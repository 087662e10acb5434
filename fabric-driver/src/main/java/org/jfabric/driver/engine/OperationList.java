package org.jfabric.driver.engine;

import org.jfabric.driver.link.TransmitOperation;

import java.util.Set;

/**
 * A list of sends in order, linked through the records themselves, so that adding and removing allocates nothing. A
 * record is in one list at most.
 *
 * <p>Owner: progress agent.
 */
final class OperationList {
    private TransmitOperation first;
    private TransmitOperation last;

    boolean isEmpty() {
        return first == null;
    }

    TransmitOperation first() {
        return first;
    }

    void addLast(TransmitOperation operation) {
        operation.next = null;
        operation.previous = last;
        if (last == null) {
            first = operation;
        } else {
            last.next = operation;
        }
        last = operation;
    }

    void addFirst(TransmitOperation operation) {
        operation.previous = null;
        operation.next = first;
        if (first == null) {
            last = operation;
        } else {
            first.previous = operation;
        }
        first = operation;
    }

    void remove(TransmitOperation operation) {
        if (operation.previous == null) {
            first = operation.next;
        } else {
            operation.previous.next = operation.next;
        }
        if (operation.next == null) {
            last = operation.previous;
        } else {
            operation.next.previous = operation.previous;
        }
        operation.next = null;
        operation.previous = null;
    }

    void addTo(Set<TransmitOperation> operations) {
        for (TransmitOperation operation = first; operation != null; operation = operation.next) {
            operations.add(operation);
        }
    }

    void clear() {
        first = null;
        last = null;
    }

    int size() {
        int count = 0;
        for (TransmitOperation operation = first; operation != null; operation = operation.next) {
            count++;
        }
        return count;
    }
}
