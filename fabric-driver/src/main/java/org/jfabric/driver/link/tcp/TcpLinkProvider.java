package org.jfabric.driver.link.tcp;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.support.AccessList;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.driver.link.support.SocketLinkProvider;
import org.jfabric.driver.link.support.Timestamps;
import org.jfabric.driver.resource.PreloadedSockets;
import org.jfabric.driver.stream.ReplaySecurity;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;
import org.jfabric.info.TimestampClock;

/**
 * Provider of the tcp link: reliable datagrams and connections with the protocol of libfabric's {@code tcp} provider
 * (since 1.18; {@code net} in 1.17), and of the tls link, which has the same inside of TLS 1.3.
 */
public final class TcpLinkProvider extends SocketLinkProvider {
    public static final String NAME = "tcp";

    /** Below the score of the links within one host, which are faster. */
    private static final int SCORE = 50;
    /** A message is injected into the socket's buffers; the peer acknowledges that it has received the message. */
    private static final long LEVELS = Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE;

    /** Null for the plain link. */
    private final StreamSecurity.Maker security;
    /** Null for the sockets of the driver's options. */
    private final TcpNetwork network;

    private TcpLinkProvider(String name, int score, StreamSecurity.Maker security, TcpNetwork network) {
        super(name, Protocol.XNET, score, LEVELS);
        this.security = security;
        this.network = network;
    }

    /** Makes a provider of the plain link; it has no state. */
    public TcpLinkProvider() {
        this(NAME, SCORE, null, null);
    }

    /** Makes a provider of plain links whose sockets are those of a network. */
    TcpLinkProvider(TcpNetwork network) {
        this(NAME, SCORE, null, network);
    }

    /** Makes a provider of an encrypted link; it has no state. */
    public TcpLinkProvider(String name, int score, StreamSecurity.Maker security) {
        this(name, score, security, null);
    }

    /** How an encrypted link among these encrypts connections of other protocols; null if there is none. */
    public static ReplaySecurity replaySecurity(List<Link> links) {
        for (Link link : links) {
            if (link instanceof TcpLink tcp && tcp.tls() != null) {
                return (socket, isClient) -> SecureChannel.open(socket, isClient, tcp.tls().another(), tcp.access());
            }
        }
        return null;
    }

    private TcpNetwork network(DriverConfig config) {
        return network != null ? network : TcpNetwork.of(config.get(TcpConfig.SOCKETS));
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        boolean isNio = config.get(TcpConfig.SOCKETS) == Sockets.NIO;
        if (isNio && TcpLink.userTimeoutNs(config) > 0) {
            throw new FabricException(FabricErrno.EINVAL, TcpConfig.USER_TIMEOUT_NS.name() + " or "
                + TcpConfig.PEER_TIMEOUT_NS.name() + " is " + TcpLink.userTimeoutNs(config)
                + ", and the sockets of the JDK have no such option",
                "Set both to 0, or " + TcpConfig.SOCKETS.name() + " to NATIVE.");
        }
        if (isNio && config.get(TcpConfig.ZERO_COPY_BYTES) > 0) {
            throw new FabricException(FabricErrno.EINVAL, TcpConfig.ZERO_COPY_BYTES.name() + " is "
                + config.get(TcpConfig.ZERO_COPY_BYTES) + ", and the sockets of the JDK have no such sends",
                "Set it to 0, or " + TcpConfig.SOCKETS.name() + " to NATIVE.");
        }
        Path accessFile = config.file(TcpConfig.ACCESS_FILE);
        AccessList access = accessFile == null ? null : new AccessList(accessFile);
        return new TcpLink(name(), services, config, network(config), limits(config), access,
            isEncrypted() ? security.make(services, config, access) : null);
    }

    @Override
    public List<Reason> bounds(DriverConfig config) {
        long fromBytes = config.get(TcpConfig.ZERO_COPY_BYTES);
        List<Reason> bounds = new ArrayList<>(PreloadedSockets.bounds(config.get(TcpConfig.SOCKETS)));
        if (fromBytes > 0 && !isEncrypted()) {
            bounds.add(new Reason("zero copy",
                "payloads from " + fromBytes + " bytes on; stopped by connections whose bytes the system copies",
                "peers on other hosts", "The counter \"" + TcpCounters.ZERO_COPY_OFF + "\" of ./fabric stat counts "
                    + "connections that have stopped it; if all do, set " + TcpConfig.ZERO_COPY_BYTES.name()
                    + " to 0"));
        }
        return bounds;
    }

    @Override
    public int cmDataBytes() {
        return CmMessage.MAX_DATA_LENGTH;
    }

    @Override
    public boolean isEncrypted() {
        return security != null;
    }

    /** The wire has no atomic operations. */
    @Override
    protected long remoteCaps() {
        return REMOTE_CAPS & ~Flags.ATOMIC;
    }

    @Override
    protected int remoteRanges() {
        return RemoteRanges.MAX_RANGES;
    }

    @Override
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        Info offer = super.offer(hints, driverName, config);
        if (hints.epAttr().type() == EndpointType.SOCK_STREAM && !isEncrypted()) {
            // a plain socket of the client: no message of the wire, no completion
            long caps = Flags.MSG | Flags.SEND | Flags.RECV | Flags.LOCAL_COMM | Flags.REMOTE_COMM;
            offer.caps(caps).epAttr().type(EndpointType.SOCK_STREAM).memTagFormat(0);
            offer.txAttr().caps(Flags.MSG | Flags.SEND);
            offer.rxAttr().caps(Flags.MSG | Flags.RECV).totalBufferedRecv(0);
        }
        if (offer.epAttr().type() != EndpointType.RDM) {
            offer.epAttr().protocol(Protocol.SOCK_TCP);
        }
        if (!isEncrypted() && offer.epAttr().type() != EndpointType.SOCK_STREAM) {
            offer.caps(offer.caps() | Timestamps.CAPS);
            offer.rxAttr().caps(offer.rxAttr().caps() | Timestamps.CAPS);
        }
        return offer;
    }

    @Override
    protected List<Reason> timeObstacles(Info hints, DriverConfig config) {
        List<Reason> reasons = new ArrayList<>(
            Timestamps.obstacles(hints, config.get(TcpConfig.SOCKETS), TcpConfig.SOCKETS));
        if (TimestampClock.of(hints.caps()) == TimestampClock.CARD) {
            reasons.addAll(Timestamps.obstacles(hints, LocalAddresses.choose(
                hints, config.get(TcpConfig.INTERFACE), TcpConfig.INTERFACE.name()).inetAddress()));
        }
        return reasons;
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        boolean connects = wanted.epAttr().type() == EndpointType.MSG;
        if (connects && SocketName.isName(wanted.srcAddr())
            && SocketName.parse(wanted.srcAddr()).inetAddress().isAnyLocalAddress()) {
            // an endpoint may listen for connections at every address; a datagram endpoint is identified by its address
            return network(config).reserve(SocketName.parse(wanted.srcAddr()));
        }
        SocketName name = LocalAddresses.choose(wanted, config.get(TcpConfig.INTERFACE), TcpConfig.INTERFACE.name());
        return connects ? network(config).reserve(name) : network(config).listen(name, config.get(TcpConfig.BACKLOG));
    }
}
