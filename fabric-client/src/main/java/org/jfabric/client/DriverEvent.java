package org.jfabric.client;

import org.agrona.DirectBuffer;
import org.jfabric.codec.control.AddressReadyDecoder;
import org.jfabric.codec.control.AddressVectorReadyDecoder;
import org.jfabric.codec.control.CardKeyReadyDecoder;
import org.jfabric.codec.control.ClientEndedDecoder;
import org.jfabric.codec.control.CommandFailedDecoder;
import org.jfabric.codec.control.CompletionQueueOverrunDecoder;
import org.jfabric.codec.control.CompletionQueueReadyDecoder;
import org.jfabric.codec.control.ConnectionEndedDecoder;
import org.jfabric.codec.control.ConnectionFailedDecoder;
import org.jfabric.codec.control.ConnectionMadeDecoder;
import org.jfabric.codec.control.ConnectionRequestedDecoder;
import org.jfabric.codec.control.CounterReadyDecoder;
import org.jfabric.codec.control.DoneDecoder;
import org.jfabric.codec.control.DriverDrainingDecoder;
import org.jfabric.codec.control.EndpointReadyDecoder;
import org.jfabric.codec.control.InfoEndDecoder;
import org.jfabric.codec.control.InfoMatchDecoder;
import org.jfabric.codec.control.InfoVerdictDecoder;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.PassiveEndpointReadyDecoder;
import org.jfabric.codec.control.PathReadyDecoder;
import org.jfabric.codec.control.PeerDownDecoder;
import org.jfabric.codec.control.RegionReadyDecoder;
import org.jfabric.codec.control.ScalableEndpointReadyDecoder;
import org.jfabric.codec.control.ViewReadyDecoder;
import org.jfabric.codec.control.WaitSetReadyDecoder;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.Verdict;

/**
 * A record of the event ring, decoded: the answer to a command, or an event. Each kind decodes itself. Control path
 * only.
 */
public sealed interface DriverEvent {
    /** Greatest type of a record in the event ring. */
    int MAX_TYPE = DriverDrainingDecoder.TEMPLATE_ID;

    /** Id of the command that this answers. Returns the id, 0 for an event that answers none. */
    long correlationId();

    /**
     * Decodes a record of the event ring. Nothing is read beyond it, whatever it contains.
     *
     * @param end    index behind the record.
     * @throws FabricException with {@link FabricErrno#EINVAL} if it cannot be an event.
     */
    static DriverEvent decode(int type, DirectBuffer buffer, int block, int end) {
        Encoded message = new Encoded(buffer, block, end);
        return switch (type) {
            case CommandFailedDecoder.TEMPLATE_ID -> CommandFailed.decode(message);
            case CompletionQueueReadyDecoder.TEMPLATE_ID -> CompletionQueueReady.decode(message);
            case CounterReadyDecoder.TEMPLATE_ID -> CounterReady.decode(message);
            case WaitSetReadyDecoder.TEMPLATE_ID -> WaitSetReady.decode(message);
            case ViewReadyDecoder.TEMPLATE_ID -> ViewReady.decode(message);
            case AddressVectorReadyDecoder.TEMPLATE_ID -> AddressVectorReady.decode(message);
            case AddressReadyDecoder.TEMPLATE_ID -> AddressReady.decode(message);
            case RegionReadyDecoder.TEMPLATE_ID -> RegionReady.decode(message);
            case CardKeyReadyDecoder.TEMPLATE_ID -> CardKeyReady.decode(message);
            case EndpointReadyDecoder.TEMPLATE_ID -> EndpointReady.decode(message);
            case DoneDecoder.TEMPLATE_ID -> Done.decode(message);
            case InfoMatchDecoder.TEMPLATE_ID -> InfoMatch.decode(message);
            case InfoVerdictDecoder.TEMPLATE_ID -> InfoVerdict.decode(message);
            case InfoEndDecoder.TEMPLATE_ID -> InfoEnd.decode(message);
            case PathReadyDecoder.TEMPLATE_ID -> PathReady.decode(message);
            case PeerDownDecoder.TEMPLATE_ID -> PeerDown.decode(message);
            case PassiveEndpointReadyDecoder.TEMPLATE_ID -> PassiveEndpointReady.decode(message);
            case ScalableEndpointReadyDecoder.TEMPLATE_ID -> ScalableEndpointReady.decode(message);
            case ConnectionRequestedDecoder.TEMPLATE_ID -> ConnectionRequested.decode(message);
            case ConnectionMadeDecoder.TEMPLATE_ID -> ConnectionMade.decode(message);
            case ConnectionFailedDecoder.TEMPLATE_ID -> ConnectionFailed.decode(message);
            case ConnectionEndedDecoder.TEMPLATE_ID -> ConnectionEnded.decode(message);
            case CompletionQueueOverrunDecoder.TEMPLATE_ID -> CompletionQueueOverrun.decode(message);
            case ClientEndedDecoder.TEMPLATE_ID -> ClientEnded.decode(message);
            case DriverDrainingDecoder.TEMPLATE_ID -> DriverDraining.decode(message);
            default -> throw new FabricException(FabricErrno.EINVAL, "type " + type + " is not known");
        };
    }

