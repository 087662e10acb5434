package org.jfabric.driver.link.best;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jfabric.driver.config.DirectoryConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.EngineConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.link.BestChoice;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.driver.link.support.CardAccess;
import org.jfabric.driver.link.support.InfoComparison;
import org.jfabric.driver.link.support.InfoNarrowing;
import org.jfabric.driver.link.support.ReliableLinkProvider;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.BestName;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;
import org.jfabric.info.Verdict;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * Offers endpoints that reach each peer by the best link that both have: loopback, shm, a link of RDMA devices, or one
 * link of sockets. They have the attributes that all of these links offer, so that nothing depends on the link that a
 * peer is reached by. A link of devices is left out where it would lessen them: they must not depend on a card.
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
        networks(hints, driverName, config).forEach(each -> names.add(each.name()));
        return names;
    }

    /** The links with addresses of their own: that of devices, if it can be used, then that of sockets. */
    private List<LinkProvider> networks(Info hints, String driverName, DriverConfig config) {
        LinkProvider socket = best(false, hints, driverName, config);
        LinkProvider device = best(true, hints, driverName, config);
        if (socket == null || device == null) {
            return Stream.of(device, socket).filter(Objects::nonNull).toList();
        }
        return lessened(device, socket, hints, driverName, config) == null ? List.of(device, socket)
            : List.of(socket);
    }

    /** How a link of devices would lessen what an endpoint offers; null if it does not. */
    private static Reason lessened(
        LinkProvider device, LinkProvider socket, Info hints, String driverName, DriverConfig config) {
        if (socket.isEncrypted() && !device.isEncrypted()) {
            return new Reason("protection", "none", "that of " + socket.name(), "Use either link by itself");
        }
        long offered = socket.info(forOther(hints, socket), driverName, config).caps();
        long missing = offered & ~device.info(forOther(hints, device), driverName, config).caps();
        // whoever names capabilities gets them from both
        return hints.caps() != 0 || missing == 0 ? null
            : new Reason("caps", "all without " + Flags.toString(missing, Flags.Kind.CAPABILITY), "none named: all",
                "Name the capabilities that you need, for example FI_MSG and FI_TAGGED");
    }

    /** Whether a link reaches other drivers by their names. */
    private static boolean joinsDrivers(LinkProvider other) {
        return !other.staysInDriver() && !other.usesSocketNames();
    }

    /** The link of devices or of sockets with the highest score that offers what is asked for; null if none. */
    private LinkProvider best(boolean isOfDevices, Info hints, String driverName, DriverConfig config) {
        LinkProvider best = null;
        int score = Integer.MIN_VALUE;
        for (LinkProvider each : candidates(driverName, config)) {
            if (isOfDevices(each) != isOfDevices) {
                continue;
            }
            Verdict verdict = each.verdict(forOther(hints, each), driverName, config);
            if (verdict.chosen() && verdict.score() > score) {
                best = each;
                score = verdict.score();
            }
        }
        return best;
    }

    /** The links with reliable datagrams by socket addresses, whether they can be used or not. */
    private List<LinkProvider> candidates(String driverName, DriverConfig config) {
        return others.stream().filter(each -> each.usesSocketNames()
            && each.info(forOther(new Info(), each), driverName, config).epAttr().type() == EndpointType.RDM).toList();
    }

    /** Whether it is a link of RDMA devices: several threads cannot share what their endpoints do. */
    private static boolean isOfDevices(LinkProvider network) {
        return network.staysOnFirstThread();
    }

    /** An endpoint has all the links that it can have: none is left out because it lacks a capability. */
    private void checkOthers(Info hints, String driverName, DriverConfig config, List<Reason> reasons) {
        for (LinkProvider each : others) {
            if (joinsDrivers(each)) {
                add(each.verdict(forOther(hints, each), driverName, config), reasons);
            }
        }
        List<LinkProvider> candidates = candidates(driverName, config);
        if (networks(hints, driverName, config).isEmpty()) {
            candidates.forEach(each -> add(each.verdict(forOther(hints, each), driverName, config), reasons));
        }
        if (candidates.isEmpty() && others.stream().noneMatch(BestLinkProvider::joinsDrivers)) {
            reasons.add(new Reason("links of the driver", String.join(", ", config.get(LinkConfig.ENABLED)),
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
    private static Info forOther(Info hints, LinkProvider other) {
        Info shared = hints.copy().linkName(null).addrFormat(AddressFormat.UNSPEC).destAddr(null)
            .srcAddr(socketOf(hints.srcAddr(), other));
        if (hints.caps() != 0) {
            shared.caps(hints.caps() & ~PLACES | includedCaps(hints));
        }
        // no key of a card is good at several links
        shared.domainAttr().caps(0).mrMode(hints.domainAttr().mrMode() & ~CardAccess.MR_MODE);
        shared.fabricAttr().provName(null).provVersion(0);
        shared.epAttr().type(EndpointType.RDM).protocol(Protocol.UNSPEC).protocolVersion(0);
        return shared;
    }

    /** Capabilities of API 2 contain others, which a link offers only if it is asked for them too. */
    private static long includedCaps(Info hints) {
        if (!hints.fabricAttr().isVersion2()) {
            return 0;
        }
        return ((hints.caps() & Flags.EXACT_DIRECTED_RECV) != 0 ? Flags.DIRECTED_RECV : 0)
            | ((hints.caps() & Flags.TAGGED_MULTI_RECV) != 0 ? Flags.MULTI_RECV : 0);
    }

    /** The socket address in a source address for a link; null if it names none. */
    private static String socketOf(String source, LinkProvider link) {
        if (BestName.isName(source)) {
            BestName name = BestName.parse(source);
            if (SocketName.isName(name.way(link.name()))) {
                return name.way(link.name());
            }
            return isOfDevices(link) ? null
                : name.ways().values().stream().filter(SocketName::isName).reduce((first, last) -> last).orElse(null);
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
        List<LinkProvider> networks = networks(hints, driverName, config);
        // their protection, and their bounds
        networks.forEach(each -> all.addAll(each.verdict(forOther(hints, each), driverName, config).reasons()));
        leftOut(networks, hints, driverName, config, all);
        if (BestName.isName(hints.destAddr())) {
            BestName peer = BestName.parse(hints.destAddr());
            BestName own = name(links, "ep", driverName, config, Map.of());
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

    /** Why the links of devices are not among those of the endpoint. */
    private void leftOut(
        List<LinkProvider> networks, Info hints, String driverName, DriverConfig config, List<Reason> all) {
        for (LinkProvider each : candidates(driverName, config)) {
            if (isOfDevices(each) && !networks.contains(each)) {
                Verdict verdict = each.verdict(forOther(hints, each), driverName, config);
                List<Reason> reasons = verdict.chosen()
                    ? List.of(lessened(each, networks.getLast(), hints, driverName, config)) : verdict.reasons();
                reasons.forEach(reason -> all.add(new Reason("without " + each.name() + ", " + reason.condition(),
                    reason.seen(), reason.needed(), reason.remedy())));
            }
        }
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
        return new ChannelLimits(
            config.get(EngineConfig.EAGER_LIMIT_BYTES), 0, MemoryRegionDescriptor.MAX_LENGTH, Long.BYTES,
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
                each -> restrict(offer, each.info(forOther(hints, each), driverName, config)));
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
        List<String> links = new ArrayList<>(links(wanted, driver, config));
        Map<String, BoundAddress> bound = new HashMap<>();
        try {
            // sockets first: if they have no address, the endpoint cannot be opened
            for (LinkProvider each : networks(wanted, driver, config).reversed()) {
                BoundAddress address = bind(each, wanted, config, bound.isEmpty());
                if (address == null) {
                    links.remove(each.name());
                } else {
                    bound.put(each.name(), address);
                }
            }
            return new BestAddress(
                name(links, FabricName.endpointOf(fabricName), driver, config, bound), links, bound);
        } catch (RuntimeException failed) {
            bound.values().forEach(BoundAddress::close);
            throw failed;
        }
    }

    /** The address of a link; null if no device has the one that is asked for, and the endpoint can do without. */
    private static BoundAddress bind(LinkProvider link, Info wanted, DriverConfig config, boolean isNeeded) {
        try {
            return link.bind(forOther(wanted, link), config);
        } catch (FabricException failed) {
            if (isNeeded || failed.errno() != FabricErrno.EADDRNOTAVAIL) {
                throw failed;
            }
            return null;
        }
    }

    private BestName name(
        List<String> links, String endpoint, String driver, DriverConfig config, Map<String, BoundAddress> bound) {
        Map<String, String> ways = new LinkedHashMap<>();
        for (LinkProvider each : others) {
            if (links.contains(each.name()) && !each.staysInDriver()) {
                // without an address, for a question: the address that only its peers need
                ways.put(each.name(), !each.usesSocketNames() ? ""
                    : bound.containsKey(each.name()) ? bound.get(each.name()).address() : "-");
            }
        }
        return new BestName(SharedFolder.of(config.get(DirectoryConfig.BASE)), driver, endpoint, ways);
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        throw new IllegalStateException(NAME + " has no link of its own");
    }
}
