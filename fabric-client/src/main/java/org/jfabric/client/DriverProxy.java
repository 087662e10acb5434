package org.jfabric.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.LongToIntFunction;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.AcceptConnection;
import org.jfabric.codec.control.AddressReady;
import org.jfabric.codec.control.AddressVectorReady;
import org.jfabric.codec.control.CloseObject;
import org.jfabric.codec.control.CompletionQueueReady;
import org.jfabric.codec.control.ConnectEndpoint;
import org.jfabric.codec.control.ControlMessage.Answer;
import org.jfabric.codec.control.ControlMessage.Command;
import org.jfabric.codec.control.ControlWork;
import org.jfabric.codec.control.CounterReady;
import org.jfabric.codec.control.EnableRegion;
import org.jfabric.codec.control.EndpointReady;
import org.jfabric.codec.control.ExplainPath;
import org.jfabric.codec.control.InfoEnd;
import org.jfabric.codec.control.GroupJoined;
import org.jfabric.codec.control.InfoMatch;
import org.jfabric.codec.control.InfoVerdict;
import org.jfabric.codec.control.InsertAddress;
import org.jfabric.codec.control.JoinGroup;
import org.jfabric.codec.control.LeaveGroup;
import org.jfabric.codec.control.Listen;
import org.jfabric.codec.control.NamePassiveEndpoint;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.OpenAddressVector;
import org.jfabric.codec.control.OpenCompletionQueue;
import org.jfabric.codec.control.OpenCounter;
import org.jfabric.codec.control.PassiveEndpointReady;
import org.jfabric.codec.control.PathReady;
import org.jfabric.codec.control.PublishService;
import org.jfabric.codec.control.QueryInfo;
import org.jfabric.codec.control.QueueCounterWork;
import org.jfabric.codec.control.RegionReady;
import org.jfabric.codec.control.RemoveAddress;
import org.jfabric.codec.control.ScalableEndpointReady;
import org.jfabric.codec.control.TableReady;
import org.jfabric.codec.control.ViewReady;
import org.jfabric.codec.control.WaitSetReady;
import org.jfabric.codec.control.WorkAction;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.LogPosition;
import org.jfabric.info.PeerPath;
import org.jfabric.info.Verdict;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.ViewDescriptor;