    /**
     * A record that is not decoded yet.
     *
     * @param end    index behind the record.
     */
    record Encoded(DirectBuffer buffer, int block, int end) {
        /** The fields behind the block; refuses a record that is shorter than its block. */
        VarDataReader texts(int blockLength) {
            if (end - block < blockLength) {
                throw new FabricException(FabricErrno.EINVAL,
                    "the record has " + (end - block) + " bytes, its block needs " + blockLength);
            }
            return new VarDataReader(buffer, block + blockLength, end);
        }
    }

    /** An object is open that the client has to close. */
    sealed interface Opened extends DriverEvent {
        ObjectKind kind();

        /** Which one. Returns its id, of a region its index; 0 if nothing was opened. */
        long objectId();
    }

    /**
     * A command was refused, and nothing changed.
     *
     * @param errno         positive fabric errno.
     * @param message       what was seen, needed, and what to do.
     */
    record CommandFailed(long correlationId, int errno, String message) implements DriverEvent {
        static CommandFailed decode(Encoded message) {
            VarDataReader texts = message.texts(CommandFailedDecoder.BLOCK_LENGTH);
            CommandFailedDecoder decoder = new CommandFailedDecoder().wrap(
                message.buffer, message.block, CommandFailedDecoder.BLOCK_LENGTH, CommandFailedDecoder.SCHEMA_VERSION);
            return new CommandFailed(decoder.correlationId(), decoder.errno(), texts.utf8());
        }
    }

    /**
     * A completion queue is open.
     *
     * @param capacity      entries of the ring, a power of two.
     * @param driverShare   slots for entries without one.
     * @param waitToken     for the wait channel, 0 if there is none.
     */
    record CompletionQueueReady(
        long correlationId,
        long cqId,
        long fileNumber,
        int capacity,
        int clientShare,
        int driverShare,
        CompletionFormat format,
        long waitToken) implements Opened {
        static CompletionQueueReady decode(Encoded message) {
            message.texts(CompletionQueueReadyDecoder.BLOCK_LENGTH);
            CompletionQueueReadyDecoder decoder = new CompletionQueueReadyDecoder().wrap(
                message.buffer, message.block,
                CompletionQueueReadyDecoder.BLOCK_LENGTH, CompletionQueueReadyDecoder.SCHEMA_VERSION);
            return new CompletionQueueReady(
                decoder.correlationId(),
                decoder.cqId(),
                decoder.fileNumber(),
                decoder.capacity(),
                decoder.clientShare(),
                decoder.driverShare(),
                CompletionFormat.of(decoder.formatRaw()),
                decoder.waitToken());
        }

        @Override
        public ObjectKind kind() {
            return ObjectKind.COMPLETION_QUEUE;
        }

        @Override
        public long objectId() {
            return cqId;
        }
    }

    /**
     * A counter is open.
     *
     * @param waitToken     for the wait channel, 0 if there is none.
     */
    record CounterReady(long correlationId, long counterId, long fileNumber, long waitToken) implements Opened {
        static CounterReady decode(Encoded message) {
            message.texts(CounterReadyDecoder.BLOCK_LENGTH);
            CounterReadyDecoder decoder = new CounterReadyDecoder().wrap(
                message.buffer, message.block, CounterReadyDecoder.BLOCK_LENGTH, CounterReadyDecoder.SCHEMA_VERSION);
            return new CounterReady(
                decoder.correlationId(), decoder.counterId(), decoder.fileNumber(), decoder.waitToken());
        }

        @Override
        public ObjectKind kind() {
            return ObjectKind.COUNTER;
        }

        @Override
        public long objectId() {
            return counterId;
        }
    }

