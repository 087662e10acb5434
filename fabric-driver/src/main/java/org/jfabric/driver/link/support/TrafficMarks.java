package org.jfabric.driver.link.support;

import org.jfabric.ffi.SocketClass;
import org.jfabric.info.TrafficClass;

/**
 * The marks of packets for each traffic class: code points of RFC 4594, for scavenger that of RFC 8622, and the
 * priorities of Linux, which its default queues of network interfaces know (interactive 6, bulk 2, filler 1).
 *
 * <p>Stateless; any thread.
 */
public final class TrafficMarks {
    private static final int ECN_BITS = 2;
    private static final int MAX_DSCP = 63;
    /** Expedited forwarding. */
    private static final int EF = 46;
    /** Class selectors are code points with three zeros behind the precedence; from this one on packets are urgent. */
    private static final int CS5 = 40;
    private static final int CS6 = 48;
    /** Lower effort. */
    private static final int LE = 1;
    /** High-throughput data. */
    private static final int AF11 = 10;

    private static final int FILLER = 1;
    private static final int BULK = 2;
    private static final int INTERACTIVE = 6;

    private TrafficMarks() {
    }

    /**
     * The marks of a class.
     *
     * @param tclass value of a tclass attribute; a code point above 63 does not fit into a header.
     * @return {@link SocketClass#NONE} for best effort, for no class and for what does not fit.
     */
    public static SocketClass of(int tclass) {
        return switch (TrafficClass.of(tclass)) {
            case UNSPEC, BEST_EFFORT -> SocketClass.NONE;
            case LOW_LATENCY -> marks(EF, INTERACTIVE);
            case DEDICATED_ACCESS -> marks(CS5, INTERACTIVE);
            case BULK_DATA -> marks(AF11, BULK);
            case SCAVENGER -> marks(LE, FILLER);
            // Linux' own priority for control traffic, 7, needs a privilege
            case NETWORK_CTRL -> marks(CS6, INTERACTIVE);
            case DSCP -> {
                int dscp = TrafficClass.dscpGet(tclass);
                yield dscp > MAX_DSCP ? SocketClass.NONE : marks(dscp, dscp >= CS5 ? INTERACTIVE : 0);
            }
        };
    }

    private static SocketClass marks(int dscp, int priority) {
        return new SocketClass(dscp << ECN_BITS, priority);
    }
}
