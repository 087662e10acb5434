package org.jfabric.layout;

/**
 * Layout of a cell of a {@code .slab} file whose message lies in its sender's memory (FI_BUFFERED_RECV, {@code LENT} in
 * the entry). The bytes are in a {@code .mr} file, which the client maps for reading.
 *
 * <pre>
 *    0  number of the {@code .mr} file (8 bytes)
 *    8  its generation (8 bytes)
 *   16  offset of the first byte from the region's first byte (8 bytes)
 *   24  bytes of the path (4 bytes)
 *   28  absolute path of the directory that holds the file, UTF-8
 * </pre>
 */
public final class LentPlaceDescriptor {
    /** Offset of the number of the region's file. */
    public static final int NUMBER_OFFSET = 0;
    /** Offset of the region's generation. */
    public static final int GENERATION_OFFSET = 8;
    /** Offset of the first byte's offset in the region. */
    public static final int OFFSET_OFFSET = 16;
    public static final int PATH_LENGTH_OFFSET = 24;
    public static final int PATH_OFFSET = 28;

    private LentPlaceDescriptor() {
    }

    /** Bytes that a cell needs. */
    public static int length(int pathLength) {
        return PATH_OFFSET + pathLength;
    }
}
