package org.jfabric.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Receives datagrams at a Unix-domain name, as the manager of services does behind NOTIFY_SOCKET. */
public final class DatagramListener implements AutoCloseable {
    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int MAX_BYTES = 4096;
    private static final Downcall SOCKET = Downcall.of("socket", 3);
    private static final Downcall BIND = Downcall.of("bind", 3);

    private final int fd;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment message = arena.allocate(MAX_BYTES);

    /** Listens at an absolute path or, with {@code @} in front, an abstract name. */
    public DatagramListener(String name) {
        CallState state = CallState.current();
        fd = state.intResult(SOCKET.call(state, AF_UNIX, SOCK_DGRAM, 0));
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        MemorySegment address = arena.allocate(110);
        address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
        MemorySegment.copy(bytes, 0, address, ValueLayout.JAVA_BYTE, 2, bytes.length);
        boolean isAbstract = name.startsWith("@");
        if (isAbstract) {
            address.set(ValueLayout.JAVA_BYTE, 2, (byte) 0);
        }
        int result = state.intResult(
            BIND.call(state, fd, address.address(), 2 + bytes.length + (isAbstract ? 0 : 1)));
        if (fd < 0 || result < 0) {
            throw new AssertionError("bind " + name + ": " + fd + ' ' + result);
        }
    }

    /** The datagrams that have arrived, each as text. */
    public List<String> take() {
        List<String> texts = new ArrayList<>();
        for (;;) {
            int count = UnixSocket.recv(fd, message.address(), MAX_BYTES, UnixSocket.MSG_DONTWAIT);
            if (count < 0) {
                return texts;
            }
            byte[] bytes = new byte[count];
            MemorySegment.copy(message, ValueLayout.JAVA_BYTE, 0, bytes, 0, count);
            texts.add(new String(bytes, StandardCharsets.UTF_8));
        }
    }

    @Override
    public void close() {
        Libc.close(fd);
        arena.close();
    }
}
