package org.jfabric.info;

import org.jfabric.info.Attribute.Format;
import org.jfabric.info.Attribute.Rule;

/**
 * How a completion queue is opened; every member reaches the driver unchanged.
 *
 * <p>Use: {@code domain.openCompletionQueue(new CompletionQueueAttr().size(1024))}.
 *
 * <p>A new object is the zeroed fi_cq_attr of libfabric. Source: fi_cq(3), section fi_cq_open. Owner: the thread that
 * fills it in; a call that takes it reads it before it returns.
 */
public final class CompletionQueueAttr extends AttributeStructure<CompletionQueueAttr> {
    private static final AttributeTable TABLE = new AttributeTable("cq_attr.");
    private static final Attribute<Long> SIZE = TABLE.add("size", 0L);
    private static final Attribute<Long> FLAGS = TABLE.add("flags", Rule.FREE, 0L, Format.CQ_OPEN);
    private static final Attribute<CompletionFormat> FORMAT = TABLE.add("format", CompletionFormat.UNSPEC);
    private static final Attribute<WaitObject> WAIT_OBJECT = TABLE.add("wait_obj", WaitObject.NONE);
    private static final Attribute<Integer> SIGNALING_VECTOR = TABLE.add("signaling_vector", 0);
    private static final Attribute<WaitCondition> WAIT_CONDITION = TABLE.add("wait_cond", WaitCondition.NONE);
    private static final Attribute<Long> WAIT_SET_ID = TABLE.add("wait_set_id", 0L);

    /**
     * Attributes with every member at its default.
     */
    public CompletionQueueAttr() {
        super(TABLE);
    }

    /**
     * Least number of unread entries that the queue can hold; 0 lets the provider choose. Default 0.
     */
    public long size() {
        return get(SIZE);
    }

    /** Sets {@link #size()}; returns this object. */
    public CompletionQueueAttr size(long size) {
        return set(SIZE, size);
    }

    /**
     * Open flags, only {@link Flags#AFFINITY} is defined; other bits make the open fail with
     * {@link FabricErrno#EINVAL}. Default 0.
     */
    public long flags() {
        return get(FLAGS);
    }

    /** Sets {@link #flags()}; returns this object. */
    public CompletionQueueAttr flags(long flags) {
        return set(FLAGS, flags);
    }

    /** Which members entries have. Default {@link CompletionFormat#UNSPEC}. */
    public CompletionFormat format() {
        return get(FORMAT);
    }

    /** Sets {@link #format()}; returns this object. */
    public CompletionQueueAttr format(CompletionFormat format) {
        return set(FORMAT, format);
    }

    /** The wait object on which a thread may block. Default {@link WaitObject#NONE}. */
    public WaitObject waitObject() {
        return get(WAIT_OBJECT);
    }

    /** Sets {@link #waitObject()}; returns this object. */
    public CompletionQueueAttr waitObject(WaitObject waitObject) {
        return set(WAIT_OBJECT, waitObject);
    }

    /**
     * Logical processor, 0 to count - 1, that completion interrupts should target; used only with
     * {@link Flags#AFFINITY}, and only a hint. Default 0.
     */
    public int signalingVector() {
        return get(SIGNALING_VECTOR);
    }

    /** Sets {@link #signalingVector()}; returns this object. */
    public CompletionQueueAttr signalingVector(int signalingVector) {
        return set(SIGNALING_VECTOR, signalingVector);
    }

    /**
     * The condition that releases a blocking read; ignored with {@link WaitObject#NONE}. Default
     * {@link WaitCondition#NONE}.
     */
    public WaitCondition waitCondition() {
        return get(WAIT_CONDITION);
    }

    /** Sets {@link #waitCondition()}; returns this object. */
    public CompletionQueueAttr waitCondition(WaitCondition waitCondition) {
        return set(WAIT_CONDITION, waitCondition);
    }

    /**
     * Id of the wait set to use, needed with {@link WaitObject#SET} and ignored with any other; 0 is none. Default 0.
     */
    public long waitSetId() {
        return get(WAIT_SET_ID);
    }

    /** Sets {@link #waitSetId()}; returns this object. */
    public CompletionQueueAttr waitSetId(long waitSetId) {
        return set(WAIT_SET_ID, waitSetId);
    }
}
