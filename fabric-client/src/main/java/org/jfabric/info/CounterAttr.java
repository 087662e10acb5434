package org.jfabric.info;

import org.jfabric.info.Attribute.Format;
import org.jfabric.info.Attribute.Rule;

/**
 * How a counter is opened.
 *
 * <p>Use: {@code domain.openCounter(new CounterAttr().waitObject(WaitObject.UNSPEC))}.
 *
 * <p>A new object is the zeroed fi_cntr_attr of libfabric. Source: fi_cntr(3), section fi_cntr_open. Owner: the thread
 * that fills it in; a call that takes it reads it before it returns.
 */
public final class CounterAttr extends AttributeStructure<CounterAttr> {
    private static final AttributeTable TABLE = new AttributeTable("cntr_attr.");
    private static final Attribute<CounterEvents> EVENTS = TABLE.add("events", CounterEvents.COMP);
    private static final Attribute<WaitObject> WAIT_OBJECT = TABLE.add("wait_obj", WaitObject.NONE);
    private static final Attribute<Long> WAIT_SET_ID = TABLE.add("wait_set_id", 0L);
    private static final Attribute<Long> FLAGS = TABLE.add("flags", Rule.FREE, 0L, Format.HEX);

    /**
     * Attributes with every member at its default.
     */
    public CounterAttr() {
        super(TABLE);
    }

    /** The kind of events that are counted. Default {@link CounterEvents#COMP}. */
    public CounterEvents events() {
        return get(EVENTS);
    }

    /** Sets {@link #events()}; returns this object. */
    public CounterAttr events(CounterEvents events) {
        return set(EVENTS, events);
    }

    /** The wait object on which a thread may block. Default {@link WaitObject#NONE}. */
    public WaitObject waitObject() {
        return get(WAIT_OBJECT);
    }

    /** Sets {@link #waitObject()}; returns this object. */
    public CounterAttr waitObject(WaitObject waitObject) {
        return set(WAIT_OBJECT, waitObject);
    }

    /**
     * Id of the wait set to use, needed with {@link WaitObject#SET} and ignored with any other; 0 is none. Default
     * 0.
     */
    public long waitSetId() {
        return get(WAIT_SET_ID);
    }

    /** Sets {@link #waitSetId()}; returns this object. */
    public CounterAttr waitSetId(long waitSetId) {
        return set(WAIT_SET_ID, waitSetId);
    }

    /** Open flags; none are defined, so 0. Default 0. */
    public long flags() {
        return get(FLAGS);
    }

    /** Sets {@link #flags()}; returns this object. */
    public CounterAttr flags(long flags) {
        return set(FLAGS, flags);
    }
}
