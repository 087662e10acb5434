package org.jfabric.info;

import org.jfabric.info.Attribute.Format;
import org.jfabric.info.Attribute.Rule;

/**
 * How an event queue is opened.
 *
 * <p>Use: {@code fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.FD))}.
 *
 * <p>A new object is the zeroed fi_eq_attr of libfabric. Source: fi_eq(3), section fi_eq_open. Owner: the thread that
 * fills it in; a call that takes it reads it before it returns.
 */
public final class EventQueueAttr extends AttributeStructure<EventQueueAttr> {
    private static final AttributeTable TABLE = new AttributeTable("eq_attr.");
    private static final Attribute<Long> SIZE = TABLE.add("size", 0L);
    private static final Attribute<Long> FLAGS = TABLE.add("flags", Rule.FREE, 0L, Format.EQ_OPEN);
    private static final Attribute<WaitObject> WAIT_OBJECT = TABLE.add("wait_obj", WaitObject.NONE);
    private static final Attribute<Integer> SIGNALING_VECTOR = TABLE.add("signaling_vector", 0);
    private static final Attribute<Long> WAIT_SET_ID = TABLE.add("wait_set_id", 0L);

    /**
     * Attributes with every member at its default.
     */
    public EventQueueAttr() {
        super(TABLE);
    }

    /** Least number of unread events that the queue can hold; 0 lets the provider choose. Default 0. */
    public long size() {
        return get(SIZE);
    }

    /** Sets {@link #size()}; returns this object. */
    public EventQueueAttr size(long size) {
        return set(SIZE, size);
    }

    /** Open flags: {@link Flags#WRITE} and {@link Flags#AFFINITY}. Default 0. */
    public long flags() {
        return get(FLAGS);
    }

    /** Sets {@link #flags()}; returns this object. */
    public EventQueueAttr flags(long flags) {
        return set(FLAGS, flags);
    }

    /** The wait object on which a thread may block. Default {@link WaitObject#NONE}. */
    public WaitObject waitObject() {
        return get(WAIT_OBJECT);
    }

    /** Sets {@link #waitObject()}; returns this object. */
    public EventQueueAttr waitObject(WaitObject waitObject) {
        return set(WAIT_OBJECT, waitObject);
    }

    /**
     * Logical processor, 0 to count - 1, that interrupts should target; used only with {@link Flags#AFFINITY}.
     * Default 0.
     */
    public int signalingVector() {
        return get(SIGNALING_VECTOR);
    }

    /** Sets {@link #signalingVector()}; returns this object. */
    public EventQueueAttr signalingVector(int signalingVector) {
        return set(SIGNALING_VECTOR, signalingVector);
    }

    /**
     * Id of the wait set to use, needed with {@link WaitObject#SET} and ignored with any other; 0 is none. Default
     * 0.
     */
    public long waitSetId() {
        return get(WAIT_SET_ID);
    }

    /** Sets {@link #waitSetId()}; returns this object. */
    public EventQueueAttr waitSetId(long waitSetId) {
        return set(WAIT_SET_ID, waitSetId);
    }
}
