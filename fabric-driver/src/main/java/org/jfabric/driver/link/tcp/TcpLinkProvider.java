package org.jfabric.driver.link.tcp;

import org.jfabric.EndpointType;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Protocol;
import org.jfabric.SocketName;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.driver.link.support.SocketLinkProvider;

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
        TcpConfig tcp = config.tcp();
        if (tcp.sockets() == Sockets.NIO && tcp.userTimeoutNs() > 0) {
            throw new FabricException(FabricErrno.EINVAL, TcpConfig.USER_TIMEOUT_NS.name() + " is "
                + tcp.userTimeoutNs() + ", and the sockets of the JDK have no such bound",
                "Set it to 0, or " + TcpConfig.SOCKETS.name() + " to NATIVE.");
        }
        return new TcpLink(services, tcp, limits(config));
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
        TcpConfig tcp = config.tcp();
        boolean connects = wanted.epAttr().type() == EndpointType.MSG;
        if (connects && SocketName.isName(wanted.srcAddr())
            && SocketName.parse(wanted.srcAddr()).inetAddress().isAnyLocalAddress()) {
            // who listens for connections may do so at every address; a datagram endpoint is known by its address
            return TcpReservation.open(SocketName.parse(wanted.srcAddr()));
        }
        SocketName name = LocalAddresses.choose(wanted, tcp.networkInterface(), TcpConfig.INTERFACE.name());
        return connects ? TcpReservation.open(name) : TcpListener.open(tcp.sockets(), name, tcp.backlog());
    }
}
