package org.jfabric.driver.conductor;

import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.codec.control.CompletionQueueReady;
import org.jfabric.codec.control.OpenCompletionQueue;
import org.jfabric.codec.queue.CompletionDecoder;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.MetricsConfig;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.ffi.Affinity;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitCondition;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.FileType;

/** {@code fi_cq_open}: creates the file, then passes it to the engine. Owner: conductor. */
final class OpenCompletionQueueCommand extends Command {
    private enum State {
        CHECK,
        MADE,
        SERVED
    }

    private final OpenCompletionQueue message;
    private final RequestedWait wait;
    private final long id;
    private State state = State.CHECK;
    private int clientShare;
    private int driverShare;
    private int capacity;
    private CompletionFormat format;
    private SharedFile file;
    private CompletionQueueResource queue;

    OpenCompletionQueueCommand(CommandRequest request, OpenCompletionQueue message) {
        super(request);
        this.message = message;
        wait = new RequestedWait(session(), message.waitObj(), message.waitSetId());
        id = registry().nextId();
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                check();
                state = State.MADE;
                background(this::make, CompletionQueueDescriptor.fileLength(capacity));
            }
            case MADE -> {
                WaitPoint[] points = wait.points(
                    context().threads().count(), file.address() + CompletionQueueDescriptor.WAIT_OFFSET);
                queue = new CompletionQueueResource(id, file, thread -> writer(points[thread]), capacity, clientShare,
                    driverShare, wait.waitResource(), wait.waitSet());
                state = State.SERVED;
                if (context().threads().count() == 1) {
                    queue.place(0);
                    onThread(0, () -> context().threads().get(0).agent().addCompletionQueue(
                        session().progress(0), queue.writer()));
                }
            }
            default -> {
                session().completionQueues().put(id, queue);
                context().counters().add(SystemCounter.COMPLETION_QUEUES, 1);
                return answer(new CompletionQueueReady(
                    correlationId(), id, file.number(), capacity, clientShare, driverShare, format.code(),
                    WaitResource.token(wait.waitResource())));
            }
        }
        return Step.AGAIN;
    }

    @Override
    protected void undo() {
        wait.undo();
        if (file != null) {
            file.delete();
            unmapAfterwards(List.of(file));
        }
    }

    /** The progress thread found no slot for an entry: the conductor notifies the client. */
    private CompletionWriter writer(WaitPoint point) {
        CompletionWriter made = new CompletionWriter(file.address(), capacity, driverShare, point, this::onOverrun);
        if (session().isEmbedded()) {
            UnsafeApi.putInt(file.address() + CompletionQueueDescriptor.SAMPLE_DISTANCE_OFFSET,
                context().config().get(MetricsConfig.STAGE_SAMPLING));
            made.retireAtOnce();
        }
        return made;
    }

    private void onOverrun() {
        session().progress(0).session().listener().onCompletionQueueOverrun(session().id(), id);
    }

    private void check() {
        CompletionFormat wanted = CompletionFormat.of(message.format());
        // a client that specifies no format gets the full one
        format = wanted == CompletionFormat.UNSPEC ? CompletionFormat.TAGGED : wanted;
        if (wait.check("completion queue") != WaitObject.NONE) {
            WaitCondition.of(message.waitCond());
        }
        checkAffinity();
        DriverConfig config = context().config();
        long wantedSize = message.size() == 0 ? config.get(QueueConfig.CQ_SIZE) : message.size();
        int most = CompletionQueueDescriptor.MAX_CAPACITY / 2;
        if (wantedSize < 1 || wantedSize > most) {
            throw new FabricException(FabricErrno.EINVAL,
                "a completion queue of " + Long.toUnsignedString(wantedSize) + " entries, at most " + most,
                "Use several queues.");
        }
        clientShare = (int) wantedSize;
        driverShare = Sizing.cqDriverShare(config, clientShare);
        long entries = Sizing.cqRingEntries(config, clientShare);
        if (entries > CompletionQueueDescriptor.MAX_CAPACITY) {
            throw new FabricException(FabricErrno.EINVAL,
                "a completion queue with a ring of " + entries + " entries, at most "
                    + CompletionQueueDescriptor.MAX_CAPACITY, "Use several queues.");
        }
        capacity = (int) entries;
        // last, because only undo() unbinds it
        wait.bind();
    }

    private void checkAffinity() {
        if ((message.flags() & ~Flags.AFFINITY) != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "open flags are " + Flags.toString(message.flags(), Flags.Kind.CQ_OPEN) + ", only AFFINITY is known");
        }
        int processors = Affinity.processors();
        if (message.flags() != 0 && (message.signalingVector() < 0 || message.signalingVector() >= processors)) {
            throw new FabricException(FabricErrno.EINVAL, "the signaling vector is " + message.signalingVector()
                + ", needed is 0 to "
                + (processors - 1), "Name a logical processor of this host, or open without AFFINITY.");
        }
    }

    private void make() {
        long length = CompletionQueueDescriptor.fileLength(capacity);
        file = context().files().create(
            session().id(),
            context().files().nextNumber(),
            FileType.COMPLETION_QUEUE,
            CompletionDecoder.SCHEMA_ID,
            length,
            length - CompletionQueueDescriptor.RECORDS_OFFSET,
            capacity,
            clientShare & 0xFFFF_FFFFL | (long) driverShare << Integer.SIZE);
    }
}
