package org.jfabric.driver.link.support;

import org.jfabric.driver.link.LinkServices;

/**
 * Decides in which polls a link does something that costs as much as several idle cycles, and that no message in
 * progress waits for: once in a number of polls, and where polls are far apart once in {@value #LONGEST_NS} ns. By the
 * number alone an application that runs its driver's cycle every millisecond would wait a quarter of a second for each
 * step of a connection. The time is that of the last whole cycle. For what a link does once, not for each endpoint: a
 * thousand of them would all be due in each of their own long cycles.
 *
 * <p>Owner: progress agent.
 */
public final class PollInterval {
    private static final long LONGEST_NS = 100_000;

    private final LinkServices services;
    private int pollsLeft;
    private long dueNs;

    /** The first poll does it. */
    public PollInterval(LinkServices services) {
        this.services = services;
    }

    /** Asked once in each poll. Returns whether this poll does it; {@link #restart} follows then. */
    public boolean isOver() {
        return --pollsLeft < 0 || services.nowNs() - dueNs >= 0;
    }

    /**
     * It was done.
     *
     * @param polls that need not do it again.
     */
    public void restart(int polls) {
        pollsLeft = polls;
        dueNs = services.nowNs() + LONGEST_NS;
    }

    /**
     * It is needed sooner.
     *
     * @param polls that need not do it; 0 for none.
     */
    public void shorten(int polls) {
        pollsLeft = Math.min(pollsLeft, polls);
    }
}
