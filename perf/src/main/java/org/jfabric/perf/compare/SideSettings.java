package org.jfabric.perf.compare;

import java.nio.file.Path;

/**
 * Settings of a side.
 *
 * @param directory of this cell, the same for all sides; not there yet.
 * @param port      first of two free UDP ports.
 * @param spinning  true if each side has a core of its own.
 */
record SideSettings(
    SideRole role, Pass pass, int sizeBytes, Path directory, int port, int cpu, int otherCpu, boolean spinning) {
    /** Messages that a sender has under way at most, as in {@code ucx_perftest -t tag_bw}. */
    static final int WINDOW = 32;
    /** Time between two messages of a paced pass: 100,000 a second. */
    static final long INTERVAL_NS = 10_000;

    /** Time between two messages of {@link Pass#FRESH}: 1,000 a second. */
    static final long FRESH_INTERVAL_NS = 1_000_000;
    /** The first message of {@link Pass#FRESH} whose answer counts. */
    static final int FRESH_FIRST = 900;
    /** Messages of {@link Pass#FRESH}. */
    static final int FRESH_MESSAGES = 1_100;

    /** Folder of this side's own driver. */
    Path ownDirectory() {
        return directory.resolve(role.text());
    }

    /** Folder for the logs of this cell, on a disk if the run has one; not there yet. */
    Path onDisk() {
        return directory.resolveSibling(RunDirectory.DISK).resolve(directory.getFileName());
    }

    /** UDP port of a side. */
    int port(SideRole of) {
        return of == SideRole.PING ? port : port + 1;
    }

    /** The role of the side that this one talks to. */
    SideRole other() {
        return role == SideRole.PING ? SideRole.PONG : SideRole.PING;
    }
}
