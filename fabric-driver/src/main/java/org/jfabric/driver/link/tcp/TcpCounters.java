package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.LinkServices;

/**
 * The link's counters of connections that exceed limits, violate the protocol, prove no identity, or access memory
 * that they may not. A
 * counter is allocated when it is first used. Peers can cause these errors without limit, so that only the first ones
 * go to the error log, which has a fixed size.
 *
 * <p>Owner: progress agent.
 */
final class TcpCounters {
    /** Label of the counter of connections that have stopped sends without a copy. */
    static final String ZERO_COPY_OFF = "tcp: connections without zero copy because the system copies";

    private static final int LOGGED = 64;

    private final LinkServices services;
    private long refused;
    private long broken;
    private long stalled;
    private long accessRefused;
    private long insecure;
    private long notAdmitted;
    private long zeroCopyOff;
    private long copiedForLack;
    private int logged;

    TcpCounters(LinkServices services) {
        this.services = services;
    }

    /** Address of the counter of connections refused because of limits. */
    long refusedAddress() {
        if (refused == 0) {
            refused = services.counterAddress("tcp: connections refused because of limits");
        }
        return refused;
    }

    /** A connection was refused because of a limit. */
    void onRefused() {
        add(refusedAddress());
    }

    /** A peer has violated the protocol. */
    void onBroken(Throwable error) {
        if (broken == 0) {
            broken = services.counterAddress("tcp: connections closed because the peer broke the protocol");
        }
        add(broken);
        log(error);
    }

    /** A peer has accessed memory in a way that it may not. */
    void onAccessRefused(Throwable error) {
        if (accessRefused == 0) {
            accessRefused = services.counterAddress("tcp: connections closed because a remote access was refused");
        }
        add(accessRefused);
        log(error);
    }

    /** A peer is not in the access list. */
    void onNotAdmitted(Throwable error) {
        if (notAdmitted == 0) {
            notAdmitted = services.counterAddress("tcp: connections refused by the access list");
        }
        add(notAdmitted);
        log(error);
    }

    /** A peer has not proved who it is, or its bytes are not those that it has sent. */
    void onInsecure(Throwable error) {
        if (insecure == 0) {
            insecure = services.counterAddress("tcp: connections closed because TLS did not prove the peer");
        }
        add(insecure);
        log(error);
    }

    /** An unknown peer did not send the rest of a message that it had begun. */
    void onStalled(Throwable error) {
        if (stalled == 0) {
            stalled = services.counterAddress("tcp: connections closed because a message made no progress");
        }
        add(stalled);
        log(error);
    }

    /** The system has copied sends that were to be sent without a copy; the connection makes no more of them. */
    void onZeroCopyOff() {
        if (zeroCopyOff == 0) {
            zeroCopyOff = services.counterAddress(ZERO_COPY_OFF);
        }
        add(zeroCopyOff);
    }

    /** The system had no memory for a report, so that bytes were copied. */
    void onCopiedForLack() {
        if (copiedForLack == 0) {
            copiedForLack = services.counterAddress("tcp: writes copied because optmem_max or memlock is used up");
        }
        add(copiedForLack);
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
