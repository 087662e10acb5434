package org.jfabric.driver.link.tcp;

import org.jfabric.EndpointType;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Protocol;
import org.jfabric.SocketName;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.SocketLinkProvider;

/**
 * Makes the tcp link: reliable datagrams by the protocol that libfabric's {@code tcp} provider has for them (since
 * 1.18; {@code net} in 1.17).
 */
public final class TcpLinkProvider extends SocketLinkProvider {
    /** The link's name. */
    public static final String NAME = "tcp";

    /** Below the links of one host: they are faster. */
    private static final int SCORE = 50;
    /** A socket's buffers take what is sent; a peer acknowledges that it has taken a message off the wire. */
    private static final long LEVELS = Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE;

    /** A provider; it has no state. */
    public TcpLinkProvider() {
        super(NAME, Protocol.XNET, SCORE, LEVELS);
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        return new TcpLink(services, config.tcp(), limits(config));
    }

    @Override
    public int cmDataBytes() {
        return CmMessage.MAX_DATA_LENGTH;
    }

    @Override
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        Info offer = super.offer(hints, driverName, config);
        if (offer.epAttr().type() == EndpointType.MSG) {
            offer.epAttr().protocol(Protocol.SOCK_TCP);
        }
        return offer;
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        SocketName name = LocalAddresses.choose(wanted, config.tcp());
        return wanted.epAttr().type() == EndpointType.MSG
            ? TcpReservation.open(name) : TcpListener.open(name, config.tcp().backlog());
    }
}
