package org.jfabric.client;

import org.agrona.DirectBuffer;
import org.jfabric.CompletionFormat;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Info;
import org.jfabric.Verdict;
import org.jfabric.codec.control.AddressReadyDecoder;
import org.jfabric.codec.control.AddressVectorReadyDecoder;
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
import org.jfabric.codec.control.EndpointReadyDecoder;
import org.jfabric.codec.control.InfoEndDecoder;
import org.jfabric.codec.control.InfoMatchDecoder;
import org.jfabric.codec.control.InfoVerdictDecoder;
import org.jfabric.codec.control.PassiveEndpointReadyDecoder;
import org.jfabric.codec.control.PathReadyDecoder;
import org.jfabric.codec.control.PeerDownDecoder;
import org.jfabric.codec.control.RegionReadyDecoder;
import org.jfabric.codec.control.ViewReadyDecoder;
import org.jfabric.codec.control.WaitSetReadyDecoder;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Reads the event ring. Nothing is read beyond a record, whatever stands in it.
 *
 * <p>Owner: the thread of the client's conductor, with an embedded driver the thread that uses the domain.
 */
public final class DriverEventsAdapter {
    /** Greatest type of a record in the event ring. */
    public static final int MAX_TYPE = ConnectionEndedDecoder.TEMPLATE_ID;

    private final CommandFailedDecoder commandFailed = new CommandFailedDecoder();
    private final CompletionQueueReadyDecoder completionQueueReady = new CompletionQueueReadyDecoder();
    private final AddressVectorReadyDecoder addressVectorReady = new AddressVectorReadyDecoder();
    private final CounterReadyDecoder counterReady = new CounterReadyDecoder();
    private final WaitSetReadyDecoder waitSetReady = new WaitSetReadyDecoder();
    private final ViewReadyDecoder viewReady = new ViewReadyDecoder();
    private final AddressReadyDecoder addressReady = new AddressReadyDecoder();
    private final RegionReadyDecoder regionReady = new RegionReadyDecoder();
    private final EndpointReadyDecoder endpointReady = new EndpointReadyDecoder();
    private final DoneDecoder done = new DoneDecoder();
    private final InfoMatchDecoder infoMatch = new InfoMatchDecoder();
    private final InfoVerdictDecoder infoVerdict = new InfoVerdictDecoder();
    private final PathReadyDecoder pathReady = new PathReadyDecoder();
    private final InfoEndDecoder infoEnd = new InfoEndDecoder();
    private final PeerDownDecoder peerDown = new PeerDownDecoder();
    private final ClientEndedDecoder clientEnded = new ClientEndedDecoder();
    private final CompletionQueueOverrunDecoder completionQueueOverrun = new CompletionQueueOverrunDecoder();
    private final PassiveEndpointReadyDecoder passiveEndpointReady = new PassiveEndpointReadyDecoder();
    private final ConnectionRequestedDecoder connectionRequested = new ConnectionRequestedDecoder();
    private final ConnectionMadeDecoder connectionMade = new ConnectionMadeDecoder();
    private final ConnectionFailedDecoder connectionFailed = new ConnectionFailedDecoder();
    private final ConnectionEndedDecoder connectionEnded = new ConnectionEndedDecoder();
    private final RecordConsumer consumer;
    private final DirectBuffer ring;

    /**
     * An adapter of a ring.
     *
     * @param consumer reading end.
     * @param ring     the same memory, from the first record on.
     */
    public DriverEventsAdapter(RecordConsumer consumer, DirectBuffer ring) {
        this.consumer = consumer;
        this.ring = ring;
    }

    /**
     * Takes the next event. The record is given back before the return, so that handling an event may read further
     * ones.
     *
     * @return the event, or null if there is none.
     * @throws FabricException with {@link FabricErrno#EIO} if what stands there cannot be an event.
     */
    public DriverEvent next() {
        int result = consumer.poll();
        if (result == RecordConsumer.EMPTY) {
            return null;
        }
        if (result == RecordConsumer.CORRUPT) {
            throw broken(consumer.describe(), null);
        }
        int block = consumer.offset() + RecordRingDescriptor.WORD_LENGTH;
        int end = consumer.offset() + consumer.length();
        try {
            return decode(consumer.type(), block, end);
        } catch (FabricException undecodable) {
            throw broken("record of type " + consumer.type() + ": " + undecodable.getMessage(), undecodable);
        } finally {
            consumer.advance();
            consumer.release();
        }
    }

