package org.jfabric.ffi;

import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;

/**
 * Sleeping on, and waking sleepers of, a 32-bit word that may be shared by several processes.
 *
 * <p>The word must be aligned to 4 bytes and lie in memory that stays mapped for the length of the call. Any thread may
 * call. Calls allocate nothing, compiled or not, after a thread's first native call.
 */
public final class Futex {
    // Not FUTEX_PRIVATE_FLAG: the words lie in files mapped by several processes.
    private static final long FUTEX_WAIT = 0;
    private static final long FUTEX_WAKE = 1;
    private static final long SYS_FUTEX = Platform.AARCH64 ? 98 : 202;

    private static final QuickDowncall WAIT = QuickDowncall.variadic("syscall", 1, 7);
    private static final QuickDowncall WAKE = QuickDowncall.variadic("syscall", 1, 7);

    private Futex() {
    }

    /**
     * Sleeps while the word has the expected value, until woken or until the timeout.
     *
     * <p>Returning 0 does not prove that the word changed: read it again.
     *
     * @param address of the word; a read-only mapping is enough.
     * @param expected value that lets the caller sleep.
     * @param timeoutNs longest sleep in nanoseconds, at least 0; a negative value sleeps without limit. Java's
     *     interruption does not end the sleep.
     * @return 0 when woken; -1 if the word had another value, at the timeout, after a signal, or if no thread can sleep
     *     there: the file was truncated under the mapping, or the address is not aligned. The caller reads the word and
     *     the clock again anyway, so the kernel's reason, whose record costs an object, is not asked for.
     */
    public static int wait(long address, int expected, long timeoutNs) {
        long timespec = 0;
        if (timeoutNs >= 0) {
            CallState state = CallState.current();
            state.scratch.set(ValueLayout.JAVA_LONG, 0, timeoutNs / TimeUnit.SECONDS.toNanos(1));
            state.scratch.set(ValueLayout.JAVA_LONG, Long.BYTES, timeoutNs % TimeUnit.SECONDS.toNanos(1));
            timespec = state.scratchAddress;
        }
        return (int) WAIT.call(SYS_FUTEX, address, FUTEX_WAIT, expected, timespec, 0L, 0L);
    }

    /**
     * Wakes threads, of any process, that sleep on the word.
     *
     * @param count most threads to wake, from 1; {@link Integer#MAX_VALUE} for all.
     * @return number of threads woken; -1 if no thread can sleep there: the file was truncated under the mapping, or
     *     the address is not aligned.
     */
    public static int wake(long address, int count) {
        return (int) WAKE.call(SYS_FUTEX, address, FUTEX_WAKE, count, 0L, 0L, 0L);
    }
}
