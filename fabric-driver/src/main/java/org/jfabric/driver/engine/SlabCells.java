package org.jfabric.driver.engine;

import org.jfabric.layout.SlabDescriptor;

/**
 * The cells of one receive slab: which are free, and which one a client means by a context. What the client says is
 * never believed: a context that names no cell which is out, or an earlier use of one, finds nothing.
 *
 * <p>The cell that came back last is used first, because it is most likely in the processor's cache. Owner: progress
 * agent.
 */
final class SlabCells {
    private final SlabCell[] cells;
    private final int endpointIndex;
    private SlabCell free;

    SlabCells(ReceiveSlab slab, int endpointIndex) {
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

    /** A cell for a message; only if {@link #hasFree()}. */
    SlabCell take() {
        SlabCell cell = free;
        free = cell.nextFree;
        cell.nextFree = null;
        cell.state = SlabCell.FILLING;
        return cell;
    }

    void give(SlabCell cell) {
        cell.state = SlabCell.FREE;
        cell.peer = null;
        cell.message = null;
        cell.use++;
        cell.nextFree = free;
        free = cell;
    }

    long context(SlabCell cell) {
        return SlabDescriptor.context(endpointIndex, cell.use, cell.index);
    }

    /** The cell that a client has under a context, or null. */
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
