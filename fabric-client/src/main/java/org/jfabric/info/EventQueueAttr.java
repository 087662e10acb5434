package org.jfabric.info;

/**
 * How an event queue is opened.
 *
 * <p>Use: {@code fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.FD))}.
 *
 * <p>A new object is the zeroed fi_eq_attr of libfabric. Source: fi_eq(3), section fi_eq_open. Owner: the thread that
 * fills it in; a call that takes it reads it before it returns.
 */
public final class EventQueueAttr {
    private long size;
    private long flags;
    private WaitObject waitObject = WaitObject.NONE;
    private int signalingVector;
    private long waitSetId;

    /**
     * Attributes with every member at its default.
     */
    public EventQueueAttr() {
    }

    private EventQueueAttr(EventQueueAttr from) {
        size = from.size;
        flags = from.flags;
        waitObject = from.waitObject;
        signalingVector = from.signalingVector;
        waitSetId = from.waitSetId;
    }

    /** Least number of unread events that the queue can hold; 0 lets the provider choose. Default 0. */
    public long size() {
        return size;
    }

    /** Sets {@link #size()}; returns this object. */
    public EventQueueAttr size(long size) {
        this.size = size;
        return this;
    }

    /** Open flags: {@link Flags#WRITE} and {@link Flags#AFFINITY}. Default 0. */
    public long flags() {
        return flags;
    }

    /** Sets {@link #flags()}; returns this object. */
    public EventQueueAttr flags(long flags) {
        this.flags = flags;
        return this;
    }

    /** The wait object on which a thread may block. Default {@link WaitObject#NONE}. */
    public WaitObject waitObject() {
        return waitObject;
    }

    /** Sets {@link #waitObject()}; returns this object. */
    public EventQueueAttr waitObject(WaitObject waitObject) {
        this.waitObject = Codes.required(waitObject, "waitObject");
        return this;
    }

    /**
     * Logical processor, 0 to count - 1, that interrupts should target; used only with {@link Flags#AFFINITY}.
     * Default 0.
     */
    public int signalingVector() {
        return signalingVector;
    }

    /** Sets {@link #signalingVector()}; returns this object. */
    public EventQueueAttr signalingVector(int signalingVector) {
        this.signalingVector = signalingVector;
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
    public EventQueueAttr waitSetId(long waitSetId) {
        this.waitSetId = waitSetId;
        return this;
    }

    /** An independent copy, nested objects included; changing one does not change the other. */
    public EventQueueAttr copy() {
        return new EventQueueAttr(this);
    }

    @Override
    public String toString() {
        return "EventQueueAttr{size=" + size + ", flags=" + Flags.toString(flags, Flags.Kind.EQ_OPEN)
            + ", waitObject=" + waitObject + ", signalingVector=" + signalingVector
            + ", waitSetId=" + waitSetId + '}';
    }
}
