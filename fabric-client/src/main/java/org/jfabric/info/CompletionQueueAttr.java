package org.jfabric.info;

/**
 * How a completion queue is opened; every member reaches the driver unchanged.
 *
 * <p>Use: {@code domain.openCompletionQueue(new CompletionQueueAttr().size(1024))}.
 *
 * <p>A new object is the zeroed fi_cq_attr of libfabric. Source: fi_cq(3), section fi_cq_open. Owner: the thread that
 * fills it in; a call that takes it reads it before it returns.
 */
public final class CompletionQueueAttr {
    private long size;
    private long flags;
    private CompletionFormat format = CompletionFormat.UNSPEC;
    private WaitObject waitObject = WaitObject.NONE;
    private int signalingVector;
    private WaitCondition waitCondition = WaitCondition.NONE;
    private long waitSetId;

    /**
     * Attributes with every member at its default.
     */
    public CompletionQueueAttr() {
    }

    private CompletionQueueAttr(CompletionQueueAttr from) {
        size = from.size;
        flags = from.flags;
        format = from.format;
        waitObject = from.waitObject;
        signalingVector = from.signalingVector;
        waitCondition = from.waitCondition;
        waitSetId = from.waitSetId;
    }

    /**
     * Least number of unread entries that the queue can hold; 0 lets the provider choose. Default 0.
     */
    public long size() {
        return size;
    }

    /** Sets {@link #size()}; returns this object. */
    public CompletionQueueAttr size(long size) {
        this.size = size;
        return this;
    }

    /**
     * Open flags, only {@link Flags#AFFINITY} is defined; other bits make the open fail with
     * {@link FabricErrno#EINVAL}. Default 0.
     */
    public long flags() {
        return flags;
    }

    /** Sets {@link #flags()}; returns this object. */
    public CompletionQueueAttr flags(long flags) {
        this.flags = flags;
        return this;
    }

    /** Which members entries have. Default {@link CompletionFormat#UNSPEC}. */
    public CompletionFormat format() {
        return format;
    }

    /** Sets {@link #format()}; returns this object. */
    public CompletionQueueAttr format(CompletionFormat format) {
        this.format = Codes.required(format, "format");
        return this;
    }

    /** The wait object on which a thread may block. Default {@link WaitObject#NONE}. */
    public WaitObject waitObject() {
        return waitObject;
    }

    /** Sets {@link #waitObject()}; returns this object. */
    public CompletionQueueAttr waitObject(WaitObject waitObject) {
        this.waitObject = Codes.required(waitObject, "waitObject");
        return this;
    }

    /**
     * Logical processor, 0 to count - 1, that completion interrupts should target; used only with
     * {@link Flags#AFFINITY}, and only a hint. Default 0.
     */
    public int signalingVector() {
        return signalingVector;
    }

    /** Sets {@link #signalingVector()}; returns this object. */
    public CompletionQueueAttr signalingVector(int signalingVector) {
        this.signalingVector = signalingVector;
        return this;
    }

    /**
     * The condition that releases a blocking read; ignored with {@link WaitObject#NONE}. Default
     * {@link WaitCondition#NONE}.
     */
    public WaitCondition waitCondition() {
        return waitCondition;
    }

    /** Sets {@link #waitCondition()}; returns this object. */
    public CompletionQueueAttr waitCondition(WaitCondition waitCondition) {
        this.waitCondition = Codes.required(waitCondition, "waitCondition");
        return this;
    }

    /**
     * Id of the wait set to use, needed with {@link WaitObject#SET} and ignored with any other; 0 is none. Default 0.
     */
    public long waitSetId() {
        return waitSetId;
    }

    /** Sets {@link #waitSetId()}; returns this object. */
    public CompletionQueueAttr waitSetId(long waitSetId) {
        this.waitSetId = waitSetId;
        return this;
    }

    /** An independent copy, nested objects included; changing one does not change the other. */
    public CompletionQueueAttr copy() {
        return new CompletionQueueAttr(this);
    }

    @Override
    public String toString() {
        return "CompletionQueueAttr{size=" + size + ", flags=" + Flags.toString(flags, Flags.Kind.CQ_OPEN)
            + ", format=" + format + ", waitObject=" + waitObject + ", signalingVector=" + signalingVector
            + ", waitCondition=" + waitCondition + ", waitSetId=" + waitSetId + '}';
    }
}
