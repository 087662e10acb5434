package org.jfabric.driver.engine.rx;

import org.jfabric.driver.resource.CycleClock;

import java.util.Set;

/**
 * The receives that an endpoint can have outstanding; made with the endpoint. Owner: progress agent.
 */
final class ReceivePool {
    private final ReceiveOperation[] operations;
    private ReceiveOperation free;
    private int freeCount;
    private final CycleClock clock;
    private long given;

    ReceivePool(int size, CycleClock clock) {
        this.clock = clock;
        operations = new ReceiveOperation[size];
        for (int i = size - 1; i >= 0; i--) {
            ReceiveOperation operation = new ReceiveOperation(i);
            operations[i] = operation;
            operation.nextFree = free;
            free = operation;
        }
        freeCount = size;
    }

    ReceiveOperation take() {
        ReceiveOperation operation = free;
        if (operation != null) {
            free = operation.nextFree;
            operation.nextFree = null;
            operation.sinceNs = clock.nowNs();
            freeCount--;
        }
        return operation;
    }

    void give(ReceiveOperation operation) {
        // an id that a peer still holds must not name the next use of the record
        operation.id += 1L << 32;
        operation.state = ReceiveOperation.FREE;
        operation.reported = false;
        operation.region = null;
        operation.peer = null;
        operation.filling = null;
        operation.nextFree = free;
        free = operation;
        freeCount++;
        given++;
    }

    /** Records that came back since the start. */
    long given() {
        return given;
    }

    ReceiveOperation find(long id) {
        int index = (int) id;
        if (index < 0 || index >= operations.length) {
            return null;
        }
        ReceiveOperation operation = operations[index];
        return operation.id == id && operation.state != ReceiveOperation.FREE ? operation : null;
    }

    void addFree(Set<ReceiveOperation> operationsInList) {
        for (ReceiveOperation operation = free; operation != null; operation = operation.nextFree) {
            operationsInList.add(operation);
        }
    }

    /** No record is taken any more. */
    void close() {
        free = null;
    }

    int inUse() {
        return operations.length - freeCount;
    }

    int size() {
        return operations.length;
    }

    ReceiveOperation get(int index) {
        return operations[index];
    }
}
