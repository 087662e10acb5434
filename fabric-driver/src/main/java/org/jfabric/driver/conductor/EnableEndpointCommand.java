package org.jfabric.driver.conductor;

import java.util.List;
import org.jfabric.client.BufferedMode;
import org.jfabric.client.PrefixMode;
import org.jfabric.codec.control.EnableEndpoint;
import org.jfabric.codec.control.EndpointReady;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.EngineConfig;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.driver.engine.AddressTable;
import org.jfabric.driver.engine.EndpointSettings;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.engine.SlabMemory;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.link.support.Timestamps;
import org.jfabric.driver.progress.EndpointQueues;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.driver.progress.ProgressThread;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.info.BestName;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.ResourceManagement;
import org.jfabric.layout.SlabDescriptor;

/**
 * {@code fi_enable}, with the {@code fi_ep_bind} and {@code fi_endpoint} that the client called before it: binds the
 * objects of the endpoint ({@link BoundObjects}), chooses its links ({@link EndpointLinks}), takes its names, creates
 * its files, then opens it in the engine. Owner: conductor.
 */
final class EnableEndpointCommand extends Command {
    private static final int MAX_EAGER_BYTES = 1 << 16;

    private enum State {
        CHECK,
        MADE,
        OPEN
    }

    private final EndpointRequest request;
    private final ServiceNames names;
    private final EndpointFiles files;
    private final long id;
    private State state = State.CHECK;
    /** Null until they are bound. */
    private BoundObjects bound;
    private EndpointLinks links;
    private EndpointSettings settings;
    /** Its memory is not allocated yet; null without buffered receives. */
    private SlabMemory slabSettings;
    /** Provides the address, if the links use addresses of the operating system; else null. */
    private LinkProvider binder;
    private BoundAddress boundAddress;
    private String takenName;
    /** The passive endpoint whose name is taken over, or null. */
    private PassiveEndpointResource passive;
    private boolean sharesName;
    /** The scalable endpoint in which a context was opened, or null. */
    private ScalableEndpointResource scalable;
    private String takenService = "";
    private boolean hasActivityIndex;
    private int activityIndex;
    /** Null until it is chosen. */
    private ProgressThread thread;
    private EngineEndpoint endpoint;
    private EndpointQueues queues;

