package org.jfabric.driver;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.best.BestLinkProvider;
import org.jfabric.driver.link.loopback.LoopbackLinkProvider;
import org.jfabric.driver.link.rxm.RxmLinkProvider;
import org.jfabric.driver.link.shm.ShmLinkProvider;
import org.jfabric.driver.link.tcp.TcpLinkProvider;
import org.jfabric.driver.link.udp.PacketLinkProvider;
import org.jfabric.driver.link.udp.UdpLinkProvider;
import org.jfabric.driver.link.verbs.VerbsLinkProvider;
import org.jfabric.driver.link.verbs.VerbsUdLinkProvider;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/** The links that this driver has. */
final class LinkProviders {
    private static final List<LinkProvider> ALL = List.of(
        new LoopbackLinkProvider(), new ShmLinkProvider(), new TcpLinkProvider(),
        new RxmLinkProvider(RxmLinkProvider.NAME, new TcpLinkProvider(), true), TcpLinkProvider.ofTls(),
        RxmLinkProvider.overTls(TcpLinkProvider.ofTls()), new UdpLinkProvider(),
        UdpLinkProvider.ofDtls(), new PacketLinkProvider(),
        VerbsLinkProvider.ofMessages(),
        new RxmLinkProvider(VerbsLinkProvider.RXM_NAME, VerbsLinkProvider.ofPackets(), false),
        new VerbsUdLinkProvider());

    private LinkProviders() {
    }

    /** Opens the link between progress threads, under the name of the one that stays in a thread. */
    static Link openBetweenThreads(LinkServices services, DriverConfig config, String name) {
        return new ShmLinkProvider().openBetweenThreads(services, config, name);
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
            throw new FabricException(FabricErrno.ENODEV,
                "links " + missing + " in jfabric.link.enabled do not exist, this driver has " + names,
                "Correct the names, or take them out.");
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
