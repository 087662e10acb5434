package org.jfabric.info;

/**
 * How a counter is opened.
 *
 * <p>Use: {@code domain.openCounter(new CounterAttr().waitObject(WaitObject.UNSPEC))}.
 *
 * <p>A new object is the zeroed fi_cntr_attr of libfabric. Source: fi_cntr(3), section fi_cntr_open. Owner: the thread
 * that fills it in; a call that takes it reads it before it returns.
 */
public final class CounterAttr {
    private CounterEvents events = CounterEvents.COMP;
    private WaitObject waitObject = WaitObject.NONE;
    private long waitSetId;
    private long flags;

    /**
     * Attributes with every member at its default.
     */
    public CounterAttr() {
    }

    private CounterAttr(CounterAttr from) {
        events = from.events;
        waitObject = from.waitObject;
        waitSetId = from.waitSetId;
        flags = from.flags;
    }

    /** The kind of events that are counted. Default {@link CounterEvents#COMP}. */
    public CounterEvents events() {
        return events;
    }

    /** Sets {@link #events()}; returns this object. */
    public CounterAttr events(CounterEvents events) {
        this.events = Codes.required(events, "events");
        return this;
    }

    /** The wait object on which a thread may block. Default {@link WaitObject#NONE}. */
    public WaitObject waitObject() {
        return waitObject;
    }

    /** Sets {@link #waitObject()}; returns this object. */
    public CounterAttr waitObject(WaitObject waitObject) {
        this.waitObject = Codes.required(waitObject, "waitObject");
        return this;
    }

    /**
     * Id of the wait set to use, needed with {@link WaitObject#SET} and ignored with any other; 0 is none. Default
     * 0.
     */
    public long waitSetId() {
        return waitSetId;
    }

    /** Sets {@link #waitSetId()}; returns this object. */
    public CounterAttr waitSetId(long waitSetId) {
        this.waitSetId = waitSetId;
        return this;
    }

    /** Open flags; none are defined, so 0. Default 0. */
    public long flags() {
        return flags;
    }

    /** Sets {@link #flags()}; returns this object. */
    public CounterAttr flags(long flags) {
        this.flags = flags;
        return this;
    }

    /** An independent copy, nested objects included; changing one does not change the other. */
    public CounterAttr copy() {
        return new CounterAttr(this);
    }

    @Override
    public String toString() {
        return "CounterAttr{events=" + events + ", waitObject=" + waitObject + ", waitSetId=" + waitSetId
            + ", flags=" + Codes.hex(flags) + '}';
    }
}
