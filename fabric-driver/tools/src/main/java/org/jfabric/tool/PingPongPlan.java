package org.jfabric.tool;

import java.util.Collections;
import java.util.List;

import org.jfabric.driver.config.ThreadingMode;

/**
 * Processes of a ping-pong, the place of their drivers, and whether they may spin.
 *
 * @param mode      {@code embedded} or {@code daemon}.
 * @param spinning  true if there is a core for each thread that would spin.
 */
record PingPongPlan(String link, String mode, List<Long> sizes, boolean spinning, List<Member> processes) {
    static final String LOOPBACK = "loopback";
    static final String SHM = "shm";
    static final String BEST = "best";
    static final String TCP = "tcp";
    static final String TLS = "tls";
    static final String TLS_RXM = "tlsrxm";
    static final String VERBS = "verbs";
    /** What endpoints of reliable datagrams over {@link #VERBS} are called. */
    private static final String VERBS_RXM = "verbsrxm";
    static final String EMBEDDED = "embedded";
    static final String DAEMON = "daemon";

    /**
     * One process.
     *
     * @param driverName the driver that it runs or attaches to.
     * @param driver     mode of the driver that it runs, or null if it attaches to another process's.
     */
    record Member(PingPongRole role, String driverName, ThreadingMode driver) {
        /**
         * Name of the process in messages.
         */
        String title() {
            return role == PingPongRole.DAEMON ? "daemon " + driverName : role.text();
        }
    }

    /**
     * Plans the processes.
     *
     * @param link           {@link #LOOPBACK}, {@link #SHM}, {@link #BEST}, {@link #TCP}, {@link #TLS},
     *                       {@link #TLS_RXM} or {@link #VERBS}.
     * @param mode           {@link #EMBEDDED} or {@link #DAEMON}.
     * @param sizes          payloads in bytes, at least one.
     * @param availableCores cores that this process and its children may use.
     */
    static PingPongPlan of(String link, String mode, List<Long> sizes, double availableCores) {
        boolean daemon = mode.equals(DAEMON);
        boolean twoDrivers = !link.equals(LOOPBACK);
        // Both applications spin, and each driver that is not run by the application's own thread.
        int drivers = twoDrivers ? daemon ? 2 : 0 : 1;
        boolean spinning = availableCores >= 2 + drivers;
        ThreadingMode own = spinning ? ThreadingMode.DEDICATED : ThreadingMode.SHARED;
        List<Member> processes;
        if (twoDrivers && daemon) {
            processes = List.of(
                new Member(PingPongRole.DAEMON, "pong", own),
                new Member(PingPongRole.DAEMON, "ping", own),
                new Member(PingPongRole.PONG, "pong", null),
                new Member(PingPongRole.PING, "ping", null));
        } else if (twoDrivers) {
            processes = List.of(
                new Member(PingPongRole.PONG, "pong", ThreadingMode.INVOKER),
                new Member(PingPongRole.PING, "ping", ThreadingMode.INVOKER));
        } else if (daemon) {
            processes = List.of(
                new Member(PingPongRole.DAEMON, "fabric", own),
                new Member(PingPongRole.PONG, "fabric", null),
                new Member(PingPongRole.PING, "fabric", null));
        } else {
            processes = List.of(
                new Member(PingPongRole.PONG, "fabric", own),
                new Member(PingPongRole.PING, "fabric", null));
        }
        return new PingPongPlan(link, mode, List.copyOf(sizes), spinning, processes);
    }

    /**
     * The link of the driver that carries reliable datagrams.
     */
    String driverLink() {
        return link.equals(VERBS) ? VERBS_RXM : link;
    }

    /**
     * Payload of the longest messages, which memory has to be there for.
     */
    long largestBytes() {
        return Collections.max(sizes);
    }

    /**
     * The driver of a role's process, for the other one to find it.
     */
    String driverOf(PingPongRole role) {
        for (Member member : processes) {
            if (member.role == role) {
                return member.driverName;
            }
        }
        throw new IllegalArgumentException(role.text());
    }

    /**
     * Threads that would spin if there were cores for them.
     */
    int wantedCores() {
        int drivers = 0;
        for (Member member : processes) {
            if (member.driver != null && member.driver != ThreadingMode.INVOKER) {
                drivers++;
            }
        }
        return 2 + drivers;
    }
}
