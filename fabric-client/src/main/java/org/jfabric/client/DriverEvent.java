package org.jfabric.client;

import org.jfabric.CompletionFormat;
import org.jfabric.Info;
import org.jfabric.Verdict;

/**
 * What the driver writes into the event ring, decoded: answers to commands, and events of its own. Control path only.
 */
public sealed interface DriverEvent {
    /**
     * Id of the command that this answers.
     *
     * @return the id, 0 for an event that answers none.
     */
    long correlationId();

    /**
     * A command was refused, and nothing changed.
     *
     * @param correlationId of the command.
     * @param errno         positive fabric errno.
     * @param message       what was seen, needed, and what to do.
     */
    record CommandFailed(long correlationId, int errno, String message) implements DriverEvent {
    }

    /**
     * A completion queue is open.
     *
     * @param correlationId of the command.
     * @param cqId          its id.
     * @param fileNumber    of its file.
     * @param capacity      entries of the ring, a power of two.
     * @param clientShare   slots for operations of the client.
     * @param driverShare   slots for entries without one.
     * @param format        concrete format.
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
        long waitToken) implements DriverEvent {
    }

    /**
     * A counter is open.
     *
     * @param correlationId of the command.
     * @param counterId     its id.
     * @param fileNumber    of its file.
     * @param waitToken     for the wait channel, 0 if there is none.
     */
    record CounterReady(long correlationId, long counterId, long fileNumber, long waitToken) implements DriverEvent {
    }

    /**
     * A wait set is open.
     *
     * @param correlationId of the command.
     * @param waitSetId     its id.
     * @param fileNumber    of its file.
     * @param waitToken     for the wait channel, 0 if there is none.
     */
    record WaitSetReady(long correlationId, long waitSetId, long fileNumber, long waitToken) implements DriverEvent {
    }

    /**
     * The driver writes what it sees in the queues of an endpoint into a file.
     *
     * @param correlationId of the command.
     * @param viewId        its id; 0 if there is no endpoint to look at.
     * @param fileNumber    of its file.
     * @param endpointId    that is looked at.
     */
    record ViewReady(long correlationId, long viewId, long fileNumber, long endpointId) implements DriverEvent {
    }

    /**
     * An address vector is open.
     *
     * @param correlationId of the command.
     * @param avId          its id.
     */
    record AddressVectorReady(long correlationId, long avId) implements DriverEvent {
    }

    /**
     * An address is in the vector, or is that of a passive endpoint.
     *
     * @param correlationId of the command.
     * @param fiAddr        its number in the vector, 0 if there is none.
     * @param address       as the driver writes it.
     */
    record AddressReady(long correlationId, long fiAddr, String address) implements DriverEvent {
    }

    /**
     * Memory is registered.
     *
     * @param correlationId of the command.
     * @param fileNumber    of its file, 0 if it has none.
     * @param generation    all 64 bits.
     * @param length        bytes.
     * @param regionIndex   index in the client, from 1.
     */
    record RegionReady(long correlationId, long fileNumber, long generation, long length, int regionIndex)
        implements DriverEvent {
    }

    /**
     * An endpoint is enabled.
     *
     * @param correlationId       of the command.
     * @param endpointId          its id.
     * @param transmitQueueFile   number of the {@code .tq} file, 0 if it has none.
     * @param receiveQueueFile    number of the {@code .rq} file, 0 if it has none.
     * @param transmitQueueLength bytes of its ring.
     * @param receiveQueueLength  bytes of its ring.
     * @param activityIndex       index of its activity byte.
     * @param txSize              sends outstanding at most.
     * @param rxSize              receives outstanding at most.
     * @param injectSize          bytes of an inject at most.
     * @param maxMsgSize          bytes of a message at most.
     * @param rxCqIndex           which entries of its receive completion queue are its own.
     * @param slabFile            number of the {@code .slab} file, 0 if it has none.
     * @param slabCells           cells in it.
     * @param slabCellLength      bytes of a cell.
     * @param address             its own.
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
        String address) implements DriverEvent {
    }

    /**
     * A command was carried out.
     *
     * @param correlationId of the command.
     */
    record Done(long correlationId) implements DriverEvent {
    }

