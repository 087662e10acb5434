package org.jfabric.layout;

/**
 * Layout of a {@code .slab} file: the messages of one endpoint with buffered receives.
 *
 * <pre>
 *    0  common file header; parameter 1 = number of cells, parameter 2 = bytes of a cell
 *  128  cells, a multiple of 64 bytes each; a message begins at the start of its cell
 * </pre>
 *
 * <p>Only the driver writes, and it reads only payload that it wrote and that the client requests. A completion hands a
 * cell to the client; its {@code buf} is the offset of the message in this file, and its {@code op_context} identifies
 * the cell and the use of the cell:
 *
 * <pre>
 *   63  62         47 46                           16 15            0
 *  +---+-------------+-------------------------------+---------------+
 *  | 1 | the         |   use of the cell             |     cell      |
 *  |   | endpoint's  |                               |               |
 *  |   | index in its|                               |               |
 *  |   | receive CQ  |                               |               |
 *  +---+-------------+-------------------------------+---------------+
 * </pre>
 *
 * <p>The sign distinguishes it from 0 and from usual contexts of applications, such as counts and addresses.
 *
 * <p>The client returns that number when it claims or discards the message, or in a {@code SlabReturnRequest} in the
 * {@code .rq}; a number whose use of the cell has ended is invalid.
 */
public final class SlabDescriptor {
    /** Offset of the first cell. */
    public static final int CELLS_OFFSET = 128;
    /** Cells start at multiples of this. */
    public static final int CELL_ALIGNMENT = 64;
    /** Greatest number of cells. */
    public static final int MAX_CELLS = 1 << 16;
    /** Greatest number of contexts in one request that returns cells: with the record word four cache lines. */
    public static final int MAX_RETURNED = 31;

    private static final int INDEX_SHIFT = 47;
    private static final int MAX_INDEX = 0xFFFF;
    private static final int USE_SHIFT = 16;
    private static final int MAX_USE = Integer.MAX_VALUE;

    private SlabDescriptor() {
    }

    /**
     * The context that identifies one use of a cell.
     *
     * @param endpointIndex index of the endpoint in its receive completion queue, 16 bits.
     * @param use           number of the use; its lower 31 bits are used.
     * @param cell          16 bits.
     * @return the {@code op_context}, always negative.
     */
    public static long context(int endpointIndex, int use, int cell) {
        return Long.MIN_VALUE | (long) (endpointIndex & MAX_INDEX) << INDEX_SHIFT | (long) (use & MAX_USE) << USE_SHIFT
            | cell;
    }

    /**
     * The endpoint to which a cell belongs. Returns its index in its receive completion queue; negative if no cell has
     * such a context.
     */
    public static int endpointIndex(long context) {
        // 17 bits, the highest of which has to be set
        return (int) (context >>> INDEX_SHIFT) - (MAX_INDEX + 1);
    }

    /** The cell of a context. Returns 0 to {@link #MAX_CELLS} - 1; the caller checks whether there is such a cell. */
    public static int cell(long context) {
        return (int) context & MAX_CELLS - 1;
    }

    /**
     * Bytes that a cell takes.
     *
     * @param payloadBytes greatest number of payload bytes in it.
     * @return a multiple of {@link #CELL_ALIGNMENT}, at least {@code payloadBytes}.
     */
    public static int cellLength(int payloadBytes) {
        return Math.max(CELL_ALIGNMENT, payloadBytes + CELL_ALIGNMENT - 1 & -CELL_ALIGNMENT);
    }

    public static long offset(int cell, int cellLength) {
        return CELLS_OFFSET + (long) cell * cellLength;
    }

    public static long fileLength(int cells, int cellLength) {
        return offset(cells, cellLength);
    }
}