    private DriverEvent decode(int type, int block, int end) {
        switch (type) {
            case CommandFailedDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, CommandFailedDecoder.BLOCK_LENGTH, end);
                commandFailed.wrap(ring, block, CommandFailedDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.CommandFailed(
                    commandFailed.correlationId(), commandFailed.errno(), texts.utf8());
            }
            case CompletionQueueReadyDecoder.TEMPLATE_ID:
                return completionQueue(block, end);
            case AddressVectorReadyDecoder.TEMPLATE_ID:
                texts(block, AddressVectorReadyDecoder.BLOCK_LENGTH, end);
                addressVectorReady.wrap(ring, block, AddressVectorReadyDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.AddressVectorReady(
                    addressVectorReady.correlationId(), addressVectorReady.avId());
            case AddressReadyDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, AddressReadyDecoder.BLOCK_LENGTH, end);
                addressReady.wrap(ring, block, AddressReadyDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.AddressReady(
                    addressReady.correlationId(), addressReady.fiAddr(), texts.ascii());
            }
            case RegionReadyDecoder.TEMPLATE_ID:
                texts(block, RegionReadyDecoder.BLOCK_LENGTH, end);
                regionReady.wrap(ring, block, RegionReadyDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.RegionReady(regionReady.correlationId(), regionReady.fileNumber(),
                    regionReady.generation(), regionReady.length(), regionReady.regionIndex());
            case EndpointReadyDecoder.TEMPLATE_ID:
                return endpoint(block, end);
            case DoneDecoder.TEMPLATE_ID:
                texts(block, DoneDecoder.BLOCK_LENGTH, end);
                return new DriverEvent.Done(done.wrap(ring, block, DoneDecoder.BLOCK_LENGTH, 0).correlationId());
            default:
                return decodeInfoOrEvent(type, block, end);
        }
    }

