package org.jfabric.driver.config;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;

/**
 * The links that the driver opens, and the order in which they are tried for a peer. The driver refuses names
 * that it has no links for.
 */
public final class LinkConfig {
    /** All links that a driver can have but {@code best}, which joins those that are enabled. */
    public static final List<String> NAMES = List.of("loopback", "shm", "tcp", "rxm", "tls", "tlsrxm", "udp", "dtls",
        "packet", "verbs", "verbsrxm", "verbsud");

    /** Value of {@link #PIN} that pins nothing. */
    public static final String PIN_NONE = "auto";

    static final OptionGroup GROUP = new OptionGroup("link", "Links and their choice", LinkConfig::check);

    /** {@code jfabric.link.enabled}. */
    public static final Option<List<String>> ENABLED = GROUP.names("jfabric.link.enabled")
        .defaultsTo(List.of("loopback", "shm", "tcp"))
        .rule("names of links, each once", names -> names.stream().allMatch(LinkConfig::isName))
        .why("Links to open, in order of preference: the first that reaches a peer is taken. Take one out to keep "
            + "traffic off it.");

    /** {@code jfabric.link.pin}. */
    public static final Option<String> PIN = GROUP.name("jfabric.link.pin")
        .defaultsTo(PIN_NONE)
        .rule("auto, or one of jfabric.link.enabled", LinkConfig::isName)
        .why("auto takes the first link that reaches the peer; a name takes that link for every peer, or none. "
            + "Pin it to compare links, or to be sure that no other is used.");

    /** {@code jfabric.link.socketLibrary}. */
    public static final Option<SocketStack> SOCKET_LIBRARY =
        GROUP.oneOf("jfabric.link.socketLibrary", SocketStack.class)
            .defaultsTo(SocketStack.AUTO)
            .rule("AUTO, SYSTEM or PRELOADED", library -> true)
            .why("Library whose functions sockets of TCP and UDP go through: AUTO takes one that LD_PRELOAD has loaded"
                + " in front of the C library, such as a network stack in user space, if it has such functions. SYSTEM"
                + " passes it by. PRELOADED refuses to start without one. There is one choice for a process.");

    private LinkConfig() {
    }

    /**
     * What is said of a link that a driver does not have.
     *
     * @param name of the link, which may be none.
     * @return a rejection that names the option, or the link that was probably meant.
     */
    public static Verdict absent(String name) {
        Reason reason = NAMES.contains(name)
            ? new Reason("enabled", "no", "yes", "Add " + name + " to " + ENABLED.name() + " of the driver.")
            : new Reason("link name", name, "one of best, " + String.join(", ", NAMES), "Did you mean "
                + Stream.concat(Stream.of("best"), NAMES.stream())
                    .min(Comparator.comparingInt(known -> OptionNames.distance(name, known))).orElseThrow() + '?');
        return new Verdict(name, false, 0, List.of(reason));
    }

    private static boolean isName(String name) {
        return name.matches("[a-z][a-z0-9]{0,31}");
    }

    private static void check(DriverConfig config, ConfigSource source) {
        String pin = config.get(PIN);
        source.check(
            PIN_NONE.equals(pin) || config.get(ENABLED).contains(pin), "the pinned link is not enabled", PIN, ENABLED);
    }
}
