package org.jfabric.ffi;

import org.agrona.UnsafeApi;

/**
 * The {@code msghdr} of one direction of a socket: pieces of memory, and the name of the other side where it has no
 * connection. Its calls return the errno, and allocate only for one other than EAGAIN.
 *
 * <p>Owner: one thread at a time.
 */
public final class SocketMessage implements AutoCloseable {
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int NAMELEN_OFFSET = 8;
    private static final int IOV_OFFSET = 16;
    private static final int IOVLEN_OFFSET = 24;
    private static final int HEADER_BYTES = 56;
    private static final int NAME_BYTES = 28;
    private static final int NAME_ROOM = 32;
    private static final int PIECE_BYTES = 16;

    private static final int POLLIN = 0x1;
    private static final int POLLOUT = 0x4;
    private static final int POLLHUP = 0x10;
    private static final int POLLFD_BYTES = 8;
    private static final int ECONNRESET = 104;

    private static final QuickDowncall SEND = QuickDowncall.ofSockets("sendmsg", 3);
    private static final QuickDowncall RECEIVE = QuickDowncall.ofSockets("recvmsg", 3);
    private static final QuickDowncall POLL = QuickDowncall.ofSockets("poll", 3);
    private static final Downcall SENDMSG = Downcall.ofSockets("sendmsg", 3);
    private static final Downcall RECVMSG = Downcall.ofSockets("recvmsg", 3);

    private final long header;
    private final long name;
    private final long pieces;
    private final long polled;
    /** The header's own length is that of the room while nothing is received. */
    private int sourceNameLength;

    /**
     * Makes a header.
     *
     * @param capacity most pieces, 1 to 1024.
     */
    public SocketMessage(int capacity) {
        long bytes = HEADER_BYTES + NAME_ROOM + (long) capacity * PIECE_BYTES + POLLFD_BYTES;
        header = UnsafeApi.allocateMemory(bytes);
        UnsafeApi.setMemory(header, bytes, (byte) 0);
        name = header + HEADER_BYTES;
        pieces = name + NAME_ROOM;
        polled = pieces + (long) capacity * PIECE_BYTES;
        UnsafeApi.putLong(header + IOV_OFFSET, pieces);
    }

    /**
     * Sets one piece.
     *
     * @param address native address.
     */
    public void piece(int index, long address, long length) {
        UnsafeApi.putLong(pieces + (long) index * PIECE_BYTES, address);
        UnsafeApi.putLong(pieces + (long) index * PIECE_BYTES + Long.BYTES, length);
    }

    /**
     * Sets how many pieces there are.
     *
     * @param count 0 to the capacity.
     */
    public void pieceCount(int count) {
        UnsafeApi.putLong(header + IOVLEN_OFFSET, count);
    }

    /** Sets the name that the next messages are sent to. */
    public void name(byte[] image) {
        for (int i = 0; i < image.length; i++) {
            UnsafeApi.putByte(name + i, image[i]);
        }
        UnsafeApi.putLong(header, name);
        UnsafeApi.putInt(header + NAMELEN_OFFSET, image.length);
    }

    /** Asks the next receive for the name of the sender. */
    public void wantName() {
        UnsafeApi.putLong(header, name);
        UnsafeApi.putInt(header + NAMELEN_OFFSET, NAME_BYTES);
    }

    /**
     * The name of the sender of the last message that was received with {@link #wantName()}. Returns the image of the
     * socket address, null if there is none.
     */
    public byte[] sourceName() {
        if (sourceNameLength == 0) {
            return null;
        }
        byte[] image = new byte[Math.min(sourceNameLength, NAME_BYTES)];
        for (int i = 0; i < image.length; i++) {
            image[i] = UnsafeApi.getByte(name + i);
        }
        return image;
    }

    /** Sends the pieces; never waits. Returns the bytes taken, or a negative errno. */
    public long send(int fd) {
        long sent = SEND.call(fd, header, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            return sent;
        }
        if (ready(fd, POLLOUT) == 0) {
            return -LinuxErrno.EAGAIN;
        }
        // once more, for the reason: that form may allocate
        CallState state = CallState.current();
        return state.result(SENDMSG.call(state, fd, header, MSG_NOSIGNAL | MSG_DONTWAIT));
    }

    /**
     * Receives into the pieces; never waits. Of a datagram that is longer the rest is lost. Returns the bytes received,
     * or a negative errno.
     */
    public long receive(int fd) {
        long received = RECEIVE.call(fd, header, MSG_DONTWAIT);
        if (received >= 0) {
            sourceNameLength = UnsafeApi.getInt(header + NAMELEN_OFFSET);
            return received;
        }
        int ready = ready(fd, POLLIN);
        if (ready == 0) {
            return -LinuxErrno.EAGAIN;
        }
        CallState state = CallState.current();
        long again = state.result(RECVMSG.call(state, fd, header, MSG_DONTWAIT));
        if (again >= 0) {
            sourceNameLength = UnsafeApi.getInt(header + NAMELEN_OFFSET);
        }
        // the first call took the error of a connection that was aborted, and now it looks like an orderly end
        return again == 0 && (ready & POLLHUP) != 0 ? -ECONNRESET : again;
    }

    /** What poll says of a descriptor, without a wait. */
    private int ready(int fd, int wanted) {
        UnsafeApi.putInt(polled, fd);
        UnsafeApi.putInt(polled + Integer.BYTES, wanted);
        return (int) POLL.call(polled, 1, 0) <= 0 ? 0 : UnsafeApi.getInt(polled + Integer.BYTES) >>> Short.SIZE;
    }

    @Override
    public void close() {
        UnsafeApi.freeMemory(header);
    }
}
