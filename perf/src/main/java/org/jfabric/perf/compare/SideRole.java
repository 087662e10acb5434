package org.jfabric.perf.compare;

import java.util.Locale;

/** What a process does in a contender. */
enum SideRole {
    /** Runs a driver for the others. */
    DRIVER,
    /** Answers. */
    PONG,
    /** Begins, and measures. */
    PING;

    /** Name of folders and services. */
    String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
