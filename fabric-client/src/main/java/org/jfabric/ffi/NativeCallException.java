package org.jfabric.ffi;

/**
 * A call of the operating system failed on the control path.
 *
 * <p>The message names the call, what it was applied to, the errno by name and number and, where there is one, the
 * remedy.
 */
public final class NativeCallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errno;
    private final String call;

    /**
     * Describes a failed call.
     *
     * @param call name of the C function or of the check that failed.
     * @param errno positive errno.
     * @param detail path and values the call was made with, and the remedy; part of the message.
     */
    public NativeCallException(String call, int errno, String detail) {
        super(call + ": " + LinuxErrno.describe(errno) + ": " + detail);
        this.errno = errno;
        this.call = call;
    }

    /** The errno of the failed call. Returns positive errno, never 0. */
    public int errno() {
        return errno;
    }

    /** The C function, or the check, that failed. */
    public String call() {
        return call;
    }
}
