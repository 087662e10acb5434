package org.jfabric.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.LongToIntFunction;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.AcceptConnectionEncoder;
import org.jfabric.codec.control.CloseObjectEncoder;
import org.jfabric.codec.control.ConnectEndpointEncoder;
import org.jfabric.codec.control.ControlWorkEncoder;
import org.jfabric.codec.control.DrainDriverEncoder;
import org.jfabric.codec.control.EnableEndpointEncoder;
import org.jfabric.codec.control.EnableRegionEncoder;
import org.jfabric.codec.control.ExplainPathEncoder;
import org.jfabric.codec.control.InsertAddressEncoder;
import org.jfabric.codec.control.JoinGroupEncoder;
import org.jfabric.codec.control.LeaveGroupEncoder;
import org.jfabric.codec.control.ListenEncoder;
import org.jfabric.codec.control.NamePassiveEndpointEncoder;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.OpenAddressVectorEncoder;
import org.jfabric.codec.control.OpenCompletionQueueEncoder;
import org.jfabric.codec.control.OpenCounterEncoder;
import org.jfabric.codec.control.OpenPassiveEndpointEncoder;
import org.jfabric.codec.control.OpenScalableEndpointEncoder;
import org.jfabric.codec.control.OpenViewEncoder;
import org.jfabric.codec.control.OpenWaitSetEncoder;
import org.jfabric.codec.control.PassFileEncoder;
import org.jfabric.codec.control.PublishServiceEncoder;
import org.jfabric.codec.control.QueryInfoEncoder;
import org.jfabric.codec.control.QueueCounterWorkEncoder;
import org.jfabric.codec.control.RegisterRegionEncoder;
import org.jfabric.codec.control.RegisterWithCardEncoder;
import org.jfabric.codec.control.RejectConnectionEncoder;
import org.jfabric.codec.control.RemoveAddressEncoder;
import org.jfabric.codec.control.ResetCycleTimesEncoder;
import org.jfabric.codec.control.ShutdownEndpointEncoder;
import org.jfabric.codec.control.WorkAction;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.PeerPath;
import org.jfabric.info.Verdict;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.layout.OwnerId;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.ViewDescriptor;

/**
 * The commands of a client: each is encoded, written into the command ring and, except where a handler is given, waits
 * for its answer. A refusal is thrown as a {@link FabricException}. The progress of a connection is reported by events.
 *
 * <p>Any thread; with an embedded driver the thread that uses the domain. Commands are encoded under the conductor's
 * command lock.
 */
public final class DriverProxy {
    /** Sends commands and awaits their answers. */
    interface Caller {
        /**
         * Sends a command and awaits its answer.
         *
         * @param encoder writes the command with the correlation id that it is given; returns 0, or
         *                {@code -FI_EAGAIN} while the ring is full, and is then called again.
         * @param undo    takes an answer that came after the call had ended, and reverts what the command has done.
         * @throws FabricException if it was refused or is not answered.
         */
        PendingCommand call(String what, LongToIntFunction encoder, Consumer<DriverEvent> undo);

        /**
         * Sends a command that cannot be reverted and awaits its answer; if the same one was sent and is not answered,
         * awaits that answer.
         *
         * @param closes  whether the end of the driver has the same effect.
         * @param late    notified of an answer that came after the call had ended, in order with control calls.
         * @throws FabricException if it was refused or is not answered.
         */
        PendingCommand change(
            List<Object> key, String what, LongToIntFunction encoder, boolean closes, AnswerHandler late);

        /**
         * Sends a command.
         *
         * @param handler notified of the answer, once; not after an exception; or null.
         */
        void issue(String what, LongToIntFunction encoder, AnswerHandler handler);
    }

    private static final int INITIAL_LENGTH = 1024;
    /** In place of a descriptor: the file of a region is passed over the socket. */
    private static final int PASSED_REGION = -1;

    private final MutableDirectBuffer body = new ExpandableArrayBuffer(INITIAL_LENGTH);
    private final RecordProducer producer;
    private final UnsafeBuffer ring;
    private final Doorbell doorbell;
    private final Caller caller;

