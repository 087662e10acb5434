package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.VerbsErrno;

/**
 * Holder for one error entry of a completion queue: every member of fi_cq_err_entry, whatever the queue's format.
 *
 * <pre>{@code
 * if (queue.readErr(error, 0) == 1) {
 *     System.err.println(error.opContext() + ": " + error.describe());
 * }
 * }</pre>
 *
 * <p>Make one, pass it to each {@code readErr}, read the members. Reading into it allocates nothing. The error data is
 * copied, either into memory of the caller given by {@link #errDataBuffer(MutableDirectBuffer, int, int)} or into
 * memory of this object, so it stays valid until the next {@code readErr} with this object. Source: fi_cq(3), sections
 * fi_cq_readerr and Completion Fields. Owner: the thread that reads the completion queue.
 */
public final class CompletionError {
    /** Most bytes of error data that an entry of JFabric carries. */
    public static final int MAX_ERR_DATA_LENGTH = 104;

    private final CopiedData errData = new CopiedData(MAX_ERR_DATA_LENGTH);

    private long opContext;
    private long flags;
    private long len;
    private long buf;
    private long data;
    private long tag;
    private long olen;
    private int err;
    private int provErrno;
    private long srcAddr;

    /**
     * An empty holder that keeps error data in its own memory.
     */
    public CompletionError() {
        reset();
    }

    /** Context of the failed operation, or of its endpoint where the operation had none. */
    public long opContext() {
        return opContext;
    }

    /** Sets {@link #opContext()}; returns this object. */
    public CompletionError opContext(long opContext) {
        this.opContext = opContext;
        return this;
    }

    /** Completion flags, {@link Flags} of the kind {@link Flags.Kind#COMPLETION}. */
    public long flags() {
        return flags;
    }

    /** Sets {@link #flags()}; returns this object. */
    public CompletionError flags(long flags) {
        this.flags = flags;
        return this;
    }

    /** Bytes placed in the receive buffer. */
    public long len() {
        return len;
    }

    /** Sets {@link #len()}; returns this object. */
    public CompletionError len(long len) {
        this.len = len;
        return this;
    }

    /** Where in the posted memory the message starts, where the entry has such a position, else 0. */
    public long buf() {
        return buf;
    }

    /** Sets {@link #buf()}; returns this object. */
    public CompletionError buf(long buf) {
        this.buf = buf;
        return this;
    }

    /** CQ data of the peer, valid if {@link #flags()} has {@link Flags#REMOTE_CQ_DATA}, else 0. */
    public long data() {
        return data;
    }

    /** Sets {@link #data()}; returns this object. */
    public CompletionError data(long data) {
        this.data = data;
        return this;
    }

    /** Tag of the message, meaningful for tagged receives. */
    public long tag() {
        return tag;
    }

    /** Sets {@link #tag()}; returns this object. */
    public CompletionError tag(long tag) {
        this.tag = tag;
        return this;
    }

    /** Bytes of the message that did not fit and were dropped. */
    public long olen() {
        return olen;
    }

    /** Sets {@link #olen()}; returns this object. */
    public CompletionError olen(long olen) {
        this.olen = olen;
        return this;
    }

    /** The error, a positive {@link FabricErrno}; 0 only while this holder is empty. */
    public int err() {
        return err;
    }

    /** Sets {@link #err()}; returns this object. */
    public CompletionError err(int err) {
        this.err = err;
        return this;
    }

    /**
     * Detail of the link, for debugging: the same as {@link #err()}, or what an RDMA device said, see
     * {@link VerbsErrno}.
     */
    public int provErrno() {
        return provErrno;
    }

    /** Sets {@link #provErrno()}; returns this object. */
    public CompletionError provErrno(int provErrno) {
        this.provErrno = provErrno;
        return this;
    }

    /**
     * Source of a failed receive, {@link FabricAddress#ADDR_NOTAVAIL} if it is not known. libfabric has this member
     * from 1.20 on.
     */
    public long srcAddr() {
        return srcAddr;
    }

