package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.TransmitOperation;

import java.util.Set;

/**
 * The sends that an endpoint can have outstanding, each with memory for an injected payload; made with the endpoint.
 *
 * <p>Owner: progress agent.
 */
final class TransmitPool {
    private static final int ALIGNMENT = 64;

    private final TransmitOperation[] operations;
    private final long memory;
    private TransmitOperation free;
    private int freeCount;

    TransmitPool(int size, int injectSizeBytes) {
        int stride = (injectSizeBytes + ALIGNMENT - 1) & -ALIGNMENT;
        memory = UnsafeApi.allocateMemory(Math.max(1L, (long) size * stride + ALIGNMENT));
        long first = (memory + ALIGNMENT - 1) & -ALIGNMENT;
        operations = new TransmitOperation[size];
        for (int i = size - 1; i >= 0; i--) {
            TransmitOperation operation = new TransmitOperation(i, first + (long) i * stride);
            operations[i] = operation;
            operation.next = free;
            free = operation;
        }
        freeCount = size;
    }

    /** A record, the one used last, so that it is still in the cache; null if all are in use. */
    TransmitOperation take() {
        TransmitOperation operation = free;
        if (operation != null) {
            free = operation.next;
            operation.next = null;
            freeCount--;
        }
        return operation;
    }

    void give(TransmitOperation operation) {
        operation.retire();
        operation.previous = null;
        operation.next = free;
        free = operation;
        freeCount++;
    }

    /** The record that a peer names, or null if that use of it is over. */
    TransmitOperation find(long id) {
        int index = (int) id;
        if (index < 0 || index >= operations.length) {
            return null;
        }
        TransmitOperation operation = operations[index];
        return operation.id == id && operation.state != TransmitOperation.FREE ? operation : null;
    }

    /** Whether a use of a record that a peer may know is over. */
    boolean isOver(long id) {
        int index = (int) id;
        return index >= 0 && index < operations.length && id >= 0 && id < operations[index].id;
    }

    boolean hasFree() {
        return free != null;
    }

    int inUse() {
        return operations.length - freeCount;
    }

    int size() {
        return operations.length;
    }

    TransmitOperation get(int index) {
        return operations[index];
    }

    void addFree(Set<TransmitOperation> operationsInList) {
        for (TransmitOperation operation = free; operation != null; operation = operation.next) {
            operationsInList.add(operation);
        }
    }

    /** Gives the memory back; no record is taken any more. */
    void free() {
        free = null;
        UnsafeApi.freeMemory(memory);
    }
}
