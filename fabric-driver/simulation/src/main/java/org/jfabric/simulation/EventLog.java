package org.jfabric.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** What has happened: a hash of all events, and the last of them as text. */
final class EventLog {
    private static final int KEPT = 256;
    private static final long PRIME = 0x9E3779B97F4A7C15L;

    private record Event(long timeNs, String kind, Object subject, long first, long second) {
        @Override
        public String toString() {
            return "%,15d ns  %-10s %s %d %d".formatted(timeNs, kind, subject, first, second);
        }
    }

    private final Event[] last = new Event[KEPT];
    private Consumer<String> sink;
    private long count;
    private long hash = PRIME;

    /** Passes each event on as a line. */
    void sink(Consumer<String> newSink) {
        sink = newSink;
    }

    void add(long timeNs, String kind, Object subject, long subjectHash, long first, long second) {
        mix(timeNs);
        mix(kind.hashCode());
        mix(subjectHash);
        mix(first);
        mix(second);
        Event event = new Event(timeNs, kind, subject, first, second);
        last[(int) (count++ % KEPT)] = event;
        if (sink != null) {
            sink.accept(event.toString());
        }
    }

    private void mix(long value) {
        hash = (hash ^ value) * PRIME;
        hash ^= hash >>> 29;
    }

    long hash() {
        return hash;
    }

    long count() {
        return count;
    }

    /** The last events, the oldest first. */
    List<String> tail(int limit) {
        List<String> lines = new ArrayList<>();
        for (long i = Math.max(0, count - Math.min(limit, KEPT)); i < count; i++) {
            lines.add(last[(int) (i % KEPT)].toString());
        }
        return lines;
    }
}
