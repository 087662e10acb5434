package org.jfabric.simulation.soak;

/** An entry as a reader sees it; errno is 0 for a success. */
record SoakEntry(
    long context, long flags, long length, long data, long tag, long source, int errno, long olen,
    long buf) {
    /** The same for the same place in another run, whose memory is elsewhere. */
    int stableHash() {
        return new SoakEntry(context, flags, length, data, tag, source, errno, olen, 0).hashCode();
    }
}
