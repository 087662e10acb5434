package org.jfabric.driver.kit;

import java.util.List;
import java.util.stream.Stream;

/**
 * The link of networks that tests run over: tcp on this machine's loopback interface, or the one that a run is for,
 * {@code -Djfabric.test.link}, on the interface {@code -Djfabric.test.interface}; with embedded drivers only if
 * {@code -Djfabric.test.mode} says {@code embedded}.
 */
public final class Network {
    /** Whether this run is for a certain link. */
    public static final boolean IS_CHOSEN = System.getProperty("jfabric.test.link") != null;
    /** Whether this run leaves out processes for drivers. */
    public static final boolean IS_EMBEDDED = "embedded".equals(System.getProperty("jfabric.test.mode"));
    /**
     * Whether the endpoints of link best have that of RDMA devices, too: with {@code -Djfabric.test.device=true}, where
     * the interface belongs to one.
     */
    public static final boolean HAS_DEVICE = Boolean.getBoolean("jfabric.test.device");
    /** Name of the link of reliable datagrams. */
    public static final String LINK = System.getProperty("jfabric.test.link", "tcp");
    /** Options of drivers, as NAME=VALUE. */
    public static final List<String> OPTIONS = options(LINK);

    private Network() {
    }

    private static List<String> withKeys(String... options) {
        return Stream.concat(Stream.of(options), TestKeys.shared().assignments().stream()).toList();
    }

    /** Options of drivers with that link of networks, as NAME=VALUE. */
    static List<String> options(String link) {
        String networkInterface = System.getProperty("jfabric.test.interface", "lo");
        return switch (link) {
            case "tcp" -> List.of("jfabric.tcp.interface=" + networkInterface);
            // several links under one address, with what tcp has
            case "best" -> List.of("jfabric.link.enabled=loopback," + (HAS_DEVICE ? "verbsrxm,tcp" : "tcp"),
                "jfabric.tcp.interface=" + networkInterface, "jfabric.verbs.interface=" + networkInterface);
            case "rxm" -> List.of(
                "jfabric.link.enabled=loopback,shm,rxm,tcp", "jfabric.tcp.interface=" + networkInterface);
            case "tls" -> withKeys(
                "jfabric.link.enabled=loopback,shm,tls", "jfabric.tcp.interface=" + networkInterface);
            case "tlsrxm" -> withKeys(
                "jfabric.link.enabled=loopback,shm,tlsrxm,tls", "jfabric.tcp.interface=" + networkInterface);
            case "verbsrxm" -> List.of(
                "jfabric.link.enabled=loopback,shm,verbsrxm,verbs", "jfabric.verbs.interface=" + networkInterface);
            default -> throw new IllegalArgumentException("no link of networks: " + link);
        };
    }
}
