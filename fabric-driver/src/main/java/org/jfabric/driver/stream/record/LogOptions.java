package org.jfabric.driver.stream.record;

import org.jfabric.layout.LogDescriptor;

/** How a log is made, and how long it keeps what. */
public final class LogOptions {
    /** What happens to messages for which the disk has no room. */
    public enum FullDisk {
        /** They are refused. */
        STOP,
        /** They are not recorded; a gap stands for them as soon as there is room again. */
        GAP
    }

    String group = "";
    int segmentLength;
    FullDisk whenFull = FullDisk.STOP;
    long retainBytes = Long.MAX_VALUE;
    long retainNs = Long.MAX_VALUE;

    /** Name of the group; a log keeps the one that it was made with, and refuses another one. */
    public LogOptions group(String name) {
        group = name;
        return this;
    }

    /**
     * Length of its segments.
     *
     * @param bytes a power of two from 1 MiB to 1 GiB; without it 128 MiB, or what the log was made with.
     */
    public LogOptions segmentLength(int bytes) {
        segmentLength = bytes;
        return this;
    }

    public LogOptions whenFull(FullDisk policy) {
        whenFull = policy;
        return this;
    }

    /**
     * Has the oldest segments deleted before a new one would make it more than that.
     *
     * @param bytes of all segments; room for two of them at least.
     */
    public LogOptions retainBytes(long bytes) {
        retainBytes = bytes;
        return this;
    }

    /** Has segments deleted when a new one is begun, and all of their messages are older than that. */
    public LogOptions retainNs(long ageNs) {
        retainNs = ageNs;
        return this;
    }

    int newSegmentLength() {
        return segmentLength == 0 ? LogDescriptor.DEFAULT_SEGMENT : segmentLength;
    }
}
