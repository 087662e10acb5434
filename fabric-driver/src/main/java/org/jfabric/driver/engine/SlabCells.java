package org.jfabric.driver.engine;

import org.jfabric.layout.SlabDescriptor;

/**
 * The cells of one receive slab: the free ones, and those that a client identifies by a context. The context is always
 * validated: one that identifies no cell of the client, or an earlier use of a cell, finds none.
 *
 * <p>The cell that was returned last is used first, because it is most likely in the processor's cache. Owner: progress
 * agent.
 */
final class SlabCells {
    private final SlabCell[] cells;
    private final int endpointIndex;
    private SlabCell free;

    SlabCells(SlabMemory slab, int endpointIndex) {
        this.endpointIndex = endpointIndex;
        this.cells = new SlabCell[slab.cells()];
        for (int i = cells.length - 1; i >= 0; i--) {
            long offset = SlabDescriptor.offset(i, slab.cellBytes());
            SlabCell cell = new SlabCell(i, slab.address() + offset, offset);
            cell.nextFree = free;
            free = cell;
            cells[i] = cell;
        }
    }

    boolean hasFree() {
        return free != null;
    }

    /** Takes a cell for a message; only if {@link #hasFree()}. */
    SlabCell take() {
        SlabCell cell = free;
        free = cell.nextFree;
        cell.nextFree = null;
        cell.state = SlabCell.FILLING;
        return cell;
    }

    void give(SlabCell cell) {
        cell.state = SlabCell.FREE;
        cell.from = null;
        cell.message = null;
        cell.isLent = false;
        cell.use++;
        cell.nextFree = free;
        free = cell;
    }

    long context(SlabCell cell) {
        return SlabDescriptor.context(endpointIndex, cell.use, cell.index);
    }

    /** The cell that the client owns and identifies by this context, or null. */
    SlabCell find(long context) {
        int index = SlabDescriptor.cell(context);
        if (index >= cells.length) {
            return null;
        }
        SlabCell cell = cells[index];
        return cell.state == SlabCell.OUT && context(cell) == context ? cell : null;
    }

    int size() {
        return cells.length;
    }

    SlabCell get(int index) {
        return cells[index];
    }
}
