package org.jfabric.driver.link.tcp;

import org.jfabric.AddressFormat;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Protocol;
import org.jfabric.Reason;
import org.jfabric.SocketName;
import org.jfabric.Verdict;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.HostNames;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.OwnWireLinkProvider;
import org.jfabric.layout.MemoryRegionDescriptor;

import java.util.ArrayList;
import java.util.List;

/**
 * Makes the tcp link: reliable datagrams by the protocol that libfabric's {@code tcp} provider has for them (since
 * 1.18; {@code net} in 1.17).
 */
public final class TcpLinkProvider extends OwnWireLinkProvider {
    /** The link's name. */
    public static final String NAME = "tcp";

    /** Below the links of one host: they are faster. */
    private static final int SCORE = 50;
    /** A socket's buffers take what is sent; a peer acknowledges that it has taken a message off the wire. */
    private static final long LEVELS = Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE;

    /** A provider; it has no state. */
    public TcpLinkProvider() {
        super(NAME, Protocol.XNET, SCORE);
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        return new TcpLink(services, config.tcp(), limits(config));
    }

    @Override
    public boolean usesSocketNames() {
        return true;
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        return TcpListener.open(LocalAddresses.choose(wanted, config.tcp()), config.tcp().backlog());
    }

    @Override
    public Verdict verdict(Info hints, String driverName, DriverConfig config) {
        Verdict verdict = super.verdict(hints, driverName, config);
        List<Reason> reasons = new ArrayList<>(verdict.reasons());
        if (!hints.fabricAttr().precedes(1, 5) && hints.epAttr().authKeySize() != 0) {
            reasons.add(new Reason("ep_attr.auth_key_size", "0", Long.toString(hints.epAttr().authKeySize()),
                "Leave the key out: libfabric's wire carries none, so nobody could check it"));
        }
        return new Verdict(NAME, reasons.isEmpty(), SCORE, reasons);
    }

    @Override
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        Info offer = super.offer(hints, driverName, config);
        long caps = offer.caps() | Flags.REMOTE_COMM;
        offer.caps(caps).addrFormat(format(hints));
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
            "destination", destination, SocketName.IN_SCHEME + "<address>:<port>",
            "Tcp reaches endpoints by socket addresses; name a host and a port");
    }

    @Override
    protected ChannelLimits limits(DriverConfig config) {
        return new ChannelLimits(
            Integer.MAX_VALUE, 0, MemoryRegionDescriptor.MAX_LENGTH, Long.BYTES, LEVELS,
            limits(config, 0).messageOrder(), true);
    }
}
