package org.jfabric.driver.link;

/**
 * Location of an announced payload: the sender's id of the operation and, for each piece whose region the receiver can
 * reach, the region's number, all 64 bits of its generation, the offset and the length.
 *
 * <p>Owner: progress agent.
 */
public final class RemotePayload {
    /** {@link #regionNumber}: the payload is in no region that the receiver can reach. */
    public static final long NO_REGION = 0;

    private static final int NUMBER = 0;
    private static final int GENERATION = 1;
    private static final int OFFSET = 2;
    private static final int LENGTH = 3;
    private static final int WORDS = 4;

    private final long[] pieces = new long[WORDS * PieceList.MAX_PIECES];
    private long operation;
    private long lengthBytes;
    private int count;
    /** Offset of the only piece in its region. */
    private long lentOffset;

    /** For links and the engine: an empty descriptor that is filled later. */
    public RemotePayload() {
    }

    /**
     * Fills the descriptor for a payload of one piece.
     *
     * @param newRegionNumber     number of the region's file, or {@link #NO_REGION}.
     * @param newRegionOffset     offset of the first byte in the region; for the loopback link a native address.
     */
    public void set(
        long newOperation,
        long newLengthBytes,
        long newRegionNumber,
        long newRegionGeneration,
        long newRegionOffset) {
        begin(newOperation);
        add(newRegionNumber, newRegionGeneration, newRegionOffset, newLengthBytes);
        lentOffset = newRegionOffset;
    }

    /**
     * Sets where the only piece is in its region, for a link whose {@link #regionOffset} is something else.
     *
     * @param offset bytes from the region's first byte.
     */
    public void lentOffset(long offset) {
        lentOffset = offset;
    }

    /**
     * Where the only piece is in its region, for a receiver that is shown it there. Returns the bytes from the region's
     * first byte.
     */
    public long lentOffset() {
        return lentOffset;
    }

    /**
     * Copies another descriptor into this one.
     *
     * @param other to be copied.
     */
    public void set(RemotePayload other) {
        operation = other.operation;
        lengthBytes = other.lengthBytes;
        count = other.count;
        lentOffset = other.lentOffset;
        System.arraycopy(other.pieces, 0, pieces, 0, WORDS * count);
    }

    /** Begins a descriptor whose pieces follow. */
    public void begin(long newOperation) {
        operation = newOperation;
        lengthBytes = 0;
        count = 0;
    }

    /**
     * Appends a piece; there are at most {@link PieceList#MAX_PIECES}.
     *
     * @param regionNumber     number of the region's file, or {@link #NO_REGION}.
     * @param regionOffset     offset of the piece in the region; for the loopback link a native address.
     * @param length           bytes of the piece; the caller has checked the sum of all pieces.
     */
    public void add(long regionNumber, long regionGeneration, long regionOffset, long length) {
        int at = WORDS * count;
        pieces[at + NUMBER] = regionNumber;
        pieces[at + GENERATION] = regionGeneration;
        pieces[at + OFFSET] = regionOffset;
        pieces[at + LENGTH] = length;
        lengthBytes += length;
        count++;
    }

    /** The sender's id of the operation. */
    public long operation() {
        return operation;
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    /** Number of pieces of the payload. Returns 1 to {@link PieceList#MAX_PIECES}. */
    public int count() {
        return count;
    }

    /** Number of the region's file. Returns the number from 1, or {@link #NO_REGION}. */
    public long regionNumber(int piece) {
        return pieces[WORDS * piece + NUMBER];
    }

    /** Generation of the region. Returns all 64 bits. */
    public long regionGeneration(int piece) {
        return pieces[WORDS * piece + GENERATION];
    }

    /**
     * Offset of the piece's first byte in the region. Returns the offset in bytes; for the loopback link a native
     * address.
     */
    public long regionOffset(int piece) {
        return pieces[WORDS * piece + OFFSET];
    }

    public long length(int piece) {
        return pieces[WORDS * piece + LENGTH];
    }
}
