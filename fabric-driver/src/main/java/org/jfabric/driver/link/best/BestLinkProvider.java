package org.jfabric.driver.link.best;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.BestChoice;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.driver.link.support.InfoComparison;
import org.jfabric.driver.link.support.InfoNarrowing;
import org.jfabric.driver.link.support.ReliableLinkProvider;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.BestName;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;
import org.jfabric.info.Verdict;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * Offers endpoints that reach each peer by the best link that both have: loopback, shm, or one link with socket
 * addresses. They have the attributes that all of these links offer, so that nothing depends on the link that a peer
 * is reached by.
 *
 * <p>Stateless; any thread.
 */
public final class BestLinkProvider extends ReliableLinkProvider {
    /** The name that applications ask for. */
    public static final String NAME = "best";

    /** Whoever does not ask for it gets the links themselves. */
    private static final int SCORE = 10;
    private static final long LEVELS = Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE;
    private static final long PLACES = Flags.LOCAL_COMM | Flags.REMOTE_COMM;

    private final List<LinkProvider> others;

    /**
     * Makes a provider.
     *
     * @param others of the driver's other links, the preferred one first.
     */
    public BestLinkProvider(List<LinkProvider> others) {
        super(NAME, Protocol.JFABRIC_BEST, SCORE);
        this.others = List.copyOf(others);
    }

    @Override
    public boolean usesSocketNames() {
        return true;
    }

    @Override
    public int cmDataBytes() {
        return 0;
    }

    @Override
    public boolean joinsLinks() {
        return true;
    }

    @Override
    public List<String> links(Info hints, String driverName, DriverConfig config) {
        List<String> names = new ArrayList<>();
        others.stream().filter(LinkProvider::staysInDriver).forEach(each -> names.add(each.name()));
        others.stream().filter(BestLinkProvider::joinsDrivers).forEach(each -> names.add(each.name()));
        LinkProvider socket = socket(hints, driverName, config);
        if (socket != null) {
            names.add(socket.name());
        }
        return names;
    }

    /** Whether a link reaches other drivers by their names. */
    private static boolean joinsDrivers(LinkProvider other) {
        return !other.staysInDriver() && !other.usesSocketNames();
    }

    /** The link with socket addresses: the one with the highest score that offers what is asked for; null if none. */
    private LinkProvider socket(Info hints, String driverName, DriverConfig config) {
        LinkProvider best = null;
        int score = Integer.MIN_VALUE;
        for (LinkProvider each : sockets(driverName, config)) {
            Verdict verdict = each.verdict(forOther(hints), driverName, config);
            if (verdict.chosen() && verdict.score() > score) {
                best = each;
                score = verdict.score();
            }
        }
        return best;
    }

    /** The links with reliable datagrams by socket addresses, whose endpoints can be on any thread. */
    private List<LinkProvider> sockets(String driverName, DriverConfig config) {
        return others.stream().filter(each -> each.usesSocketNames() && !each.staysOnFirstThread()
            && each.info(forOther(new Info()), driverName, config).epAttr().type() == EndpointType.RDM).toList();
    }

    /** An endpoint has all the links that it can have: none is left out because it lacks a capability. */
    private void checkOthers(Info hints, String driverName, DriverConfig config, List<Reason> reasons) {
        for (LinkProvider each : others) {
            if (joinsDrivers(each)) {
                add(each.verdict(forOther(hints), driverName, config), reasons);
            }
        }
        List<LinkProvider> sockets = sockets(driverName, config);
        if (socket(hints, driverName, config) == null) {
            sockets.forEach(each -> add(each.verdict(forOther(hints), driverName, config), reasons));
        }
        if (sockets.isEmpty() && others.stream().noneMatch(BestLinkProvider::joinsDrivers)) {
            reasons.add(new Reason("links of the driver", String.join(", ", config.link().enabled()),
                "shm, tcp or rxm", "Enable one of them, by jfabric.link.enabled"));
        }
    }