    private DriverEvent decodeInfoOrEvent(int type, int block, int end) {
        switch (type) {
            case InfoMatchDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, InfoMatchDecoder.BLOCK_LENGTH, end);
                infoMatch.wrap(ring, block, InfoMatchDecoder.BLOCK_LENGTH, 0);
                Info info = InfoCodec.getFixed(ring, block + InfoMatchDecoder.capsEncodingOffset());
                InfoCodec.getTexts(texts, info);
                return new DriverEvent.InfoMatch(infoMatch.correlationId(), info);
            }
            case InfoVerdictDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, InfoVerdictDecoder.BLOCK_LENGTH, end);
                infoVerdict.wrap(ring, block, InfoVerdictDecoder.BLOCK_LENGTH, 0);
                String link = texts.ascii();
                return new DriverEvent.InfoVerdict(infoVerdict.correlationId(), new Verdict(
                    link, infoVerdict.chosen() != 0, infoVerdict.score(), ReasonText.parse(texts.utf8())));
            }
            case InfoEndDecoder.TEMPLATE_ID:
                texts(block, InfoEndDecoder.BLOCK_LENGTH, end);
                infoEnd.wrap(ring, block, InfoEndDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.InfoEnd(infoEnd.correlationId(), infoEnd.errno());
            case CounterReadyDecoder.TEMPLATE_ID:
                texts(block, CounterReadyDecoder.BLOCK_LENGTH, end);
                counterReady.wrap(ring, block, CounterReadyDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.CounterReady(counterReady.correlationId(), counterReady.counterId(),
                    counterReady.fileNumber(), counterReady.waitToken());
            case WaitSetReadyDecoder.TEMPLATE_ID:
                texts(block, WaitSetReadyDecoder.BLOCK_LENGTH, end);
                waitSetReady.wrap(ring, block, WaitSetReadyDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.WaitSetReady(waitSetReady.correlationId(), waitSetReady.waitSetId(),
                    waitSetReady.fileNumber(), waitSetReady.waitToken());
            case ViewReadyDecoder.TEMPLATE_ID:
                texts(block, ViewReadyDecoder.BLOCK_LENGTH, end);
                viewReady.wrap(ring, block, ViewReadyDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.ViewReady(viewReady.correlationId(), viewReady.viewId(),
                    viewReady.fileNumber(), viewReady.endpointId());
            case PeerDownDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, PeerDownDecoder.BLOCK_LENGTH, end);
                peerDown.wrap(ring, block, PeerDownDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.PeerDown(
                    peerDown.endpointId(), peerDown.fiAddr(), peerDown.errno(), peerDown.provErrno(), texts.ascii());
            }
            case ClientEndedDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, ClientEndedDecoder.BLOCK_LENGTH, end);
                clientEnded.wrap(ring, block, ClientEndedDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.ClientEnded(clientEnded.errno(), texts.utf8());
            }
            case CompletionQueueOverrunDecoder.TEMPLATE_ID:
                texts(block, CompletionQueueOverrunDecoder.BLOCK_LENGTH, end);
                return new DriverEvent.CompletionQueueOverrun(completionQueueOverrun.wrap(
                    ring, block, CompletionQueueOverrunDecoder.BLOCK_LENGTH, 0).cqId());
            default:
                return decodeConnection(type, block, end);
        }
    }

    private DriverEvent decodeConnection(int type, int block, int end) {
        switch (type) {
            case PassiveEndpointReadyDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, PassiveEndpointReadyDecoder.BLOCK_LENGTH, end);
                passiveEndpointReady.wrap(ring, block, PassiveEndpointReadyDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.PassiveEndpointReady(
                    passiveEndpointReady.correlationId(), passiveEndpointReady.passiveId(), texts.ascii());
            }
            case PathReadyDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, PathReadyDecoder.BLOCK_LENGTH, end);
                pathReady.wrap(ring, block, PathReadyDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.PathReady(
                    pathReady.correlationId(), pathReady.state(), texts.ascii(), texts.ascii());
            }
            case ConnectionRequestedDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, ConnectionRequestedDecoder.BLOCK_LENGTH, end);
                connectionRequested.wrap(ring, block, ConnectionRequestedDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.ConnectionRequested(
                    connectionRequested.passiveId(), connectionRequested.requestId(), texts.ascii(), texts.ascii(),
                    texts.bytes());
            }
            case ConnectionMadeDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, ConnectionMadeDecoder.BLOCK_LENGTH, end);
                connectionMade.wrap(ring, block, ConnectionMadeDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.ConnectionMade(
                    connectionMade.endpointId(), texts.ascii(), texts.ascii(), texts.bytes());
            }
            case ConnectionFailedDecoder.TEMPLATE_ID: {
                VarDataReader texts = texts(block, ConnectionFailedDecoder.BLOCK_LENGTH, end);
                connectionFailed.wrap(ring, block, ConnectionFailedDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.ConnectionFailed(
                    connectionFailed.objectId(), connectionFailed.errno(), texts.bytes());
            }
            case ConnectionEndedDecoder.TEMPLATE_ID:
                texts(block, ConnectionEndedDecoder.BLOCK_LENGTH, end);
                connectionEnded.wrap(ring, block, ConnectionEndedDecoder.BLOCK_LENGTH, 0);
                return new DriverEvent.ConnectionEnded(connectionEnded.endpointId(), connectionEnded.errno());
            default:
                throw new FabricException(FabricErrno.EINVAL, "type " + type + " is not known");
        }
    }

    private DriverEvent completionQueue(int block, int end) {
        texts(block, CompletionQueueReadyDecoder.BLOCK_LENGTH, end);
        completionQueueReady.wrap(ring, block, CompletionQueueReadyDecoder.BLOCK_LENGTH, 0);
        return new DriverEvent.CompletionQueueReady(
            completionQueueReady.correlationId(),
            completionQueueReady.cqId(),
            completionQueueReady.fileNumber(),
            completionQueueReady.capacity(),
            completionQueueReady.clientShare(),
            completionQueueReady.driverShare(),
            CompletionFormat.of(completionQueueReady.formatRaw()),
            completionQueueReady.waitToken());
    }

    private DriverEvent endpoint(int block, int end) {
        VarDataReader texts = texts(block, EndpointReadyDecoder.BLOCK_LENGTH, end);
        endpointReady.wrap(ring, block, EndpointReadyDecoder.BLOCK_LENGTH, 0);
        return new DriverEvent.EndpointReady(
            endpointReady.correlationId(),
            endpointReady.endpointId(),
            endpointReady.transmitQueueFile(),
            endpointReady.receiveQueueFile(),
            endpointReady.transmitQueueLength(),
            endpointReady.receiveQueueLength(),
            endpointReady.activityIndex(),
            endpointReady.txSize(),
            endpointReady.rxSize(),
            endpointReady.injectSize(),
            endpointReady.maxMsgSize(),
            endpointReady.rxCqIndex(),
            endpointReady.slabFile(),
            endpointReady.slabCells(),
            endpointReady.slabCellLength(),
            texts.ascii());
    }

    private VarDataReader texts(int block, int blockLength, int end) {
        if (end - block < blockLength) {
            throw new FabricException(FabricErrno.EINVAL,
                "the record has " + (end - block) + " bytes, its block needs " + blockLength);
        }
        return new VarDataReader(ring, block + blockLength, end);
    }

    private static FabricException broken(String what, FabricException cause) {
        return new FabricException(FabricErrno.EIO, "the event ring of the driver is broken: " + what,
            "Close this fabric; if the driver still runs, use the same version of JFabric on both sides.", cause);
    }
}
