package org.jfabric.driver.link;

/**
 * Where an announced payload waits: the sender's id of the operation and, if its region can be reached, the region by
 * number, all 64 bits of its generation and the offset.
 *
 * <p>Owner: progress agent.
 */
public final class RemotePayload {
    /** {@link #regionNumber()}: the payload is in no region that a peer can reach. */
    public static final long NO_REGION = 0;

    private long operation;
    private long lengthBytes;
    private long regionNumber;
    private long regionGeneration;
    private long regionOffset;

    /** For links and the engine: an empty descriptor that is filled later. */
    public RemotePayload() {
    }

    /**
     * Fills the descriptor.
     *
     * @param newOperation        the sender's id of the operation.
     * @param newLengthBytes      bytes of the message.
     * @param newRegionNumber     number of the region's file, or {@link #NO_REGION}.
     * @param newRegionGeneration the region's generation.
     * @param newRegionOffset     offset of the first byte in the region; for the loopback link a native address.
     */
    public void set(
        long newOperation,
        long newLengthBytes,
        long newRegionNumber,
        long newRegionGeneration,
        long newRegionOffset) {
        operation = newOperation;
        lengthBytes = newLengthBytes;
        regionNumber = newRegionNumber;
        regionGeneration = newRegionGeneration;
        regionOffset = newRegionOffset;
    }

    /**
     * Copies another descriptor into this one.
     *
     * @param other to be copied.
     */
    public void set(RemotePayload other) {
        set(other.operation, other.lengthBytes, other.regionNumber, other.regionGeneration, other.regionOffset);
    }

    /**
     * The sender's id of the operation.
     *
     * @return the id.
     */
    public long operation() {
        return operation;
    }

    /**
     * Length of the message.
     *
     * @return bytes.
     */
    public long lengthBytes() {
        return lengthBytes;
    }

    /**
     * Number of the region's file.
     *
     * @return number from 1, or {@link #NO_REGION}.
     */
    public long regionNumber() {
        return regionNumber;
    }

    /**
     * Generation of the region.
     *
     * @return all 64 bits.
     */
    public long regionGeneration() {
        return regionGeneration;
    }

    /**
     * Place of the first byte in the region.
     *
     * @return offset in bytes; for the loopback link a native address.
     */
    public long regionOffset() {
        return regionOffset;
    }
}
