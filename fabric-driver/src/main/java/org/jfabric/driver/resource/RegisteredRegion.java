package org.jfabric.driver.resource;

/**
 * A client's registered memory as the driver sees it: where it is mapped here, and who still uses it.
 *
 * <p>Closing marks the region, so that no new operation finds it; the mapping goes when the last operation that uses it
 * has ended. Owner: progress agent, except for the final fields.
 */
public final class RegisteredRegion {
    private final long number;
    private final long generation;
    private final long address;
    private final long lengthBytes;
    private final Runnable release;
    private int useCount;
    private boolean closed;

    /**
     * A region that operations can use.
     *
     * @param number      number of its {@code .mr} file, or 0 for memory of the embedding process that has none.
     * @param generation  all 64 bits of its generation.
     * @param address     native address of its first byte in this process.
     * @param lengthBytes bytes.
     * @param release     gives the mapping back; called once, on the progress thread, and must not block.
     */
    public RegisteredRegion(long number, long generation, long address, long lengthBytes, Runnable release) {
        this.number = number;
        this.generation = generation;
        this.address = address;
        this.lengthBytes = lengthBytes;
        this.release = release;
    }

    /**
     * Number of the region's file.
     *
     * @return from 1, or 0 if no other driver can map it.
     */
    public long number() {
        return number;
    }

    /**
     * Generation of the region.
     *
     * @return all 64 bits; addresses carry the lowest 8.
     */
    public long generation() {
        return generation;
    }

    /**
     * Where the first byte is mapped here.
     *
     * @return native address.
     */
    public long address() {
        return address;
    }

    /**
     * Length of the region.
     *
     * @return bytes.
     */
    public long lengthBytes() {
        return lengthBytes;
    }

    /**
     * Operations that hold the region.
     *
     * @return 0 or more.
     */
    public int useCount() {
        return useCount;
    }

    /**
     * Whether no new operation may use the region.
     *
     * @return true after {@link #close()}.
     */
    public boolean isClosed() {
        return closed;
    }

    /** An operation that outlives its posting call holds the region. */
    public void retain() {
        useCount++;
    }

    /** An operation that held the region has ended. */
    public void release() {
        if (--useCount == 0 && closed) {
            release.run();
        }
    }

    /** No new operation may use the region; the mapping goes with the last one that does. */
    public void close() {
        if (!closed) {
            closed = true;
            if (useCount == 0) {
                release.run();
            }
        }
    }
}