    private static void add(Verdict refused, List<Reason> reasons) {
        if (!refused.chosen()) {
            refused.reasons().forEach(each -> reasons.add(new Reason(
                refused.linkName() + ": " + each.condition(), each.seen(), each.needed(), each.remedy())));
        }
    }

    /** The hints for one of the other links: names and addresses are those of this one. */
    private static Info forOther(Info hints) {
        Info shared = hints.copy().linkName(null).addrFormat(AddressFormat.UNSPEC).destAddr(null)
            .srcAddr(socketOf(hints.srcAddr()));
        if (hints.caps() != 0) {
            shared.caps(hints.caps() & ~PLACES);
        }
        shared.domainAttr().caps(0);
        shared.fabricAttr().provName(null).provVersion(0);
        shared.epAttr().type(EndpointType.RDM).protocol(Protocol.UNSPEC).protocolVersion(0);
        return shared;
    }

    /** The socket address in a source address; null if it names none. */
    private static String socketOf(String source) {
        if (BestName.isName(source)) {
            return BestName.parse(source).ways().values().stream().filter(SocketName::isName).findFirst().orElse(null);
        }
        return SocketName.isName(source) || HostNames.isHost(source == null ? "" : source) ? source : null;
    }

    @Override
    public Verdict verdict(Info hints, String driverName, DriverConfig config) {
        if (!NAME.equals(hints.linkName()) && !NAME.equals(hints.fabricAttr().provName())) {
            // whoever does not ask for it pays for no comparison
            return new Verdict(NAME, false, SCORE, List.of(new Reason("link name", "none", NAME,
                "Name the link in the hints: its endpoints have several links and an address of their own")));
        }
        List<Reason> reasons = new ArrayList<>(super.verdict(hints, driverName, config).reasons());
        if (hints.epAttr().type() == EndpointType.MSG) {
            reasons.add(new Reason("ep_attr.type", "FI_EP_RDM", "FI_EP_MSG",
                "Ask for the link of the connection, or for reliable datagrams"));
        }
        InfoComparison.refuseKeys(hints, reasons, "Leave the key out: not all of the links carry one");
        checkSource(hints.srcAddr(), driverName, reasons);
        if (reasons.isEmpty()) {
            checkOthers(hints, driverName, config, reasons);
        }
        return reasons.isEmpty() ? new Verdict(NAME, true, SCORE, description(hints, driverName, config))
            : new Verdict(NAME, false, SCORE, reasons);
    }

    private static void checkSource(String source, String driverName, List<Reason> reasons) {
        if (source == null || source.isEmpty() || SocketName.isName(source) || HostNames.isHost(source)
            || driverName.equals(FabricName.driverOf(source))) {
            return;
        }
        if (!BestName.isName(source) || !BestName.parse(source).driver().equals(driverName)) {
            reasons.add(new Reason("source", source, BestName.SCHEME + "<folder>/" + driverName + "/<endpoint>",
                "Name an endpoint of this driver, or the socket address that it is to have"));
        }
    }

    /** The links in their order, and for a destination why those before the first are not used. */
    private List<Reason> description(Info hints, String driverName, DriverConfig config) {
        List<String> links = links(hints, driverName, config);
        List<Reason> all = new ArrayList<>();
        all.add(new Reason("links, the best one first", String.join(", ", links), "one that both endpoints have", ""));
        LinkProvider socket = socket(hints, driverName, config);
        if (socket != null) {
            // its protection, and its bounds
            all.addAll(socket.verdict(forOther(hints), driverName, config).reasons());
        }
        if (BestName.isName(hints.destAddr())) {
            BestName peer = BestName.parse(hints.destAddr());
            BestName own = name(links, "ep", driverName, config, null);
            for (String link : links) {
                Reason obstacle = BestChoice.obstacle(own, peer, link);
                all.add(obstacle != null
                    ? new Reason("not by " + link + ", " + obstacle.condition(), obstacle.seen(), obstacle.needed(),
                        obstacle.remedy())
                    : new Reason("by " + link, String.valueOf(peer.way(link)), "an answer when it connects", ""));
            }
        }
        return all;
    }