    /**
     * A wait set is open.
     *
     * @param waitToken     for the wait channel, 0 if there is none.
     */
    record WaitSetReady(long correlationId, long waitSetId, long fileNumber, long waitToken) implements Opened {
        static WaitSetReady decode(Encoded message) {
            message.texts(WaitSetReadyDecoder.BLOCK_LENGTH);
            WaitSetReadyDecoder decoder = new WaitSetReadyDecoder().wrap(
                message.buffer, message.block, WaitSetReadyDecoder.BLOCK_LENGTH, WaitSetReadyDecoder.SCHEMA_VERSION);
            return new WaitSetReady(
                decoder.correlationId(), decoder.waitSetId(), decoder.fileNumber(), decoder.waitToken());
        }

        @Override
        public ObjectKind kind() {
            return ObjectKind.WAIT_SET;
        }

        @Override
        public long objectId() {
            return waitSetId;
        }
    }

    /**
     * The driver writes what it sees in the queues of an endpoint into a file.
     *
     * @param viewId        its id; 0 if there is no such endpoint.
     */
    record ViewReady(long correlationId, long viewId, long fileNumber, long endpointId) implements Opened {
        static ViewReady decode(Encoded message) {
            message.texts(ViewReadyDecoder.BLOCK_LENGTH);
            ViewReadyDecoder decoder = new ViewReadyDecoder().wrap(
                message.buffer, message.block, ViewReadyDecoder.BLOCK_LENGTH, ViewReadyDecoder.SCHEMA_VERSION);
            return new ViewReady(
                decoder.correlationId(), decoder.viewId(), decoder.fileNumber(), decoder.endpointId());
        }

        @Override
        public ObjectKind kind() {
            return ObjectKind.VIEW;
        }

        @Override
        public long objectId() {
            return viewId;
        }
    }

    /** An address vector is open. */
    record AddressVectorReady(long correlationId, long avId) implements Opened {
        static AddressVectorReady decode(Encoded message) {
            message.texts(AddressVectorReadyDecoder.BLOCK_LENGTH);
            AddressVectorReadyDecoder decoder = new AddressVectorReadyDecoder().wrap(
                message.buffer, message.block,
                AddressVectorReadyDecoder.BLOCK_LENGTH, AddressVectorReadyDecoder.SCHEMA_VERSION);
            return new AddressVectorReady(decoder.correlationId(), decoder.avId());
        }

        @Override
        public ObjectKind kind() {
            return ObjectKind.ADDRESS_VECTOR;
        }

        @Override
        public long objectId() {
            return avId;
        }
    }

    /**
     * An address is in the vector, or is that of a passive endpoint.
     *
     * @param fiAddr        its number in the vector, 0 if there is none.
     */
    record AddressReady(long correlationId, long fiAddr, String address) implements DriverEvent {
        static AddressReady decode(Encoded message) {
            VarDataReader texts = message.texts(AddressReadyDecoder.BLOCK_LENGTH);
            AddressReadyDecoder decoder = new AddressReadyDecoder().wrap(
                message.buffer, message.block, AddressReadyDecoder.BLOCK_LENGTH, AddressReadyDecoder.SCHEMA_VERSION);
            return new AddressReady(decoder.correlationId(), decoder.fiAddr(), texts.ascii());
        }
    }

    /**
     * Memory is registered.
     *
     * @param fileNumber    of its file, 0 if it has none.
     * @param generation    all 64 bits.
     * @param regionIndex   index in the client, from 1.
     */
    record RegionReady(long correlationId, long fileNumber, long generation, long length, int regionIndex)
        implements Opened {
        static RegionReady decode(Encoded message) {
            message.texts(RegionReadyDecoder.BLOCK_LENGTH);
            RegionReadyDecoder decoder = new RegionReadyDecoder().wrap(
                message.buffer, message.block, RegionReadyDecoder.BLOCK_LENGTH, RegionReadyDecoder.SCHEMA_VERSION);
            return new RegionReady(
                decoder.correlationId(), decoder.fileNumber(), decoder.generation(), decoder.length(),
                decoder.regionIndex());
        }

        @Override
        public ObjectKind kind() {
            return ObjectKind.MEMORY_REGION;
        }

        @Override
        public long objectId() {
            return regionIndex;
        }
    }

    /**
     * A region is registered with a card.
     *
     * @param address       of the region's first byte under that key.
     */
    record CardKeyReady(long correlationId, long key, long address) implements DriverEvent {
        static CardKeyReady decode(Encoded message) {
            message.texts(CardKeyReadyDecoder.BLOCK_LENGTH);
            CardKeyReadyDecoder decoder = new CardKeyReadyDecoder().wrap(
                message.buffer, message.block, CardKeyReadyDecoder.BLOCK_LENGTH, CardKeyReadyDecoder.SCHEMA_VERSION);
            return new CardKeyReady(decoder.correlationId(), decoder.key(), decoder.address());
        }
    }

