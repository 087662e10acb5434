package org.jfabric;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Slices of one length out of one region. Taking and giving back allocates nothing.
 *
 * <pre>{@code
 * MemorySlice slice = pool.take();
 * endpoint.trecv(slice.address(), slice.lengthBytes(), FabricAddress.ADDR_UNSPEC, 7, 0, 1);
 * }</pre>
 *
 * <p>Owner: one thread at a time.
 */
public final class MemoryPool {
    private final MemorySlice[] slices;
    private final MemorySlice[] free;
    private int freeCount;

    /**
     * Cuts a region into slices that start on cache lines.
     *
     * @param region           large enough for one slice at least.
     * @param sliceLengthBytes bytes of a slice, 1 or more.
     * @throws FabricException with {@link FabricErrno#EINVAL} if no slice fits, or more than 2^31 - 1 do.
     */
    public MemoryPool(MemoryRegion region, int sliceLengthBytes) {
        long stride = ((long) sliceLengthBytes + 63) & -64L;
        long count = sliceLengthBytes < 1 ? 0 : (region.lengthBytes() + stride - sliceLengthBytes) / stride;
        if (count < 1 || count > Integer.MAX_VALUE - 8) {
            throw new FabricException(FabricErrno.EINVAL, "a region of " + region.lengthBytes()
                + " bytes cannot be cut into slices of " + sliceLengthBytes + " bytes");
        }
        slices = new MemorySlice[(int) count];
        free = new MemorySlice[(int) count];
        for (int i = 0; i < slices.length; i++) {
            long offset = i * stride;
            slices[i] = new MemorySlice(region.buffer(offset, sliceLengthBytes), region.address(offset), i);
            free[slices.length - 1 - i] = slices[i];
        }
        freeCount = slices.length;
    }

    /**
     * Takes a slice.
     *
     * @return the slice given back last, or null if all are taken.
     */
    public MemorySlice take() {
        if (freeCount == 0) {
            return null;
        }
        MemorySlice slice = free[--freeCount];
        slice.taken(true);
        return slice;
    }

    /**
     * Gives a slice back; one that is not taken stays as it is.
     *
     * @param slice of this pool.
     * @throws FabricException with {@link FabricErrno#EINVAL} if it is another pool's.
     */
    public void give(MemorySlice slice) {
        if (slice.index() >= slices.length || slices[slice.index()] != slice) {
            throw new FabricException(FabricErrno.EINVAL, "the slice belongs to another pool");
        }
        if (slice.isTaken()) {
            slice.taken(false);
            free[freeCount++] = slice;
        }
    }

    /**
     * A slice by its number, taken or not.
     *
     * @param index from 0.
     * @return the slice.
     */
    public MemorySlice slice(int index) {
        return slices[index];
    }

    /**
     * Slices that are not taken.
     *
     * @return 0 to {@link #size()}.
     */
    public int available() {
        return freeCount;
    }

    /**
     * Slices altogether.
     *
     * @return 1 or more.
     */
    public int size() {
        return slices.length;
    }
}
