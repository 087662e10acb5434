package org.jfabric.tool.watch;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jfabric.tool.GroupView;

/**
 * The state of all drivers at one time.
 *
 * @param timeMs  when it was taken, milliseconds since 1970.
 * @param seconds since the sample before; 0 for the first one.
 * @param waits   the longest one first.
 */
record Sample(long timeMs, double seconds, List<Driver> drivers, List<Wait> waits, List<GroupView> groups) {
    /**
     * A driver.
     *
     * @param problem   reason why its file cannot be read, a sentence; otherwise null.
     * @param startMs   when it started, milliseconds since 1970.
     * @param totals    values of the driver, by the last part of the metric's name; times in nanoseconds.
     * @param cycles    duty cycles since the sample before.
     */
    record Driver(
        Path directory, State state, String problem, long pid, long startMs, Map<String, Long> totals, Cycles cycles,
        List<Client> clients, List<Endpoint> endpoints, List<Link> links, List<Setting> options) {

        String name() {
            return directory.getFileName().toString();
        }

        long total(String name) {
            return totals.getOrDefault(name, 0L);
        }

        /** Change per second over all links; not a number if it is not known. */
        double rate(String meter) {
            return state.isAlive() && cycles != null
                ? links.stream().mapToDouble(link -> link.meters.rate(meter)).sum() : Double.NaN;
        }
    }

    /** The process of a driver. */
    enum State {
        /** Its thread is awake. */
        RUNNING("running"),
        /** Its thread sleeps until there is something to do. */
        PARKED("parked"),
        /** It was killed and left its files. */
        DEAD("dead"),
        /** Its file cannot be read. */
        UNREADABLE("unreadable");

        private final String text;

        State(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }

        boolean isAlive() {
            return this == RUNNING || this == PARKED;
        }
    }

    /**
     * Duty cycles. A time is the upper bound of its bucket in nanoseconds, and -1 if there was none.
     *
     * @param p99Ns    of 99 % of them.
     */
    record Cycles(long count, long medianNs, long p99Ns, long maxNs) {
    }

    /**
     * A client of a driver.
     *
     * @param name its name, empty if it has none.
     */
    record Client(String id, String name, String pid) {
    }

    /** An endpoint of a client. */
    record Endpoint(String id, String client, String address, QueueState state, Meters meters, List<Peer> peers) {
    }

    /**
     * Another endpoint that messages are exchanged with.
     *
     * @param state   of the queues between both.
     * @param meters  of the messages between both.
     */
    record Peer(String address, String link, QueueState state, Meters meters) {
    }

    /** A link of a driver. */
    record Link(String name, Meters meters) {
    }

    /**
     * An option that was set.
     *
     * @param origin where it was set.
     */
    record Setting(String name, String value, String origin) {
    }

    /**
     * An endpoint that waits for another one.
     *
     * @param seconds since a sample has shown it first.
     */
    record Wait(String who, String forWhom, String why, double seconds) {
    }
}
