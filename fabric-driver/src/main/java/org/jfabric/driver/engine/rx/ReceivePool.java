package org.jfabric.driver.engine.rx;

import org.jfabric.driver.resource.CycleClock;

import java.util.Set;

/**
 * The receives that an endpoint can have outstanding, and the parts, which stand for messages in multi-receive buffers;
 * made with the endpoint. Owner: progress agent.
 */
final class ReceivePool {
    private final ReceiveOperation[] operations;
    private final int receives;
    private ReceiveOperation free;
    private ReceiveOperation freePart;
    private int freeCount;
    private final CycleClock clock;
    private long given;

    ReceivePool(int receives, int parts, CycleClock clock) {
        this.receives = receives;
        this.clock = clock;
        operations = new ReceiveOperation[receives + parts];
        for (int i = operations.length - 1; i >= 0; i--) {
            boolean isPart = i >= receives;
            ReceiveOperation operation = new ReceiveOperation(i, isPart);
            operations[i] = operation;
            if (isPart) {
                operation.nextFree = freePart;
                freePart = operation;
            } else {
                operation.nextFree = free;
                free = operation;
            }
        }
        freeCount = receives;
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

    boolean hasPart() {
        return freePart != null;
    }

    /** A record for one message in a multi-receive buffer; only if {@link #hasPart()}. */
    ReceiveOperation takePart() {
        ReceiveOperation part = freePart;
        freePart = part.nextFree;
        part.nextFree = null;
        return part;
    }

    void give(ReceiveOperation operation) {
        // an id that a peer still holds must not name the next use of the record
        operation.id += 1L << 32;
        operation.state = ReceiveOperation.FREE;
        operation.reported = false;
        operation.region = null;
        operation.pieces = null;
        operation.peer = null;
        operation.cell = null;
        if (operation.isPart) {
            operation.buffer = null;
            operation.written = false;
            operation.released = false;
            operation.nextFree = freePart;
            freePart = operation;
            return;
        }
        operation.nextFree = free;
        free = operation;
        freeCount++;
        given++;
    }

    /** Records of receives that came back since the start. */
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
        for (ReceiveOperation part = freePart; part != null; part = part.nextFree) {
            operationsInList.add(part);
        }
    }

    /** No record is taken any more. */
    void close() {
        free = null;
        freePart = null;
    }

    /** Receives that have not ended. */
    int inUse() {
        return receives - freeCount;
    }

    /** Records of both kinds. */
    int size() {
        return operations.length;
    }

    ReceiveOperation get(int index) {
        return operations[index];
    }
}
