package org.jfabric.stress;

import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;

/** Zeroed memory outside of the heap for one state, which frees it when its arbiter has run. */
public final class NativeMemory {
    private static final int LINE = 64;

    private NativeMemory() {
    }

    /** Begins at a cache line, as a file does. */
    public static long allocate(int lengthBytes) {
        long block = UnsafeApi.allocateMemory(lengthBytes + 2 * LINE);
        long address = block + 2 * LINE - 1 & -LINE;
        UnsafeApi.putLong(address - Long.BYTES, block);
        UnsafeApi.setMemory(address, lengthBytes, (byte) 0);
        return address;
    }

    /** The same memory as a mapped file is seen. */
    @SuppressWarnings("restricted")
    public static MemorySegment segment(long address, long lengthBytes) {
        return MemorySegment.ofAddress(address).reinterpret(lengthBytes);
    }

    /** Of memory that came from {@link #allocate}. */
    public static void free(long address) {
        UnsafeApi.freeMemory(UnsafeApi.getLong(address - Long.BYTES));
    }
}
