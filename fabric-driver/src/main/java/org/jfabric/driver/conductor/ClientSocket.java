package org.jfabric.driver.conductor;

import org.agrona.BitUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.ffi.UnixSocket;

import java.nio.ByteBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * One connection: first a single message in a frame, then nothing but doorbell bytes and the end of file.
 *
 * <p>Not a byte beyond the first message is read with it, because what follows may belong to somebody else. Owner:
 * conductor.
 */
final class ClientSocket {
    /** Longest first message in bytes. */
    static final int MAX_MESSAGE = 8192;

    /** What {@link #readMessage()} found. */
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

    private final int fd;
    private final long deadlineNs;
    private final UnsafeBuffer buffer =
        new UnsafeBuffer(ByteBuffer.allocateDirect(BitUtil.align(Integer.BYTES + MAX_MESSAGE, Long.BYTES)));
    private int received;
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

    int fd() {
        return fd;
    }

    UnsafeBuffer buffer() {
        return buffer;
    }

    /** Bytes of the message, which begins at 4. */
    int messageLength() {
        return buffer.getInt(0, LITTLE_ENDIAN);
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

    /** Reads as much of the first message as is there. */
    Read readMessage() {
        for (;;) {
            int wanted = Integer.BYTES;
            if (received >= Integer.BYTES) {
                int length = messageLength();
                if (length < MIN_MESSAGE || length > MAX_MESSAGE) {
                    return Read.GARBAGE;
                }
                wanted += length;
            }
            if (received == wanted && received > Integer.BYTES) {
                return Read.COMPLETE;
            }
            int count = UnixSocket.recv(
                fd, buffer.addressOffset() + received, wanted - received, UnixSocket.MSG_DONTWAIT);
            if (count <= 0) {
                return isTransient(count) ? Read.PARTIAL : Read.END;
            }
            received += count;
        }
    }

    /**
     * Takes doorbell bytes, whatever their value; what is left is taken the next time.
     *
     * @return false at the end of file.
     */
    boolean drain() {
        return UnixSocket.drainDoorbell(fd);
    }

    /**
     * Sends one doorbell byte; if there is no room the other side has enough to wake it.
     */
    void ring() {
        UnixSocket.ring(fd);
    }

    private static boolean isTransient(int result) {
        return result == -org.jfabric.FabricErrno.EAGAIN || result == -org.jfabric.FabricErrno.EINTR;
    }
}
