package org.jfabric.driver.conformance;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Where the two endpoints of a conformance test live. */
public enum Setup {
    /** Both in one embedded driver, whose cycles their calls run. */
    LOOPBACK_EMBEDDED("loopback", false),
    /** Each in an embedded driver of its own. */
    SHM_EMBEDDED("shm", false),
    /** Two clients of one driver process. */
    LOOPBACK_DAEMON("loopback", true),
    /** Clients of two driver processes. */
    SHM_DAEMON("shm", true);

    final String link;
    final boolean daemon;

    Setup(String link, boolean daemon) {
        this.link = link;
        this.daemon = daemon;
    }

    /**
     * Skips a test of what only our own wire has: announcements, so that a long payload stays at the sender until a
     * receive takes it, and its send does not end before. Over tcp it goes as it is, and is stored by the receiver.
     */
    void assumeAnnouncements() {
        assumeTrue(!link.equals("tcp"),
            "libfabric's wire has no announcements: long payloads go at once, their sends end when they are written");
    }

    /** Skips a test of a level that only our own wire can tell of. */
    void assumeMatchLevel() {
        assumeTrue(!link.equals("tcp"), "libfabric's wire cannot tell of a match: the level is refused");
    }

    /** Skips a test of what only our own wire has: authorization keys. */
    void assumeKeys() {
        assumeTrue(!link.equals("tcp"), "libfabric's wire carries no authorization key: the tcp link refuses them");
    }

    /** Skips a test of names that the driver gives: an endpoint of tcp is called by the address of its socket. */
    void assumeNames() {
        assumeTrue(!link.equals("tcp"), "endpoints of the tcp link are named by their sockets, not by their driver");
    }

    /** Whether each endpoint has a driver of its own. */
    boolean hasTwoDrivers() {
        return !link.equals("loopback");
    }

    @Override
    public String toString() {
        return "link=" + link + " mode=" + (daemon ? "daemon" : "embedded");
    }
}
