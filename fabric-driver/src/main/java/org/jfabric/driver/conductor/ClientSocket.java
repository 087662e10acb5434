package org.jfabric.driver.conductor;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.FabricErrno;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;

import java.util.Arrays;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * One connection: first a single message in a frame, then nothing but doorbell bytes and the end of file.
 *
 * <p>Not a byte beyond the first message is read with it, because what follows may belong to somebody else. The object
 * owns its descriptor: after {@link #close()} or {@link #handOver()} every call fails and the number, which the kernel
 * may have given to somebody else, is not used again. Owner: conductor.
 */
final class ClientSocket {
    /** Longest first message in bytes. */
    static final int MAX_MESSAGE = 8192;

    /** What {@link #readMessage} found. */
    enum Read {
        /** The message is complete. */
        COMPLETE,
        /** More bytes are needed. */
        PARTIAL,
        /** The other side has closed or broken the connection. */
        END,
        /** The length is impossible. */
        GARBAGE
    }

    private static final int MIN_MESSAGE = 8;

    private static final int NO_DESCRIPTOR = -1;
    private static final byte[] NOTHING = {};

    private final long deadlineNs;
    private int fd;
    /** The begin of a first message whose rest has not arrived; as long as what was received. */
    private byte[] partial = NOTHING;
    private ClientSession session;
    private WaitResource waitResource;
    private boolean answered;
    private boolean awaited = true;

    /**
     * A connection without message.
     *
     * @param fd         non-blocking.
     * @param deadlineNs until when its message has to be there.
     */
    ClientSocket(int fd, long deadlineNs) {
        this.fd = fd;
        this.deadlineNs = deadlineNs;
    }

    /** The descriptor, or -1 once it was closed or handed over. */
    int fd() {
        return fd;
    }

    /** Ends the connection and closes the descriptor; again does nothing. */
    void close() {
        if (fd != NO_DESCRIPTOR) {
            int open = handOver();
            UnixSocket.shutdown(open, UnixSocket.SHUT_RDWR);
            Libc.close(open);
        }
    }

    /**
     * Gives the open descriptor to another owner, who closes it.
     *
     * @return the descriptor, or -1 if there is none any more.
     */
    int handOver() {
        int open = fd;
        fd = NO_DESCRIPTOR;
        partial = NOTHING;
        return open;
    }

    /** Bytes that are kept of an incomplete first message. */
    int partialBytes() {
        return partial.length;
    }

    ClientSession session() {
        return session;
    }

    void session(ClientSession newSession) {
        session = newSession;
    }

    /** What a wait channel belongs to; null for a connection of another kind. */
    WaitResource waitResource() {
        return waitResource;
    }

    void waitResource(WaitResource newWaitResource) {
        waitResource = newWaitResource;
    }

    /** Whether the message was taken, so that what follows are doorbell bytes. */
    boolean isAnswered() {
        return answered;
    }

    void onAnswered() {
        answered = true;
    }

    /** Whether the first message is not there yet and the connection is open. */
    boolean isAwaited() {
        return awaited;
    }

    /** The first message is there, or will never be. */
    void onSpoken() {
        awaited = false;
    }

    /** Whether the first message should have been there. */
    boolean isLate(long nowNs) {
        return nowNs - deadlineNs > 0;
    }

    /**
     * Reads as much of the first message as is there. An incomplete one is kept here, in no more bytes than it has.
     *
     * @param message scratch memory of at least 4 + {@link #MAX_MESSAGE} bytes; holds the length and the message
     *                behind it if that is complete.
     */
    Read readMessage(UnsafeBuffer message) {
        int received = partial.length;
        message.putBytes(0, partial);
        for (;;) {
            int wanted = Integer.BYTES;
            if (received >= Integer.BYTES) {
                int length = message.getInt(0, LITTLE_ENDIAN);
                if (length < MIN_MESSAGE || length > MAX_MESSAGE) {
                    return Read.GARBAGE;
                }
                wanted += length;
            }
            if (received == wanted && received > Integer.BYTES) {
                partial = NOTHING;
                return Read.COMPLETE;
            }
            int count = isOpen() ? UnixSocket.recv(
                fd, message.addressOffset() + received, wanted - received, UnixSocket.MSG_DONTWAIT) : 0;
            if (count <= 0) {
                if (!isTransient(count)) {
                    return Read.END;
                }
                if (received > partial.length) {
                    partial = Arrays.copyOf(partial, received);
                    message.getBytes(0, partial);
                }
                return Read.PARTIAL;
            }
            received += count;
        }
    }

    /**
     * Sends a whole message without waiting.
     *
     * @return false if it was not taken, or the connection is closed.
     */
    boolean send(long address, int lengthBytes) {
        return isOpen() && UnixSocket.send(fd, address, lengthBytes, UnixSocket.MSG_DONTWAIT) == lengthBytes;
    }

    /**
     * Takes doorbell bytes, whatever their value; what is left is taken the next time.
     *
     * @return false at the end of file, or after the close.
     */
    boolean drain() {
        return isOpen() && UnixSocket.drainDoorbell(fd);
    }

    /**
     * Sends one doorbell byte; if there is no room the other side has enough to wake it. Does nothing after the close.
     */
    void ring() {
        if (isOpen()) {
            UnixSocket.ring(fd);
        }
    }

    private boolean isOpen() {
        return fd != NO_DESCRIPTOR;
    }

    private static boolean isTransient(int result) {
        return result == -FabricErrno.EAGAIN || result == -FabricErrno.EINTR;
    }
}
