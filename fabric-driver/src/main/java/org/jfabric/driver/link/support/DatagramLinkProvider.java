package org.jfabric.driver.link.support;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.Order;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;

/**
 * Base class of the providers of links for unreliable datagrams: untagged messages of one datagram each, multicast,
 * completions in the order of posting, no authorization keys.
 *
 * <p>Stateless; any thread.
 */
public abstract class DatagramLinkProvider extends LinkProvider {
    private static final long CAPS = Flags.MSG | Flags.SEND | Flags.RECV | Flags.SOURCE | Flags.MULTICAST
        | Flags.TRIGGER | Flags.LOCAL_COMM | Flags.REMOTE_COMM;
    private static final long SOCKET_CAPS =
        Flags.MSG | Flags.SEND | Flags.RECV | Flags.LOCAL_COMM | Flags.REMOTE_COMM;
    /** What the system takes for one datagram. */
    private static final int LONGEST_SOCKET_BYTES = 65507;
    private static final long LEVELS = Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE;

    private final String name;
    private final Protocol protocol;
    private final int protocolVersion;
    private final int score;
    private final int cqDataBytes;

    /**
     * A provider of one link.
     *
     * @param cqDataBytes     width of remote CQ data, 0 for none.
     */
    protected DatagramLinkProvider(String name, Protocol protocol, int protocolVersion, int score, int cqDataBytes) {
        this.name = name;
        this.protocol = protocol;
        this.protocolVersion = protocolVersion;
        this.score = score;
        this.cqDataBytes = cqDataBytes;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final boolean usesSocketNames() {
        return true;
    }

    @Override
    public final Verdict verdict(Info hints, String driverName, DriverConfig config) {
        Info wanted = plain(hints);
        List<Reason> obstacles = new ArrayList<>(obstacles(config));
        int longest = longestBytes(wanted, config, obstacles);
        List<Reason> reasons = InfoComparison.compare(wanted, offer(wanted, driverName, config, longest), LEVELS);
        add(reasons, hints.destAddr(), this::unreachable);
        add(reasons, hints.srcAddr(), this::unusable);
        InfoComparison.refuseKeys(
            hints, reasons, "Ask without an authorization key: a datagram has no room for it");
        reasons.addAll(obstacles);
        if (reasons.isEmpty()) {
            // they ask the interface of an address that is one
            reasons.addAll(timeObstacles(wanted, config));
        }
        reasons.addAll(Protection.refusals(isEncrypted(), config));
        return new Verdict(name, reasons.isEmpty(), score,
            reasons.isEmpty() ? Protection.describe(isEncrypted(), "DTLS 1.2", bounds(config)) : reasons);
    }

    @Override
    public final Info info(Info hints, String driverName, DriverConfig config) {
        Info wanted = plain(hints);
        // the verdict reports obstacles; the attributes of the link are returned in any case
        int longest = longestBytes(wanted, config, new ArrayList<>());
        Info info = InfoNarrowing.narrow(wanted, offer(wanted, driverName, config, longest));
        return info.srcAddr(hints.srcAddr()).destAddr(hints.destAddr());
    }

    @Override
    public boolean completesInOrder() {
        return true;
    }

    /** The capabilities of endpoints. */
    protected long caps() {
        return CAPS;
    }

    /**
     * The length of the longest datagram.
     *
     * @param obstacles conditions that fail; one is added if the requested source does not exist on this host.
     * @return bytes; the largest length that the wire allows if the length is not known.
     */
    protected abstract int longestBytes(Info wanted, DriverConfig config, List<Reason> obstacles);

    /**
     * Checks whether the link can reach a destination.
     *
     * @param destination any text.
     * @return null if the destination has the form of the link's addresses, else the reason.
     */
    protected abstract Reason unreachable(String destination);

    /**
     * Checks whether an endpoint can be opened at a source address.
     *
     * @param source any text.
     * @return null if the source has a form that {@link #bind} accepts, else the reason.
     */
    protected abstract Reason unusable(String source);

    /** The format in which endpoints report addresses, unless text is requested. */
    protected abstract AddressFormat addressFormat(Info wanted);

    /**
     * The limits of the link's channels.
     *
     * @param longestBytes length of the longest datagram.
     */
    protected final ChannelLimits limits(int longestBytes) {
        return new ChannelLimits(longestBytes, 0, longestBytes, cqDataBytes, LEVELS, Order.NONE);
    }

    /** What stands against times of arrival and departure, if they are asked for. */
    protected List<Reason> timeObstacles(Info wanted, DriverConfig config) {
        return List.of();
    }

    /** The capabilities of {@link #caps()} that are those of times of departure. Returns 0 if there are none. */
    protected long departureCaps() {
        return 0;
    }

    /** Whether a client's own datagram sockets are offered beside this link's endpoints. */
    protected boolean hasSockets() {
        return false;
    }

    private static void add(List<Reason> reasons, String address, Function<String, Reason> check) {
        Reason reason = address == null || address.isEmpty() ? null : check.apply(address);
        if (reason != null) {
            reasons.add(reason);
        }
    }

    private Info offer(Info wanted, String driverName, DriverConfig config, int longestBytes) {
        boolean isSocket = hasSockets() && wanted.epAttr().type() == EndpointType.SOCK_DGRAM;
        Info info = new Offer(name, isSocket ? EndpointType.SOCK_DGRAM : EndpointType.DGRAM, protocol,
            isSocket ? SOCKET_CAPS : caps(), limits(isSocket ? LONGEST_SOCKET_BYTES : longestBytes))
            .info(wanted, driverName, config);
        if (wanted.addrFormat() != AddressFormat.ADDR_STR) {
            info.addrFormat(addressFormat(wanted));
        }
        info.txAttr().injectSize(Math.min(longestBytes, info.txAttr().injectSize()));
        info.txAttr().caps(info.txAttr().caps() | info.caps() & departureCaps());
        info.epAttr().protocolVersion(protocolVersion);
        if (!completesInOrder() && wanted.txAttr().compOrder() == Order.NONE) {
            info.txAttr().compOrder(Order.NONE);
        }
        return info;
    }

    /** The hints without address formats that are synonyms here, and without a mode that datagrams do not support. */
    private static Info plain(Info hints) {
        Info wanted = hints.copy();
        if (wanted.addrFormat() == AddressFormat.SOCKADDR) {
            wanted.addrFormat(AddressFormat.UNSPEC);
        }
        wanted.mode(wanted.mode() & ~Mode.BUFFERED_RECV);
        wanted.rxAttr().mode(wanted.rxAttr().mode() & ~Mode.BUFFERED_RECV);
        return wanted;
    }
}
