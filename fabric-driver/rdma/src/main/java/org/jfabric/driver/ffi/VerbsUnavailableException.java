package org.jfabric.driver.ffi;

import org.jfabric.info.Reason;

/** The system's RDMA libraries cannot be used; the reason has the value found, the needed value and the remedy. */
public final class VerbsUnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Reason reason;

    /** Makes an exception for a failed condition. */
    public VerbsUnavailableException(Reason reason) {
        super(reason.toString());
        this.reason = reason;
    }

    /** The value that was found and the one that is needed. */
    public Reason reason() {
        return reason;
    }
}
