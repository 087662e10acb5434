package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.tool.ToolException;

/**
 * A cable between two processes that are on hosts of their own, as far as the network is concerned: each is in a
 * network namespace without a name, which it has made itself. The kernel deletes both namespaces, and the cable with
 * them, when the processes have ended, however they end. The network of this host is not touched.
 */
final class Cable {
    /** Its end, the only interface of each host that is up. */
    static final String INTERFACE = "cable0";
    /** Words in front of a command: its process is on a host of its own. */
    static final List<String> OWN_HOST = List.of("unshare", "--net");

    /** Of the range for benchmarks, RFC 2544. */
    private static final List<String> ADDRESSES = List.of("198.18.79.1/24", "198.18.79.2/24");
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long PAUSE_MS = 1;

    /** Lies between the two sides of a pair, in this order. */
    private static final List<SideRole> ROLES = List.of(SideRole.PONG, SideRole.PING);

    private Cable() {
    }

    /**
     * Tries whether a cable can be made, on a host that exists for a moment.
     *
     * @param path where the programs are.
     * @return the end of a sentence that begins with the name of a system; null if it can be made.
     */
    static String missing(Installation path) throws InterruptedException {
        if (path.find("ip") == null) {
            return " is left out: install Debian's iproute2, whose program ip lays its cable.";
        }
        if (path.find("unshare") == null || path.find("nsenter") == null) {
            return " is left out: install Debian's util-linux, whose program unshare makes its two hosts.";
        }
        List<String> command = new ArrayList<>(path.command(OWN_HOST));
        command.addAll(path.command(List.of("ip", "link", "add", INTERFACE, "type", "veth", "peer", "name", "other")));
        String failure = Programs.failure(command);
        return failure == null ? null : " is left out: its two network namespaces with a cable between them need root,"
            + " or CAP_SYS_ADMIN and CAP_NET_ADMIN (" + failure.replaceAll("\\s*\\R\\s*", " ") + ").";
    }

    /** IPv4 address of a side, seen by a process of the same pair: at its end of the cable, or of this host. */
    static String host(SideRole role) {
        if (!INTERFACE.equals(System.getProperty(UdpConfig.INTERFACE.name()))) {
            return "127.0.0.1";
        }
        String address = ADDRESSES.get(ROLES.indexOf(role));
        return address.substring(0, address.indexOf('/'));
    }

    /** Lays it. Afterwards each process reaches the other one at its address. */
    static void lay(long first, long second) throws InterruptedException {
        List<Long> processes = List.of(first, second);
        run(List.of("ip", "link", "add", INTERFACE, "netns", Long.toString(first), "type", "veth",
            "peer", "name", INTERFACE, "netns", Long.toString(second)));
        for (int i = 0; i < processes.size(); i++) {
            run(on(processes.get(i), "ip", "addr", "add", ADDRESSES.get(i), "dev", INTERFACE));
            run(on(processes.get(i), "ip", "link", "set", INTERFACE, "up"));
        }
        for (long process : processes) {
            awaitUp(process);
        }
    }

    /** The kernel drops packets until it has noticed that both ends are up. */
    private static void awaitUp(long process) throws InterruptedException {
        long begin = System.nanoTime();
        String state;
        while (!(state = Programs.output(null, on(process, "ip", "-br", "link", "show", INTERFACE))).contains(" UP ")) {
            if (System.nanoTime() - begin > TIMEOUT_NS) {
                throw new ToolException("The cable between two network namespaces is not up after 10 s: " + state);
            }
            Thread.sleep(PAUSE_MS);
        }
    }

    private static List<String> on(long process, String... command) {
        List<String> whole = new ArrayList<>(List.of("nsenter", "--net", "--target", Long.toString(process)));
        whole.addAll(List.of(command));
        return whole;
    }

    private static void run(List<String> command) throws InterruptedException {
        String failure = Programs.failure(command);
        if (failure != null) {
            throw new ToolException("A cable between two network namespaces cannot be laid: \""
                + String.join(" ", command) + "\": " + failure);
        }
    }
}
