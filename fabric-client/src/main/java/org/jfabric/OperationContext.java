package org.jfabric;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Mode;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * The context of an operation as a place in registered memory (struct fi_context and fi_context2): the application sets
 * {@link #LENGTH} or {@link #LENGTH_2} bytes aside for each outstanding operation, in front of what it wants to know
 * about it, and finds the place again by the entry.
 *
 * <pre>{@code
 * opContext.wrap(requests, 3 * 128);
 * endpoint.trecv(memory.address(0), 64, FabricAddress.ADDR_UNSPEC, 7, 0, opContext.id());
 * // later, with the entry of any of the requests
 * long record = opContext.find(requests, entry.opContext()) ? opContext.offset() : -1;
 * }</pre>
 *
 * <p>The bytes belong to the driver from the call to the entry; JFabric's leaves them as they are. A place is for one
 * operation at a time. Any endpoint takes {@link #id()} as context; one that is opened with {@link Mode#CONTEXT} or
 * {@link Mode#CONTEXT2} takes nothing else for operations with an entry. A peek that claims a message is paired with
 * the receive that takes it by the same place.
 *
 * <p>One object shows one place after the other; using it allocates nothing. Owner: one thread at a time. Source:
 * fi_endpoint(3), section Notes; fi_tagged(3), FI_CLAIM.
 */
public final class OperationContext {
    /** Bytes of struct fi_context. */
    public static final int LENGTH = 32;
    /** Bytes of struct fi_context2. */
    public static final int LENGTH_2 = 64;
    /** Bytes of struct fi_recv_context, whose two members are those of {@link RecvContext}. */
    public static final int RECV_LENGTH = 16;
    /** The offset of a place in its region is a multiple of this. */
    public static final int ALIGNMENT = 8;

    private final int length;
    /** Null while this shows no place. */
    private MemoryRegion region;
    private long id;

    /** Shows places of {@link #LENGTH} bytes. */
    public OperationContext() {
        this(LENGTH);
    }

    /**
     * Shows places of one of the two lengths.
     *
     * @param lengthBytes {@link #LENGTH} or {@link #LENGTH_2}.
     * @throws FabricException {@link FabricErrno#EINVAL} for another length.
     */
    public OperationContext(int lengthBytes) {
        if (lengthBytes != LENGTH && lengthBytes != LENGTH_2) {
            throw new FabricException(FabricErrno.EINVAL, "the length is " + lengthBytes + ", a context has " + LENGTH
                + " or " + LENGTH_2 + " bytes");
        }
        length = lengthBytes;
    }

    /**
     * Shows a place.
     *
     * @param memory of the endpoint's domain.
     * @param offset of the first byte, a multiple of {@link #ALIGNMENT}.
     * @return this.
     * @throws FabricException {@link FabricErrno#EINVAL} if the place is not inside the region, or not aligned.
     */
    public OperationContext wrap(MemoryRegion memory, long offset) {
        if (offset % ALIGNMENT != 0 || offset < 0 || offset > memory.lengthBytes() - length) {
            throw new FabricException(FabricErrno.EINVAL, "a context of " + length + " bytes at offset " + offset
                + " is not possible in a region of " + memory.lengthBytes() + " bytes",
                "Use an offset that is a multiple of " + ALIGNMENT + " and leaves room.");
        }
        region = memory;
        id = memory.address(offset);
        return this;
    }

    /**
     * Shows the place that an entry names.
     *
     * @param memory    region of the contexts.
     * @param opContext of the entry.
     * @return false if it names no place in the region; nothing has changed then.
     */
    public boolean find(MemoryRegion memory, long opContext) {
        if (opContext % ALIGNMENT != 0 || !memory.holds(opContext, length)) {
            return false;
        }
        region = memory;
        id = opContext;
        return true;
    }

    /**
     * What an operation is given as its context, and its entry carries.
     *
     * @return the address of the place, or 0 if this shows none.
     */
    public long id() {
        return id;
    }

    /**
     * Where the place is.
     *
     * @return offset in {@link #region()}, or 0 if this shows none.
     */
    public long offset() {
        return MemoryRegionDescriptor.offset(id);
    }

    /**
     * The region of the place.
     *
     * @return the region, or null if this shows none.
     */
    public MemoryRegion region() {
        return region;
    }

    /**
     * Length of the place.
     *
     * @return {@link #LENGTH} or {@link #LENGTH_2}.
     */
    public int lengthBytes() {
        return length;
    }

    @Override
    public String toString() {
        return region == null ? "OperationContext{none}"
            : "OperationContext{offset=" + offset() + ", lengthBytes=" + length + '}';
    }
}