    /**
     * A proxy of a ring.
     *
     * @param doorbell rung after each command, or null with an embedded driver.
     */
    DriverProxy(RecordProducer producer, UnsafeBuffer ring, Doorbell doorbell, Caller caller) {
        this.producer = producer;
        this.ring = ring;
        this.doorbell = doorbell;
        this.caller = caller;
    }

    public DriverEvent.CompletionQueueReady openCompletionQueue(CompletionQueueAttr attr) {
        return call(DriverEvent.CompletionQueueReady.class, "opening a completion queue", id -> {
            new OpenCompletionQueueEncoder().wrap(body, 0)
                .correlationId(id)
                .size(attr.size())
                .flags(attr.flags())
                .signalingVector(attr.signalingVector())
                .waitSetId(attr.waitSetId());
            putInt(OpenCompletionQueueEncoder.formatEncodingOffset(), attr.format().code());
            putInt(OpenCompletionQueueEncoder.waitObjEncodingOffset(), attr.waitObject().code());
            putInt(OpenCompletionQueueEncoder.waitCondEncodingOffset(), attr.waitCondition().code());
            return submit(OpenCompletionQueueEncoder.TEMPLATE_ID, OpenCompletionQueueEncoder.BLOCK_LENGTH);
        });
    }

    public DriverEvent.CounterReady openCounter(CounterAttr attr) {
        return call(DriverEvent.CounterReady.class, "opening a counter", id -> {
            new OpenCounterEncoder().wrap(body, 0)
                .correlationId(id).flags(attr.flags()).waitSetId(attr.waitSetId());
            putInt(OpenCounterEncoder.eventsEncodingOffset(), attr.events().code());
            putInt(OpenCounterEncoder.waitObjEncodingOffset(), attr.waitObject().code());
            return submit(OpenCounterEncoder.TEMPLATE_ID, OpenCounterEncoder.BLOCK_LENGTH);
        });
    }

    public DriverEvent.WaitSetReady openWaitSet(WaitSetAttr attr) {
        return call(DriverEvent.WaitSetReady.class, "opening a wait set", id -> {
            new OpenWaitSetEncoder().wrap(body, 0).correlationId(id).flags(attr.flags());
            putInt(OpenWaitSetEncoder.waitObjEncodingOffset(), attr.waitObject().code());
            return submit(OpenWaitSetEncoder.TEMPLATE_ID, OpenWaitSetEncoder.BLOCK_LENGTH);
        });
    }

    /**
     * Has the driver write a snapshot of the queues of an endpoint, of this client or of another.
     *
     * @param afterEndpointId the endpoint with the next greater id is taken; 0 for the first.
     */
    public DriverEvent.ViewReady openView(long afterEndpointId) {
        return call(DriverEvent.ViewReady.class, "a snapshot of queues", id -> {
            new OpenViewEncoder().wrap(body, 0).correlationId(id).afterEndpointId(afterEndpointId);
            return submit(OpenViewEncoder.TEMPLATE_ID, OpenViewEncoder.BLOCK_LENGTH);
        });
    }

    /**
     * Drains the driver: it takes no new endpoints, waits until no send is outstanding, and ends.
     *
     * @param owner     the driver's own id, so that bytes that are no command cannot end it.
     * @param timeoutNs how long it waits; less than the time that an answer is awaited.
     * @param force     whether it ends behind that time too.
     */
    void drain(OwnerId owner, long timeoutNs, boolean force) {
        call(DriverEvent.Done.class, "draining the driver", id -> {
            new DrainDriverEncoder().wrap(body, 0).correlationId(id).ownerIdHigh(owner.high())
                .ownerIdLow(owner.low()).timeoutNs(timeoutNs).force(force ? 1 : 0).reserved(0);
            return submit(DrainDriverEncoder.TEMPLATE_ID, DrainDriverEncoder.BLOCK_LENGTH);
        });
    }

    /** Begins the histogram of the driver's duty cycles anew. */
    void resetCycleTimes() {
        call(DriverEvent.Done.class, "resetting the times of cycles", id -> {
            new ResetCycleTimesEncoder().wrap(body, 0).correlationId(id);
            return submit(ResetCycleTimesEncoder.TEMPLATE_ID, ResetCycleTimesEncoder.BLOCK_LENGTH);
        });
    }