    /**
     * An endpoint is enabled.
     *
     * @param transmitQueueFile   number of the {@code .tq} file, 0 if it has none.
     * @param receiveQueueFile    number of the {@code .rq} file, 0 if it has none.
     * @param txSize              sends outstanding at most.
     * @param rxSize              receives outstanding at most.
     * @param injectSize          bytes of an inject at most.
     * @param maxMsgSize          bytes of a message at most.
     * @param rxCqIndex           which entries of its receive completion queue are its own.
     * @param slabFile            number of the {@code .slab} file, 0 if it has none.
     */
    record EndpointReady(
        long correlationId,
        long endpointId,
        long transmitQueueFile,
        long receiveQueueFile,
        int transmitQueueLength,
        int receiveQueueLength,
        int activityIndex,
        int txSize,
        int rxSize,
        int injectSize,
        long maxMsgSize,
        int rxCqIndex,
        long slabFile,
        int slabCells,
        int slabCellLength,
        String address) implements Opened {
        static EndpointReady decode(Encoded message) {
            VarDataReader texts = message.texts(EndpointReadyDecoder.BLOCK_LENGTH);
            EndpointReadyDecoder decoder = new EndpointReadyDecoder().wrap(
                message.buffer, message.block, EndpointReadyDecoder.BLOCK_LENGTH, EndpointReadyDecoder.SCHEMA_VERSION);
            return new EndpointReady(
                decoder.correlationId(),
                decoder.endpointId(),
                decoder.transmitQueueFile(),
                decoder.receiveQueueFile(),
                decoder.transmitQueueLength(),
                decoder.receiveQueueLength(),
                decoder.activityIndex(),
                decoder.txSize(),
                decoder.rxSize(),
                decoder.injectSize(),
                decoder.maxMsgSize(),
                decoder.rxCqIndex(),
                decoder.slabFile(),
                decoder.slabCells(),
                decoder.slabCellLength(),
                texts.ascii());
        }

        @Override
        public ObjectKind kind() {
            return ObjectKind.ENDPOINT;
        }

        @Override
        public long objectId() {
            return endpointId;
        }
    }

    /** A command was carried out. */
    record Done(long correlationId) implements DriverEvent {
        static Done decode(Encoded message) {
            message.texts(DoneDecoder.BLOCK_LENGTH);
            DoneDecoder decoder = new DoneDecoder().wrap(
                message.buffer, message.block, DoneDecoder.BLOCK_LENGTH, DoneDecoder.SCHEMA_VERSION);
            return new Done(decoder.correlationId());
        }
    }

    /** One match of a query; more follow. */
    record InfoMatch(long correlationId, Info info) implements DriverEvent {
        static InfoMatch decode(Encoded message) {
            VarDataReader texts = message.texts(InfoMatchDecoder.BLOCK_LENGTH);
            InfoMatchDecoder decoder = new InfoMatchDecoder().wrap(
                message.buffer, message.block, InfoMatchDecoder.BLOCK_LENGTH, InfoMatchDecoder.SCHEMA_VERSION);
            Info info = InfoCodec.getFixed(message.buffer, message.block + InfoMatchDecoder.capsEncodingOffset());
            InfoCodec.getTexts(texts, info);
            return new InfoMatch(decoder.correlationId(), info);
        }
    }

    /** The verdict on one link in a query, or on a peer's path; more follow. */
    record InfoVerdict(long correlationId, Verdict verdict) implements DriverEvent {
        static InfoVerdict decode(Encoded message) {
            VarDataReader texts = message.texts(InfoVerdictDecoder.BLOCK_LENGTH);
            InfoVerdictDecoder decoder = new InfoVerdictDecoder().wrap(
                message.buffer, message.block, InfoVerdictDecoder.BLOCK_LENGTH, InfoVerdictDecoder.SCHEMA_VERSION);
            return new InfoVerdict(decoder.correlationId(), new Verdict(
                texts.ascii(), decoder.chosen() != 0, decoder.score(), ReasonText.parse(texts.utf8())));
        }
    }

