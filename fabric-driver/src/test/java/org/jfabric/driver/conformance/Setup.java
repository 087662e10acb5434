package org.jfabric.driver.conformance;

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

    @Override
    public String toString() {
        return "link=" + link + " mode=" + (daemon ? "daemon" : "embedded");
    }
}