    EnableEndpointCommand(CommandRequest arrived, EnableEndpoint message) {
        super(arrived);
        request = EndpointRequest.of(message);
        names = registry().names();
        files = new EndpointFiles(context(), session());
        id = registry().nextId();
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                context().drain().requireInactive(context().directory());
                // bound first: a concurrent close must not free the objects that the endpoint will write to
                bound = BoundObjects.bind(session(), request);
                links = EndpointLinks.choose(context(), request);
                // a connected endpoint has no peer before its connection
                binder = links.first().usesSocketNames() && !request.connects() && !request.isReceiveContext()
                    ? links.first() : null;
                requireOneContext();
                settle();
                takeNames();
                place();
                state = State.MADE;
                if (!session().isEmbedded() || !takenService.isEmpty() || slabSettings != null || binder != null) {
                    background(this::make, fileBytes());
                }
            }
            case MADE -> {
                if (boundAddress != null && !takenService.isEmpty()) {
                    names.setAddress(takenService, id, settings.address());
                }
                state = State.OPEN;
                onThread(thread.index(), this::open);
            }
            default -> {
                finish();
                return answer(ready());
            }
        }
        return Step.AGAIN;
    }

    @Override
    protected void undo() {
        if (thread != null) {
            context().threads().addEndpoints(thread.index(), -1);
        }
        if (passive != null) {
            passive.beingTaken(false);
        }
        if (scalable != null) {
            scalable.close(request.place());
        }
        if (bound != null) {
            bound.unbind();
        }
        if (takenName != null) {
            names.removeEndpoint(takenName);
        }
        if (hasActivityIndex) {
            session().giveActivityIndex(activityIndex);
        }
        if (!takenService.isEmpty()) {
            names.removeService(takenService);
            afterwards(() -> ServiceNames.delete(context().directory(), takenService));
        }
        files.all().forEach(SharedFile::delete);
        unmapAfterwards(files.all());
        if (boundAddress != null) {
            afterwards(boundAddress::close);
        }
    }

    /** Chooses the progress thread, and gives it the queues that none writes yet. */
    private void place() {
        int chosen = bound.thread();
        if (request.message().requestId() != 0) {
            // the listener's link has the connection
            chosen = BoundObjects.common(chosen, context().threads().ofRequest(request.message().requestId()));
        }
        if (context().providers().stream()
            .anyMatch(each -> links.names().contains(each.name()) && each.staysOnFirstThread())) {
            chosen = BoundObjects.common(chosen, 0);
        }
        if (chosen == CompletionQueueResource.UNPLACED && request.isReceiveContext()) {
            // to where its endpoints will probably be
            chosen = session().threadOfQueues();
        }
        thread = context().threads().get(
            chosen == CompletionQueueResource.UNPLACED ? context().threads().leastUsed() : chosen);
        ProgressClient client = session().progress(thread.index());
        for (CompletionQueueResource queue : bound.unplaced()) {
            queue.place(thread.index());
            aheadOnThread(thread.index(), () -> thread.agent().addCompletionQueue(client, queue.writer()));
        }
        context().threads().addEndpoints(thread.index(), 1);
    }

    private void requireOneContext() {
        long transmit = request.hints().epAttr().txCtxCnt();
        long receive = request.hints().epAttr().rxCtxCnt();
        if (transmit > 1 || receive > 1) {
            throw new FabricException(FabricErrno.EINVAL,
                "an endpoint with " + transmit + " transmit and " + receive + " receive contexts",
                "Open a scalable endpoint, or set ep_attr.tx_ctx_cnt and rx_ctx_cnt to 0.");
        }
    }

    private void settle() {
        String name = request.place().isContext() ? contextName() : name();
        if (passive == null && scalable == null) {
            ServiceNames.check("endpoint", context().driverName(), name);
        }
        if (!request.message().service().isEmpty()) {
            ServiceNames.check("service", context().driverName(), request.message().service());
        }
        settings = settings(name);
        if (BufferedMode.isAskedFor(request.hints())) {
            slabSettings = slabSettings(context().config());
        }
        if (passive != null && links.first().usesSocketNames() != (passive.bound() != null)) {
            throw new FabricException(FabricErrno.EINVAL,
                "the passive endpoint's address " + passive.address(context().driverName())
                    + " is not one of the chosen links " + links.names(),
                "Open the endpoint with an info of the link that the passive endpoint was opened with.");
        }
    }

    private EndpointSettings settings(String name) {
        Info hints = request.hints();
        Info offer = links.offer();
        EndpointSettings settled = new EndpointSettings(
            id,
            name,
            FabricName.of(context().driverName(), name),
            request.message().endpointContext(),
            request.isReceiveContext() ? 0 : Math.toIntExact(offer.txAttr().size()),
            // an endpoint whose receives are those of a shared context needs no queue of its own
            request.message().receiveContextId() > 0 ? 1 : Math.toIntExact(offer.rxAttr().size()),
            injectSize(offer.txAttr().injectSize()),
            longestMessage(offer.epAttr().maxMsgSize()),
            // what the engine does with a time is the receive side's; of departures the port alone has to know
            Timestamps.arrivals(hints) == null ? hints.caps() & ~Flags.TIMESTAMP : hints.caps(),
            // a foreign wire has only eager messages
            binder != null ? MAX_EAGER_BYTES
                : Math.min(context().config().get(EngineConfig.EAGER_LIMIT_BYTES), MAX_EAGER_BYTES),
            hints.domainAttr().resourceManagement() == ResourceManagement.DISABLED,
            offer.epAttr().authKey()).inClass(offer.txAttr().tclass());
        if (!links.first().completesInOrder()) {
            settled = settled.strict(
                hints.txAttr().compOrder() != Order.NONE, hints.rxAttr().compOrder() != Order.NONE);
        }
        // its length was compared with what links offer, when they were chosen
        settled = settled.inDomain(request.message().domain()).prefixed((int) PrefixMode.bytes(hints));
        if (request.connects()) {
            settled = settled.connectionOriented();
        }
        return passive == null || passive.bound() == null ? settled : settled.with(passive.bound());
    }

    /** Each context may have its own; an endpoint has that of its links. */
    private int injectSize(long offered) {
        long asked = request.hints().txAttr().injectSize();
        long limit = request.place().isContext() && asked > 0 ? Math.min(asked, offered) : offered;
        return (int) Math.min(Sizing.maxInjectSizeBytes(context().config()), limit);
    }

    private SlabMemory slabSettings(DriverConfig config) {
        int max = Sizing.maxBufferedLimitBytes(config);
        int limit = request.message().bufferedLimit();
        int least = request.message().bufferedMin();
        if (limit < 0 || limit > max || least < 0 || least > max) {
            throw new FabricException(FabricErrno.EMSGSIZE,
                "the buffered limit is " + limit + " bytes, the least shown of longer messages " + least
                    + ", possible is 0 to " + max,
                "Use smaller values, or raise the option " + QueueConfig.SLAB_LENGTH_BYTES.name() + " of the driver.");
        }
        int cellBytes = SlabDescriptor.cellLength(Math.max(limit, least));
        int cells = Math.min(config.get(QueueConfig.SLAB_LENGTH_BYTES) / cellBytes, SlabDescriptor.MAX_CELLS);
        // a client of another user cannot open the files of regions
        long lentLimit = session().isOfDriversUser() ? config.get(QueueConfig.LENT_LIMIT_BYTES) : 0;
        return new SlabMemory(0, cells, cellBytes, limit, least, lentLimit);
    }

    /** The longest message: the limit that the application requests, if it is below that of the links. */
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
                throw ServiceNames.taken(context().driverName(), settings.name());
            }
            takenName = settings.name();
        }
        if (!request.message().service().isEmpty()) {
            if (!names.addService(request.message().service(), id, settings.address())) {
                throw ServiceNames.taken(context().driverName(), request.message().service());
            }
            takenService = request.message().service();
        }
    }

    /** The name: taken over from a passive endpoint, shared with the one whose request is accepted, or its own. */
    private String name() {
        if (request.message().passiveId() != 0) {
            passive = NamePassiveEndpointCommand.idle(session(), request.message().passiveId());
            passive.beingTaken(true);
            return passive.name();
        }
        String source = request.hints().srcAddr();
        String wanted = BestName.isName(source) ? BestName.parse(source).endpoint() : request.message().endpointName();
        sharesName = request.message().requestId() != 0 && session().passiveEndpoints().values().stream()
            .anyMatch(each -> wanted.equals(each.name()));
        return wanted.isEmpty() || request.message().requestId() != 0 && !sharesName
            ? FabricName.unnamed("ep", context().files().owner(), id) : wanted;
    }

    /** The name of a context, which is opened in its scalable endpoint. */
    private String contextName() {
        if (binder != null || links.offer().epAttr().type() != EndpointType.RDM) {
            throw new FabricException(FabricErrno.ENOSYS,
                "the links " + links.names() + " have one context for each direction",
                "Open the scalable endpoint with a match of Fabric.info that has domain_attr.max_ep_rx_ctx above 1.");
        }
        ScalableEndpointResource parent = session().scalableEndpoints().get(request.place().scalableId());
        if (parent == null) {
            throw new FabricException(FabricErrno.EINVAL,
                "scalable endpoint " + request.place().scalableId() + " is not open", "Open one first.");
        }
        String name = parent.open(request.place());
        scalable = parent;
        sharesName = true;
        return name;
    }

    private long fileBytes() {
        DriverConfig config = context().config();
        long rings = session().isEmbedded() ? 0
            : Sizing.tqLengthBytes(config, settings.txSize(), settings.injectSizeBytes())
                + Sizing.rqLengthBytes(config, settings.rxSize());
        return slabSettings == null ? rings : rings + (long) slabSettings.cells() * slabSettings.cellBytes();
    }

    private void make() throws Exception {
        if (binder != null) {
            boundAddress = binder.bind(request.hints(), settings.address(), context().config());
            settings = boundAddress == null ? settings : settings.with(boundAddress);
        }
        if (!session().isEmbedded()) {
            files.makeQueues(settings);
        }
        if (slabSettings != null) {
            settings = settings.with(files.makeSlab(slabSettings));
        }
        if (!takenService.isEmpty()) {
            ServiceNames.write(context().directory(), takenService, settings.address());
        }
    }

    private List<String> linkNames() {
        return request.isReceiveContext() ? List.of()
            : links.names().stream().filter(name -> boundAddress == null || boundAddress.serves(name)).toList();
    }

    private void open() {
        EngineEndpoint added = thread.engine().addEndpoint(
            session().progress(thread.index()).session(),
            settings,
            linkNames(),
            bound.vector() == null ? new AddressTable() : bound.vector().table(thread.index()),
            bound.completions(thread.index()),
            bound.receiveContext());
        if (files.transmit() != null) {
            boolean served = false;
            try {
                serve(added);
                served = true;
            } finally {
                if (!served) {
                    thread.engine().removeEndpoint(added);
                    if (queues != null) {
                        thread.agent().removeQueues(queues);
                    }
                }
            }
        }
        endpoint = added;
    }

    private void serve(EngineEndpoint added) {
        queues = new EndpointQueues(
            added,
            session().progress(thread.index()),
            activityIndex,
            files.transmit().address(),
            files.transmitLength(),
            files.receive().address(),
            files.receiveLength());
        thread.agent().addQueues(queues);
    }

    private void finish() {
        EndpointResource resource = new EndpointResource(endpoint, thread.index(), queues, files, activityIndex, bound);
        if (!takenService.isEmpty()) {
            resource.services().add(takenService);
        }
        if (scalable != null) {
            resource.contextOf(scalable, request.place());
        } else if (sharesName) {
            resource.shareName();
        }
        if (passive != null) {
            passive.beingTaken(false);
            passive.name(null);
            passive.bound(null);
        }
        session().endpoints().put(id, resource);
        context().counters().add(SystemCounter.ENDPOINTS, 1);
    }

    private EndpointReady ready() {
        EndpointSettings made = endpoint.settings();
        SlabMemory slab = made.slab();
        return new EndpointReady(
            correlationId(), id, files.transmitNumber(), files.receiveNumber(), files.transmitLength(),
            files.receiveLength(), activityIndex, endpoint.transmitIndex(), endpoint.receiveIndex(), made.txSize(),
            made.rxSize(), made.injectSizeBytes(), made.maxMessageBytes(), files.slabNumber(),
            slab == null ? 0 : slab.cells(), slab == null ? 0 : slab.cellBytes(),
            // contexts have one address for their client
            ContextName.endpoint(made.address()));
    }
}
