package org.jfabric.layout;

/**
 * Layout of a {@code .mr} file, and of the 64-bit address of a byte in registered memory.
 *
 * <pre>
 *     0  common file header; generation = all 64 bits
 *   128  0, or 1 once the region is closed (8 bytes, stored by the driver)
 *  4096  the registered bytes
 *
 *  address
 *   63            48 47     40 39                                    0
 *  +----------------+---------+---------------------------------------+
 *  |    region      |   gen   |                offset                 |
 *  +----------------+---------+---------------------------------------+
 * </pre>
 *
 * <p>Region indices count from 1 within a client, so 0 is never an address. The 8 bits of generation distinguish the
 * addresses of a closed region from those of its successor in the same slot. They detect mistakes and are not a secret.
 */
public final class MemoryRegionDescriptor {
    /** Offset of the word that says whether the region is closed. */
    public static final int CLOSED_OFFSET = FileHeaderDescriptor.HEADER_LENGTH;
    /** Offset of the registered bytes in the file. */
    public static final int DATA_OFFSET = 4096;
    /** Greatest number of regions of one client. */
    public static final int MAX_REGIONS = 0xFFFF;
    /** Greatest length of a region in bytes. */
    public static final long MAX_LENGTH = 1L << 40;
    /** The bits of an address that form the offset. */
    public static final long OFFSET_MASK = MAX_LENGTH - 1;

    private MemoryRegionDescriptor() {
    }

    /**
     * Packs an address.
     *
     * @param region     index from 1 to {@link #MAX_REGIONS}.
     * @param generation 0 to 255.
     * @param offset     0 to {@link #MAX_LENGTH} - 1.
     * @return the 64 bits.
     */
    public static long address(int region, int generation, long offset) {
        return ((long) region << 48) | ((long) (generation & 0xFF) << 40) | (offset & OFFSET_MASK);
    }

    /**
     * Index of the region of an address.
     *
     * @param address from {@link #address}.
     * @return 0 to {@link #MAX_REGIONS}.
     */
    public static int region(long address) {
        return (int) (address >>> 48);
    }

    /**
     * Generation of an address.
     *
     * @param address from {@link #address}.
     * @return 0 to 255.
     */
    public static int generation(long address) {
        return (int) (address >>> 40) & 0xFF;
    }

    /**
     * Offset of an address in its region.
     *
     * @param address from {@link #address}.
     */
    public static long offset(long address) {
        return address & OFFSET_MASK;
    }
}
