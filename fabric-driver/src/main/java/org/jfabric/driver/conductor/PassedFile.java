package org.jfabric.driver.conductor;

import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;

/**
 * The descriptor that a client passes over its socket. It comes with a doorbell byte, in front of the command that
 * needs it; the client has announced it by a command before, so that doorbells are read for descriptors only then.
 * There is one at a time.
 *
 * <p>Owner: conductor.
 */
final class PassedFile {
    private static final int NONE = -1;

    private int fd = NONE;
    private boolean isExpected;
    private boolean isClosed;

    /** Whether doorbell bytes are to be read by {@link #receive}. */
    boolean isExpected() {
        return isExpected;
    }

    /** Whether one is on its way, or has arrived and was not taken. */
    boolean isAnnounced() {
        return isExpected || fd != NONE;
    }

    /** The client passes one now; an earlier one that no command has taken is closed. */
    void expect() {
        close(take());
        isExpected = !isClosed;
    }

    /** Reads doorbell bytes, and perhaps the descriptor. */
    boolean receive(int socket) {
        int result = UnixSocket.receiveDescriptor(socket);
        if (result >= 0) {
            fd = result;
            isExpected = false;
        }
        return result != -FabricErrno.ECONNRESET;
    }

    /**
     * Takes the descriptor. Returns the descriptor, which is the caller's from now on; negative if it has not arrived.
     */
    int take() {
        int taken = fd;
        fd = NONE;
        return taken;
    }

    /** The client has ended. */
    void close() {
        isClosed = true;
        isExpected = false;
        close(take());
    }

    private static void close(int descriptor) {
        if (descriptor >= 0) {
            Libc.close(descriptor);
        }
    }
}