    @Override
    protected Reason unreachable(String destination, String driverName) {
        boolean isName = BestName.isName(destination) || SocketName.isName(destination) || HostNames.isHost(destination)
            || FabricName.driverOf(destination) != null;
        return isName ? null : new Reason("destination", destination, BestName.SCHEME + "<folder>/<driver>/<endpoint>",
            "Name an endpoint as its Endpoint.name() does");
    }

    @Override
    protected long remoteCaps() {
        return REMOTE_CAPS & ~Flags.RMA_PMEM;
    }

    @Override
    protected ChannelLimits limits(DriverConfig config) {
        return new ChannelLimits(config.engine().eagerLimitBytes(), 0, MemoryRegionDescriptor.MAX_LENGTH, Long.BYTES,
            LEVELS, limits(config, 0).messageOrder());
    }

    @Override
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        Info offer = super.offer(hints, driverName, config);
        offer.srcAddr(hints.srcAddr()).destAddr(hints.destAddr());
        offer.epAttr().type(EndpointType.RDM);
        offer.txAttr().opFlags(Flags.INJECT_COMPLETE);
        for (String link : links(hints, driverName, config)) {
            others.stream().filter(each -> each.name().equals(link)).forEach(
                each -> restrict(offer, each.info(forOther(hints), driverName, config)));
        }
        offer.caps(offer.caps() | PLACES);
        offer.txAttr().caps(offer.caps() & InfoNarrowing.TRANSMIT_CAPS);
        offer.rxAttr().caps(offer.caps() & InfoNarrowing.RECEIVE_CAPS);
        offer.domainAttr().caps(PLACES).maxEpTxCtx(1).maxEpRxCtx(1);
        return offer;
    }

    /** Leaves of an offer what one of the links has too. */
    private static void restrict(Info offer, Info other) {
        offer.caps(offer.caps() & other.caps());
        long order = offer.txAttr().msgOrder() & other.txAttr().msgOrder();
        offer.txAttr().msgOrder(order).size(Math.min(offer.txAttr().size(), other.txAttr().size()))
            .injectSize(Math.min(offer.txAttr().injectSize(), other.txAttr().injectSize()));
        offer.rxAttr().msgOrder(order).size(Math.min(offer.rxAttr().size(), other.rxAttr().size()));
        offer.epAttr().maxMsgSize(Math.min(offer.epAttr().maxMsgSize(), other.epAttr().maxMsgSize()));
        if ((order & Order.WAR) == 0) {
            offer.epAttr().maxOrderWarSize(0);
        }
    }

    @Override
    public BoundAddress bind(Info wanted, String fabricName, DriverConfig config) {
        String driver = FabricName.driverOf(fabricName);
        LinkProvider socket = socket(wanted, driver, config);
        BoundAddress bound = socket == null ? null : socket.bind(forOther(wanted), config);
        try {
            BestName name = name(links(wanted, driver, config), FabricName.endpointOf(fabricName), driver, config,
                bound);
            return new BestAddress(name, bound == null ? null : socket.name(), bound);
        } catch (RuntimeException failed) {
            if (bound != null) {
                bound.close();
            }
            throw failed;
        }
    }

    private BestName name(
        List<String> links, String endpoint, String driver, DriverConfig config, BoundAddress bound) {
        Map<String, String> ways = new LinkedHashMap<>();
        for (LinkProvider each : others) {
            if (links.contains(each.name()) && !each.staysInDriver()) {
                // without an address, for a question: the address that only its peers need
                ways.put(each.name(), !each.usesSocketNames() ? "" : bound == null ? "-" : bound.address());
            }
        }
        return new BestName(SharedFolder.of(config.directory().base()), driver, endpoint, ways);
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        throw new IllegalStateException(NAME + " has no link of its own");
    }
}
