package org.jfabric.driver.link.support;

import org.jfabric.AddressFormat;
import org.jfabric.EndpointType;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Protocol;
import org.jfabric.Reason;
import org.jfabric.SocketName;
import org.jfabric.Verdict;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.layout.MemoryRegionDescriptor;

import java.util.ArrayList;
import java.util.List;

/**
 * What the links that speak libfabric's protocols over sockets have in common: reliable datagrams by socket addresses,
 * messages of every length in one stream, no authorization keys.
 *
 * <p>Stateless; any thread.
 */
public abstract class SocketLinkProvider extends ReliableLinkProvider {
    private final long levels;

    /**
     * A provider of one link.
     *
     * @param name     the link's name.
     * @param protocol what endpoints of the link report.
     * @param score    greater is preferred.
     * @param levels   completion levels that can be asked for.
     */
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
        if (!hints.fabricAttr().precedes(1, 5) && hints.epAttr().authKeySize() != 0) {
            reasons.add(new Reason("ep_attr.auth_key_size", "0", Long.toString(hints.epAttr().authKeySize()),
                "Leave the key out: libfabric's wire carries none, so nobody could check it"));
        }
        if (hints.epAttr().type() == EndpointType.MSG && cmDataBytes() == 0) {
            reasons.add(new Reason("ep_attr.type", "FI_EP_RDM", "FI_EP_MSG",
                "Ask for the link whose connections this one uses, or for reliable datagrams"));
        }
        reasons.addAll(obstacles(config));
        return reasons.isEmpty() ? new Verdict(name(), true, verdict.score(), bounds(config))
            : new Verdict(name(), false, verdict.score(), reasons);
    }

    @Override
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        Info offer = super.offer(hints, driverName, config);
        // an endpoint opened by the offer is bound where the application asked for
        offer.srcAddr(hints.srcAddr()).destAddr(hints.destAddr());
        offer.caps(offer.caps() | Flags.REMOTE_COMM).addrFormat(format(hints));
        offer.txAttr().opFlags(Flags.INJECT_COMPLETE);
        offer.domainAttr().caps(Flags.LOCAL_COMM | Flags.REMOTE_COMM);
        offer.epAttr().protocolVersion(0);
        return offer;
    }

    /** That of the addresses that are asked for, where these say; the text form is another form of both. */
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
            Integer.MAX_VALUE, 0, MemoryRegionDescriptor.MAX_LENGTH, Long.BYTES, levels,
            limits(config, 0).messageOrder());
    }
}
