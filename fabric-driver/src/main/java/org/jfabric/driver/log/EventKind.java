package org.jfabric.driver.log;

/** The kinds of rare events. Codes are stable: they stand in the {@code record} file. */
public enum EventKind {
    /** Clients can attach. */
    DRIVER_READY(1, "driver-ready", "", ""),
    /** The driver begins to close. */
    DRIVER_CLOSING(2, "driver-closing", "", ""),
    /** The driver is closed. */
    DRIVER_CLOSED(3, "driver-closed", "", ""),
    /** A client is attached. */
    CLIENT_CAME(10, "client-came", "pid", ""),
    /** A client has closed in order. */
    CLIENT_LEFT(11, "client-left", "pid", ""),
    /** A client's process ended without closing. */
    CLIENT_DIED(12, "client-died", "pid", ""),
    /** The driver ended a client. */
    CLIENT_ENDED(13, "client-ended", "pid", ""),
    /** An endpoint has its queues and links. */
    ENDPOINT_ENABLED(20, "endpoint-enabled", "", ""),
    /** An endpoint is closed. */
    ENDPOINT_CLOSED(21, "endpoint-closed", "", ""),
    /** A passive endpoint listens. */
    LISTENING(22, "listening", "", ""),
    /** The channel between an endpoint and a peer is up. */
    PEER_UP(30, "peer-up", "fi_addr", ""),
    /** A peer is gone, or could not be reached. */
    PEER_DOWN(31, "peer-down", "errno", "prov_errno"),
    /** A peer could not be connected by one of its links, and is tried by the next; the text is that address. */
    PEER_BY_NEXT_LINK(36, "peer-by-next-link", "errno", ""),
    /** A peer asks a passive endpoint for a connection. */
    CONNECTION_REQUESTED(32, "connection-requested", "request", ""),
    /** A connection is made, from either side. */
    CONNECTION_MADE(33, "connection-made", "", ""),
    /** A connection was refused or could not be made, or a passive endpoint cannot listen any more. */
    CONNECTION_FAILED(34, "connection-failed", "errno", ""),
    /** The peer closed a connection (errno 0), or it is lost. */
    CONNECTION_ENDED(35, "connection-ended", "errno", ""),
    /** Sends wait because the peer grants neither bytes nor announcements. */
    CREDIT_WAIT_BEGAN(40, "credit-wait-began", "sends", ""),
    /** A wait for credit has ended. */
    CREDIT_WAIT_ENDED(41, "credit-wait-ended", "ns", "sends"),
    /** An endpoint reads beyond its budget, because a receive may wait for what follows; the first time only. */
    READ_BEYOND_BUDGET(42, "read-beyond-budget", "bytes", ""),
    /** A duty cycle took longer than {@code jfabric.metrics.slowCycleNs}. */
    SLOW_CYCLE(50, "slow-cycle", "ns", "cycles"),
    /** A tool drains the driver. */
    DRAIN_BEGAN(60, "drain-began", "timeout_ns", ""),
    /** The drain is over. */
    DRAIN_ENDED(61, "drain-ended", "sends", ""),
    /** Anything that also goes to the log of distinct errors. */
    ERROR(70, "error", "errno", "");

    private static final EventKind[] VALUES = values();

    private final int code;
    private final String text;
    private final String first;
    private final String second;

    EventKind(int code, String text, String first, String second) {
        this.code = code;
        this.text = text;
        this.first = first;
        this.second = second;
    }

    /**
     * Finds a kind.
     *
     * @param code in a file, which may be damaged.
     * @return null if there is none.
     */
    public static EventKind of(int code) {
        for (EventKind kind : VALUES) {
            if (kind.code == code) {
                return kind;
            }
        }
        return null;
    }

    /** The number in the file, from 1. */
    public int code() {
        return code;
    }

    /** Name for people and programs. */
    public String text() {
        return text;
    }

    /** Name of the first number, empty if the kind has none. */
    public String first() {
        return first;
    }

    /** Name of the second number, empty if the kind has none. */
    public String second() {
        return second;
    }

    /** Whether it says how long something took; there may be many of them, so they have a ring of their own. */
    boolean isWait() {
        return this == SLOW_CYCLE || this == CREDIT_WAIT_BEGAN || this == CREDIT_WAIT_ENDED;
    }
}
