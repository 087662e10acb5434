package org.jfabric.driver.engine;


/**
 * Cells that untagged messages have taken, until their entries are written, in the order of the messages' arrival. No
 * tag identifies the messages, so the entries of one sender keep that order, even if a short message is complete before
 * the prefix of an earlier, longer one. Entries of different senders do not wait for each other.
 *
 * <p>The list has one cell for each message that is being copied, usually none or one. Owner: progress agent.
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
    SlabCell oldest(PeerReceives from) {
        return from(first, from);
    }

    /** The next one of the same sender, or null. */
    SlabCell next(SlabCell cell) {
        return from(cell.nextTaken, cell.from);
    }

    int size() {
        return size;
    }

    private static SlabCell from(SlabCell begin, PeerReceives from) {
        SlabCell cell = begin;
        while (cell != null && cell.from != from) {
            cell = cell.nextTaken;
        }
        return cell;
    }
}
