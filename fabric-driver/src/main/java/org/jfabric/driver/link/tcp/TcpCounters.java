package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.LinkServices;

/**
 * What the link counts of peers that are none, or are too many. The counters come when there is something to count. Of
 * errors that others can cause as often as they like only the first go to the error log, which has an end.
 *
 * <p>Owner: progress agent.
 */
final class TcpCounters {
    private static final int LOGGED = 64;

    private final LinkServices services;
    private long refused;
    private long broken;
    private long stalled;
    private int logged;

    TcpCounters(LinkServices services) {
        this.services = services;
    }

    /** Address of the counter of connections that were one too many. */
    long refusedAddress() {
        if (refused == 0) {
            refused = services.counterAddress("tcp: connections refused because of limits");
        }
        return refused;
    }

    /** A connection was one too many. */
    void onRefused() {
        add(refusedAddress());
    }

    /** A peer has broken the protocol. */
    void onBroken(Throwable error) {
        if (broken == 0) {
            broken = services.counterAddress("tcp: connections closed because the peer broke the protocol");
        }
        add(broken);
        log(error);
    }

    /** An unknown peer did not go on with a message that it had begun. */
    void onStalled(Throwable error) {
        if (stalled == 0) {
            stalled = services.counterAddress("tcp: connections closed because a message made no progress");
        }
        add(stalled);
        log(error);
    }

    private void log(Throwable error) {
        if (logged < LOGGED) {
            logged++;
            services.onError(error);
        }
    }

    private static void add(long counter) {
        UnsafeApi.putLongRelease(null, counter, UnsafeApi.getLong(counter) + 1);
    }
}
