package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.info.Flags;
import org.jfabric.layout.LentPlaceDescriptor;

/**
 * The messages of one endpoint with buffered receives that its client reads in their senders' memory. Such a message is
 * an announced one: it has a cell like any other, but the cell says only where the bytes are, and the sender's
 * operation ends when the client has given the message back.
 *
 * <pre>
 *   out --- given back ---> FINISH to the sender, which waits in a list while the channel is full
 *    |----- claimed ------> copied like an announced message, then FINISH
 *    |----- discarded ----> FINISH
 *    '----- sender down --> out, but lost: it stays readable, and a claim of it fails
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class LentCells {
    private static final long BYTES = UnsafeApi.arrayBaseOffset(byte[].class);

    private final SlabCells cells;
    private final int cellBytes;
    private final long limitBytes;
    private final EndedReceives ends;
    private final Pulls pulls;
    private final DriverQuota quota;
    private SlabCell firstReturned;
    private SlabCell lastReturned;

    LentCells(SlabCells cells, SlabMemory slab, EndedReceives ends, Pulls pulls, DriverQuota quota) {
        this.cells = cells;
        this.cellBytes = slab.cellBytes();
        this.limitBytes = slab.lentLimitBytes();
        this.ends = ends;
        this.pulls = pulls;
        this.quota = quota;
    }

    /**
     * Counts a message that the client will be shown where it lies. Returns false, and counts nothing, where only a
     * copy is possible, or where the peer has lent as much as it may.
     */
    boolean reserve(PeerReceives from, RemotePayload payload) {
        if (payload.count() != 1 || payload.regionNumber(0) == RemotePayload.NO_REGION
            || from.peer().frames() == null) {
            return false;
        }
        byte[] directory = from.peer().frames().regionDirectory();
        return directory != null && LentPlaceDescriptor.length(directory.length) <= cellBytes
            && from.held().lend(payload.lengthBytes(), limitBytes);
    }

    /** Writes into a cell where the message is that {@link #reserve} has accepted. */
    void open(SlabCell cell, PeerReceives from, RemotePayload payload) {
        byte[] directory = from.peer().frames().regionDirectory();
        long place = cell.address;
        UnsafeApi.putLong(place + LentPlaceDescriptor.NUMBER_OFFSET, payload.regionNumber(0));
        UnsafeApi.putLong(place + LentPlaceDescriptor.GENERATION_OFFSET, payload.regionGeneration(0));
        UnsafeApi.putLong(place + LentPlaceDescriptor.OFFSET_OFFSET, payload.lentOffset());
        UnsafeApi.putInt(place + LentPlaceDescriptor.PATH_LENGTH_OFFSET, directory.length);
        UnsafeApi.copyMemory(
            directory, BYTES, null, place + LentPlaceDescriptor.PATH_OFFSET,
            directory.length);
        if (cell.payload == null) {
            cell.payload = new RemotePayload();
        }
        cell.payload.set(payload);
        cell.from = from;
        cell.isLent = true;
        cell.lostErrno = 0;
    }

    /** Frees a cell and notifies the sender, now or when the channel has room. */
    void giveBack(SlabCell cell) {
        cell.state = SlabCell.RETURNED;
        if (finish(cell)) {
            cells.give(cell);
            return;
        }
        if (firstReturned == null) {
            firstReturned = cell;
        } else {
            lastReturned.nextReturned = cell;
        }
        lastReturned = cell;
        quota.askAgain();
    }

    /** Notifies the senders that are still to be notified, as far as their channels have room. */
    void retry() {
        SlabCell cell = firstReturned;
        firstReturned = null;
        lastReturned = null;
        while (cell != null) {
            SlabCell next = cell.nextReturned;
            cell.nextReturned = null;
            giveBack(cell);
            cell = next;
        }
    }

    /** Receives a message into the buffer of an operation, or drops it, as its flags say. */
    void fetch(ReceiveOperation operation, SlabCell cell) {
        boolean discards = (operation.flags & Flags.DISCARD) != 0;
        PeerReceives from = cell.from;
        RemotePayload payload = cell.payload;
        int lostErrno = cell.lostErrno;
        operation.message(
            from, discards ? cell.flags : cell.flags | Flags.CLAIM, cell.tag, cell.data, cell.length);
        if (lostErrno == 0) {
            left(cell);
        }
        // the payload stays as it is until the next message takes the cell, and none does before it is used
        cells.give(cell);
        if (lostErrno != 0 && !discards) {
            ends.fail(operation, 0, lostErrno);
        } else if (lostErrno != 0) {
            ends.end(operation);
        } else if (discards) {
            pulls.decline(operation, payload);
        } else {
            pulls.start(operation, payload);
        }
    }

    /** A peer is down: there is no sender to notify any more. */
    void failPeer(PeerReceives from, int errno) {
        for (int i = 0; i < cells.size(); i++) {
            SlabCell cell = cells.get(i);
            if (cell.isLent && cell.from == from && cell.lostErrno == 0) {
                left(cell);
                cell.lostErrno = errno;
            }
        }
    }

    /** Returns false if the channel is full. */
    private boolean finish(SlabCell cell) {
        if (cell.lostErrno != 0) {
            return true;
        }
        PeerReceives from = cell.from;
        if (from.peer().payloads() == null) {
            // its loss is reported at the end of the call that has found it
            left(cell);
            return true;
        }
        if (from.peer().payloads().finish(cell.payload.operation(), 0, from.grant()) < 0) {
            from.grantNotSent();
            return false;
        }
        if (cell.lostErrno == 0) {
            left(cell);
        }
        return true;
    }

    private static void left(SlabCell cell) {
        cell.from.held().announcementLeft();
        cell.from.held().lentLeft(cell.payload.lengthBytes());
    }
}