    /**
     * A query is answered.
     *
     * @param errno         0, or positive fabric errno.
     */
    record InfoEnd(long correlationId, int errno) implements DriverEvent {
        static InfoEnd decode(Encoded message) {
            message.texts(InfoEndDecoder.BLOCK_LENGTH);
            InfoEndDecoder decoder = new InfoEndDecoder().wrap(
                message.buffer, message.block, InfoEndDecoder.BLOCK_LENGTH, InfoEndDecoder.SCHEMA_VERSION);
            return new InfoEnd(decoder.correlationId(), decoder.errno());
        }
    }

    /**
     * How a peer is reached; the verdicts on the links came before.
     *
     * @param state         see {@code PEER_*} of {@link org.jfabric.layout.ViewDescriptor}.
     * @param linkName      empty for none.
     */
    record PathReady(long correlationId, int state, String linkName, String remoteAddress) implements DriverEvent {
        static PathReady decode(Encoded message) {
            VarDataReader texts = message.texts(PathReadyDecoder.BLOCK_LENGTH);
            PathReadyDecoder decoder = new PathReadyDecoder().wrap(
                message.buffer, message.block, PathReadyDecoder.BLOCK_LENGTH, PathReadyDecoder.SCHEMA_VERSION);
            return new PathReady(decoder.correlationId(), decoder.state(), texts.ascii(), texts.ascii());
        }
    }

    /**
     * A peer of an endpoint is gone.
     *
     * @param fiAddr     number of the peer in its address vector, -1 if it has none.
     * @param errno      positive fabric errno.
     * @param provErrno  what the link says besides, else the errno again.
     */
    record PeerDown(long endpointId, long fiAddr, int errno, int provErrno, String address) implements DriverEvent {
        static PeerDown decode(Encoded message) {
            VarDataReader texts = message.texts(PeerDownDecoder.BLOCK_LENGTH);
            PeerDownDecoder decoder = new PeerDownDecoder().wrap(
                message.buffer, message.block, PeerDownDecoder.BLOCK_LENGTH, PeerDownDecoder.SCHEMA_VERSION);
            return new PeerDown(
                decoder.endpointId(), decoder.fiAddr(), decoder.errno(), decoder.provErrno(), texts.ascii());
        }

        @Override
        public long correlationId() {
            return 0;
        }
    }

    /**
     * The driver takes no new endpoints and ends when no send is outstanding, or does so no more.
     *
     * @param begins false if it continues to serve.
     */
    record DriverDraining(boolean begins) implements DriverEvent {
        static DriverDraining decode(Encoded message) {
            message.texts(DriverDrainingDecoder.BLOCK_LENGTH);
            DriverDrainingDecoder decoder = new DriverDrainingDecoder().wrap(
                message.buffer, message.block, DriverDrainingDecoder.BLOCK_LENGTH,
                DriverDrainingDecoder.SCHEMA_VERSION);
            return new DriverDraining(decoder.begins() != 0);
        }

        @Override
        public long correlationId() {
            return 0;
        }
    }

    /** An event of a connection; answers no command. */
    sealed interface OfConnection extends DriverEvent {
        @Override
        default long correlationId() {
            return 0;
        }
    }

    /** A scalable endpoint is open. */
    record ScalableEndpointReady(long correlationId, long scalableId, String address) implements Opened {
        static ScalableEndpointReady decode(Encoded message) {
            VarDataReader texts = message.texts(ScalableEndpointReadyDecoder.BLOCK_LENGTH);
            ScalableEndpointReadyDecoder decoder = new ScalableEndpointReadyDecoder().wrap(
                message.buffer, message.block,
                ScalableEndpointReadyDecoder.BLOCK_LENGTH, ScalableEndpointReadyDecoder.SCHEMA_VERSION);
            return new ScalableEndpointReady(decoder.correlationId(), decoder.scalableId(), texts.ascii());
        }

        @Override
        public ObjectKind kind() {
            return ObjectKind.SCALABLE_ENDPOINT;
        }

        @Override
        public long objectId() {
            return scalableId;
        }
    }

    /** A passive endpoint is open. */
    record PassiveEndpointReady(long correlationId, long passiveId, String address) implements Opened {
        static PassiveEndpointReady decode(Encoded message) {
            VarDataReader texts = message.texts(PassiveEndpointReadyDecoder.BLOCK_LENGTH);
            PassiveEndpointReadyDecoder decoder = new PassiveEndpointReadyDecoder().wrap(
                message.buffer, message.block,
                PassiveEndpointReadyDecoder.BLOCK_LENGTH, PassiveEndpointReadyDecoder.SCHEMA_VERSION);
            return new PassiveEndpointReady(decoder.correlationId(), decoder.passiveId(), texts.ascii());
        }