    /** Sets {@link #srcAddr()}; returns this object. */
    public CompletionError srcAddr(long srcAddr) {
        this.srcAddr = srcAddr;
        return this;
    }

    /**
     * Gives memory for error data; it stays in use until replaced, also over {@link #reset()}.
     *
     * <p>With {@link FabricErrno#EADDRNOTAVAIL} the data is the raw address of the source. Like err_data_size 0 in
     * libfabric, a capacity of 0 or no buffer means that this object's own memory is used; so does a fabric opened with
     * an API version below 1.5, whatever is given here.
     *
     * @param buffer         that receives error data, or null.
     * @param offset         in the buffer, in bytes, where error data starts.
     * @param capacityLength most bytes to store; longer data is cut.
     * @return this object.
     * @throws FabricException with {@link FabricErrno#EINVAL} if the range is not within the buffer.
     */
    public CompletionError errDataBuffer(MutableDirectBuffer buffer, int offset, int capacityLength) {
        errData.useMemory("error data", buffer, offset, capacityLength);
        return this;
    }

    /**
     * The error in words, for logs: what {@link CompletionQueue#strerror(int)} says of it, and the values that the
     * entry or its error data names, such as the memory that is in no region or the lengths of a truncated message.
     *
     * @return text, never empty; new each time.
     */
    public String describe() {
        String text = ErrorText.of(provErrno, errData(), null, 0, 0);
        return err == FabricErrno.ETRUNC ? text + " Of " + (len + olen) + " bytes " + len + " were placed." : text;
    }

    /**
     * View of the error data; index 0 is its first byte and its capacity is how many there are.
     *
     * <p>Provider specific and for debugging, except with {@link FabricErrno#EADDRNOTAVAIL}.
     *
     * @return the same view object each time; it moves with the next {@code readErr}.
     */
    public DirectBuffer errData() {
        return errData.view();
    }

    /**
     * Bytes of error data stored, 0 if there are none. The member does not exist before API 1.5: a {@code readErr}
     * there leaves it as it is, and {@link #errData()} alone has their number.
     *
     * @return length in bytes, at most the capacity that the caller gave.
     */
    public int errDataSize() {
        return errData.size();
    }

    /**
     * Copies error data in, cut to the capacity of the memory in use.
     *
     * @param source holding the data.
     * @param offset of its first byte.
     * @param length in bytes, not negative.
     * @return this object.
     */
    public CompletionError errData(DirectBuffer source, int offset, int length) {
        errData.copy(source, offset, length);
        return this;
    }

    /** Copies error data in as before API 1.5: never into memory of the caller, and without its size. */
    CompletionError errDataToOwn(DirectBuffer source, int offset, int length) {
        errData.copyToOwn(source, offset, length);
        return this;
    }

    /** As {@link #reset()}, but leaves the size of error data, a member that does not exist before API 1.5. */
    CompletionError resetAllButErrDataSize() {
        emptyMembers();
        errData.clearAllButSize();
        return this;
    }

    /**
     * Empties every member; the memory given for error data stays in use.
     *
     * @return this object.
     */
    public CompletionError reset() {
        emptyMembers();
        errData.clear();
        return this;
    }

    private void emptyMembers() {
        opContext = 0;
        flags = 0;
        len = 0;
        buf = 0;
        data = 0;
        tag = 0;
        olen = 0;
        err = 0;
        provErrno = 0;
        srcAddr = FabricAddress.ADDR_NOTAVAIL;
    }

    @Override
    public String toString() {
        return "CompletionError{err=" + FabricErrno.name(err) + ", provErrno=" + provErrno + ", opContext=" + opContext
            + ", flags=" + Flags.toString(flags, Flags.Kind.COMPLETION) + ", len=" + len + ", buf=" + Codes.hex(buf)
            + ", data=" + Codes.hex(data) + ", tag=" + Codes.hex(tag) + ", olen=" + olen
            + ", errDataSize=" + errDataSize() + ", srcAddr=" + srcAddr + '}';
    }
}