    /**
     * One match of a query; more follow.
     *
     * @param correlationId of the command.
     * @param info          the match.
     */
    record InfoMatch(long correlationId, Info info) implements DriverEvent {
    }

    /**
     * What became of one link in a query, or of a peer's path; more follow.
     *
     * @param correlationId of the command.
     * @param verdict       decision and reasons.
     */
    record InfoVerdict(long correlationId, Verdict verdict) implements DriverEvent {
    }

    /**
     * A query is answered.
     *
     * @param correlationId of the command.
     * @param errno         0, or positive fabric errno.
     */
    record InfoEnd(long correlationId, int errno) implements DriverEvent {
    }

    /**
     * How a peer is reached; the verdicts on the links came before.
     *
     * @param correlationId of the command.
     * @param state         see {@code PEER_*} of {@link org.jfabric.layout.ViewDescriptor}.
     * @param linkName      empty for none.
     * @param remoteAddress of the peer.
     */
    record PathReady(long correlationId, int state, String linkName, String remoteAddress) implements DriverEvent {
    }

    /**
     * A peer of an endpoint is gone.
     *
     * @param endpointId the endpoint.
     * @param fiAddr     number of the peer in its address vector, -1 if it has none.
     * @param errno      positive fabric errno.
     * @param provErrno  what the link says besides, else the errno again.
     * @param address    of the peer.
     */
    record PeerDown(long endpointId, long fiAddr, int errno, int provErrno, String address) implements DriverEvent {
        @Override
        public long correlationId() {
            return 0;
        }
    }

    /** What happens to connections; answers no command. */
    sealed interface OfConnection extends DriverEvent {
        @Override
        default long correlationId() {
            return 0;
        }
    }

    /**
     * A passive endpoint is open.
     *
     * @param correlationId of the command.
     * @param passiveId     its id.
     * @param address       under which peers connect.
     */
    record PassiveEndpointReady(long correlationId, long passiveId, String address) implements DriverEvent {
    }

    /**
     * A peer asks for a connection.
     *
     * @param passiveId   the passive endpoint.
     * @param requestId   to answer it by.
     * @param linkName    link by which it came.
     * @param peerAddress who asks.
     * @param cmData      private data.
     */
    record ConnectionRequested(long passiveId, long requestId, String linkName, String peerAddress, byte[] cmData)
        implements OfConnection {
    }

    /**
     * A connection is made.
     *
     * @param endpointId   the endpoint.
     * @param localAddress of this end.
     * @param peerAddress  of the other end.
     * @param cmData       private data of the answer.
     */
    record ConnectionMade(long endpointId, String localAddress, String peerAddress, byte[] cmData)
        implements OfConnection {
    }

    /**
     * A connection was refused or could not be made, or a passive endpoint listens no more.
     *
     * @param objectId endpoint or passive endpoint.
     * @param errno    positive fabric errno.
     * @param cmData   private data of the refusal.
     */
    record ConnectionFailed(long objectId, int errno, byte[] cmData) implements OfConnection {
    }

    /**
     * The peer of a connected endpoint has ended the connection, or is lost.
     *
     * @param endpointId the endpoint.
     * @param errno      0 for an orderly end, else why it was lost.
     */
    record ConnectionEnded(long endpointId, int errno) implements OfConnection {
    }

    /**
     * A completion queue has lost an entry: it reports nothing any more.
     *
     * @param cqId the queue.
     */
    record CompletionQueueOverrun(long cqId) implements DriverEvent {
        @Override
        public long correlationId() {
            return 0;
        }
    }

    /**
     * The driver ends this client.
     *
     * @param errno  positive fabric errno.
     * @param reason what the client did wrong.
     */
    record ClientEnded(int errno, String reason) implements DriverEvent {
        @Override
        public long correlationId() {
            return 0;
        }
    }
}
