package org.jfabric.simulation.soak;

/** A completion or error entry; errno is 0 for a success. */
record SoakEntry(
    long context, long flags, long length, long data, long tag, long source, int errno, long olen,
    long buf) {
    /** A hash without the address, which differs between runs. */
    int stableHash() {
        return new SoakEntry(context, flags, length, data, tag, source, errno, olen, 0).hashCode();
    }
}
