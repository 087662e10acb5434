package org.jfabric.driver.link.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jfabric.client.BufferedMode;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsDevices;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.ffi.VerbsUnavailableException;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.CardAccess;
import org.jfabric.driver.link.support.InfoNarrowing;
import org.jfabric.driver.link.support.SocketLinkProvider;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.Order;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;

/**
 * Makes the verbs link: connected endpoints over reliable queue pairs, as in libfabric's {@code verbs} provider. If
 * there is no RDMA device, its verdict names what is missing.
 */
public final class VerbsLinkProvider extends SocketLinkProvider {
    public static final String NAME = "verbs";

    /** Above tcp, below the links within one host. */
    private static final int SCORE = 70;
    /** Immediate data of a message. */
    private static final int CQ_DATA_BYTES = 4;
    private static final long LEVELS = Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE;
    /** The wire has no tags. */
    private static final long NOT_HERE = Flags.TAGGED;
    private static final long ACCESSES = Flags.RMA | Flags.ATOMIC;
    private static final long DIRECTIONS = Flags.READ | Flags.WRITE | Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    /** The orders of a reliable queue pair: a read may see what a later write or message has changed. */
    private static final long ORDER = Order.RAR | Order.RAW | Order.RAS | Order.WAW | Order.WAS | Order.SAW | Order.SAS
        | Order.RMA_RAR | Order.RMA_RAW | Order.RMA_WAW;

    private final Supplier<VerbsLibraries> system;
    private final Function<DriverConfig, VerbsSettings> settings;
    /** Whether endpoints access the memory of their peers. */
    private final boolean hasAccess;

    /**
     * Makes a provider.
     *
     * @param system    the libraries, or {@link VerbsUnavailableException}.
     */
    private VerbsLinkProvider(
        Supplier<VerbsLibraries> system, Function<DriverConfig, VerbsSettings> settings, boolean hasAccess) {
        super(NAME, Protocol.RDMA_CM_IB_RC, SCORE, LEVELS);
        this.system = system;
        this.settings = settings;
        this.hasAccess = hasAccess;
    }

    /** For tests: settings of a kind of their own, without access to memory. */
    VerbsLinkProvider(Supplier<VerbsLibraries> system, Function<DriverConfig, VerbsSettings> settings) {
        this(system, settings, false);
    }

    /** The link for connected endpoints of applications. */
    public static VerbsLinkProvider ofMessages() {
        return ofMessages(VerbsLibraries::system);
    }

    /**
     * The link for connected endpoints, over libraries of the caller's choice.
     *
     * @param system the libraries, or {@link VerbsUnavailableException}.
     */
    public static VerbsLinkProvider ofMessages(Supplier<VerbsLibraries> system) {
        return new VerbsLinkProvider(system, VerbsSettings::ofMessages, true);
    }

    @Override
    public VerbsLinkProvider ofPackets() {
        return ofPackets(system);
    }

    /**
     * The link under rxm, over libraries of the caller's choice.
     *
     * @param system the libraries, or {@link VerbsUnavailableException}.
     */
    public static VerbsLinkProvider ofPackets(Supplier<VerbsLibraries> system) {
        return new VerbsLinkProvider(system, VerbsSettings::ofPackets, false);
    }

    @Override
    public boolean staysOnFirstThread() {
        // a region is registered with the device for one link
        return true;
    }

    @Override
    public List<Reason> obstacles(DriverConfig config) {
        VerbsSettings wanted = settings.apply(config);
        try {
            return VerbsDevices.examine(
                system.get(), wanted.firstPinnedBytes(), VerbsDevices.lockedMemoryLimitBytes());
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
        long caps = offer.caps() & ~NOT_HERE | (asksAccess(hints) ? access(offer, hints) : 0);
        offer.caps(caps);
        offer.txAttr().caps(caps & InfoNarrowing.TRANSMIT_CAPS).opFlags(Flags.TRANSMIT_COMPLETE);
        offer.rxAttr().caps(caps & InfoNarrowing.RECEIVE_CAPS);
        offer.epAttr().protocolVersion(1).memTagFormat(0);
        // injected bytes are in no region
        offer.txAttr().injectSize(Math.min(offer.txAttr().injectSize(), settings.apply(config).sendBytes()));
        return offer;
    }

    /** Only for applications that name it: keys and addresses are of another kind than over other links. */
    private boolean asksAccess(Info hints) {
        return hasAccess && (hints.caps() & ACCESSES) != 0;
    }

    /** Adds the attributes of remote memory access; its capabilities. */
    private long access(Info offer, Info hints) {
        offer.mode(Mode.RX_CQ_DATA);
        offer.rxAttr().mode(Mode.RX_CQ_DATA).msgOrder(ORDER);
        offer.txAttr().msgOrder(ORDER);
        CardAccess.describe(offer, offer.epAttr().maxMsgSize());
        return Flags.RMA | DIRECTIONS | ((hints.caps() & Flags.ATOMIC) != 0 && hasAtomics() ? Flags.ATOMIC : 0);
    }

    private boolean hasAtomics() {
        try {
            return VerbsDevices.atomics(system.get()) != VerbsConstants.ATOMIC_NONE;
        } catch (VerbsUnavailableException e) {
            // the verdict gives the reason
            return false;
        }
    }

    @Override
    public Verdict verdict(Info hints, String driverName, DriverConfig config) {
        Verdict verdict = super.verdict(hints, driverName, config);
        if (!asksAccess(hints)) {
            return verdict;
        }
        List<Reason> reasons = new ArrayList<>(verdict.chosen() ? List.of() : verdict.reasons());
        if (hints.domainAttr().mrMode() == 0) {
            reasons.add(CardAccess.unnamed());
        }
        if ((hints.mode() & Mode.RX_CQ_DATA) == 0) {
            reasons.add(new Reason("mode", Mode.toString(Mode.RX_CQ_DATA), Mode.toString(hints.mode()),
                "Name this bit: a write with data takes a posted receive of its target"));
        }
        if (BufferedMode.isAskedFor(hints)) {
            reasons.add(new Reason("mode", Mode.toString(Mode.RX_CQ_DATA), Mode.toString(Mode.BUFFERED_RECV),
                "Ask for remote memory access without this mode"));
        }
        return reasons.isEmpty() ? verdict : new Verdict(name(), false, verdict.score(), reasons);
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        try {
            return VerbsAddress.open(system.get().cm(), wanted, config);
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
        return new VerbsLink(services, settings.apply(config), limits(config), config, libraries);
    }
}
