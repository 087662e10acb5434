package org.jfabric.driver.conductor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;

/**
 * One connection: first a single message in a frame, then only doorbell bytes and the end of file.
 *
 * <p>No byte after the first message is read together with it, because later bytes may belong to another owner of the
 * descriptor. The object owns its descriptor: after {@link #close()} or {@link #handOver()} every call fails and the
 * number, which the kernel may have given to another file, is not used again. Owner: conductor.
 */
final class ClientSocket {
    /** Longest first message in bytes. */
    static final int MAX_MESSAGE = 8192;

    /** Results of {@link #readMessage}. */
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

    private final long uid;
    private final long deadlineNs;
    private int fd;
    /** The received bytes of an incomplete first message; as long as these. */
    private byte[] partial = NOTHING;
    private ClientSession session;
    private WaitResource waitResource;
    private boolean answered;
    private boolean awaited = true;

    /**
     * A connection without message.
     *
     * @param deadlineNs time until which its first message must be complete.
     */
    ClientSocket(int fd, long deadlineNs) {
        this.fd = fd;
        this.uid = UnixSocket.peerCredentials(fd);
        this.deadlineNs = deadlineNs;
    }

    /** User of the process that connected, as the kernel recorded it; negative if it is not known. */
    long uid() {
        return uid;
    }

    /** The descriptor, or -1 once it was closed or handed over. */
    int fd() {
        return fd;
    }

    /** Ends the connection and closes the descriptor; ignored if it is closed already. */
    void close() {
        if (fd != NO_DESCRIPTOR) {
            int open = handOver();
            UnixSocket.shutdown(open, UnixSocket.SHUT_RDWR);
            Libc.close(open);
        }
    }

    /**
     * Passes the open descriptor to another owner, which must close it. Returns the descriptor, or -1 if it was closed
     * or passed on already.
     */
    int handOver() {
        int open = fd;
        fd = NO_DESCRIPTOR;
        partial = NOTHING;
        return open;
    }

    /** The number of received bytes of an incomplete first message. */
    int partialBytes() {
        return partial.length;
    }

    ClientSession session() {
        return session;
    }

    void session(ClientSession newSession) {
        session = newSession;
    }

    /** The owner of a wait channel; null for a connection of another kind. */
    WaitResource waitResource() {
        return waitResource;
    }

    void waitResource(WaitResource newWaitResource) {
        waitResource = newWaitResource;
    }

    /** Whether the message was taken, so that all further bytes are doorbell bytes. */
    boolean isAnswered() {
        return answered;
    }

    void onAnswered() {
        answered = true;
    }

    /** Whether the first message is incomplete and the connection is open. */
    boolean isAwaited() {
        return awaited;
    }

    /** The first message is complete, or will never be. */
    void onSpoken() {
        awaited = false;
    }

    /** Whether the deadline of the first message has passed. */
    boolean isLate(long nowNs) {
        return nowNs - deadlineNs > 0;
    }

    /**
     * Reads the available bytes of the first message. An incomplete message is kept here, in no more memory than the
     * received bytes need.
     *
     * @param message scratch memory of at least 4 + {@link #MAX_MESSAGE} bytes; holds the length and then the
     *                message if that is complete.
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
     * Sends a complete message without blocking. Returns false if the kernel did not accept it, or the connection is
     * closed.
     */
    boolean send(long address, int lengthBytes) {
        return isOpen() && UnixSocket.send(fd, address, lengthBytes, UnixSocket.MSG_DONTWAIT) == lengthBytes;
    }

    /** Sends a byte with a copy of a descriptor; ignored after the close. */
    void pass(int descriptor) {
        if (isOpen()) {
            UnixSocket.sendDescriptor(fd, descriptor);
        }
    }

    /**
     * Reads doorbell bytes of any value, and the descriptor that the client has announced; the next call reads
     * remaining bytes. Returns false at the end of file, or after the close.
     */
    boolean drain() {
        if (!isOpen()) {
            return false;
        }
        return session != null && session.passedFile().isExpected()
            ? session.passedFile().receive(fd) : UnixSocket.drainDoorbell(fd);
    }

    /**
     * Sends one doorbell byte; if the socket is full, it has bytes that wake the other side. Ignored after the close.
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
