package org.jfabric.driver.stream.net;

import java.util.List;

/**
 * For which hosts a writer waits, and how fast it sends.
 *
 * @param waits          for all, some or none.
 * @param quorum         with {@link Waits#QUORUM} the number of hosts.
 * @param required       with {@link Waits#REQUIRED} the names of readers.
 * @param stallTimeoutNs after which a host is removed that holds the writer back and receives nothing; 0: never.
 * @param bytesPerSecond limit of all datagrams with messages; 0 for none.
 * @param mostReaders    hosts at most.
 */
public record StreamPolicy(
    Waits waits, int quorum, List<String> required, long stallTimeoutNs, long bytesPerSecond, int mostReaders) {

    private static final int MOST_READERS = 256;

    /** Whom the writer waits for. */
    public enum Waits {
        /** Every host. */
        ALL,
        /** As many hosts as a number says, whichever are first. */
        QUORUM,
        /** Those with given names, also while they are not there. */
        REQUIRED,
        /** None: a host that is behind the ring gets a gap, or replays the log. */
        NONE
    }

    /** Waits for everybody. */
    public static StreamPolicy reliable() {
        return new StreamPolicy(Waits.ALL, 0, List.of(), 0, 0, MOST_READERS);
    }

    /** Waits for nobody. */
    public static StreamPolicy lossy() {
        return new StreamPolicy(Waits.NONE, 0, List.of(), 0, 0, MOST_READERS);
    }

    /** Waits for a number of hosts. */
    public static StreamPolicy quorum(int hosts) {
        return new StreamPolicy(Waits.QUORUM, hosts, List.of(), 0, 0, MOST_READERS);
    }

    /** Waits for named readers. */
    public static StreamPolicy required(List<String> names) {
        return new StreamPolicy(Waits.REQUIRED, 0, List.copyOf(names), 0, 0, MOST_READERS);
    }

    /** The same with another time to stall. */
    public StreamPolicy withStallTimeout(long newStallTimeoutNs) {
        return new StreamPolicy(waits, quorum, required, newStallTimeoutNs, bytesPerSecond, mostReaders);
    }

    /** The same with a limit of the rate. */
    public StreamPolicy withRate(long newBytesPerSecond) {
        return new StreamPolicy(waits, quorum, required, stallTimeoutNs, newBytesPerSecond, mostReaders);
    }
}
