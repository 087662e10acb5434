package org.jfabric.driver.link.verbs;

import java.util.List;
import java.util.function.Supplier;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.VerbsDevices;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.ffi.VerbsUnavailableException;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.DatagramLinkProvider;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.IbUdName;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;

/**
 * Makes the verbsud link. It offers the same as libfabric's verbs provider for datagrams, and multicast: untagged
 * messages of one packet, with 32 bits of remote CQ data. Without an RDMA device its verdict names what is missing.
 */
public final class VerbsUdLinkProvider extends DatagramLinkProvider {
    public static final String NAME = "verbsud";

    /** Above udp. */
    private static final int SCORE = 12;
    /** Immediate data of a message. */
    private static final int CQ_DATA_BYTES = 4;
    /** Longest packet of any port. */
    private static final int LONGEST_PACKET_BYTES = 4096;

    private final Supplier<VerbsLibraries> system;

    /** The link over this system's libraries. */
    public VerbsUdLinkProvider() {
        this(VerbsLibraries::system);
    }

    /**
     * Makes a provider.
     *
     * @param system the libraries, or {@link VerbsUnavailableException}.
     */
    VerbsUdLinkProvider(Supplier<VerbsLibraries> system) {
        super(NAME, Protocol.IB_UD, 1, SCORE, CQ_DATA_BYTES);
        this.system = system;
    }

    @Override
    public boolean staysOnFirstThread() {
        // a region is registered with the device for one link
        return true;
    }

    @Override
    public List<Reason> obstacles(DriverConfig config) {
        try {
            return VerbsDevices.examine(system.get(),
                VerbsUdSettings.of(config).pinnedBytes(LONGEST_PACKET_BYTES), VerbsDevices.lockedMemoryLimitBytes());
        } catch (VerbsUnavailableException e) {
            return List.of(e.reason());
        }
    }

    @Override
    protected int longestBytes(Info wanted, DriverConfig config, List<Reason> obstacles) {
        if (isKnown(wanted.srcAddr())) {
            try {
                return VerbsUdPlace.choose(system.get(), wanted, config).packetBytes();
            } catch (FabricException e) {
                if (obstacles.isEmpty()) {
                    obstacles.add(new Reason("source", String.valueOf(wanted.srcAddr()),
                        "an address of an RDMA device", e.getMessage()));
                }
            } catch (VerbsUnavailableException e) {
                // an obstacle, which is reported as such
            }
        }
        return LONGEST_PACKET_BYTES;
    }

    @Override
    protected Reason unreachable(String destination) {
        return IbUdName.isName(destination) || isGroup(destination) ? null : new Reason("destination", destination,
            IbUdName.SCHEME + "<GID>:<queue pair>/<LID>/<P_Key>/<level>",
            "This link reaches queue pairs and groups; name one, or request another link");
    }

    @Override
    protected Reason unusable(String source) {
        return IbUdName.isName(source) || SocketName.isName(source) || HostNames.isHost(source) ? null
            : new Reason("source", source, IbUdName.SCHEME + "<GID>:0/0/0/0 or a socket address",
                "Name a GID or an IP address of the device");
    }

    @Override
    protected AddressFormat addressFormat(Info wanted) {
        return AddressFormat.ADDR_IB_UD;
    }

    /** Whether a source is known without resolving a host name, which is slow: {@link #bind} does that. */
    private static boolean isKnown(String source) {
        return source == null || !HostNames.isHost(source) || HostNames.isNumeric(source.substring(
            SocketName.HOST_SCHEME.length(), source.lastIndexOf(':')).replaceAll("[\\[\\]]", ""));
    }

    private static boolean isGroup(String address) {
        return SocketName.isName(address) && SocketName.parse(address).inetAddress().isMulticastAddress();
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        try {
            return VerbsUdPort.open(system.get(), wanted, config);
        } catch (VerbsUnavailableException e) {
            throw new FabricException(FabricErrno.ENODEV, "the verbsud link cannot be used: " + e.getMessage(),
                "See ./fabric info --why.", e);
        }
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        return new VerbsUdLink(services, this::limits);
    }
}
