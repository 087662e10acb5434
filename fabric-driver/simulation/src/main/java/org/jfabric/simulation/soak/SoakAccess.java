package org.jfabric.simulation.soak;

import org.jfabric.info.FabricErrno;

/** An access to the memory of an endpoint, with its expected entry and bytes. */
final class SoakAccess {
    long id;
    int from;
    int to;
    AccessCall call;
    AccessedMemory memory;
    int offset;
    int length;
    /** The call's flags, or the endpoint's default flags. */
    long flags;
    long entryFlags;
    boolean hasData;
    boolean wantsEntry;
    /** Errno that its entry must have; 0 if it may succeed. */
    int mustFailWith;
    /** Local memory; null for injects, and after the end. */
    SoakMemory.Slot slot;
    int begin;
    /** The bytes that a read or a fetch must return; null for others. */
    byte[] expected;
    boolean ended;
    int errno;
    /** The value that a fetch of a sum returned; -1 for others. */
    long old = -1;
    /** Entries at the target with its data. */
    int reports;

    boolean reads() {
        return call.reads();
    }

    boolean isSum() {
        return call == AccessCall.SUM;
    }

    @Override
    public String toString() {
        return call + " #" + id + " e" + from + "->e" + to + ' ' + length + " bytes at " + offset + " of " + memory
            + " flags " + Long.toHexString(flags) + (wantsEntry ? "" : " silent")
            + (ended ? errno == 0 ? ", ended" : ", " + FabricErrno.name(errno) : ", open");
    }
}
