package org.jfabric.ffi;

import java.lang.foreign.ValueLayout;

/**
 * An event counter with a file descriptor, to be woken from a sleep in {@link Epoll}.
 *
 * <p>Descriptors are non-blocking and close-on-exec. Any thread may call; after a thread's first native call nothing is
 * allocated, compiled or not, but for calls that fail and for a drain of nothing, which ask for errno. Close with
 * {@link Libc#close(int)}.
 */
public final class EventFd {
    private static final int EFD_NONBLOCK = 0x800;
    private static final int EFD_CLOEXEC = 0x80000;

    private static final Downcall EVENTFD = Downcall.of("eventfd", 2);
    private static final QuickDowncall READ = QuickDowncall.of("read", 3);
    private static final QuickDowncall WRITE = QuickDowncall.of("write", 3);
    private static final Downcall READ_ERRNO = Downcall.of("read", 3);
    private static final Downcall WRITE_ERRNO = Downcall.of("write", 3);

    private EventFd() {
    }

    /**
     * Opens a counter at 0. Returns the descriptor, or the negative errno ({@code -EMFILE}, {@code -ENFILE}, {@code
     * -ENOMEM}).
     */
    public static int create() {
        CallState state = CallState.current();
        return state.intResult(EVENTFD.call(state, 0, EFD_NONBLOCK | EFD_CLOEXEC));
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
        long written = WRITE.call(fd, state.scratchAddress, Long.BYTES);
        if (written < 0) {
            // once more, for the reason
            written = state.result(WRITE_ERRNO.call(state, fd, state.scratchAddress, Long.BYTES));
        }
        return written < 0 ? (int) written : 0;
    }

    /**
     * Takes the whole counter, which makes the descriptor unreadable.
     *
     * @param fd of {@link #create()}.
     * @return the sum of what was written since the last drain; 0 if nothing was; negative errno ({@code -EBADF}).
     */
    public static long drain(int fd) {
        CallState state = CallState.current();
        long read = READ.call(fd, state.scratchAddress, Long.BYTES);
        if (read < 0) {
            // once more, for the reason
            read = state.result(READ_ERRNO.call(state, fd, state.scratchAddress, Long.BYTES));
        }
        if (read < 0) {
            return read == -LinuxErrno.EAGAIN ? 0 : read;
        }
        return state.scratch.get(ValueLayout.JAVA_LONG, 0);
    }
}
