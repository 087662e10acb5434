package org.jfabric;

import org.jfabric.client.WorkRequest;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/**
 * The arguments of one atomic operation, each set by its name, so that no two of them can be swapped (struct
 * fi_msg_atomic). Made once and used again and again: setting and posting allocate nothing.
 *
 * <pre>{@code
 * request.operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1).operands(one.address()).results(old.address())
 *     .destAddr(peer).remote(0, key).opContext(1);
 * int result = endpoint.atomics().fetchAtomicmsg(request);
 * }</pre>
 *
 * <p>The endpoint copies the arguments, so the object may be changed as soon as the call returns; the memory that it
 * names belongs to the driver until the entry is read. Owner: one thread at a time. Source: fi_atomic(3), section
 * fi_atomicmsg.
 */
public final class AtomicRequest {
    private AtomicOperation operation;
    private AtomicDatatype datatype;
    private long count;
    private final Memory operands = new Memory();
    private final Memory results = new Memory();
    private final Memory compares = new Memory();
    private long destAddr;
    private long remoteAddr;
    private long key;
    private long opContext;
    private long flags;
    /** When it starts; null at once. */
    private TriggeredContext trigger;
    /** {@link Flags#TRIGGER} if there is a condition, else 0. */
    private long triggerFlag;

    /** A request as after {@link #clear()}. */
    public AtomicRequest() {
        clear();
    }

    /**
     * Sets every argument back: a sum of no elements of {@link AtomicDatatype#INT64}, no memory, no peer, and 0 for the
     * others.
     *
     * @return this.
     */
    public AtomicRequest clear() {
        operation = AtomicOperation.SUM;
        datatype = AtomicDatatype.INT64;
        count = 0;
        operands.clear();
        results.clear();
        compares.clear();
        destAddr = FabricAddress.ADDR_UNSPEC;
        remoteAddr = 0;
        key = 0;
        opContext = 0;
        flags = 0;
        trigger = null;
        triggerFlag = 0;
        return this;
    }

    /**
     * What is done with each element.
     *
     * @param newOperation the operation.
     * @param newDatatype  type of the elements.
     * @param newCount     elements, at most what {@link Atomics#atomicvalid} and its siblings answer.
     * @return this.
     */
    public AtomicRequest operation(AtomicOperation newOperation, AtomicDatatype newDatatype, long newCount) {
        operation = Codes.required(newOperation, "operation");
        datatype = Codes.required(newDatatype, "datatype");
        count = newCount;
        return this;
    }

    /**
     * Where the operands are; {@link AtomicOperation#ATOMIC_READ} has none.
     *
     * @param address in registered memory, as of {@link MemoryRegion#address(long)}.
     * @return this.
     */
    public AtomicRequest operands(long address) {
        operands.set(address);
        return this;
    }

    /**
     * Where the operands are, in several pieces.
     *
     * @param pieces of the length of all elements; read when the request is posted.
     * @return this.
     */
    public AtomicRequest operands(IoVec pieces) {
        operands.set(pieces);
        return this;
    }

    /**
     * Where the old values go, of fetch and compare operations.
     *
     * @param address in registered memory.
     * @return this.
     */
    public AtomicRequest results(long address) {
        results.set(address);
        return this;
    }

    /**
     * Where the old values go, in several pieces.
     *
     * @param pieces of the length of all elements; read when the request is posted.
     * @return this.
     */
    public AtomicRequest results(IoVec pieces) {
        results.set(pieces);
        return this;
    }

    /**
     * Where the compare values are, of compare operations.
     *
     * @param address in registered memory.
     * @return this.
     */
    public AtomicRequest compares(long address) {
        compares.set(address);
        return this;
    }

    /**
     * Where the compare values are, in several pieces.
     *
     * @param pieces of the length of all elements; read when the request is posted.
     * @return this.
     */
    public AtomicRequest compares(IoVec pieces) {
        compares.set(pieces);
        return this;
    }

    /**
     * The peer. A connected endpoint ignores it.
     *
     * @param fiAddr from the address vector.
     * @return this.
     */
    public AtomicRequest destAddr(long fiAddr) {
        destAddr = fiAddr;
        return this;
    }

    /**
     * The peer's memory.
     *
     * @param offset    of the first element in the region, a multiple of its size.
     * @param regionKey key of the region, as of {@link MemoryRegion#key()} there.
     * @return this.
     */
    public AtomicRequest remote(long offset, long regionKey) {
        remoteAddr = offset;
        key = regionKey;
        return this;
    }

    /**
     * The application's own value.
     *
     * @param newContext returned in the entry.
     * @return this.
     */
    public AtomicRequest opContext(long newContext) {
        opContext = newContext;
        return this;
    }

    /**
     * Flags of this operation, which replace the endpoint's defaults.
     *
     * @param newFlags as {@link Atomics#atomicmsg} takes them.
     * @return this.
     */
    public AtomicRequest flags(long newFlags) {
        flags = newFlags;
        return this;
    }

    /**
     * Lets a counter start the operation: adds {@link Flags#TRIGGER} to the flags, until {@link #clear()}. Needs an
     * endpoint with that capability.
     *
     * @param condition read when the request is posted; null takes the condition back.
     * @return this.
     */
    public AtomicRequest trigger(TriggeredContext condition) {
        trigger = condition;
        triggerFlag = condition == null ? 0 : Flags.TRIGGER;
        return this;
    }

    TriggeredContext trigger() {
        return trigger;
    }

    boolean isTriggered() {
        return ((flags | triggerFlag) & Flags.TRIGGER) != 0;
    }

    long flags() {
        return flags | triggerFlag;
    }

    AtomicOperation operation() {
        return operation;
    }

    AtomicDatatype datatype() {
        return datatype;
    }

    long count() {
        return count;
    }

    /** Copies the arguments; false if a list of pieces has not the length of all elements. */
    boolean fill(WorkRequest work, boolean fetches, boolean compares) {
        long length = count * datatype.sizeBytes();
        boolean hasOperands = operation != AtomicOperation.ATOMIC_READ;
        work.datatype = datatype.code();
        work.operation = operation.code();
        work.elements = count;
        work.address = destAddr;
        work.remoteAddr = remoteAddr;
        work.key = key;
        work.context = opContext;
        work.count = hasOperands ? operands.fill(work.pieces, length) : 0;
        work.resultPieces = fetches ? results.fill(work.results, length) : 0;
        work.comparePieces = compares ? this.compares.fill(work.compares, length) : 0;
        return (work.count | work.resultPieces | work.comparePieces) >= 0;
    }

    /** One of the three places of local memory. */
    private static final class Memory {
        private long address;
        /** Replaces the address, unless it is null. */
        private IoVec pieces;

        void clear() {
            address = 0;
            pieces = null;
        }

        void set(long newAddress) {
            address = newAddress;
            pieces = null;
        }

        void set(IoVec newPieces) {
            pieces = newPieces;
        }

        /** The number of pieces, or -1 if they have another length. */
        int fill(long[] list, long length) {
            if (pieces == null) {
                list[0] = address;
                list[1] = length;
                return 1;
            }
            if (!pieces.isValid() || pieces.lengthBytes() != length) {
                return -1;
            }
            System.arraycopy(pieces.pieces(), 0, list, 0, 2 * pieces.count());
            return pieces.count();
        }
    }
}
