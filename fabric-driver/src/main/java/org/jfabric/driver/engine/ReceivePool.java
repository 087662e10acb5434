package org.jfabric.driver.engine;

import org.jfabric.driver.resource.CycleClock;

import java.util.Set;
import java.util.function.IntFunction;

/**
 * The records of the receives that an endpoint can have outstanding, and records of the driver's own for messages that
 * take no posted receive. All are allocated with the endpoint.
 *
 * <p>A receive frees its slot before its entry is written, and its record is returned after it: mostly in the same
 * step, but not before the sender of an announced payload was notified. So there are a few more records than slots. A
 * peer that does not read its notifications uses them up. Then each receive whose record is not returned in the same
 * step keeps its slot until the record is returned.
 *
 * <p>Owner: progress agent.
 */
final class ReceivePool {
    private static final int SPARES = 16;

    private final ReceiveOperation[] operations;
    private final int receives;
    private ReceiveOperation free;
    private ReceiveOperation freeOfDriver;
    /** Number of receives that may still be posted. */
    private int room;
    /** Number of records that are in use although their receives have freed their slots. */
    private int lingering;
    private final CycleClock clock;
    private final CompletedCount completed = new CompletedCount();

    /**
     * A pool with all records free.
     *
     * @param receives    greatest number of outstanding receives.
     */
    ReceivePool(
        int receives, IntFunction<ReceiveOperation> newReceive, int ofDriver,
        IntFunction<ReceiveOperation> newOfDriver, CycleClock clock) {
        this.receives = receives;
        this.clock = clock;
        // one more for a receive that a memory fault interrupts between freeing its slot and returning its record
        int records = receives + SPARES + 1;
        operations = new ReceiveOperation[records + ofDriver];
        for (int i = operations.length - 1; i >= 0; i--) {
            ReceiveOperation operation = i < records ? newReceive.apply(i) : newOfDriver.apply(i);
            operations[i] = operation;
            link(operation);
        }
        room = receives;
    }

    /** Sets the modes that end the records; called before the first is taken. */
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

    /** Takes the slot of a receive that needs no record yet; returns false if none is free. */
    boolean takeRoom() {
        if (room == 0) {
            return false;
        }
        room--;
        return true;
    }

    /** Frees the slot of a receive without a record, before its entry is written. */
    void giveRoom() {
        room++;
        completed.increment();
    }

    /** Takes the record of a receive that took its slot by {@link #takeRoom()} and is posted now. */
    ReceiveOperation takeReserved() {
        ReceiveOperation operation = takeRecord();
        operation.sinceNs = clock.nowNs();
        return operation;
    }

    /** Takes a record for a receive that has a slot; one is always free, because each slot has a record. */
    ReceiveOperation takeRecord() {
        ReceiveOperation operation = free;
        free = operation.nextFree;
        operation.nextFree = null;
        return operation;
    }

    /** Returns the record of a receive that keeps its slot and its memory. */
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
        // first: a fault that is reported late must find the record either in use and reported, or completely returned
        ending(operation);
        // an id that a peer still has must not identify the next use of the record
        operation.id += 1L << 32;
        operation.state = ReceiveState.FREE;
        operation.reported = false;
        operation.region = null;
        operation.pieces = null;
        operation.from = null;
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

    /** Frees the slot of a receive before its entry is written; its record is returned in the same step. */
    void ending(ReceiveOperation operation) {
        // the driver's own records have no slots
        if (!operation.madeRoom && !operation.isOfDriver) {
            operation.madeRoom = true;
            lingering++;
            room++;
            completed.increment();
        }
    }

    /** As {@link #ending}, for a receive whose record is returned later; does nothing if no spare record is left. */
    void endingLater(ReceiveOperation operation) {
        if (lingering < SPARES) {
            ending(operation);
        }
    }

    /** The number of receives that have freed their slots since the start. */
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

    /** Receives, or messages in buffers, that unfinished messages of unknown peers may hold: one half, but one. */
    int unknownLimit() {
        int ofDriver = operations.length - receives - SPARES - 1;
        return Math.max(1, Math.max(outstanding(), ofDriver) / 2);
    }

    /** The number of receives that occupy a slot. */
    int outstanding() {
        return receives - room;
    }

    /** The number of records of both kinds. */
    int size() {
        return operations.length;
    }

    ReceiveOperation get(int index) {
        return operations[index];
    }
}
