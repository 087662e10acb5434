package org.jfabric.driver;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.TlsConfig;
import org.jfabric.driver.config.TlsPolicy;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LinkSource;
import org.jfabric.driver.link.best.BestLinkProvider;
import org.jfabric.driver.link.loopback.LoopbackLinkProvider;
import org.jfabric.driver.link.shm.ShmLinkProvider;
import org.jfabric.driver.link.tcp.TcpLinkProvider;
import org.jfabric.driver.link.udp.UdpLinkProvider;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/** The links that this driver has: its own, and those of the artifacts beside it. This is where they are chosen. */
final class LinkProviders {
    private static final List<LinkProvider> OWN = List.of(
        new LoopbackLinkProvider(), new ShmLinkProvider(), new TcpLinkProvider(), new UdpLinkProvider());
    private static final List<LinkProvider> ALL = all();
    private static final String PACKET = "org.jfabric:jfabric-packet";
    private static final String RDMA = "org.jfabric:jfabric-rdma";
    private static final String SECURE = "org.jfabric:jfabric-secure";
    private static final String WIRES = "org.jfabric:jfabric-libfabric-wires";

    private LinkProviders() {
    }

    private static List<LinkProvider> all() {
        List<LinkSource> sources = new ArrayList<>();
        // not the thread's class loader, which may be anybody's
        ServiceLoader.load(LinkSource.class, LinkProviders.class.getClassLoader()).forEach(sources::add);
        sources.sort(Comparator.comparing(LinkSource::standsOnOthers));
        List<LinkProvider> all = new ArrayList<>(OWN);
        sources.forEach(source -> all.addAll(source.links(List.copyOf(all))));
        return all;
    }

    /** What has a link that this driver could have. */
    private static Set<String> artifacts(String link) {
        return switch (link) {
            case "packet" -> Set.of(PACKET);
            case "rxm" -> Set.of(WIRES);
            case "tls", "dtls" -> Set.of(SECURE);
            case "tlsrxm" -> Set.of(SECURE, WIRES);
            case "verbs", "verbsud" -> Set.of(RDMA);
            case "verbsrxm" -> Set.of(RDMA, WIRES);
            default -> Set.of();
        };
    }

    /** Opens the link between progress threads, under the name of the one that stays in a thread. */
    static Link openBetweenThreads(LinkServices services, DriverConfig config, String name) {
        return new ShmLinkProvider().openBetweenThreads(services, config, name);
    }

    /** Has the groups of a thread reach the other threads of the driver, too. */
    static void shareGroups(Link between, List<Link> links) {
        ShmLinkProvider.shareGroups(between, links);
    }

    /** Has the groups of a thread reach other hosts, if link udp is there and plain datagrams are allowed. */
    static void reachHosts(
        List<LinkProvider> providers, List<Link> links, LinkServices services, DriverConfig config) {
        for (LinkProvider provider : providers) {
            if (provider instanceof UdpLinkProvider udp && !udp.isEncrypted()
                && config.get(TlsConfig.POLICY) == TlsPolicy.OPTIONAL) {
                ShmLinkProvider.reachHosts(
                    links, udp.streams(services, config), TcpLinkProvider.replaySecurity(links));
            }
        }
    }

    /**
     * The providers of the links to be opened.
     *
     * @param config with the enabled links.
     * @return the preferred one first, and the choice among them last; only the pinned one if one is pinned.
     * @throws FabricException {@code FI_ENODEV} if an enabled link does not exist.
     */
    static List<LinkProvider> enabled(DriverConfig config) {
        List<String> names = ALL.stream().map(LinkProvider::name).toList();
        List<String> chosen = config.get(LinkConfig.ENABLED);
        List<String> missing = chosen.stream().filter(name -> !names.contains(name)).toList();
        if (!missing.isEmpty()) {
            Set<String> artifacts = new TreeSet<>();
            missing.forEach(name -> artifacts.addAll(artifacts(name)));
            throw new FabricException(FabricErrno.ENODEV,
                "links " + missing + " in jfabric.link.enabled are not here, this driver has " + names,
                artifacts.isEmpty() ? "Correct the names, or take them out."
                    : "Add " + String.join(" and ", artifacts) + " to the class path, or take them out.");
        }
        String pin = config.get(LinkConfig.PIN);
        boolean isPinned = !pin.equals(LinkConfig.PIN_NONE);
        List<LinkProvider> enabled = new ArrayList<>();
        for (String name : isPinned ? List.of(pin) : chosen) {
            ALL.stream().filter(provider -> provider.name().equals(name)).forEach(enabled::add);
        }
        if (!isPinned) {
            enabled.add(new BestLinkProvider(enabled));
        }
        return enabled;
    }
}
