package org.jfabric.tool.watch;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The last minutes of all drivers, for the lines of the page. Thread-safe. */
final class History {
    /**
     * One sample of one driver. A rate is not a number, and a time is -1, where it is not known.
     *
     * @param messages sent and received per second.
     * @param bytes    sent and received per second.
     * @param cycles   since the sample before; null if there is none.
     */
    record Point(String driver, double messages, double bytes, Sample.Cycles cycles) {
        static Point of(Sample.Driver driver) {
            return new Point(driver.directory().toString(),
                driver.rate("sent_messages") + driver.rate("received_messages"),
                driver.rate("sent_bytes") + driver.rate("received_bytes"), driver.cycles());
        }
    }

    /**
     * One sample.
     *
     * @param timeMs when it was taken, milliseconds since 1970.
     */
    record Moment(long timeMs, List<Point> points) {
    }

    private final int limit;
    private final Deque<Moment> moments = new ArrayDeque<>();

    /** Creates an empty history. */
    History(int limit) {
        this.limit = limit;
    }

    synchronized void add(Sample sample) {
        moments.addLast(new Moment(sample.timeMs(), sample.drivers().stream().map(Point::of).toList()));
        if (moments.size() > limit) {
            moments.removeFirst();
        }
    }

    /** The samples after a time, the oldest one first. */
    synchronized List<Moment> since(long timeMs) {
        return moments.stream().filter(moment -> moment.timeMs > timeMs).toList();
    }
}
