package org.jfabric.driver.conductor.command;

import org.jfabric.EndpointType;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Order;
import org.jfabric.Protocol;
import org.jfabric.Reason;
import org.jfabric.ResourceManagement;
import org.jfabric.Verdict;
import org.jfabric.client.BufferedMode;
import org.jfabric.codec.queue.SendRequestDecoder;
import org.jfabric.driver.conductor.AddressVectorResource;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.CompletionQueueResource;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.CounterResource;
import org.jfabric.driver.conductor.EndpointRequest;
import org.jfabric.driver.conductor.EndpointResource;
import org.jfabric.driver.conductor.PassiveEndpointResource;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.engine.AddressTable;
import org.jfabric.driver.engine.EndpointSettings;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.engine.ReceiveSlab;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.FabricName;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.loopback.LoopbackLinkProvider;
import org.jfabric.driver.progress.EndpointQueues;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.layout.FileType;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.SlabDescriptor;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * {@code fi_endpoint}, {@code fi_ep_bind} and {@code fi_enable}: checks what was asked for against what the links
 * offer, makes the queues' files, then opens the endpoint in the engine. Owner: conductor.
 */
public final class EnableEndpointCommand extends Command {
    private static final long BIND_FLAGS =
        Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION;
    private static final int MAX_EAGER_BYTES = 1 << 16;

    private enum State {
        CHECK,
        MADE,
        OPEN,
        ANSWER
    }

    private final EndpointRequest request;
    private final ServiceNames names;
    private final long id;
    private State state = State.CHECK;
    private CompletionQueueResource transmitCompletions;
    private CompletionQueueResource receiveCompletions;
    private CounterResource sendCounter;
    private CounterResource receiveCounter;
    private AddressVectorResource vector;
    private boolean bound;
    private final List<String> linkNames = new ArrayList<>();
    private EndpointSettings settings;
    /** Its memory is not made yet; null without buffered receives. */
    private ReceiveSlab slabSettings;
    /** Gives the address, where the links use those of the operating system; else null. */
    private LinkProvider binder;
    private BoundAddress boundAddress;
    private String takenName;
    /** Its name is taken over, or null. */
    private PassiveEndpointResource passive;
    private boolean sharesName;
    private boolean hasActivityIndex;
    private String takenService;
    private int activityIndex;
    private int transmitLength;
    private int receiveLength;
    private SharedFile transmitFile;
    private SharedFile receiveFile;
    private SharedFile slabFile;
    private EngineEndpoint endpoint;
    private EndpointQueues queues;

    /**
     * Takes the request.
     *
     * @param context what commands work with.
     * @param session who asks.
     * @param request as decoded.
     * @param names   of this driver.
     * @param id      number for the endpoint.
     */
    public EnableEndpointCommand(
        ConductorContext context, ClientSession session, EndpointRequest request, ServiceNames names, long id) {
        super(context, session, request.correlationId());
        this.request = request;
        this.names = names;
        this.id = id;
    }

