package org.jfabric.ffi;

import static org.jfabric.ffi.Downcalls.INT;
import static org.jfabric.ffi.Downcalls.LONG;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * An event counter with a file descriptor, to be woken from a sleep in {@link Epoll} (CQ-030).
 *
 * <p>Descriptors are non-blocking and close-on-exec. Any thread may call; nothing is allocated after a thread's first
 * native call. Close with {@link Libc#close(int)}.
 */
public final class EventFd {
    private static final int EFD_NONBLOCK = 0x800;
    private static final int EFD_CLOEXEC = 0x80000;

    private static final MethodHandle eventfd$mh = Downcalls.downcall("eventfd", INT, INT, INT);
    private static final MethodHandle read$mh = Downcalls.downcall("read", LONG, INT, LONG, LONG);
    private static final MethodHandle write$mh = Downcalls.downcall("write", LONG, INT, LONG, LONG);

    private EventFd() {
    }

    /**
     * Opens a counter at 0.
     *
     * @return the descriptor, or the negative errno ({@code -EMFILE}, {@code -ENFILE}, {@code -ENOMEM}).
     */
    public static int create() {
        CallState state = CallState.current();
        try {
            return state.result((int) eventfd$mh.invokeExact(state.capture, 0, EFD_NONBLOCK | EFD_CLOEXEC));
        } catch (Throwable thrown) {
            throw Downcalls.unexpected(thrown);
        }
    }

    /**
     * Adds to the counter, which makes the descriptor readable.
     *
     * @param fd of {@link #create()}.
     * @param value to add, at least 1.
     * @return 0; {@code -EAGAIN} if the counter would overflow (it is readable then anyway); {@code -EBADF};
     *     {@code -EINVAL} for a value below 1.
     */
    public static int write(int fd, long value) {
        if (value < 1) {
            return -LinuxErrno.EINVAL;
        }
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_LONG, 0, value);
        try {
            long written = state.result(
                (long) write$mh.invokeExact(state.capture, fd, state.scratchAddress, (long) Long.BYTES));
            return written < 0 ? (int) written : 0;
        } catch (Throwable thrown) {
            throw Downcalls.unexpected(thrown);
        }
    }

    /**
     * Takes the whole counter, which makes the descriptor unreadable.
     *
     * @param fd of {@link #create()}.
     * @return the sum of what was written since the last drain; 0 if nothing was; negative errno ({@code -EBADF}).
     */
    public static long drain(int fd) {
        CallState state = CallState.current();
        try {
            long read = state.result(
                (long) read$mh.invokeExact(state.capture, fd, state.scratchAddress, (long) Long.BYTES));
            if (read < 0) {
                return read == -LinuxErrno.EAGAIN ? 0 : read;
            }
            return state.scratch.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Downcalls.unexpected(thrown);
        }
    }
}
