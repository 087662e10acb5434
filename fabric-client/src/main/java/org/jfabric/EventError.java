package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.VerbsErrno;

/**
 * Holder for one error entry of an event queue: every member of fi_eq_err_entry.
 *
 * <pre>{@code
 * if (events.readErr(error, 0) == 1) {
 *     System.err.println(error.fid() + ": " + FabricErrno.name(error.err()));
 * }
 * }</pre>
 *
 * <p>Make one, pass it to each {@code readErr}, read the members. Reading into it allocates nothing. The error data
 * is copied, either into memory of the caller given by {@link #errDataBuffer(MutableDirectBuffer, int, int)} or into
 * memory of this object, so it stays valid until the next {@code readErr} with this object. Source: fi_eq(3), section
 * fi_eq_readerr. Owner: the thread that reads with it.
 */
public final class EventError {
    /** Most bytes of error data that an entry carries. */
    public static final int MAX_ERR_DATA_LENGTH = EventEntry.MAX_DATA_LENGTH;

    private final CopiedData errData = new CopiedData(MAX_ERR_DATA_LENGTH);
    private Object fid;
    private long context;
    private long data;
    private int err;
    private int provErrno;

    /** An empty holder that keeps error data in its own memory. */
    public EventError() {
    }

    /**
     * The object that failed: an {@link Endpoint}, a {@link CompletionQueue}, an {@link AddressVector}, or the
     * {@link EventQueue} itself after it lost events.
     *
     * @return the object, null only while this holder is empty.
     */
    public Object fid() {
        return fid;
    }

    /**
     * Context of the operation that failed, or of the object where there was none.
     *
     * @return the value.
     */
    public long context() {
        return context;
    }

    /**
     * Detail of the failure: the index of an address of an insertion, or the number of the peer that an endpoint lost.
     *
     * @return the value, 0 if there is none.
     */
    public long data() {
        return data;
    }

    /**
     * The error.
     *
     * @return a positive {@link FabricErrno}; 0 only while this holder is empty.
     */
    public int err() {
        return err;
    }

    /**
     * Detail for debugging, see {@link EventQueue#strerror(int)}.
     *
     * @return the same as {@link #err()}, or the code that an RDMA device reported, see {@link VerbsErrno}.
     */
    public int provErrno() {
        return provErrno;
    }

    /**
     * View of the error data; index 0 is its first byte and its capacity is how many there are. With the errors of
     * endpoints and address vectors it is the address of the peer, in ASCII; of a connection that was rejected it is
     * the private data of the refusal.
     *
     * @return the same view object each time; it moves with the next {@code readErr}.
     */
    public DirectBuffer errData() {
        return errData.view();
    }

    /**
     * Bytes of error data stored, 0 if there are none. Before API 1.5 as {@link CompletionError#errDataSize()}.
     *
     * @return length in bytes, at most the capacity that the caller gave.
     */
    public int errDataSize() {
        return errData.size();
    }

    /**
     * Gives memory for error data; it stays in use until replaced. Like err_data_size 0 in libfabric, a capacity of 0
     * or no buffer means that this object's own memory is used; so does an API version below 1.5.
     *
     * @param buffer         that receives error data, or null.
     * @param offset         in the buffer, in bytes, where error data starts.
     * @param capacityLength most bytes to store; longer data is cut.
     * @return this object.
     * @throws FabricException with {@link FabricErrno#EINVAL} if the range is not within the buffer.
     */
    public EventError errDataBuffer(MutableDirectBuffer buffer, int offset, int capacityLength) {
        errData.useMemory("error data", buffer, offset, capacityLength);
        return this;
    }

    @Override
    public String toString() {
        return "EventError{err=" + FabricErrno.name(err) + ", provErrno=" + provErrno + ", fid=" + fid + ", context="
            + context + ", data=" + data + ", errDataSize=" + errDataSize() + '}';
    }

    void set(QueuedEvents.Slot slot, boolean keepsErrData) {
        set(slot.fid, slot.context, slot.data, slot.err, keepsErrData);
        if (slot.provErrno != 0) {
            provErrno = slot.provErrno;
        }
        if (keepsErrData) {
            errData.copyToOwn(slot.bytes, 0, slot.length);
        } else {
            errData.copy(slot.bytes, 0, slot.length);
        }
    }

    /** An error without error data; {@code keepsErrData} for the rules before API 1.5. */
    void set(Object about, long ofContext, long detail, int errno, boolean keepsErrData) {
        fid = about;
        context = ofContext;
        data = detail;
        err = errno;
        provErrno = errno;
        if (keepsErrData) {
            errData.clearAllButSize();
        } else {
            errData.clear();
        }
    }
}
