package org.jfabric.driver.stream.record;

import java.util.ArrayDeque;
import org.jfabric.client.log.LogFolder;
import org.jfabric.client.log.LogSegment;
import org.jfabric.info.FabricException;
import org.jfabric.stream.LogOptions;

/** The segments of a log, oldest first, and which of them may go. The newest one stays. */
final class Retention {
    /** A segment, and a time not later than its records. */
    private record Kept(long firstPosition, long timeNs) {
    }

    private final ArrayDeque<Kept> segments = new ArrayDeque<>();
    private final LogOptions options;
    private final int segmentLength;

    Retention(LogOptions options, int segmentLength) {
        this.options = options;
        this.segmentLength = segmentLength;
    }

    /** Adds what is there, up to a segment. */
    void load(LogFolder folder, long last) {
        long timeNs = 0;
        for (long first : folder.segments()) {
            if (first <= last) {
                timeNs = Math.max(timeNs, timeNs(folder, first));
                add(first, timeNs);
            }
        }
    }

    private static long timeNs(LogFolder folder, long first) {
        try (LogSegment segment = LogSegment.open(folder, first)) {
            return segment == null ? 0 : segment.timeNs();
        } catch (FabricException damaged) {
            // whoever reads the segment gets the error; until it is deleted it counts as old as the one before
            return 0;
        }
    }

    void add(long firstPosition, long timeNs) {
        segments.addLast(new Kept(firstPosition, timeNs));
    }

    /** First position of the oldest segment, -1 if there is none. */
    long oldest() {
        return segments.isEmpty() ? -1 : segments.peekFirst().firstPosition;
    }

    long bytes() {
        return (long) segments.size() * segmentLength;
    }

    /** Whether the oldest one goes before a new one is begun. */
    boolean isOldestDue(long nowNs) {
        return segments.size() > 1 && (bytes() + segmentLength > options.retainBytes()
            || options.retainNs() != Long.MAX_VALUE && second().timeNs < nowNs - options.retainNs());
    }

    /** Whether the oldest one has nothing from a position on. */
    boolean isOldestBefore(long position) {
        return segments.size() > 1 && second().firstPosition <= position;
    }

    /** First position of what is left without the oldest one. */
    long withoutOldest() {
        return second().firstPosition;
    }

    long removeOldest() {
        return segments.removeFirst().firstPosition;
    }

    private Kept second() {
        var each = segments.iterator();
        each.next();
        return each.next();
    }
}
