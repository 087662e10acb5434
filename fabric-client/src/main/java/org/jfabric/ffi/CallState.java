package org.jfabric.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Memory of one thread for its native calls: captured errno, and scratch for names and structures.
 *
 * <p>Owner: the thread that called {@link #current()}. Contents last until that thread's next native call. The memory
 * is released after the thread has ended.
 */
public final class CallState {
    /** Longest name or path including the terminating zero, as in the kernel. */
    static final int PATH_MAX = 4096;
    /** Size of {@link #scratch}. */
    static final int SCRATCH_BYTES = PATH_MAX + 512;
    /** Offset in {@link #scratch} of room for a structure that is used together with a name. */
    static final int STRUCT_OFFSET = PATH_MAX;

    private static final StructLayout CAPTURE_LAYOUT = Linker.Option.captureStateLayout();
    private static final long ERRNO_OFFSET =
        CAPTURE_LAYOUT.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    /**
     * Keeps the objects for as long as their threads. What a thread itself refers to is of a class of the JDK: a thread
     * of a pool would otherwise keep a class loader with this library that its application has dropped.
     */
    private static final Map<Thread, CallState> OF_THREADS = new WeakHashMap<>();
    private static final ThreadLocal<WeakReference<CallState>> CURRENT = new ThreadLocal<>();

    /** Memory in which a {@link Downcall} stores errno. */
    final MemorySegment capture;
    /** Room for a name at 0 and a structure at {@link #STRUCT_OFFSET}, or for a structure at 0. */
    final MemorySegment scratch;
    /** Address of {@link #scratch}; valid while its thread has not ended. */
    final long scratchAddress;

    private CallState() {
        // Automatic: there is no notification when a thread ends, so the memory is freed with the thread's locals.
        Arena arena = Arena.ofAuto();
        capture = arena.allocate(CAPTURE_LAYOUT);
        scratch = arena.allocate(SCRATCH_BYTES, Long.BYTES);
        scratchAddress = scratch.address();
    }

    /** State of the calling thread. Returns always the same object on the same thread. */
    public static CallState current() {
        WeakReference<CallState> known = CURRENT.get();
        return known == null ? make() : known.get();
    }

    private static CallState make() {
        CallState made = new CallState();
        synchronized (OF_THREADS) {
            OF_THREADS.put(Thread.currentThread(), made);
        }
        CURRENT.set(new WeakReference<>(made));
        return made;
    }

    /** Errno of this thread's last captured call. Returns positive errno; meaningful only after a call that failed. */
    public int errno() {
        return capture.get(ValueLayout.JAVA_INT, ERRNO_OFFSET);
    }

    /**
     * Applies the error convention to the result of a function that returns an {@code int}.
     *
     * @param returned by {@link Downcall}; the upper half is undefined.
     * @return the lower half, or the negative errno if that is negative.
     */
    int intResult(long returned) {
        int result = (int) returned;
        return result < 0 ? -errno() : result;
    }

    /**
     * Applies the error convention to the result of a function that returns a {@code long}, or a pointer.
     *
     * @param returned by {@link Downcall}.
     * @return the same, or the negative errno if it was -1.
     */
    long result(long returned) {
        return returned == -1 ? -errno() : returned;
    }

    /**
     * Writes a name as a C string to the start of the scratch memory.
     *
     * @param name any path.
     * @return 0; {@code -EINVAL} for an empty name or one with a zero inside (C would silently cut it there);
     *     {@code -ENAMETOOLONG}.
     */
    int putName(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (bytes.length == 0 || name.indexOf('\0') >= 0) {
            return -LinuxErrno.EINVAL;
        }
        if (bytes.length >= PATH_MAX) {
            return -LinuxErrno.ENAMETOOLONG;
        }
        MemorySegment.copy(bytes, 0, scratch, ValueLayout.JAVA_BYTE, 0, bytes.length);
        scratch.set(ValueLayout.JAVA_BYTE, bytes.length, (byte) 0);
        return 0;
    }
}