    public DriverEvent.AddressVectorReady openAddressVector(AddressVectorAttr attr) {
        return call(DriverEvent.AddressVectorReady.class, "opening an address vector", id -> {
            new OpenAddressVectorEncoder().wrap(body, 0)
                .correlationId(id)
                .rxCtxBits(attr.rxCtxBits())
                .count(attr.count())
                .epPerNode(attr.epPerNode())
                .flags(attr.flags());
            putInt(OpenAddressVectorEncoder.avTypeEncodingOffset(), attr.type().code());
            return submit(OpenAddressVectorEncoder.TEMPLATE_ID,
                InfoCodec.putText(body, OpenAddressVectorEncoder.BLOCK_LENGTH, "name", attr.name()));
        });
    }

    /**
     * Inserts an address.
     *
     * @param isKnown whether the client has an address of that number anyway: what was inserted too late is removed.
     */
    public DriverEvent.AddressReady insertAddress(long avId, String address, LongPredicate isKnown) {
        // not by call(): the same address inserted again has the same number
        PendingCommand command = caller.change(List.of(InsertAddressEncoder.TEMPLATE_ID, avId, address),
            "inserting address " + address, id -> insertAddress(id, avId, address), false, (answer, failure) -> {
                if (answer instanceof DriverEvent.AddressReady late && !isKnown.test(late.fiAddr())) {
                    caller.issue("removing address " + address, id -> removeAddress(id, avId, late.fiAddr()), null);
                }
            });
        return (DriverEvent.AddressReady) command.result();
    }

    /**
     * Inserts an address without waiting for the answer.
     *
     * @param handler notified once, by the thread that reads events or the one that closes; not after an exception.
     */
    public void insertAddress(long avId, String address, AnswerHandler handler) {
        caller.issue("inserting address " + address, id -> insertAddress(id, avId, address), handler);
    }

    private int insertAddress(long correlationId, long avId, String address) {
        new InsertAddressEncoder().wrap(body, 0).correlationId(correlationId).avId(avId).flags(0);
        return submit(InsertAddressEncoder.TEMPLATE_ID,
            InfoCodec.putText(body, InsertAddressEncoder.BLOCK_LENGTH, "address", address));
    }

    /**
     * Removes an address.
     *
     * @param effect run once it is removed, also after this call has ended with {@link FabricErrno#ETIMEDOUT}.
     */
    public void removeAddress(long avId, long fiAddr, Runnable effect) {
        change(List.of(RemoveAddressEncoder.TEMPLATE_ID, avId, fiAddr), "removing address " + fiAddr,
            id -> removeAddress(id, avId, fiAddr), effect);
    }

    private int removeAddress(long correlationId, long avId, long fiAddr) {
        new RemoveAddressEncoder().wrap(body, 0).correlationId(correlationId).avId(avId).fiAddr(fiAddr).flags(0);
        return submit(RemoveAddressEncoder.TEMPLATE_ID, RemoveAddressEncoder.BLOCK_LENGTH);
    }

    /**
     * Registers memory, or lets the driver make it.
     *
     * @param requestedKey  by which peers name the region, if the rights allow them anything.
     * @param flags         {@code Flags.RMA_EVENT} for a region that is to be enabled, or 0.
     * @param nativeAddress memory of this process, 0 for a new file.
     */
    public DriverEvent.RegionReady registerRegion(
        long domain, long length, long access, long requestedKey, long flags, long nativeAddress) {
        return register(domain, length, access, requestedKey, flags, nativeAddress, 0, 0);
    }

    public DriverEvent.RegionReady registerFile(
        long domain, long length, long access, long requestedKey, long flags, int descriptor) {
        return register(domain, length, access, requestedKey, flags, 0, descriptor, 0);
    }

