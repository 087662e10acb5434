package org.jfabric.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

/**
 * One epoll instance with room for the events of one poll.
 *
 * <p>Owner: the thread that polls; it alone calls {@link #poll}, the event accessors and {@link #close()}. Any thread
 * may add, modify and delete while the instance is open. Poll and accessors allocate nothing. A thread asleep in
 * {@link #poll} is woken through an {@link EventFd}, never by closing.
 */
public final class Epoll implements AutoCloseable {
    /** Readable, or a connection to accept. */
    public static final int EPOLLIN = 0x001;
    public static final int EPOLLOUT = 0x004;
    /** Error; reported even if not requested. */
    public static final int EPOLLERR = 0x008;
    /** Both directions are closed; reported even if not requested. */
    public static final int EPOLLHUP = 0x010;
    /** The peer closed its sending direction. */
    public static final int EPOLLRDHUP = 0x2000;
    /** Edge triggered instead of level triggered. */
    public static final int EPOLLET = 0x80000000;
    /** One event only; the descriptor is silent until it is modified. */
    public static final int EPOLLONESHOT = 0x40000000;

    private static final int EPOLL_CLOEXEC = 0x80000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int EPOLL_CTL_MOD = 3;

    private static final Downcall EPOLL_CREATE1 = Downcall.ofSockets("epoll_create1", 1);
    private static final Downcall EPOLL_CTL = Downcall.ofSockets("epoll_ctl", 4);
    private static final QuickDowncall MODIFY = QuickDowncall.ofSockets("epoll_ctl", 4);
    private static final QuickDowncall EPOLL_WAIT = QuickDowncall.ofSockets("epoll_wait", 4);

    private final int maxEvents;
    private final MemorySegment events;
    private final long eventsAddress;
    private volatile int fd;

    /**
     * Opens an instance, close-on-exec.
     *
     * @param maxEvents most events that one poll returns, at least 1.
     * @throws NativeCallException if no descriptor is available.
     */
    public Epoll(int maxEvents) {
        if (maxEvents < 1) {
            throw new IllegalArgumentException("maxEvents is " + maxEvents + ", must be at least 1");
        }
        this.maxEvents = maxEvents;
        events = Arena.ofAuto().allocate((long) maxEvents * EpollEvent.BYTES, Long.BYTES);
        eventsAddress = events.address();
        CallState state = CallState.current();
        fd = state.intResult(EPOLL_CREATE1.call(state, EPOLL_CLOEXEC));
        if (fd < 0) {
            throw new NativeCallException("epoll_create1", -fd, "raise the limit of open files (ulimit -n)");
        }
    }

    /**
     * Starts watching a descriptor.
     *
     * @param data returned by {@link #data(int)} with each event.
     * @return 0; {@code -EEXIST} if it is watched already; {@code -EPERM} for a regular file; {@code -EBADF};
     *     {@code -ENOSPC} above the user's limit of watches.
     */
    public int add(int watchedFd, int eventMask, long data) {
        return control(EPOLL_CTL_ADD, watchedFd, eventMask, data);
    }

    /**
     * Changes the events of a watched descriptor; allocates nothing.
     *
     * @param data returned by {@link #data(int)} with each event.
     * @return false if it is not watched.
     */
    public boolean modify(int watchedFd, int eventMask, long data) {
        CallState state = CallState.current();
        EpollEvent.put(state.scratch, 0, eventMask, data);
        return (int) MODIFY.call(fd, EPOLL_CTL_MOD, watchedFd, state.scratchAddress) == 0;
    }

    /**
     * Stops watching a descriptor; to be called before it is closed, or its number may be reused meanwhile. Returns 0;
     * {@code -ENOENT} if it is not watched; {@code -EBADF}.
     */
    public int delete(int watchedFd) {
        return control(EPOLL_CTL_DEL, watchedFd, 0, 0);
    }

    /**
     * Waits for events; those of the poll before are overwritten.
     *
     * @param timeoutMs longest sleep in milliseconds; 0 polls without sleeping; -1 sleeps without limit.
     * @return number of events, readable by index from 0; 0 after the timeout or a signal;
     *     {@code -EBADF} after close.
     */
    public int poll(int timeoutMs) {
        int open = fd;
        if (open < 0) {
            return -LinuxErrno.EBADF;
        }
        try {
            // of an open instance with memory of its own it fails only when a signal interrupts it
            return Math.max(0, (int) EPOLL_WAIT.call(open, eventsAddress, maxEvents, timeoutMs));
        } finally {
            // The kernel got a plain address: the memory must not be collected while it writes.
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Data that was registered with the descriptor of an event.
     *
     * @param index from 0, below the result of the last {@link #poll}.
     * @return the data given to {@link #add} or {@link #modify}.
     */
    public long data(int index) {
        return EpollEvent.data(events, (long) index * EpollEvent.BYTES);
    }

    /**
     * Conditions of the descriptor of an event.
     *
     * @param index from 0, below the result of the last {@link #poll}.
     */
    public int events(int index) {
        return EpollEvent.events(events, (long) index * EpollEvent.BYTES);
    }

    /** The descriptor of the instance, to be watched by another one. Returns the descriptor, or -1 after close. */
    public int fd() {
        return fd;
    }

    /**
     * Closes the instance; watched descriptors stay open. Idempotent.
     */
    @Override
    public void close() {
        int open = fd;
        fd = -1;
        if (open >= 0) {
            SocketLibrary.close(open);
        }
    }

    private int control(int operation, int watchedFd, int eventMask, long data) {
        CallState state = CallState.current();
        EpollEvent.put(state.scratch, 0, eventMask, data);
        return state.intResult(EPOLL_CTL.call(state, fd, operation, watchedFd, state.scratchAddress));
    }

    /**
     * {@code struct epoll_event}: packed on x86_64 (12 bytes), naturally aligned on aarch64 (16 bytes).
     *
     * <pre>
     *   x86_64   0 events u32 | 4 data u64
     *   aarch64  0 events u32 | 4 padding | 8 data u64
     * </pre>
     */
    static final class EpollEvent {
        static final int BYTES = Platform.AARCH64 ? 16 : 12;
        private static final int DATA_OFFSET = Platform.AARCH64 ? 8 : 4;

        private EpollEvent() {
        }

        static void put(MemorySegment segment, long offset, int events, long data) {
            segment.set(ValueLayout.JAVA_INT_UNALIGNED, offset, events);
            segment.set(ValueLayout.JAVA_LONG_UNALIGNED, offset + DATA_OFFSET, data);
        }

        static int events(MemorySegment segment, long offset) {
            return segment.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
        }

        static long data(MemorySegment segment, long offset) {
            return segment.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + DATA_OFFSET);
        }
    }
}