        @Override
        public ObjectKind kind() {
            return ObjectKind.PASSIVE_ENDPOINT;
        }

        @Override
        public long objectId() {
            return passiveId;
        }
    }

    /** A peer asks for a connection. */
    record ConnectionRequested(long passiveId, long requestId, String linkName, String peerAddress, byte[] cmData)
        implements OfConnection {
        static ConnectionRequested decode(Encoded message) {
            VarDataReader texts = message.texts(ConnectionRequestedDecoder.BLOCK_LENGTH);
            ConnectionRequestedDecoder decoder = new ConnectionRequestedDecoder().wrap(
                message.buffer, message.block,
                ConnectionRequestedDecoder.BLOCK_LENGTH, ConnectionRequestedDecoder.SCHEMA_VERSION);
            return new ConnectionRequested(
                decoder.passiveId(), decoder.requestId(), texts.ascii(), texts.ascii(), texts.bytes());
        }
    }

    /** A connection is made. */
    record ConnectionMade(long endpointId, String localAddress, String peerAddress, byte[] cmData)
        implements OfConnection {
        static ConnectionMade decode(Encoded message) {
            VarDataReader texts = message.texts(ConnectionMadeDecoder.BLOCK_LENGTH);
            ConnectionMadeDecoder decoder = new ConnectionMadeDecoder().wrap(
                message.buffer, message.block,
                ConnectionMadeDecoder.BLOCK_LENGTH, ConnectionMadeDecoder.SCHEMA_VERSION);
            return new ConnectionMade(decoder.endpointId(), texts.ascii(), texts.ascii(), texts.bytes());
        }
    }

    /**
     * A connection was refused or could not be made, or a passive endpoint listens no more.
     *
     * @param objectId endpoint or passive endpoint.
     * @param errno    positive fabric errno.
     */
    record ConnectionFailed(long objectId, int errno, byte[] cmData) implements OfConnection {
        static ConnectionFailed decode(Encoded message) {
            VarDataReader texts = message.texts(ConnectionFailedDecoder.BLOCK_LENGTH);
            ConnectionFailedDecoder decoder = new ConnectionFailedDecoder().wrap(
                message.buffer, message.block,
                ConnectionFailedDecoder.BLOCK_LENGTH, ConnectionFailedDecoder.SCHEMA_VERSION);
            return new ConnectionFailed(decoder.objectId(), decoder.errno(), texts.bytes());
        }
    }

    /**
     * The peer of a connected endpoint has ended the connection, or is lost.
     *
     * @param errno      0 for an orderly end, else why it was lost.
     */
    record ConnectionEnded(long endpointId, int errno) implements OfConnection {
        static ConnectionEnded decode(Encoded message) {
            message.texts(ConnectionEndedDecoder.BLOCK_LENGTH);
            ConnectionEndedDecoder decoder = new ConnectionEndedDecoder().wrap(
                message.buffer, message.block,
                ConnectionEndedDecoder.BLOCK_LENGTH, ConnectionEndedDecoder.SCHEMA_VERSION);
            return new ConnectionEnded(decoder.endpointId(), decoder.errno());
        }
    }

    /** A completion queue has lost an entry: it reports nothing any more. */
    record CompletionQueueOverrun(long cqId) implements DriverEvent {
        static CompletionQueueOverrun decode(Encoded message) {
            message.texts(CompletionQueueOverrunDecoder.BLOCK_LENGTH);
            CompletionQueueOverrunDecoder decoder = new CompletionQueueOverrunDecoder().wrap(
                message.buffer, message.block,
                CompletionQueueOverrunDecoder.BLOCK_LENGTH, CompletionQueueOverrunDecoder.SCHEMA_VERSION);
            return new CompletionQueueOverrun(decoder.cqId());
        }

        @Override
        public long correlationId() {
            return 0;
        }
    }

    /**
     * The driver ends this client.
     *
     * @param errno  positive fabric errno.
     */
    record ClientEnded(int errno, String reason) implements DriverEvent {
        static ClientEnded decode(Encoded message) {
            VarDataReader texts = message.texts(ClientEndedDecoder.BLOCK_LENGTH);
            ClientEndedDecoder decoder = new ClientEndedDecoder().wrap(
                message.buffer, message.block, ClientEndedDecoder.BLOCK_LENGTH, ClientEndedDecoder.SCHEMA_VERSION);
            return new ClientEnded(decoder.errno(), texts.utf8());
        }

        @Override
        public long correlationId() {
            return 0;
        }
    }
}
