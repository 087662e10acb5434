package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.AtomicPart;
import org.jfabric.driver.link.TransmitOperation;

import java.util.Set;

/**
 * The records of the sends that an endpoint can have outstanding, each with memory for an injected payload. All are
 * allocated with the endpoint.
 *
 * <p>Owner: progress agent.
 */
final class TransmitPool {
    private static final int ALIGNMENT = 64;

    private final TransmitOperation[] operations;
    private final long memory;
    private TransmitOperation free;
    private int freeCount;

    TransmitPool(int size, int injectSizeBytes, boolean hasAtomics) {
        int stride = (injectSizeBytes + ALIGNMENT - 1) & -ALIGNMENT;
        memory = UnsafeApi.allocateMemory(Math.max(1L, (long) size * stride + ALIGNMENT));
        long first = (memory + ALIGNMENT - 1) & -ALIGNMENT;
        operations = new TransmitOperation[size];
        for (int i = size - 1; i >= 0; i--) {
            TransmitOperation operation = new TransmitOperation(i, first + (long) i * stride);
            operation.atomic = hasAtomics ? new AtomicPart() : null;
            operations[i] = operation;
            operation.next = free;
            free = operation;
        }
        freeCount = size;
    }

    /** Takes the record that was used last, because it is most likely in the cache; null if all are in use. */
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

    /** The record of an id in a peer's message, or null if that use of the record has ended. */
    TransmitOperation find(long id) {
        int index = (int) id;
        if (index < 0 || index >= operations.length) {
            return null;
        }
        TransmitOperation operation = operations[index];
        return operation.id == id && operation.state != TransmitOperation.FREE ? operation : null;
    }

    /** Returns whether the use of a record that an id identifies has ended. */
    boolean isOver(long id) {
        int index = (int) id;
        return index >= 0 && index < operations.length && id >= 0 && id < operations[index].id;
    }

    boolean hasAtomics() {
        return operations[0].atomic != null;
    }

    boolean hasFree() {
        return free != null;
    }

    int free() {
        return freeCount;
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

    /** Frees the memory; no record can be taken any more. */
    void close() {
        free = null;
        UnsafeApi.freeMemory(memory);
    }
}
