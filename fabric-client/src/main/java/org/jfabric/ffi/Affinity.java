package org.jfabric.ffi;

import java.lang.foreign.ValueLayout;
import java.util.BitSet;

/**
 * The processors that the calling thread may run on.
 *
 * <p>Every call concerns the calling platform thread only, and threads that it starts later. Do not call on virtual
 * threads, because that would change the carrier thread.
 */
public final class Affinity {
    /** Processors are numbered below this. */
    public static final int MAX_CPUS = 8192;

    private static final long MASK_BYTES = MAX_CPUS / Byte.SIZE;

    private static final Downcall SCHED_SETAFFINITY = Downcall.of("sched_setaffinity", 3);
    private static final Downcall SCHED_GETAFFINITY = Downcall.of("sched_getaffinity", 3);
    private static final Downcall SYSCONF = Downcall.of("sysconf", 1);
    private static final int SC_NPROCESSORS_CONF = 83;

    private Affinity() {
    }

    /**
     * Binds the calling thread to one processor.
     *
     * @param cpu number from 0.
     * @return 0; {@code -EINVAL} if there is no such processor or this process may not use it.
     */
    public static int bind(int cpu) {
        if (cpu < 0 || cpu >= MAX_CPUS) {
            return -LinuxErrno.EINVAL;
        }
        BitSet cpus = new BitSet();
        cpus.set(cpu);
        return bind(cpus);
    }

    /**
     * Binds the calling thread to a set of processors; those that do not exist or are forbidden are left out.
     *
     * @param cpus numbers from 0.
     * @return 0; {@code -EINVAL} if none of them can be used.
     */
    public static int bind(BitSet cpus) {
        if (cpus.length() > MAX_CPUS) {
            return -LinuxErrno.EINVAL;
        }
        CallState state = CallState.current();
        state.scratch.asSlice(0, MASK_BYTES).fill((byte) 0);
        long[] words = cpus.toLongArray();
        for (int i = 0; i < words.length; i++) {
            state.scratch.setAtIndex(ValueLayout.JAVA_LONG, i, words[i]);
        }
        return state.intResult(SCHED_SETAFFINITY.call(state, 0, MASK_BYTES, state.scratchAddress));
    }

    /**
     * Processors that the calling thread may run on.
     *
     * @return new set, never empty.
     * @throws NativeCallException EINVAL on a machine with more than {@link #MAX_CPUS} processors.
     */
    public static BitSet cpus() {
        CallState state = CallState.current();
        state.scratch.asSlice(0, MASK_BYTES).fill((byte) 0);
        int result = state.intResult(SCHED_GETAFFINITY.call(state, 0, MASK_BYTES, state.scratchAddress));
        if (result < 0) {
            throw new NativeCallException("sched_getaffinity", -result, "mask of " + MASK_BYTES + " bytes");
        }
        return BitSet.valueOf(state.scratch.asSlice(0, MASK_BYTES).toArray(ValueLayout.JAVA_LONG));
    }

    /**
     * Logical processors of this host, whether or not this process may use them. Returns a count, at least 1; the
     * processors are numbered from 0.
     */
    public static int processors() {
        CallState state = CallState.current();
        long count = state.result(SYSCONF.call(state, SC_NPROCESSORS_CONF));
        return (int) Math.max(1, count);
    }
}
