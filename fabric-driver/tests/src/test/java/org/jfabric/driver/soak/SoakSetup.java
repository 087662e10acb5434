package org.jfabric.driver.soak;

import org.jfabric.driver.config.ThreadingMode;

/** A link and where its drivers run. */
enum SoakSetup {
    LOOPBACK_INVOKER("loopback", ThreadingMode.INVOKER, false),
    SHM_INVOKER("shm", ThreadingMode.INVOKER, false),
    LOOPBACK_SHARED("loopback", ThreadingMode.SHARED, false),
    SHM_SHARED("shm", ThreadingMode.SHARED, false),
    LOOPBACK_DEDICATED("loopback", ThreadingMode.DEDICATED, false),
    SHM_DEDICATED("shm", ThreadingMode.DEDICATED, false),
    LOOPBACK_TWO_THREADS("loopback", SoakOptions.progressThreads()),
    SHM_TWO_THREADS("shm", SoakOptions.progressThreads()),
    LOOPBACK_DAEMON_SHARED("loopback", ThreadingMode.SHARED, true),
    SHM_DAEMON_SHARED("shm", ThreadingMode.SHARED, true),
    LOOPBACK_DAEMON_DEDICATED("loopback", ThreadingMode.DEDICATED, true),
    SHM_DAEMON_DEDICATED("shm", ThreadingMode.DEDICATED, true);

    final String link;
    final ThreadingMode mode;
    final boolean daemon;
    final int progressThreads;

    SoakSetup(String link, ThreadingMode mode, boolean daemon) {
        this.link = link;
        this.mode = mode;
        this.daemon = daemon;
        this.progressThreads = 1;
    }

    /** An embedded driver with several progress threads. */
    SoakSetup(String link, int progressThreads) {
        this.link = link;
        this.mode = ThreadingMode.DEDICATED;
        this.daemon = false;
        this.progressThreads = progressThreads;
    }

    boolean isInvoker() {
        return mode == ThreadingMode.INVOKER;
    }

    /** Drivers that a world needs. */
    int drivers() {
        return "shm".equals(link) ? 2 : 1;
    }

    /**
     * Part of all operations that this setup does, in thousandths. Where each step waits for another thread or process,
     * an operation takes several times as long; the scripted link does the rest.
     */
    int share() {
        if (isInvoker()) {
            return 335;
        }
        return daemon ? 10 : progressThreads > 1 ? 5 : 20;
    }

    @Override
    public String toString() {
        return "link=" + link + " mode=" + mode + (daemon ? " daemon" : " embedded")
            + (progressThreads > 1 ? " threads=" + progressThreads : "");
    }
}
