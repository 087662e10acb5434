package org.jfabric.driver.link.support;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.info.AddressFormat;
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
 * Base class of the providers of links with libfabric's protocols over sockets: reliable datagrams by socket addresses,
 * messages of every length in one stream, no authorization keys.
 *
 * <p>Stateless; any thread.
 */
public abstract class SocketLinkProvider extends ReliableLinkProvider {
    /**
     * The orders of libfabric's providers: a connection is one stream. Not WAR and SAR, because the bytes of a read may
     * be taken after later operations have taken effect.
     */
    private static final long ORDER = Order.STRICT & ~(Order.WAR | Order.SAR) | Order.RMA_RAR | Order.RMA_RAW
        | Order.RMA_WAW;

    private final long levels;

    protected SocketLinkProvider(String name, Protocol protocol, int score, long levels) {
        super(name, protocol, score);
        this.levels = levels;
    }

    @Override
    public final boolean usesSocketNames() {
        return true;
    }

    @Override
    public int cmDataBytes() {
        return 0;
    }

    @Override
    public Verdict verdict(Info hints, String driverName, DriverConfig config) {
        Verdict verdict = super.verdict(hints, driverName, config);
        List<Reason> reasons = new ArrayList<>(verdict.reasons());
        InfoComparison.refuseKeys(
            hints, reasons, "Leave the key out: libfabric's wire carries no key, so that no peer could check it");
        String source = hints.srcAddr();
        if (source != null && !source.isEmpty() && !SocketName.isName(source) && !HostNames.isHost(source)) {
            reasons.add(new Reason("source", source, SocketName.IN_SCHEME + "<address>:<port>, port 0 to 65535",
                "Endpoints of this link have socket addresses; name one, or ask for another link"));
        }
        if (hints.epAttr().type() == EndpointType.MSG && cmDataBytes() == 0) {
            reasons.add(new Reason("ep_attr.type", "FI_EP_RDM", "FI_EP_MSG",
                "Ask for the link whose connections this one uses, or for reliable datagrams"));
        }
        reasons.addAll(obstacles(config));
        reasons.addAll(Protection.refusals(isEncrypted(), config));
        if (reasons.isEmpty()) {
            // they ask the interface of an address that is one
            reasons.addAll(timeObstacles(hints, config));
        }
        return reasons.isEmpty()
            ? new Verdict(name(), true, verdict.score(), Protection.describe(isEncrypted(), "TLS 1.3", bounds(config)))
            : new Verdict(name(), false, verdict.score(), reasons);
    }

    /** What stands against times of arrival, if they are asked for. */
    protected List<Reason> timeObstacles(Info hints, DriverConfig config) {
        return List.of();
    }

    @Override
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        Info offer = super.offer(hints, driverName, config);
        // an endpoint that is opened with the offer is bound to the requested address
        offer.srcAddr(hints.srcAddr()).destAddr(hints.destAddr());
        offer.caps(offer.caps() | Flags.REMOTE_COMM).addrFormat(format(hints));
        offer.txAttr().opFlags(Flags.INJECT_COMPLETE);
        offer.domainAttr().caps(Flags.LOCAL_COMM | Flags.REMOTE_COMM);
        offer.epAttr().protocolVersion(0);
        return offer;
    }

    /** The requested format, else that of the addresses in the hints; the text format stands for both families. */
    private static AddressFormat format(Info hints) {
        AddressFormat asked = hints.addrFormat();
        if (asked == AddressFormat.SOCKADDR_IN || asked == AddressFormat.SOCKADDR_IN6
            || asked == AddressFormat.ADDR_STR) {
            return asked;
        }
        String named = SocketName.isName(hints.srcAddr()) ? hints.srcAddr() : hints.destAddr();
        return SocketName.isName(named) ? SocketName.parse(named).format() : AddressFormat.SOCKADDR_IN;
    }

    @Override
    protected Reason unreachable(String destination, String driverName) {
        return SocketName.isName(destination) || HostNames.isHost(destination) ? null : new Reason(
            "destination", destination, SocketName.IN_SCHEME + "<address>:<port>, port 0 to 65535",
            "This link reaches endpoints by socket addresses; name a host and a port");
    }

    @Override
    protected ChannelLimits limits(DriverConfig config) {
        return new ChannelLimits(
            Integer.MAX_VALUE, 0, MemoryRegionDescriptor.MAX_LENGTH, Long.BYTES, levels, ORDER);
    }
}
