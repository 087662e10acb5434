package org.jfabric.driver.engine;


/**
 * Cells that untagged messages have taken, until their entries are written, in the order of the messages' arrival. No
 * receive says which message is which, so the entries of one sender keep that order, although a short message is here
 * sooner than the begin of a long one in front of it; other senders' entries do not wait.
 *
 * <p>There are as many as messages on their way into cells, usually none or one. Owner: progress agent.
 */
final class CellOrder {
    private SlabCell first;
    private SlabCell last;
    private int size;

    void add(SlabCell cell) {
        cell.previousTaken = last;
        cell.nextTaken = null;
        if (last == null) {
            first = cell;
        } else {
            last.nextTaken = cell;
        }
        last = cell;
        size++;
    }

    void remove(SlabCell cell) {
        if (cell.previousTaken == null) {
            first = cell.nextTaken;
        } else {
            cell.previousTaken.nextTaken = cell.nextTaken;
        }
        if (cell.nextTaken == null) {
            last = cell.previousTaken;
        } else {
            cell.nextTaken.previousTaken = cell.previousTaken;
        }
        cell.previousTaken = null;
        cell.nextTaken = null;
        size--;
    }

    SlabCell first() {
        return first;
    }

    /** The oldest of one sender, or null. */
    SlabCell oldest(Peer peer) {
        return from(first, peer);
    }

    /** The next one of the same sender, or null. */
    SlabCell next(SlabCell cell) {
        return from(cell.nextTaken, cell.peer);
    }

    int size() {
        return size;
    }

    private static SlabCell from(SlabCell begin, Peer peer) {
        SlabCell cell = begin;
        while (cell != null && cell.peer != peer) {
            cell = cell.nextTaken;
        }
        return cell;
    }
}
