package org.jfabric.perf.compare;

import java.util.Locale;

/** Role of a process in a contender. */
enum SideRole {
    /** Runs a driver for the one that begins, where it has one of its own. */
    PING_DRIVER,
    /** Runs a driver for the others. */
    DRIVER,
    /** Answers. */
    PONG,
    /** Begins, and measures. */
    PING;

    /** Returns true if the process runs a driver and takes no part in a pass. */
    boolean drives() {
        return this == PING_DRIVER || this == DRIVER;
    }

    /** Returns the role of the process that runs this side's driver, where each side has a driver of its own. */
    SideRole daemon() {
        return this == PING ? PING_DRIVER : DRIVER;
    }

    /** Name of folders and services. */
    String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