    /**
     * Registers a region with the next driver that was registered with one before, under the same addresses.
     *
     * @param nativeAddress memory of this process, 0 for a region whose file was passed to the driver.
     * @param place         index and generation of the addresses: their upper 24 bits.
     */
    public DriverEvent.RegionReady registerAgain(
        long domain, long length, long access, long requestedKey, long flags, long nativeAddress, int place) {
        DriverEvent.RegionReady ready = register(domain, length, access, requestedKey, flags, nativeAddress,
            nativeAddress == 0 ? PASSED_REGION : 0, place);
        if (ready.regionIndex() << Byte.SIZE != (place & ~0xFF) || ((ready.generation() ^ place) & 0xFF) != 0) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "the driver gave a region index " + ready.regionIndex()
                + " instead of " + (place >>> Byte.SIZE), "Connect again, with a driver that keeps addresses.");
        }
        return ready;
    }

    /** Announces that a descriptor is passed over the socket. */
    public void passFile() {
        call(DriverEvent.Done.class, "passing a file", id -> {
            new PassFileEncoder().wrap(body, 0).correlationId(id);
            return submit(PassFileEncoder.TEMPLATE_ID, PassFileEncoder.BLOCK_LENGTH);
        });
    }

    private DriverEvent.RegionReady register(
        long domain, long length, long access, long requestedKey, long flags, long nativeAddress, int descriptor,
        int place) {
        return call(DriverEvent.RegionReady.class, "registering " + length + " bytes", id -> {
            new RegisterRegionEncoder().wrap(body, 0)
                .correlationId(id)
                .length(length)
                .access(access)
                .requestedKey(requestedKey)
                .flags(flags)
                .nativeAddress(nativeAddress)
                .domain(domain)
                .descriptor(descriptor)
                .place(place);
            return submit(RegisterRegionEncoder.TEMPLATE_ID, RegisterRegionEncoder.BLOCK_LENGTH);
        });
    }

    /**
     * Enables a region: bind and enable in one.
     *
     * @param readCounterId  counter of reads by peers, 0 for none.
     * @param writeCounterId counter of writes by peers, 0 for none.
     * @param effect         run once it is enabled, as for {@link #removeAddress}.
     * @param endpointIds    endpoints whose peers may access it; none for all of the domain.
     */
    public void enableRegion(
        int regionIndex, long readCounterId, long writeCounterId, Runnable effect, long... endpointIds) {
        change(List.of(EnableRegionEncoder.TEMPLATE_ID, regionIndex), "enabling a region", id -> {
            new EnableRegionEncoder().wrap(body, 0)
                .correlationId(id)
                .regionIndex(regionIndex)
                .reserved(0)
                .readCounterId(readCounterId)
                .writeCounterId(writeCounterId);
            byte[] ids = new byte[endpointIds.length * Long.BYTES];
            ByteBuffer.wrap(ids).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().put(endpointIds);
            return submit(EnableRegionEncoder.TEMPLATE_ID,
                InfoCodec.putBytes(body, EnableRegionEncoder.BLOCK_LENGTH, "endpoints", ids));
        }, effect);
    }

    /** Registers a region with a card, so that peers can access it. */
    public DriverEvent.CardKeyReady registerWithCard(int regionIndex, long access, Info info) {
        return call(DriverEvent.CardKeyReady.class, "registering a region with a card", id -> {
            new RegisterWithCardEncoder().wrap(body, 0).correlationId(id).regionIndex(regionIndex).reserved(0)
                .access(access);
            int next = InfoCodec.putText(body, RegisterWithCardEncoder.BLOCK_LENGTH, "linkName", info.linkName());
            next = InfoCodec.putText(body, next, "srcAddr", info.srcAddr());
            return submit(
                RegisterWithCardEncoder.TEMPLATE_ID, InfoCodec.putText(body, next, "destAddr", info.destAddr()));
        });
    }

    /** Enables an endpoint: open, bind and enable in one. */
    public DriverEvent.EndpointReady enableEndpoint(EnableRequest request, Info info) {
        return call(DriverEvent.EndpointReady.class, "enabling an endpoint", id -> {
            new EnableEndpointEncoder().wrap(body, 0)
                .correlationId(id)
                .endpointContext(request.context())
                .txCqId(request.txCqId())
                .rxCqId(request.rxCqId())
                .avId(request.avId())
                .eqId(0)
                .sendCounterId(request.counters().sends())
                .receiveCounterId(request.counters().receives())
                .readCounterId(request.counters().reads())
                .writeCounterId(request.counters().writes())
                .remoteReadCounterId(request.counters().remoteReads())
                .remoteWriteCounterId(request.counters().remoteWrites())
                .domain(request.domain())
                .bufferedLimit(request.bufferedLimit())
                .bufferedMin(request.bufferedMin())
                .requestId(request.requestId())
                .passiveId(request.passiveId())
                .scalableId(request.place().scalableId())
                .contextIndex(request.place().index())
                .isTransmitContext(request.place().transmits() ? 1 : 0)
                .receiveContextId(request.receiveContextId());
            putLong(EnableEndpointEncoder.txCqFlagsEncodingOffset(), request.txCqFlags());
            putLong(EnableEndpointEncoder.rxCqFlagsEncodingOffset(), request.rxCqFlags());
            InfoCodec.putFixed(body, EnableEndpointEncoder.capsEncodingOffset(), info);
            int next = InfoCodec.putTexts(body, EnableEndpointEncoder.BLOCK_LENGTH, info);
            next = InfoCodec.putText(body, next, "endpoint name", request.endpointName());
            return submit(
                EnableEndpointEncoder.TEMPLATE_ID, InfoCodec.putText(body, next, "service", request.service()));
        });
    }

    /**
     * Publishes a further name of an endpoint.
     *
     * @param effect     run once it is published, as for {@link #removeAddress}.
     */
    public void publishService(long endpointId, String service, Runnable effect) {
        change(List.of(PublishServiceEncoder.TEMPLATE_ID, endpointId, service), "publishing service " + service, id -> {
            new PublishServiceEncoder().wrap(body, 0).correlationId(id).endpointId(endpointId);
            return submit(PublishServiceEncoder.TEMPLATE_ID,
                InfoCodec.putText(body, PublishServiceEncoder.BLOCK_LENGTH, "service", service));
        }, effect);
    }

    /**
     * Closes an object. A driver that ends closes it, too. From the effect on it accesses no memory through the object.
     *
     * @param effect   run once it is closed, as for {@link #removeAddress}.
     */
    public void closeObject(ObjectKind kind, long objectId, Runnable effect) {
        caller.change(List.of(CloseObjectEncoder.TEMPLATE_ID, kind, objectId), "closing " + kind + ' ' + objectId,
            id -> closeObject(id, kind, objectId), true, onSuccess(effect));
        effect.run();
    }

    private int closeObject(long correlationId, ObjectKind kind, long objectId) {
        new CloseObjectEncoder().wrap(body, 0).correlationId(correlationId).objectId(objectId).kind(kind);
        return submit(CloseObjectEncoder.TEMPLATE_ID, CloseObjectEncoder.BLOCK_LENGTH);
    }

    /**
     * Asks what the fabric offers.
     *
     * @param node    where to, or null.
     * @param service where to, or null.
     */
    public InfoResult queryInfo(Info hints, long flags, String node, String service) {
        PendingCommand command = caller.call("asking for fabrics", id -> {
            new QueryInfoEncoder().wrap(body, 0)
                .correlationId(id)
                .flags(flags)
                .apiVersionWanted(hints.fabricAttr().apiVersion());
            InfoCodec.putFixed(body, QueryInfoEncoder.capsEncodingOffset(), hints);
            int next = InfoCodec.putTexts(body, QueryInfoEncoder.BLOCK_LENGTH, hints);
            next = InfoCodec.putText(body, next, "node", node);
            return submit(QueryInfoEncoder.TEMPLATE_ID, InfoCodec.putText(body, next, "service", service));
        }, this::undo);
        int errno = ((DriverEvent.InfoEnd) command.result()).errno();
        // no match is a result that explains itself, everything else is a failure
        if (errno != 0 && errno != FabricErrno.ENODATA) {
            throw new FabricException(errno, "asking for fabrics failed");
        }
        List<Info> matches = new ArrayList<>();
        for (DriverEvent part : command.parts()) {
            if (part instanceof DriverEvent.InfoMatch match) {
                matches.add(match.info());
            }
        }
        return new InfoResult(matches, verdicts(command));
    }

    /** Asks how a peer is reached. */
    public PeerPath path(long endpointId, String address, long fiAddr) {
        PendingCommand command = caller.call("explaining a path", id -> {
            new ExplainPathEncoder().wrap(body, 0).correlationId(id).endpointId(endpointId).fiAddr(fiAddr);
            return submit(ExplainPathEncoder.TEMPLATE_ID, ExplainPathEncoder.BLOCK_LENGTH);
        }, this::undo);
        DriverEvent.PathReady ready = (DriverEvent.PathReady) command.result();
        PeerPath.State state = switch (ready.state()) {
            case ViewDescriptor.PEER_UP -> PeerPath.State.UP;
            case ViewDescriptor.PEER_CONNECTING -> PeerPath.State.CONNECTING;
            default -> PeerPath.State.DOWN;
        };
        return new PeerPath(ready.linkName(), address, ready.remoteAddress(), state, verdicts(command));
    }

    /**
     * Opens a passive endpoint.
     *
     * @param address  wanted, or null.
     * @param linkName of the link, or null for all.
     * @param authKey  that requests must show.
     */
    public DriverEvent.PassiveEndpointReady openPassiveEndpoint(String address, String linkName, byte[] authKey) {
        return call(DriverEvent.PassiveEndpointReady.class, "opening a passive endpoint", id -> {
            new OpenPassiveEndpointEncoder().wrap(body, 0).correlationId(id);
            int next = InfoCodec.putText(body, OpenPassiveEndpointEncoder.BLOCK_LENGTH, "address", address);
            next = InfoCodec.putText(body, next, "link name", linkName);
            return submit(OpenPassiveEndpointEncoder.TEMPLATE_ID,
                InfoCodec.putBytes(body, next, "authorization key", authKey));
        });
    }

    /**
     * Opens a scalable endpoint.
     *
     * @param endpointName name wanted within the driver, or null.
     */
    public DriverEvent.ScalableEndpointReady openScalableEndpoint(
        long caps, int txCtxCnt, int rxCtxCnt, String endpointName) {
        return call(DriverEvent.ScalableEndpointReady.class, "opening a scalable endpoint", id -> {
            new OpenScalableEndpointEncoder().wrap(body, 0).correlationId(id).txCtxCnt(txCtxCnt).rxCtxCnt(rxCtxCnt);
            putLong(OpenScalableEndpointEncoder.capsEncodingOffset(), caps);
            return submit(OpenScalableEndpointEncoder.TEMPLATE_ID,
                InfoCodec.putText(body, OpenScalableEndpointEncoder.BLOCK_LENGTH, "endpoint name", endpointName));
        });
    }

    /**
     * Gives a passive endpoint another address.
     *
     * @param effect    gets its address, also after this call has ended with {@link FabricErrno#ETIMEDOUT}.
     */
    public void namePassiveEndpoint(long passiveId, String address, Consumer<String> effect) {
        changeAddress(List.of(NamePassiveEndpointEncoder.TEMPLATE_ID, passiveId, address),
            "naming a passive endpoint " + address, id -> {
                new NamePassiveEndpointEncoder().wrap(body, 0).correlationId(id).passiveId(passiveId);
                return submit(NamePassiveEndpointEncoder.TEMPLATE_ID,
                    InfoCodec.putText(body, NamePassiveEndpointEncoder.BLOCK_LENGTH, "address", address));
            }, effect);
    }

    /**
     * Lets a passive endpoint listen.
     *
     * @param backlog   requests that may wait; negative: as the driver is configured.
     * @param effect    gets its address, completed by the link, as for {@link #namePassiveEndpoint}.
     */
    public void listen(long passiveId, int backlog, Consumer<String> effect) {
        changeAddress(List.of(ListenEncoder.TEMPLATE_ID, passiveId), "listening", id -> {
            new ListenEncoder().wrap(body, 0).correlationId(id).passiveId(passiveId).backlog(backlog);
            return submit(ListenEncoder.TEMPLATE_ID, ListenEncoder.BLOCK_LENGTH);
        }, effect);
    }

    /**
     * Queues a change of a counter that starts when another counter has reached a threshold.
     *
     * @param threshold that its value and error value together have to reach.
     * @param value     added, or the new value.
     */
    public void queueCounterWork(
        long domain, long workId, long counterId, long threshold, long targetId, long value, boolean isSet) {
        caller.call("queueing work for counter " + counterId, id -> {
            new QueueCounterWorkEncoder().wrap(body, 0).correlationId(id).domain(domain).workId(workId)
                .counterId(counterId).threshold(threshold).targetId(targetId).value(value)
                .isSet((short) (isSet ? 1 : 0));
            return submit(QueueCounterWorkEncoder.TEMPLATE_ID, QueueCounterWorkEncoder.BLOCK_LENGTH);
        }, queued -> caller.issue("cancelling work",
            id -> controlWork(id, domain, WorkAction.CANCEL, workId, 0), null));
    }

    /**
     * Cancels queued work, or checks that none uses a counter.
     *
     * @param counterId counter whose work is flushed or checked; 0 to flush that of all counters of the domain.
     */
    public void controlWork(long domain, WorkAction action, long workId, long counterId) {
        call(DriverEvent.Done.class, "asking for queued work: " + action,
            id -> controlWork(id, domain, action, workId, counterId));
    }

    private int controlWork(long correlationId, long domain, WorkAction action, long workId, long counterId) {
        new ControlWorkEncoder().wrap(body, 0).correlationId(correlationId).domain(domain).workId(workId)
            .counterId(counterId).action(action);
        return submit(ControlWorkEncoder.TEMPLATE_ID, ControlWorkEncoder.BLOCK_LENGTH);
    }

    /**
     * Begins a connection.
     *
     * @param address    where a passive endpoint listens.
     * @param onRefused  run if it is refused, also after this call has ended with {@link FabricErrno#ETIMEDOUT}.
     */
    public void connect(long endpointId, String address, byte[] cmData, Runnable onRefused) {
        begin(List.of(ConnectEndpointEncoder.TEMPLATE_ID, endpointId), "connecting to " + address, id -> {
            new ConnectEndpointEncoder().wrap(body, 0).correlationId(id).endpointId(endpointId);
            int next = InfoCodec.putText(body, ConnectEndpointEncoder.BLOCK_LENGTH, "address", address);
            return submit(
                ConnectEndpointEncoder.TEMPLATE_ID, InfoCodec.putBytes(body, next, "private data", cmData));
        }, onRefused);
    }

    public void accept(long endpointId, long requestId, byte[] cmData, Runnable onRefused) {
        begin(List.of(AcceptConnectionEncoder.TEMPLATE_ID, endpointId), "accepting a connection", id -> {
            AcceptConnectionEncoder encoder = new AcceptConnectionEncoder().wrap(body, 0).correlationId(id)
                .endpointId(endpointId).requestId(requestId).putCmData(cmData, 0, cmData.length);
            return submit(AcceptConnectionEncoder.TEMPLATE_ID, encoder.encodedLength());
        }, onRefused);
    }

    public void reject(long requestId, byte[] cmData) {
        call(DriverEvent.Done.class, "rejecting a connection", id -> {
            RejectConnectionEncoder encoder = new RejectConnectionEncoder().wrap(body, 0).correlationId(id)
                .requestId(requestId).putCmData(cmData, 0, cmData.length);
            return submit(RejectConnectionEncoder.TEMPLATE_ID, encoder.encodedLength());
        });
    }

    /** Ends a connection. */
    public void shutdown(long endpointId) {
        call(DriverEvent.Done.class, "shutting down", id -> {
            new ShutdownEndpointEncoder().wrap(body, 0).correlationId(id).endpointId(endpointId);
            return submit(ShutdownEndpointEncoder.TEMPLATE_ID, ShutdownEndpointEncoder.BLOCK_LENGTH);
        });
    }

    /** Joins a multicast group. */
    public DriverEvent.AddressReady join(long endpointId, long flags, String address) {
        PendingCommand command = caller.call("joining " + address, id -> {
            new JoinGroupEncoder().wrap(body, 0).correlationId(id).endpointId(endpointId).flags(flags);
            return submit(JoinGroupEncoder.TEMPLATE_ID,
                InfoCodec.putText(body, JoinGroupEncoder.BLOCK_LENGTH, "address", address));
        }, joined -> caller.issue("leaving " + address,
            id -> leave(id, endpointId, ((DriverEvent.AddressReady) joined).fiAddr()), null));
        return (DriverEvent.AddressReady) command.result();
    }

    /**
     * Leaves a multicast group.
     *
     * @param effect     run once it has left, as for {@link #closeObject}.
     */
    public void leave(long endpointId, long fiAddr, Runnable effect) {
        caller.change(List.of(LeaveGroupEncoder.TEMPLATE_ID, endpointId, fiAddr), "leaving a group",
            id -> leave(id, endpointId, fiAddr), true, onSuccess(effect));
        effect.run();
    }

    private int leave(long correlationId, long endpointId, long fiAddr) {
        new LeaveGroupEncoder().wrap(body, 0).correlationId(correlationId).endpointId(endpointId).fiAddr(fiAddr);
        return submit(LeaveGroupEncoder.TEMPLATE_ID, LeaveGroupEncoder.BLOCK_LENGTH);
    }

    private <T extends DriverEvent> T call(Class<T> answer, String what, LongToIntFunction encoder) {
        return answer.cast(caller.call(what, encoder, this::undo).result());
    }

    /** An object that was opened when no call waited for it any more is closed. */
    private void undo(DriverEvent late) {
        if (late instanceof DriverEvent.Opened opened && opened.objectId() != 0) {
            caller.issue("closing " + opened.kind() + ' ' + opened.objectId(),
                id -> closeObject(id, opened.kind(), opened.objectId()), null);
        }
    }

    private void change(List<Object> key, String what, LongToIntFunction encoder, Runnable effect) {
        caller.change(key, what, encoder, false, onSuccess(effect));
        effect.run();
    }

    private void changeAddress(List<Object> key, String what, LongToIntFunction encoder, Consumer<String> effect) {
        PendingCommand command = caller.change(key, what, encoder, false, (late, failure) -> {
            if (late instanceof DriverEvent.AddressReady ready) {
                effect.accept(ready.address());
            }
        });
        effect.accept(((DriverEvent.AddressReady) command.result()).address());
    }

    /** What follows is reported by events, so a late answer is of interest only if it is a refusal. */
    private void begin(List<Object> key, String what, LongToIntFunction encoder, Runnable onRefused) {
        boolean mayBegin = false;
        try {
            caller.change(key, what, encoder, false, (late, failure) -> {
                if (failure != null) {
                    onRefused.run();
                }
            });
            mayBegin = true;
        } catch (UnansweredException late) {
            mayBegin = true;
            throw late;
        } finally {
            if (!mayBegin) {
                onRefused.run();
            }
        }
    }

    private static AnswerHandler onSuccess(Runnable effect) {
        return (answer, failure) -> {
            if (failure == null) {
                effect.run();
            }
        };
    }

    private static List<Verdict> verdicts(PendingCommand command) {
        List<Verdict> verdicts = new ArrayList<>();
        for (DriverEvent part : command.parts()) {
            if (part instanceof DriverEvent.InfoVerdict verdict) {
                verdicts.add(verdict.verdict());
            }
        }
        return verdicts;
    }

    private void putInt(int offset, int value) {
        body.putInt(offset, value, ByteOrder.LITTLE_ENDIAN);
    }

    private void putLong(int offset, long value) {
        body.putLong(offset, value, ByteOrder.LITTLE_ENDIAN);
    }

    /** Writes the encoded command; 0, or {@code -FI_EAGAIN} if the ring is full. */
    private int submit(int type, int bodyLength) {
        int length = RecordRingDescriptor.WORD_LENGTH + bodyLength;
        if (length > producer.capacity() / 4) {
            throw new FabricException(FabricErrno.EINVAL, "the command has " + length + " bytes, a command ring of "
                + producer.capacity() + " takes " + producer.capacity() / 4, "Use shorter names.");
        }
        int offset = producer.claim(length);
        if (offset < 0) {
            return offset;
        }
        ring.putBytes(offset + RecordRingDescriptor.WORD_LENGTH, body, 0, bodyLength);
        producer.commit(offset, length, type);
        if (doorbell != null) {
            doorbell.ring();
        }
        return 0;
    }
}