    /**
     * Refuses what cannot be part of an address of this driver.
     *
     * @param what       to be named in the message.
     * @param driverName the driver's part of the address.
     * @param name       any text.
     */
    static void checkName(String what, String driverName, String name) {
        if (!FabricName.isValidPart(name)) {
            throw new FabricException(FabricErrno.EINVAL,
                "the " + what + "'s name \"" + (name.length() > 64 ? name.substring(0, 64) + "..." : name)
                    + "\" has " + name.length() + " characters",
                "Use 1 to 64 letters, digits, dots, hyphens and underscores, not beginning with a dot.");
        }
        int length = FabricName.of(driverName, name).length();
        if (length > FabricName.MAX_LENGTH) {
            throw new FabricException(FabricErrno.EINVAL,
                "the " + what + "'s address " + FabricName.of(driverName, name) + " has " + length + " characters, at"
                    + " most " + FabricName.MAX_LENGTH + " fit where addresses are reported",
                "Use a shorter name, or a shorter name for the driver.");
        }
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                bindings();
                choose();
                takeNames();
                state = State.MADE;
                if (!session().isEmbedded() || !takenService().isEmpty() || slabSettings != null || binder != null) {
                    background(this::make, fileBytes());
                }
            }
            case MADE -> {
                if (boundAddress != null && !takenService().isEmpty()) {
                    names.setAddress(takenService, id, settings.address());
                }
                state = State.OPEN;
                onProgress(this::open);
            }
            case OPEN -> {
                EndpointResource resource = new EndpointResource(
                    endpoint, queues, transmitFile, receiveFile, slabFile, transmitLength, receiveLength, activityIndex,
                    transmitCompletions, receiveCompletions, boundCounters(), vector);
                if (!takenService().isEmpty()) {
                    resource.services().add(takenService);
                }
                if (sharesName) {
                    resource.shareName();
                }
                if (passive != null) {
                    passive.beingTaken(false);
                    passive.name(null);
                    passive.bound(null);
                }
                session().endpoints().put(id, resource);
                context().counters().add(SystemCounter.ENDPOINTS, 1);
                session().proxy().endpointReady(correlationId(), resource);
                return Step.ENDED;
            }
            default -> throw new IllegalStateException(state.toString());
        }
        return Step.AGAIN;
    }

    @Override
    protected void undo() {
        if (passive != null) {
            passive.beingTaken(false);
        }
        if (bound) {
            transmitCompletions.unbind();
            receiveCompletions.unbind();
            boundCounters().forEach(CounterResource::unbind);
            if (vector != null) {
                vector.unbind();
            }
        }
        if (takenName != null) {
            names.removeEndpoint(takenName);
        }
        if (hasActivityIndex) {
            session().giveActivityIndex(activityIndex);
        }
        String service = takenService();
        if (!service.isEmpty()) {
            names.removeService(service);
            afterwards(() -> ServiceNames.delete(context().directory(), service));
        }
        discard(transmitFile);
        discard(receiveFile);
        discard(slabFile);
        if (boundAddress != null) {
            afterwards(boundAddress::close);
        }
    }

    private void discard(SharedFile file) {
        if (file != null) {
            file.delete();
            unmapAfterwards(List.of(file));
        }
    }

    private String takenService() {
        return takenService == null ? "" : takenService;
    }

    private void bindings() {
        vector = request.connects() ? null : session().addressVectors().get(request.avId());
        if (vector == null && !request.connects()) {
            throw new FabricException(FabricErrno.ENOAV,
                "address vector " + request.avId() + " is not open, an endpoint of type RDM needs one",
                "Bind an open address vector of this client before enabling.");
        }
        transmitCompletions = queue("transmit", request.txCqId(), request.txCqFlags(), Flags.TRANSMIT);
        receiveCompletions = queue("receive", request.rxCqId(), request.rxCqFlags(), Flags.RECV);
        long directions = request.hints().caps() & (Flags.SEND | Flags.RECV);
        boolean sends = directions != Flags.RECV;
        boolean receives = directions != Flags.SEND;
        if (sends && transmitCompletions == null || receives && receiveCompletions == null) {
            throw new FabricException(FabricErrno.ENOCQ,
                "no completion queue is bound for " + (sends && transmitCompletions == null ? "sends" : "receives"),
                "Bind one with FI_TRANSMIT, FI_RECV or both before enabling, or ask for the other direction only.");
        }
        if (transmitCompletions == null) {
            transmitCompletions = receiveCompletions;
        }
        if (receiveCompletions == null) {
            receiveCompletions = transmitCompletions;
        }
        sendCounter = counter("sends", request.sendCounterId());
        receiveCounter = counter("receives", request.receiveCounterId());
        // from now on: a close that comes while files are made must not take what the endpoint will write to
        transmitCompletions.bind();
        receiveCompletions.bind();
        boundCounters().forEach(CounterResource::bind);
        if (vector != null) {
            vector.bind();
        }
        bound = true;
    }

    private CounterResource counter(String what, long counterId) {
        CounterResource counter = session().counters().get(counterId);
        if (counter == null && counterId != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "counter " + counterId + ", bound for " + what + ", is not open",
                "Bind an open counter of this client.");
        }
        return counter;
    }

    private List<CounterResource> boundCounters() {
        return Stream.of(sendCounter, receiveCounter).filter(Objects::nonNull).toList();
    }

    private CompletionQueueResource queue(String side, long cqId, long flags, long needed) {
        if (cqId == 0) {
            return null;
        }
        CompletionQueueResource queue = session().completionQueues().get(cqId);
        if (queue == null) {
            throw new FabricException(FabricErrno.ENOCQ,
                "completion queue " + cqId + ", bound for the " + side + " side, is not open",
                "Bind an open completion queue of this client.");
        }
        if ((flags & ~BIND_FLAGS) != 0 || (flags & needed) == 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "completion queue " + cqId + " is bound for the " + side + " side with flags 0x"
                    + Long.toHexString(flags),
                "Bind it with FI_TRANSMIT, FI_RECV or both, and FI_SELECTIVE_COMPLETION if wanted.");
        }
        return queue;
    }

    private void choose() {
        Info hints = request.hints();
        if (request.eventQueueId() != 0) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "event queue " + request.eventQueueId() + " cannot be bound", "Enable the endpoint without one.");
        }
        List<LinkProvider> wanted =
            context().providers().stream().filter(provider -> request.wants(provider.name())).toList();
        if (wanted.isEmpty()) {
            throw new FabricException(FabricErrno.ENODEV,
                "link " + hints.linkName() + " is not loaded in this driver",
                "Add it to the option jfabric.link.enabled of the driver.");
        }
        List<Verdict> rejected = new ArrayList<>();
        LinkProvider first = null;
        for (LinkProvider provider : wanted) {
            Verdict verdict = provider.verdict(hints, context().driverName(), context().config());
            if (verdict.chosen()) {
                first = provider;
                break;
            }
            rejected.add(verdict);
        }
        if (first == null) {
            throw refusal(rejected);
        }
        Info offer = first.info(hints, context().driverName(), context().config());
        boolean usesSockets = first.usesSocketNames();
        if (usesSockets) {
            // two links cannot listen at one socket
            linkNames.add(first.name());
            // a connected endpoint has no peer before its connection
            binder = request.connects() ? null : first;
        } else {
            addLinksOfDrivers(wanted, first, offer);
            addOwnDriver();
        }
        settle(offer);
        if (passive != null && usesSockets != (passive.bound() != null)) {
            throw new FabricException(FabricErrno.EINVAL,
                "the passive endpoint's address " + passive.address(context().driverName())
                    + " is not one of the chosen links " + linkNames,
                "Open the endpoint with an info of the link that the passive endpoint was opened with.");
        }
    }

    /**
     * All links by which endpoints with drivers' names are reached. Provider and protocol of a match are those of its
     * own link, and a destination is only one of the peers: neither limits what the other links are used for.
     */
    private void addLinksOfDrivers(List<LinkProvider> wanted, LinkProvider first, Info offer) {
        Info shared = request.hints().copy().destAddr(null);
        shared.fabricAttr().provName(null);
        shared.epAttr().protocol(Protocol.UNSPEC).protocolVersion(0);
        for (LinkProvider provider : wanted) {
            if (provider == first) {
                linkNames.add(provider.name());
            } else if (!provider.usesSocketNames()
                && provider.verdict(shared, context().driverName(), context().config()).chosen()) {
                Info info = provider.info(shared, context().driverName(), context().config());
                if (isAlike(offer, info)) {
                    linkNames.add(provider.name());
                    smaller(offer, info);
                }
            }
        }
    }

    /** Whether links can serve one endpoint together: it has one type and one address. */
    private static boolean isAlike(Info first, Info second) {
        return first.epAttr().type() == second.epAttr().type() && first.addrFormat() == second.addrFormat();
    }

    /** Endpoints of this driver are reached without a wire, whatever link was asked for. */
    private void addOwnDriver() {
        String loopback = LoopbackLinkProvider.NAME;
        boolean loaded = context().providers().stream().anyMatch(provider -> provider.name().equals(loopback));
        if (loaded && !linkNames.contains(loopback)) {
            linkNames.addFirst(loopback);
        }
    }

    private static void smaller(Info first, Info second) {
        if (second.epAttr().maxMsgSize() < first.epAttr().maxMsgSize()) {
            first.epAttr().maxMsgSize(second.epAttr().maxMsgSize());
        }
    }

    private static FabricException refusal(List<Verdict> rejected) {
        StringBuilder text = new StringBuilder("no link offers what the endpoint asks for");
        int errno = FabricErrno.EINVAL;
        for (Verdict verdict : rejected) {
            text.append("; ").append(verdict);
            for (Reason reason : verdict.reasons()) {
                String condition = reason.condition();
                if (condition.endsWith("op_flags")) {
                    return new FabricException(
                        FabricErrno.EBADFLAGS, "no link offers the default operation flags; " + verdict,
                        "Ask for a level that is offered; fabric info --why shows which are.");
                }
                if (condition.endsWith("caps") || condition.endsWith("type")) {
                    errno = FabricErrno.EOPNOTSUPP;
                }
            }
        }
        return new FabricException(errno, text.toString(), "Ask for less; fabric info --why shows what is offered.");
    }

    private void settle(Info offer) {
        String name = name();
        if (passive == null) {
            checkName("endpoint", context().driverName(), name);
        }
        if (!request.service().isEmpty()) {
            checkName("service", context().driverName(), request.service());
        }
        QueueConfig config = context().config().queue();
        settings = new EndpointSettings(
            id,
            name,
            FabricName.of(context().driverName(), name),
            request.endpointContext(),
            Math.toIntExact(offer.txAttr().size()),
            Math.toIntExact(offer.rxAttr().size()),
            (int) Math.min(config.injectSizeBytes(), offer.txAttr().injectSize()),
            longestMessage(offer.epAttr().maxMsgSize()),
            request.hints().caps(),
            // a foreign wire has no other way for a message than at once
            binder != null ? MAX_EAGER_BYTES
                : Math.min(context().config().engine().eagerLimitBytes(), MAX_EAGER_BYTES),
            request.hints().domainAttr().resourceManagement() == ResourceManagement.DISABLED,
            offer.epAttr().authKey());
        if (offer.epAttr().type() != EndpointType.DGRAM) {
            // a link of datagrams holds the order by itself
            settings = settings.strict(
                request.hints().txAttr().compOrder() != Order.NONE, request.hints().rxAttr().compOrder() != Order.NONE);
        }
        if (request.connects()) {
            settings = settings.connectionOriented();
        }
        if (passive != null && passive.bound() != null) {
            settings = settings.with(passive.bound());
        }
        if (BufferedMode.isAskedFor(request.hints())) {
            slabSettings = slabSettings(config);
        }
    }

    private ReceiveSlab slabSettings(QueueConfig config) {
        int max = config.maxBufferedLimitBytes();
        int limit = request.bufferedLimit();
        int least = request.bufferedMin();
        if (limit < 0 || limit > max || least < 0 || least > max) {
            throw new FabricException(FabricErrno.EMSGSIZE,
                "the buffered limit is " + limit + " bytes, the least shown of longer messages " + least
                    + ", possible is 0 to " + max,
                "Use smaller values, or raise the option " + QueueConfig.SLAB_LENGTH_BYTES.name() + " of the driver.");
        }
        int cellBytes = SlabDescriptor.cellLength(Math.max(limit, least));
        int cells = Math.min(config.slabLengthBytes() / cellBytes, SlabDescriptor.MAX_CELLS);
        return new ReceiveSlab(0, cells, cellBytes, limit, least);
    }

    /** An application that names less than a link can, keeps to it. */
    private long longestMessage(long offered) {
        long asked = request.hints().epAttr().maxMsgSize();
        return asked == 0 ? offered : Math.min(asked, offered);
    }

    private void takeNames() {
        int index = session().takeActivityIndex();
        if (index < 0) {
            throw new FabricException(FabricErrno.ENOSPC,
                "the client has as many endpoints as its control file has activity bytes",
                "Use several clients, or close endpoints.");
        }
        activityIndex = index;
        hasActivityIndex = true;
        if (passive == null && !sharesName) {
            if (!names.addEndpoint(settings.name(), id)) {
                throw taken(context(), settings.name());
            }
            takenName = settings.name();
        }
        if (!request.service().isEmpty()) {
            if (!names.addService(request.service(), id, settings.address())) {
                throw taken(context(), request.service());
            }
            takenService = request.service();
        }
    }

    /** What a name is refused with that another endpoint or service has. */
    static FabricException taken(ConductorContext context, String name) {
        return new FabricException(FabricErrno.EADDRINUSE,
            "the name " + name + " is taken in driver " + context.driverName(),
            "Choose another, or close the endpoint that has it.");
    }

    /** Taken over from a passive endpoint, shared with the one whose request is accepted, or its own. */
    private String name() {
        if (request.passiveId() != 0) {
            passive = NamePassiveEndpointCommand.idle(session(), request.passiveId());
            passive.beingTaken(true);
            return passive.name();
        }
        String wanted = request.endpointName();
        sharesName = request.requestId() != 0 && session().passiveEndpoints().values().stream()
            .anyMatch(each -> wanted.equals(each.name()));
        return wanted.isEmpty() || request.requestId() != 0 && !sharesName
            ? FabricName.unnamed("ep", context().files().owner(), id) : wanted;
    }

    private long fileBytes() {
        QueueConfig config = context().config().queue();
        long queues = session().isEmbedded() ? 0
            : config.tqLengthBytes(settings.txSize()) + config.rqLengthBytes(settings.rxSize());
        return slabSettings == null ? queues : queues + (long) slabSettings.cells() * slabSettings.cellBytes();
    }

    private void make() throws Exception {
        if (binder != null) {
            boundAddress = binder.bind(request.hints(), context().config());
            settings = boundAddress == null ? settings : settings.with(boundAddress);
        }
        if (!session().isEmbedded()) {
            QueueConfig config = context().config().queue();
            transmitLength = Math.toIntExact(config.tqLengthBytes(settings.txSize()));
            receiveLength = Math.toIntExact(config.rqLengthBytes(settings.rxSize()));
            transmitFile = queueFile(FileType.TRANSMIT_QUEUE, transmitLength);
            receiveFile = queueFile(FileType.RECEIVE_QUEUE, receiveLength);
        }
        if (slabSettings != null) {
            int cells = slabSettings.cells();
            int cellBytes = slabSettings.cellBytes();
            slabFile = context().files().create(
                session().id(), context().files().nextNumber(), FileType.SLAB, 0,
                SlabDescriptor.fileLength(cells, cellBytes), (long) cells * cellBytes, cells, cellBytes);
            settings = settings.with(new ReceiveSlab(
                slabFile.address(), cells, cellBytes, slabSettings.limitBytes(), slabSettings.leastBytes()));
        }
        if (!takenService().isEmpty()) {
            ServiceNames.write(context().directory(), takenService, settings.address());
        }
    }

    private SharedFile queueFile(FileType type, int ringLength) {
        return context().files().create(
            session().id(),
            context().files().nextNumber(),
            type,
            SendRequestDecoder.SCHEMA_ID,
            RecordRingDescriptor.HEADER_LENGTH + (long) ringLength,
            ringLength,
            ringLength,
            0);
    }

    private void open() {
        EngineEndpoint added = context().engine().addEndpoint(
            session().progress().session(),
            settings,
            linkNames,
            vector == null ? new AddressTable() : vector.table(),
            transmitCompletions.writer(),
            receiveCompletions.writer(),
            sendCounter == null ? null : sendCounter.writer(),
            receiveCounter == null ? null : receiveCounter.writer());
        if (transmitFile != null) {
            boolean served = false;
            try {
                serve(added);
                served = true;
            } finally {
                if (!served) {
                    context().engine().removeEndpoint(added);
                }
            }
        }
        endpoint = added;
    }

    private void serve(EngineEndpoint added) {
        queues = new EndpointQueues(
            added,
            session().progress(),
            activityIndex,
            transmitFile.address(),
            transmitLength,
            receiveFile.address(),
            receiveLength);
        context().progress().addQueues(queues);
    }
}
