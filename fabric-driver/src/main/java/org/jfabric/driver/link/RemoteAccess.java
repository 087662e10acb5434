package org.jfabric.driver.link;

import org.jfabric.info.Flags;

/**
 * A peer's request to write to registered memory of this side, or to read from it: the link's object, filled anew for
 * each request and good until the event returns.
 *
 * <p>Nothing in it is checked: the engine checks key, rights and range before it touches a byte. Owner: progress agent.
 */
public final class RemoteAccess {
    /** Most ranges of one atomic operation. */
    public static final int MAX_RANGES = 4;

    private long operation;
    private long flags;
    private long lengthBytes;
    private long data;
    private int form;
    private int datatype;
    private int atomicOperation;
    /** Keys, addresses and elements of the ranges; only atomic operations of libfabric's rxm have more than one. */
    private final long[] keys = new long[MAX_RANGES];
    private final long[] addresses = new long[MAX_RANGES];
    private final long[] counts = new long[MAX_RANGES];
    private int ranges;

    /** For links: a request that is filled later. */
    public RemoteAccess() {
    }

    /**
     * Fills the request.
     *
     * @param newOperation   the peer's id of the operation.
     * @param newFlags       {@code Flags.REMOTE_CQ_DATA} or 0.
     * @param newKey         key of the region.
     * @param newAddress     offset of the first byte of the whole range in the region.
     * @param newLengthBytes bytes of the whole range.
     * @param newData        remote CQ data.
     * @return this.
     */
    public RemoteAccess set(
        long newOperation, long newFlags, long newKey, long newAddress, long newLengthBytes, long newData) {
        operation = newOperation;
        flags = newFlags;
        keys[0] = newKey;
        addresses[0] = newAddress;
        ranges = 1;
        lengthBytes = newLengthBytes;
        data = newData;
        return this;
    }

    /**
     * Adds what an atomic operation has besides; the length of the range is not used then.
     *
     * @param newForm      one of {@link org.jfabric.layout.AtomicForm}; any value.
     * @param newDatatype  code of the datatype; any value.
     * @param newOperation code of the operation; any value.
     * @param newCount     elements; any value.
     * @return this.
     */
    public RemoteAccess atomic(int newForm, int newDatatype, int newOperation, long newCount) {
        form = newForm;
        datatype = newDatatype;
        atomicOperation = newOperation;
        counts[0] = newCount;
        return this;
    }

    /**
     * Begins an atomic operation whose ranges follow.
     *
     * @param newOperation       the peer's id of the operation.
     * @param newForm            as for {@link #atomic}.
     * @param newDatatype        as for {@link #atomic}.
     * @param newAtomicOperation as for {@link #atomic}.
     */
    public void begin(long newOperation, int newForm, int newDatatype, int newAtomicOperation) {
        set(newOperation, 0, 0, 0, 0, 0).atomic(newForm, newDatatype, newAtomicOperation, 0);
        ranges = 0;
    }

    /**
     * Adds a range of an atomic operation, behind {@link #begin}; there are at most {@link #MAX_RANGES}.
     *
     * @param newKey     key of the region.
     * @param newAddress offset of the first element in the region.
     * @param newCount   elements; any value.
     */
    public void addRange(long newKey, long newAddress, long newCount) {
        keys[ranges] = newKey;
        addresses[ranges] = newAddress;
        counts[ranges] = newCount;
        ranges++;
    }

    /**
     * Ranges of an atomic operation: its elements are those of the first range, then those of the second, and so on.
     *
     * @return 1 unless {@link #begin} was called; 0 to {@link #MAX_RANGES}.
     */
    public int ranges() {
        return ranges;
    }

    /**
     * The key of a range's region.
     *
     * @param range below {@link #ranges()}.
     * @return any value.
     */
    public long key(int range) {
        return keys[range];
    }

    /**
     * The place of a range in its region.
     *
     * @param range below {@link #ranges()}.
     * @return offset in bytes; any value.
     */
    public long address(int range) {
        return addresses[range];
    }

    /**
     * Elements of a range of an atomic operation.
     *
     * @param range below {@link #ranges()}.
     * @return any value.
     */
    public long count(int range) {
        return counts[range];
    }

    /**
     * Form of an atomic operation.
     *
     * @return any value.
     */
    public int form() {
        return form;
    }

    /**
     * Code of the datatype of an atomic operation.
     *
     * @return any value.
     */
    public int datatype() {
        return datatype;
    }

    /**
     * Code of an atomic operation.
     *
     * @return any value.
     */
    public int atomicOperation() {
        return atomicOperation;
    }

    /**
     * The peer's id of the operation.
     *
     * @return the id, which the answer carries.
     */
    public long operation() {
        return operation;
    }

    /**
     * Whether the access brings data for an entry of this side.
     *
     * @return true with {@code FI_REMOTE_CQ_DATA}.
     */
    public boolean hasData() {
        return (flags & Flags.REMOTE_CQ_DATA) != 0;
    }

    /**
     * The key of the region of a read or write.
     *
     * @return any value.
     */
    public long key() {
        return keys[0];
    }

    /**
     * The place of the whole range of a read or write in the region.
     *
     * @return offset in bytes; any value.
     */
    public long address() {
        return addresses[0];
    }

    /**
     * The length of the whole range.
     *
     * @return bytes; any value.
     */
    public long lengthBytes() {
        return lengthBytes;
    }

    /**
     * Remote CQ data.
     *
     * @return any value; 0 without.
     */
    public long data() {
        return data;
    }
}
