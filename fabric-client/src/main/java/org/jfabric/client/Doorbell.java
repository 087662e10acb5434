package org.jfabric.client;

import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The client's end of the driver's socket after the hello: one byte says that there is something in a queue, the end of
 * file says that the client is gone.
 *
 * <p>Any thread rings; a thread that rings while another one closes never writes to a descriptor that was reused.
 */
public final class Doorbell implements AutoCloseable {
    private static final int CLOSED = 1 << 30;

    private final int fd;
    private final AtomicInteger users = new AtomicInteger();

    /** The doorbell of a connected socket, which it closes in the end. */
    public Doorbell(int fd) {
        this.fd = fd;
    }

    /**
     * Wakes the driver. A full socket needs no further byte, and a dead driver shows elsewhere.
     */
    public void ring() {
        try {
            if (users.getAndIncrement() < CLOSED) {
                UnixSocket.ring(fd);
            }
        } finally {
            // a late fault of a file that was cut may be raised anywhere
            users.getAndDecrement();
        }
    }

    /** Wakes the driver by a byte that carries a descriptor. Returns 0 or a negative errno. */
    int pass(int descriptor) {
        try {
            return users.getAndIncrement() < CLOSED ? UnixSocket.sendDescriptor(fd, descriptor)
                : -FabricErrno.ECONNRESET;
        } finally {
            users.getAndDecrement();
        }
    }

    /**
     * Ends directions of the socket. The driver sees the end of that of the client, a thread asleep on the socket that
     * of the other one.
     *
     * @param directions a SHUT constant of {@link UnixSocket}.
     */
    void shutdown(int directions) {
        try {
            if (users.getAndIncrement() < CLOSED) {
                UnixSocket.shutdown(fd, directions);
            }
        } finally {
            users.getAndDecrement();
        }
    }

    /** The socket, for the thread that sleeps on it. */
    public int fd() {
        return fd;
    }

    /** Closes the socket once no thread is ringing; has no effect if called again. */
    @Override
    public void close() {
        if (users.getAndAdd(CLOSED) >= CLOSED) {
            users.getAndAdd(-CLOSED);
            return;
        }
        // a ring is one system call that does not wait
        while (users.get() != CLOSED) {
            Thread.onSpinWait();
        }
        Libc.close(fd);
    }
}
