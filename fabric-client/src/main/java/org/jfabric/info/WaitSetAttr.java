package org.jfabric.info;

/**
 * How a wait set is opened (fi_wait_attr).
 *
 * <p>Use: {@code fabric.openWaitSet(new WaitSetAttr().waitObject(WaitObject.FD))}.
 *
 * <p>Source: fi_poll(3), section fi_wait_open. Owner: the thread that fills it in; a call that takes it reads it before
 * it returns.
 */
public final class WaitSetAttr extends AttributeStructure<WaitSetAttr> {
    private static final AttributeTable TABLE = new AttributeTable("wait_attr.");
    private static final Attribute<WaitObject> WAIT_OBJECT = TABLE.add("wait_obj", WaitObject.UNSPEC);
    private static final Attribute<Long> FLAGS = TABLE.add("flags", 0L);

    /** Attributes with every member at its default. */
    public WaitSetAttr() {
        super(TABLE);
    }

    /** The wait object on which a thread may block. Default {@link WaitObject#UNSPEC}. */
    public WaitObject waitObject() {
        return get(WAIT_OBJECT);
    }

    /**
     * Sets {@link #waitObject()}: {@link WaitObject#UNSPEC}, {@link WaitObject#FD}, {@link WaitObject#MUTEX_COND} or
     * {@link WaitObject#YIELD}; returns this object.
     */
    public WaitSetAttr waitObject(WaitObject waitObject) {
        return set(WAIT_OBJECT, waitObject);
    }

    /** Reserved. Default 0. */
    public long flags() {
        return get(FLAGS);
    }

    /** Sets {@link #flags()}; returns this object. */
    public WaitSetAttr flags(long flags) {
        return set(FLAGS, flags);
    }
}
