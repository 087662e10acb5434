package org.jfabric.driver.link;

import org.jfabric.info.Flags;

/**
 * A peer's request to write to registered memory of this side, or to read from it: the link's object, filled anew for
 * each request and good until the event returns.
 *
 * <p>Nothing in it is checked: the engine checks key, rights and range before it touches a byte. Owner: progress agent.
 */
public final class RemoteAccess {
    private long operation;
    private long flags;
    private long key;
    private long address;
    private long lengthBytes;
    private long data;
    private int form;
    private int datatype;
    private int atomicOperation;
    private long count;

    /** For links: a request that is filled later. */
    public RemoteAccess() {
    }

    /**
     * Fills the request.
     *
     * @param newOperation   the peer's id of the operation.
     * @param newFlags       {@code Flags.REMOTE_CQ_DATA}, {@code Flags.COMMIT_COMPLETE}, both or 0.
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
        key = newKey;
        address = newAddress;
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
        count = newCount;
        return this;
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
     * Elements of an atomic operation.
     *
     * @return any value.
     */
    public long count() {
        return count;
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
     * Whether a write is answered only when it is on stable storage.
     *
     * @return true with {@code FI_COMMIT_COMPLETE}.
     */
    public boolean commits() {
        return (flags & Flags.COMMIT_COMPLETE) != 0;
    }

    /**
     * The key of the region.
     *
     * @return any value.
     */
    public long key() {
        return key;
    }

    /**
     * The place of the whole range in the region.
     *
     * @return offset in bytes; any value.
     */
    public long address() {
        return address;
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
