package org.jfabric.simulation.soak;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** An access to the memory of an endpoint, with what its entry and its bytes must be. */
final class SoakAccess {
    long id;
    int from;
    int to;
    String call;
    AccessedMemory memory;
    int offset;
    int length;
    /** Of the call; for calls without flags those of the endpoint. */
    long flags;
    long entryFlags;
    boolean hasData;
    boolean wantsEntry;
    /** Errno that its entry must have; 0 if it may succeed. */
    int mustFailWith;
    /** Local memory, where the bytes of reads and old values go; null for injects. */
    SoakMemory.Slot slot;
    int begin;
    /** The bytes that a read or a fetch must bring; null if it brings none. */
    byte[] expected;
    boolean ended;
    int errno;
    /** What a sum was before; -1 for other accesses. */
    long old = -1;
    /** Entries at the target that had its data. */
    int reports;

    boolean reads() {
        return (entryFlags & Flags.READ) != 0;
    }

    boolean isSum() {
        return "sum".equals(call);
    }

    @Override
    public String toString() {
        return call + " #" + id + " e" + from + "->e" + to + ' ' + length + " bytes at " + offset + " of " + memory
            + " flags " + Long.toHexString(flags) + (wantsEntry ? "" : " silent")
            + (ended ? errno == 0 ? ", ended" : ", " + FabricErrno.name(errno) : ", open");
    }
}
