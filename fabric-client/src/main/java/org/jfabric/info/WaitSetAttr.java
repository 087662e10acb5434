package org.jfabric.info;

/**
 * How a wait set is opened (fi_wait_attr).
 *
 * <p>Use: {@code fabric.openWaitSet(new WaitSetAttr().waitObject(WaitObject.FD))}.
 *
 * <p>Source: fi_poll(3), section fi_wait_open. Owner: the thread that fills it in; a call that takes it reads it before
 * it returns.
 */
public final class WaitSetAttr {
    private WaitObject waitObject = WaitObject.UNSPEC;
    private long flags;

    /** Attributes with every member at its default. */
    public WaitSetAttr() {
    }

    /**
     * The wait object on which a thread may block. Default {@link WaitObject#UNSPEC}.
     *
     * @return the wait object.
     */
    public WaitObject waitObject() {
        return waitObject;
    }

    /**
     * Sets {@link #waitObject()}.
     *
     * @param waitObject {@link WaitObject#UNSPEC}, {@link WaitObject#FD}, {@link WaitObject#MUTEX_COND} or
     *                   {@link WaitObject#YIELD}.
     * @return this object.
     */
    public WaitSetAttr waitObject(WaitObject waitObject) {
        this.waitObject = Codes.required(waitObject, "waitObject");
        return this;
    }

    /**
     * Reserved. Default 0.
     *
     * @return the flags.
     */
    public long flags() {
        return flags;
    }

    /**
     * Sets {@link #flags()}.
     *
     * @param flags 0.
     * @return this object.
     */
    public WaitSetAttr flags(long flags) {
        this.flags = flags;
        return this;
    }

    /**
     * An independent copy.
     *
     * @return equal in every member.
     */
    public WaitSetAttr copy() {
        return new WaitSetAttr().waitObject(waitObject).flags(flags);
    }

    @Override
    public String toString() {
        return "WaitSetAttr{waitObject=" + waitObject + ", flags=" + flags + '}';
    }
}
