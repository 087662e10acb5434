package org.jfabric.driver.ffi;

import org.jfabric.Reason;

/** The system's RDMA libraries cannot be used; the reason says what was seen, what is needed, and the remedy. */
public final class VerbsUnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Reason reason;

    /**
     * A failed condition.
     *
     * @param reason of it.
     */
    public VerbsUnavailableException(Reason reason) {
        super(reason.toString());
        this.reason = reason;
    }

    /**
     * What was seen and needed.
     *
     * @return the reason.
     */
    public Reason reason() {
        return reason;
    }
}
