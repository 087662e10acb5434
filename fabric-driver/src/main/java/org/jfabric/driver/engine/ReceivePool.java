package org.jfabric.driver.engine;

import org.jfabric.driver.resource.CycleClock;

import java.util.Set;

/**
 * The receives that an endpoint can have outstanding, and the parts, which stand for messages in multi-receive buffers;
 * made with the endpoint.
 *
 * <p>A receive makes room for another one in front of its entry, its record comes back behind it: mostly in
 * the same step, but not before the sender of an announced payload was told. So there are a few records more than
 * receives. A peer that does not read what it is told uses them up, and then all receives whose records do not come
 * back at once keep their room until they do.
 *
 * <p>Owner: progress agent.
 */
final class ReceivePool {
    private static final int SPARES = 16;

    private final ReceiveOperation[] operations;
    private final int receives;
    private ReceiveOperation free;
    private ReceiveOperation freePart;
    /** Receives that may still be posted. */
    private int room;
    /** Records that are in use although their receives have made room. */
    private int lingering;
    private final CycleClock clock;
    private final CompletedCount completed = new CompletedCount();

    ReceivePool(int receives, int parts, CycleClock clock) {
        this.receives = receives;
        this.clock = clock;
        // one more for a receive that a memory fault interrupts between its room and the return of its record
        int records = receives + SPARES + 1;
        operations = new ReceiveOperation[records + parts];
        for (int i = operations.length - 1; i >= 0; i--) {
            boolean isPart = i >= records;
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
        room = receives;
    }

    ReceiveOperation take() {
        ReceiveOperation operation = free;
        if (room == 0 || operation == null) {
            return null;
        }
        operation.sinceNs = clock.nowNs();
        room--;
        free = operation.nextFree;
        operation.nextFree = null;
        return operation;
    }

    /** Takes the room of a receive that needs no record yet; false if there is none. */
    boolean takeRoom() {
        if (room == 0) {
            return false;
        }
        room--;
        return true;
    }

    /** A receive without a record has ended: makes its room free, in front of its entry. */
    void giveRoom() {
        room++;
        completed.increment();
    }

    /** A record for a receive that has its room; there always is one, as each room has its record. */
    ReceiveOperation takeRecord() {
        ReceiveOperation operation = free;
        free = operation.nextFree;
        operation.nextFree = null;
        return operation;
    }

    /** Takes the record back of a receive that keeps its room and its memory. */
    void giveRecord(ReceiveOperation operation) {
        operation.id += 1L << 32;
        operation.state = ReceiveOperation.FREE;
        operation.region = null;
        operation.nextFree = free;
        free = operation;
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
        // first: a fault that is noticed late must find it here and reported, or given back as a whole
        ending(operation);
        // an id that a peer still holds must not name the next use of the record
        operation.id += 1L << 32;
        operation.state = ReceiveOperation.FREE;
        operation.reported = false;
        operation.region = null;
        operation.pieces = null;
        operation.peer = null;
        operation.cell = null;
        operation.matchedNumber = 0;
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
        operation.madeRoom = false;
        lingering--;
    }

    /** Makes room for another receive in front of the entry of one whose record comes back in this step. */
    void ending(ReceiveOperation operation) {
        // a part took none
        if (!operation.madeRoom && !operation.isPart) {
            operation.madeRoom = true;
            lingering++;
            room++;
            completed.increment();
        }
    }

    /** The same in front of the entry of a receive whose record comes back some time later, while there are spares. */
    void endingLater(ReceiveOperation operation) {
        if (lingering < SPARES) {
            ending(operation);
        }
    }

    /** Receives that have made room since the start. */
    CompletedCount completed() {
        return completed;
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

    /** Receives that have not made room. */
    int outstanding() {
        return receives - room;
    }

    /** Records of both kinds. */
    int size() {
        return operations.length;
    }

    ReceiveOperation get(int index) {
        return operations[index];
    }
}
