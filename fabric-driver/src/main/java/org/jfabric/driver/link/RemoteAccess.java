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
    private long data;
    private int form;
    private int datatype;
    private int atomicOperation;
    /** One range but for atomic operations of libfabric's rxm. */
    private final RemoteRanges ranges = new RemoteRanges();
    private boolean asksForGrant;
    private boolean isCounted;

    /** For links: a request that is filled later. */
    public RemoteAccess() {
    }

    /**
     * Fills the request.
     *
     * @param newFlags       {@code Flags.REMOTE_CQ_DATA}, {@code Flags.COMMIT_COMPLETE}, both or 0.
     * @param newAddress     offset of the first byte of the whole range in the region.
     */
    public RemoteAccess set(
        long newOperation, long newFlags, long newKey, long newAddress, long newLengthBytes, long newData) {
        operation = newOperation;
        flags = newFlags;
        ranges.clear();
        ranges.add(newKey, newAddress, newLengthBytes);
        data = newData;
        asksForGrant = false;
        isCounted = false;
        return this;
    }

    /** Says that success is answered by a count of writes. */
    public RemoteAccess counted() {
        isCounted = true;
        return this;
    }

    /**
     * Says that the peer could read the region from a mapping of its own, if this is granted.
     *
     * @param newAsksForGrant true if the answer may be preceded by {@link RemoteChannel#grantRead}.
     */
    public RemoteAccess asksForGrant(boolean newAsksForGrant) {
        asksForGrant = newAsksForGrant;
        return this;
    }

    /**
     * Begins an atomic operation; its {@link #ranges()} are added by the caller.
     *
     * @param newForm            one of {@link org.jfabric.layout.AtomicForm}; any value.
     * @param newDatatype        code of the datatype; any value.
     * @param newAtomicOperation code of the operation; any value.
     */
    public RemoteRanges atomic(long newOperation, int newForm, int newDatatype, int newAtomicOperation) {
        operation = newOperation;
        flags = 0;
        data = 0;
        form = newForm;
        datatype = newDatatype;
        atomicOperation = newAtomicOperation;
        ranges.clear();
        return ranges;
    }

    /**
     * The ranges. Those of an atomic operation have elements instead of bytes; its operands are those of the first
     * range, then those of the second, and so on. Returns one range for a read or a write.
     */
    public RemoteRanges ranges() {
        return ranges;
    }

    /** Form of an atomic operation. Returns any value. */
    public int form() {
        return form;
    }

    /** Code of the datatype of an atomic operation. Returns any value. */
    public int datatype() {
        return datatype;
    }

    /** Code of an atomic operation. Returns any value. */
    public int atomicOperation() {
        return atomicOperation;
    }

    /** Whether success is answered by a count of writes. */
    public boolean isCounted() {
        return isCounted;
    }

    /** Whether a reading peer asks for the right to read the region from a mapping of its own. */
    public boolean asksForGrant() {
        return asksForGrant;
    }

    /** The peer's id of the operation. */
    public long operation() {
        return operation;
    }

    /** Whether the access brings data for an entry of this side. */
    public boolean hasData() {
        return (flags & Flags.REMOTE_CQ_DATA) != 0;
    }

    /** Whether a write is answered only when it is on stable storage. */
    public boolean commits() {
        return (flags & Flags.COMMIT_COMPLETE) != 0;
    }

    /** The key of the region of a read or write. Returns any value. */
    public long key() {
        return ranges.key(0);
    }

    /** The place of the whole range of a read or write in the region. Returns the offset in bytes; any value. */
    public long address() {
        return ranges.address(0);
    }

    /** The length of the whole range. Returns the bytes; any value. */
    public long lengthBytes() {
        return ranges.lengthBytes(0);
    }

    /** Remote CQ data. Returns any value; 0 without. */
    public long data() {
        return data;
    }
}
