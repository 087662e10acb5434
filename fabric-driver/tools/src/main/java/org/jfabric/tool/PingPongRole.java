package org.jfabric.tool;

import java.util.Locale;

/** Role of a process of a ping-pong. */
enum PingPongRole {
    /** Runs a driver and nothing else. */
    DAEMON,
    /** Sends first, and measures. */
    PING,
    /** Sends back. */
    PONG;

    /**
     * Name in messages, and as a service of the endpoint.
     */
    String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
