package org.jfabric.driver.engine;

import org.jfabric.driver.resource.CycleClock;

import java.util.Set;
import java.util.function.IntFunction;

/**
 * The receives that an endpoint can have outstanding, and records of the driver's own for messages that take no posted
 * receive; made with the endpoint.
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
    private ReceiveOperation freeOfDriver;
    /** Receives that may still be posted. */
    private int room;
    /** Records that are in use although their receives have made room. */
    private int lingering;
    private final CycleClock clock;
    private final CompletedCount completed = new CompletedCount();

    /**
     * A pool of which nothing is taken.
     *
     * @param receives    outstanding at most.
     * @param newReceive  makes a record for one, from its index.
     * @param ofDriver    records of the driver's own.
     * @param newOfDriver makes one of those, from its index.
     * @param clock       of the duty cycle.
     */
    ReceivePool(
        int receives, IntFunction<ReceiveOperation> newReceive, int ofDriver,
        IntFunction<ReceiveOperation> newOfDriver, CycleClock clock) {
        this.receives = receives;
        this.clock = clock;
        // one more for a receive that a memory fault interrupts between its room and the return of its record
        int records = receives + SPARES + 1;
        operations = new ReceiveOperation[records + ofDriver];
        for (int i = operations.length - 1; i >= 0; i--) {
            ReceiveOperation operation = i < records ? newReceive.apply(i) : newOfDriver.apply(i);
            operations[i] = operation;
            link(operation);
        }
        room = receives;
    }

    /** Says how the records end, before the first is taken. */
    void modes(ReceiveMode ofReceives, ReceiveMode ofDriver) {
        for (ReceiveOperation operation : operations) {
            operation.mode = operation.isOfDriver ? ofDriver : ofReceives;
        }
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
        operation.state = ReceiveState.FREE;
        operation.region = null;
        operation.nextFree = free;
        free = operation;
    }

    boolean hasOfDriver() {
        return freeOfDriver != null;
    }

    /** A record for a message that takes no posted receive; only if {@link #hasOfDriver()}. */
    ReceiveOperation takeOfDriver() {
        ReceiveOperation operation = freeOfDriver;
        freeOfDriver = operation.nextFree;
        operation.nextFree = null;
        return operation;
    }

    void give(ReceiveOperation operation) {
        // first: a fault that is noticed late must find it here and reported, or given back as a whole
        ending(operation);
        // an id that a peer still holds must not name the next use of the record
        operation.id += 1L << 32;
        operation.state = ReceiveState.FREE;
        operation.reported = false;
        operation.region = null;
        operation.pieces = null;
        operation.peer = null;
        operation.cell = null;
        operation.matchedNumber = 0;
        link(operation);
        if (!operation.isOfDriver) {
            operation.madeRoom = false;
            lingering--;
        }
    }

    private void link(ReceiveOperation operation) {
        if (operation.isOfDriver) {
            operation.nextFree = freeOfDriver;
            freeOfDriver = operation;
        } else {
            operation.nextFree = free;
            free = operation;
        }
    }

    /** Makes room for another receive in front of the entry of one whose record comes back in this step. */
    void ending(ReceiveOperation operation) {
        // one of the driver's own took none
        if (!operation.madeRoom && !operation.isOfDriver) {
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
        return operation.id == id && operation.state != ReceiveState.FREE ? operation : null;
    }

    void addFree(Set<ReceiveOperation> operationsInList) {
        for (ReceiveOperation operation = free; operation != null; operation = operation.nextFree) {
            operationsInList.add(operation);
        }
        for (ReceiveOperation operation = freeOfDriver; operation != null; operation = operation.nextFree) {
            operationsInList.add(operation);
        }
    }

    /** No record is taken any more. */
    void close() {
        free = null;
        freeOfDriver = null;
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