/**
 * The commands of a client: each is encoded, written into the command ring and, except where a handler is given, waits
 * for its answer. A refusal is thrown as a {@link FabricException}. The progress of a connection is reported by events.
 *
 * <p>{@link #call} sends any command; the other methods are for those that are sent in several places, or need more
 * than that if their answer comes too late.
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
        PendingCommand call(String what, LongToIntFunction encoder, Consumer<Answer> undo);

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

    private final FieldWriter fields = new FieldWriter(true);
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

    /**
     * Sends a command and awaits its answer. An object that was opened when no call waited for it any more is closed.
     *
     * @param what for messages.
     */
    public <A extends Answer> A call(String what, Command<A> command) {
        return command.answer().cast(caller.call(what, sending(command), this::undo).result());
    }

    public CompletionQueueReady openCompletionQueue(CompletionQueueAttr attr) {
        return call("opening a completion queue", new OpenCompletionQueue(
            attr.size(), attr.flags(), attr.format().code(), attr.waitObject().code(), attr.signalingVector(),
            attr.waitCondition().code(), attr.waitSetId()));
    }

    public CounterReady openCounter(CounterAttr attr) {
        return call("opening a counter", new OpenCounter(
            attr.flags(), attr.events().code(), attr.waitObject().code(), attr.waitSetId()));
    }

    public AddressVectorReady openAddressVector(AddressVectorAttr attr) {
        return call("opening an address vector", new OpenAddressVector(
            attr.type().code(), attr.rxCtxBits(), attr.count(), attr.epPerNode(), attr.flags(), attr.name()));
    }

    /**
     * Inserts an address.
     *
     * @param isKnown whether the client has an address of that number anyway: what was inserted too late is removed.
     */
    public AddressReady insertAddress(long avId, String address, LongPredicate isKnown) {
        // not by call(): the same address inserted again has the same number
        InsertAddress command = new InsertAddress(avId, 0, address);
        return (AddressReady) caller.change(List.of(command), "inserting address " + address, sending(command), false,
            (answer, failure) -> {
                if (answer instanceof AddressReady late && !isKnown.test(late.fiAddr())) {
                    issue("removing address " + address, new RemoveAddress(avId, late.fiAddr(), 0), null);
                }
            }).result();
    }

    /**
     * Inserts an address without waiting for the answer.
     *
     * @param handler notified once, by the thread that reads events or the one that closes; not after an exception.
     */
    public void insertAddress(long avId, String address, AnswerHandler handler) {
        issue("inserting address " + address, new InsertAddress(avId, 0, address), handler);
    }

    /**
     * Removes an address.
     *
     * @param effect run once it is removed, also after this call has ended with {@link FabricErrno#ETIMEDOUT}.
     */
    public void removeAddress(long avId, long fiAddr, Runnable effect) {
        RemoveAddress command = new RemoveAddress(avId, fiAddr, 0);
        change(List.of(command), "removing address " + fiAddr, command, false, effect);
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
        byte[] ids = new byte[endpointIds.length * Long.BYTES];
        ByteBuffer.wrap(ids).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().put(endpointIds);
        change(List.of(EnableRegion.class, regionIndex), "enabling a region",
            new EnableRegion(regionIndex, readCounterId, writeCounterId, ids), false, effect);
    }

    /**
     * Publishes a further name of an endpoint.
     *
     * @param effect     run once it is published, as for {@link #removeAddress}.
     */
    public void publishService(long endpointId, String service, Runnable effect) {
        PublishService command = new PublishService(endpointId, service);
        change(List.of(command), "publishing service " + service, command, false, effect);
    }

    /**
     * Closes an object. A driver that ends closes it, too. From the effect on it accesses no memory through the object.
     *
     * @param effect   run once it is closed, as for {@link #removeAddress}.
     */
    public void closeObject(ObjectKind kind, long objectId, Runnable effect) {
        CloseObject command = new CloseObject(objectId, kind.value());
        change(List.of(command), closing(kind, objectId), command, true, effect);
    }

    /**
     * Asks what the fabric offers.
     *
     * @param node    where to, or null.
     * @param service where to, or null.
     */
    public InfoResult queryInfo(Info hints, long flags, String node, String service) {
        PendingCommand command = caller.call("asking for fabrics", sending(new QueryInfo(
            flags, hints.fabricAttr().apiVersion(), InfoCodec.fields(hints), hints.srcAddr(), hints.destAddr(),
            hints.linkName(), hints.fabricAttr().provName(), hints.fabricAttr().name(), hints.domainAttr().name(),
            InfoCodec.authKey(hints), node, service)), this::undo);
        int errno = ((InfoEnd) command.result()).errno();
        // no match is a result that explains itself, everything else is a failure
        if (errno != 0 && errno != FabricErrno.ENODATA) {
            throw new FabricException(errno, "asking for fabrics failed");
        }
        List<Info> matches = new ArrayList<>();
        for (Answer part : command.parts()) {
            if (part instanceof InfoMatch match) {
                matches.add(InfoCodec.info(match));
            }
        }
        return new InfoResult(matches, verdicts(command));
    }

    /** Asks how a peer is reached. */
    public PeerPath path(long endpointId, String address, long fiAddr) {
        PendingCommand command = caller.call(
            "explaining a path", sending(new ExplainPath(endpointId, fiAddr)), this::undo);
        PathReady ready = (PathReady) command.result();
        PeerPath.State state = switch (ready.state()) {
            case ViewDescriptor.PEER_UP -> PeerPath.State.UP;
            case ViewDescriptor.PEER_CONNECTING -> PeerPath.State.CONNECTING;
            default -> PeerPath.State.DOWN;
        };
        return new PeerPath(ready.linkName(), address, ready.remoteAddress(), state, verdicts(command));
    }

    /**
     * Gives a passive endpoint another address.
     *
     * @param effect    gets its address, also after this call has ended with {@link FabricErrno#ETIMEDOUT}.
     */
    public void namePassiveEndpoint(long passiveId, String address, Consumer<String> effect) {
        NamePassiveEndpoint command = new NamePassiveEndpoint(passiveId, address);
        changeAddress(List.of(command), "naming a passive endpoint " + address, command, effect);
    }

    /**
     * Lets a passive endpoint listen.
     *
     * @param backlog   requests that may wait; negative: as the driver is configured.
     * @param effect    gets its address, completed by the link, as for {@link #namePassiveEndpoint}.
     */
    public void listen(long passiveId, int backlog, Consumer<String> effect) {
        changeAddress(List.of(Listen.class, passiveId), "listening", new Listen(passiveId, backlog), effect);
    }

    /** Queues a change of a counter that starts when another counter has reached a threshold. */
    public void queueCounterWork(QueueCounterWork work) {
        caller.call("queueing work for counter " + work.counterId(), sending(work), queued -> issue("cancelling work",
            new ControlWork(work.domain(), work.workId(), 0, WorkAction.CANCEL.value()), null));
    }

    /**
     * Begins a connection.
     *
     * @param address    where a passive endpoint listens.
     * @param onRefused  run if it is refused, also after this call has ended with {@link FabricErrno#ETIMEDOUT}.
     */
    public void connect(long endpointId, String address, byte[] cmData, Runnable onRefused) {
        begin(List.of(ConnectEndpoint.class, endpointId), "connecting to " + address,
            new ConnectEndpoint(endpointId, address, cmData), onRefused);
    }

    public void accept(long endpointId, long requestId, byte[] cmData, Runnable onRefused) {
        begin(List.of(AcceptConnection.class, endpointId), "accepting a connection",
            new AcceptConnection(endpointId, requestId, cmData), onRefused);
    }

    /**
     * Joins a multicast group.
     *
     * @param from where it is read from; null for what is written from now on.
     */
    public GroupJoined join(long endpointId, long flags, String address, LogPosition from, boolean inPlace) {
        JoinGroup command = joining(endpointId, flags, address, from, inPlace);
        return (GroupJoined) caller.call("joining " + address, sending(command),
            joined -> issue("leaving " + address, new LeaveGroup(endpointId, ((GroupJoined) joined).fiAddr()), null))
            .result();
    }

    /**
     * Joins a group to read it in place, without waiting for the answer.
     *
     * @param from    as above.
     * @param handler as of {@link #insertAddress(long, String, AnswerHandler)}.
     */
    public void join(long endpointId, String address, LogPosition from, AnswerHandler handler) {
        issue("joining " + address, joining(endpointId, Flags.RECV, address, from, true), handler);
    }

    private static JoinGroup joining(
        long endpointId, long flags, String address, LogPosition from, boolean inPlace) {
        int reads = inPlace ? 1 : 0;
        return from == null ? new JoinGroup(endpointId, flags, 0, 0, 0, 0, reads, address)
            : new JoinGroup(endpointId, flags, from.position(), from.logId().getMostSignificantBits(),
                from.logId().getLeastSignificantBits(), from.term(), reads, address);
    }

    /**
     * Leaves a multicast group.
     *
     * @param effect     run once it has left, as for {@link #closeObject}.
     */
    public void leave(long endpointId, long fiAddr, Runnable effect) {
        LeaveGroup command = new LeaveGroup(endpointId, fiAddr);
        change(List.of(command), "leaving a group", command, true, effect);
    }

    /** An object that was opened when no call waited for it any more is closed. */
    private void undo(Answer late) {
        switch (late) {
            case CompletionQueueReady ready -> close(ObjectKind.COMPLETION_QUEUE, ready.cqId());
            case CounterReady ready -> close(ObjectKind.COUNTER, ready.counterId());
            case WaitSetReady ready -> close(ObjectKind.WAIT_SET, ready.waitSetId());
            case TableReady ready -> close(ObjectKind.TABLE, ready.tableId());
            case ViewReady ready -> close(ObjectKind.VIEW, ready.viewId());
            case AddressVectorReady ready -> close(ObjectKind.ADDRESS_VECTOR, ready.avId());
            case RegionReady ready -> close(ObjectKind.MEMORY_REGION, ready.regionIndex());
            case EndpointReady ready -> close(ObjectKind.ENDPOINT, ready.endpointId());
            case ScalableEndpointReady ready -> close(ObjectKind.SCALABLE_ENDPOINT, ready.scalableId());
            case PassiveEndpointReady ready -> close(ObjectKind.PASSIVE_ENDPOINT, ready.passiveId());
            default -> {
                // it has opened nothing
            }
        }
    }

    /** Closes an object without waiting for the answer; 0 if nothing was opened. */
    private void close(ObjectKind kind, long objectId) {
        if (objectId != 0) {
            issue(closing(kind, objectId), new CloseObject(objectId, kind.value()), null);
        }
    }

    private static String closing(ObjectKind kind, long objectId) {
        return "closing " + kind + ' ' + objectId;
    }

    private void issue(String what, Command<?> command, AnswerHandler handler) {
        caller.issue(what, sending(command), handler);
    }

    private void change(List<Object> key, String what, Command<?> command, boolean closes, Runnable effect) {
        caller.change(key, what, sending(command), closes, (answer, failure) -> {
            if (failure == null) {
                effect.run();
            }
        });
        effect.run();
    }

    private void changeAddress(
        List<Object> key, String what, Command<AddressReady> command, Consumer<String> effect) {
        PendingCommand sent = caller.change(key, what, sending(command), false, (late, failure) -> {
            if (late instanceof AddressReady ready) {
                effect.accept(ready.address());
            }
        });
        effect.accept(((AddressReady) sent.result()).address());
    }

    /** What follows is reported by events, so a late answer is of interest only if it is a refusal. */
    private void begin(List<Object> key, String what, Command<?> command, Runnable onRefused) {
        boolean mayBegin = false;
        try {
            caller.change(key, what, sending(command), false, (late, failure) -> {
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

    private static List<Verdict> verdicts(PendingCommand command) {
        List<Verdict> verdicts = new ArrayList<>();
        for (Answer part : command.parts()) {
            if (part instanceof InfoVerdict verdict) {
                verdicts.add(new Verdict(verdict.linkName(), verdict.chosen() != 0, verdict.score(),
                    ReasonText.parse(verdict.reasons())));
            }
        }
        return verdicts;
    }

    /** Encodes and writes a command with the id that it is given; 0, or {@code -FI_EAGAIN} if the ring is full. */
    private LongToIntFunction sending(Command<?> command) {
        return correlationId -> {
            fields.clear();
            fields.int64(correlationId);
            command.encode(fields);
            return submit(command.templateId());
        };
    }

    private int submit(int type) {
        int length = RecordRingDescriptor.WORD_LENGTH + fields.length();
        if (length > producer.capacity() / 4) {
            throw new FabricException(FabricErrno.EINVAL, "the command has " + length + " bytes, a command ring of "
                + producer.capacity() + " takes " + producer.capacity() / 4, "Use shorter names.");
        }
        int offset = producer.claim(length);
        if (offset < 0) {
            return offset;
        }
        ring.putBytes(offset + RecordRingDescriptor.WORD_LENGTH, fields.buffer(), 0, fields.length());
        producer.commit(offset, length, type);
        if (doorbell != null) {
            doorbell.ring();
        }
        return 0;
    }
}
