package org.jfabric.driver.link.verbs;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.VerbsDevices;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.ffi.VerbsUnavailableException;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.InfoNarrowing;
import org.jfabric.driver.link.support.SocketLinkProvider;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;

/**
 * Makes the verbs link: connected endpoints over reliable queue pairs, as in libfabric's {@code verbs} provider. If
 * there is no RDMA device, its verdict names what is missing.
 */
public final class VerbsLinkProvider extends SocketLinkProvider {
    /** The link's name. */
    public static final String NAME = "verbs";
    /** Name of reliable datagrams over this link. */
    public static final String RXM_NAME = "verbsrxm";

    /** Above tcp, below the links within one host. */
    private static final int SCORE = 70;
    /** Immediate data of a message. */
    private static final int CQ_DATA_BYTES = 4;
    private static final long LEVELS = Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE;
    /** The wire has no tags. */
    private static final long NOT_HERE = Flags.TAGGED;

    private final Supplier<VerbsLibraries> system;
    private final Function<DriverConfig, VerbsSettings> settings;

    /**
     * Makes a provider.
     *
     * @param system   the libraries, or {@link VerbsUnavailableException}.
     * @param settings sizes of connections.
     */
    VerbsLinkProvider(Supplier<VerbsLibraries> system, Function<DriverConfig, VerbsSettings> settings) {
        super(NAME, Protocol.RDMA_CM_IB_RC, SCORE, LEVELS);
        this.system = system;
        this.settings = settings;
    }

    /**
     * The link for connected endpoints of applications.
     *
     * @return a provider.
     */
    public static VerbsLinkProvider ofMessages() {
        return ofMessages(VerbsLibraries::system);
    }

    /**
     * The link for connected endpoints, over libraries of the caller's choice.
     *
     * @param system the libraries, or {@link VerbsUnavailableException}.
     * @return a provider.
     */
    public static VerbsLinkProvider ofMessages(Supplier<VerbsLibraries> system) {
        return new VerbsLinkProvider(system, VerbsSettings::ofMessages);
    }

    /**
     * The link under rxm, whose connections carry packets.
     *
     * @return a provider.
     */
    public static VerbsLinkProvider ofPackets() {
        return ofPackets(VerbsLibraries::system);
    }

    /**
     * The link under rxm, over libraries of the caller's choice.
     *
     * @param system the libraries, or {@link VerbsUnavailableException}.
     * @return a provider.
     */
    public static VerbsLinkProvider ofPackets(Supplier<VerbsLibraries> system) {
        return new VerbsLinkProvider(system, VerbsSettings::ofPackets);
    }

    @Override
    public List<Reason> obstacles(DriverConfig config) {
        VerbsSettings wanted = settings.apply(config);
        try {
            return VerbsDevices.examine(system.get(), wanted.pinnedBytes() + wanted.sharedPinnedBytes(),
                VerbsDevices.lockedMemoryLimitBytes());
        } catch (VerbsUnavailableException e) {
            return List.of(e.reason());
        }
    }

    @Override
    public List<Reason> bounds(DriverConfig config) {
        return List.of(settings.apply(config).lockedMemory(VerbsDevices.lockedMemoryLimitBytes()));
    }

    @Override
    public int cmDataBytes() {
        return PrivateData.MAX_LENGTH;
    }

    @Override
    protected ChannelLimits limits(DriverConfig config) {
        ChannelLimits stream = super.limits(config);
        int longest = settings.apply(config).receiveBytes();
        return new ChannelLimits(longest, 0, longest, CQ_DATA_BYTES, LEVELS, stream.messageOrder());
    }

    @Override
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        Info connected = hints.copy();
        connected.epAttr().type(EndpointType.MSG);
        Info offer = super.offer(connected, driverName, config);
        long caps = offer.caps() & ~NOT_HERE;
        offer.caps(caps);
        offer.txAttr().caps(caps & InfoNarrowing.TRANSMIT_CAPS).opFlags(Flags.TRANSMIT_COMPLETE);
        offer.rxAttr().caps(caps & InfoNarrowing.RECEIVE_CAPS);
        offer.epAttr().protocolVersion(1).memTagFormat(0);
        return offer;
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        try {
            return VerbsAddress.open(system.get().cm(), wanted, config.verbs());
        } catch (VerbsUnavailableException e) {
            throw new FabricException(FabricErrno.ENODEV, "the verbs link cannot be used: " + e.getMessage(),
                "See ./fabric info --why.", e);
        }
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        VerbsLibraries libraries = null;
        try {
            libraries = system.get();
        } catch (VerbsUnavailableException e) {
            // every verdict for this link gives the reason
        }
        return new VerbsLink(services, settings.apply(config), limits(config), libraries);
    }
}
