package org.jfabric.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A socket to the kernel's tables of routes, neighbours and interfaces (NETLINK_ROUTE), for requests with one answer.
 * No privilege is needed. Owner: one thread.
 */
public final class Netlink implements AutoCloseable {
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int SOCK_FLAGS = 0x80000 | 0x800;
    private static final int NETLINK_ROUTE = 0;

    private static final Downcall SOCKET = Downcall.of("socket", 3);
    private static final Downcall SEND = Downcall.of("send", 4);
    private static final Downcall RECV = Downcall.of("recv", 4);

    private final int fd;

    /**
     * Opens the socket.
     *
     * @throws NativeCallException if the system does not permit it.
     */
    public Netlink() {
        CallState state = CallState.current();
        fd = state.intResult(SOCKET.call(state, AF_NETLINK, SOCK_RAW | SOCK_FLAGS, NETLINK_ROUTE));
        if (fd < 0) {
            throw new NativeCallException("socket", -fd, "family AF_NETLINK");
        }
    }

    /**
     * Sends a request; the kernel answers inside the call.
     *
     * @param request one message with its header, at most 4,096 bytes.
     * @return the first datagram of the answer; empty if there is none.
     */
    public byte[] exchange(byte[] request) {
        CallState state = CallState.current();
        MemorySegment.copy(request, 0, state.scratch, ValueLayout.JAVA_BYTE, 0, request.length);
        long sent = state.result(SEND.call(state, fd, state.scratchAddress, request.length, 0));
        long taken = sent < 0 ? sent
            : state.result(RECV.call(state, fd, state.scratchAddress, CallState.SCRATCH_BYTES, 0));
        byte[] answer = new byte[(int) Math.max(0, taken)];
        MemorySegment.copy(state.scratch, ValueLayout.JAVA_BYTE, 0, answer, 0, answer.length);
        return answer;
    }

    @Override
    public void close() {
        Libc.close(fd);
    }
}
