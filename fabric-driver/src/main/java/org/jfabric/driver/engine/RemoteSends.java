package org.jfabric.driver.engine;

import org.jfabric.client.WorkRequest;
import org.jfabric.driver.link.AtomicPart;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.WorkRequestDescriptor;

/**
 * The RMA and atomic operations that an endpoint has posted: sends them to the peers and processes the answers.
 *
 * <pre>
 *   write: pieces of at most the channel's limit --> REMOTE --- the peer has placed all bytes --> entry
 *                                                      |------- no completion slot there ------> queued again
 *                                                      '------- refused there -----------------> error entry
 *   short write, to a peer that does not report it: REMOTE --- the peer has placed so many writes --> entry
 *   write of several pieces, of memory that the peer can map:
 *          announced --> REMOTE --- as above; or the peer asks for the bytes --> queued again, sent in pieces
 *   atomic operation: as a write; the old values, if they are wanted, come with the answer
 *   read:  request --> REMOTE --- bytes, in order, the last ones --> entry
 *   read of memory that is mapped here: copied in the call --> entry
 * </pre>
 *
 * <p>Accesses and messages to one peer begin in the order of posting, and channels keep it. Two kinds of operations can
 * take effect later than an operation that is sent after them: reads, because the peer may copy the bytes later, and
 * writes or atomic operations that may wait for a completion slot at the peer, or that are announced. While one of them
 * is outstanding, later operations that must not overtake it wait in the peer's queue ({@link Outbox#mustWait}). So
 * every order that msg_order of fi_endpoint(3) can request is kept. The price is a round trip where a write or a
 * message follows a read. Wires of libfabric offer only the orders that they have by themselves
 * ({@link RemoteChannel#keepsOrder}), so that nothing waits there, but for atomic operations that fetch: the peer
 * executes them when they come, and may take the bytes of an earlier read later.
 *
 * <p>Owner: progress agent.
 */
final class RemoteSends {
    /** Pieces of one access that go to a peer in one cycle, so that a long one does not delay other peers. */
    static final int PIECE_BURST = 8;

    /** A write with any of these is not sent in the shortest form, nor is another access. */
    private static final long NOT_SHORT = Flags.READ | Flags.ATOMIC | Flags.REMOTE_CQ_DATA | Flags.COMMIT_COMPLETE;

    private final Sender sender;
    private final PeerTable peers;

    RemoteSends(Sender sender, PeerTable peers) {
        this.sender = sender;
        this.peers = peers;
    }

    /** Finds the local memory of an atomic operation. Returns false if it is not registered, or not as long. */
    boolean prepare(TransmitOperation operation, WorkRequest request) {
        long length = request.elements * AtomicExecutor.sizeBytes(request.form, request.datatype, request.operation);
        AtomicPart part = operation.atomic;
        part.form = request.form;
        part.datatype = request.datatype;
        part.operation = request.operation;
        part.count = request.elements;
        part.resultBytes = request.form == AtomicForm.BASE ? 0 : length;
        if (request.isInjected()) {
            return true;
        }
        boolean hasOperands = request.operation != AtomicOperation.ATOMIC_READ.code();
        if (!fetch(operation.vector, request.pieces, request.count, hasOperands ? length : 0)
            || !resolve(part.results, request.results, request.resultPieces, part.resultBytes)
            || !fetch(part.compares, request.compares, request.comparePieces,
                request.form == AtomicForm.COMPARE ? length : 0)) {
            return false;
        }
        if (operation.vector.count() != 0) {
            operation.pieces = operation.vector;
            operation.length = length;
        }
        return true;
    }

    /** Finds the regions of pieces of local memory; false if one has no region, or the sum is not that length. */
    private boolean resolve(PieceList list, long[] pieces, int count, long length) {
        return list.resolve(sender.regions(), pieces, count) && list.lengthBytes() == length;
    }

    /** As {@link #resolve}; the bytes are here when it returns. */
    private boolean fetch(PieceList list, long[] pieces, int count, long length) {
        return list.fetch(sender.regions(), pieces, count) && list.lengthBytes() == length;
    }

    /** Ends an access. What it has brought is in the client's memory before the entry is. */
    private void end(TransmitOperation operation, int errno) {
        boolean isStored = errno != 0 || (operation.flags & Flags.READ) == 0 || operation.store();
        sender.end(operation, isStored ? errno : FabricErrno.EFAULT);
    }

    /** Adds the ranges of an access to several. */
    static void addRanges(TransmitOperation operation, WorkRequest request) {
        if (operation.ranges == null) {
            // stays with the record
            operation.ranges = new RemoteRanges();
        }
        operation.ranges.clear();
        for (int i = 0; i < request.rangeCount; i++) {
            int at = WorkRequestDescriptor.RANGE_WORDS * i;
            operation.ranges.add(request.ranges[at + 2], request.ranges[at], request.ranges[at + 1]);
        }
        operation.hasRanges = true;
    }

    /** Whether the ranges of an access together are as long as its local memory. */
    private static boolean fits(TransmitOperation operation) {
        long left = operation.length;
        for (int i = 0; i < operation.ranges.count(); i++) {
            long length = operation.ranges.lengthBytes(i);
            if (length < 0 || length > left) {
                return false;
            }
            left -= length;
        }
        return left == 0;
    }

    /** Sends an access whose local memory is found, now or when its turn comes. */
    void post(TransmitOperation operation, long destAddr, long remoteAddr, long key) {
        PeerSends to = peers.peer(destAddr);
        if (to == null) {
            sender.refusePeer(operation, destAddr);
            return;
        }
        if (operation.length > MemoryRegionDescriptor.MAX_LENGTH
            || operation.hasRanges && !fits(operation)) {
            sender.fail(operation, FabricErrno.EINVAL);
            return;
        }
        operation.peer = to;
        operation.remoteAddress = remoteAddr;
        operation.key = key;
        operation.sent = 0;
        boolean mayBegin = to.isUp() && to.outbox().mayBegin(operation);
        if (mayBegin && beginShort(to, operation)) {
            return;
        }
        if ((operation.flags & Flags.INJECT) != 0) {
            // copied even if it is sent immediately: the peer may request that it is sent again
            Sender.keepInjected(operation, operation.address, (int) operation.length);
        }
        Sender.hold(operation);
        if (!mayBegin || !begin(to, operation)) {
            to.enqueue(operation);
        }
    }

    /**
     * Sends a write in the shortest form, if it is plain and the peer does not report it: then it never waits there,
     * and the bytes are not needed again.
     */
    private boolean beginShort(PeerSends to, TransmitOperation operation) {
        RemoteChannel channel = to.peer().remoteMemory();
        if ((operation.flags & NOT_SHORT) != 0 || operation.hasRanges || channel == null || !channel.hasShortWrites()
            || operation.length > channel.pieceLimitBytes() || to.remote().peerReports()) {
            return false;
        }
        operation.isInHand = true;
        int result = channel.writeShort(operation, to.grant());
        operation.isInHand = false;
        if (result < 0) {
            to.grantNotSent();
            return false;
        }
        operation.isCounted = true;
        if (operation.state == TransmitOperation.FREE) {
            // the memory was not retained
            operation.region = null;
            operation.pieces = null;
            operation.vector.forget();
        }
        operation.isBarrier = false;
        to.peer().traffic().accessed(operation.accessedBytes());
        to.outbox().own(operation, TransmitOperation.REMOTE);
        return true;
    }

    /** Sends an access, all pieces of a write; {@link Sender#begin} describes parameters and result. */
    boolean begin(PeerSends to, TransmitOperation operation) {
        RemoteChannel channel = to.peer().remoteMemory();
        if (channel == null || operation.hasRanges && !channel.takesRanges()) {
            sender.fail(operation, FabricErrno.EOPNOTSUPP);
            return true;
        }
        int refusal = refusedLevel(to, operation, channel);
        if (refusal != 0) {
            sender.fail(operation, refusal);
            return true;
        }
        if (operation.isRead()) {
            if (readMapped(to, operation, channel)) {
                return true;
            }
            own(to, operation, !channel.keepsOrder());
            return begun(to, operation, channel.read(operation, to.grant()));
        }
        boolean mayWait = !channel.keepsOrder()
            && ((operation.flags & Flags.REMOTE_CQ_DATA) != 0 || to.remote().peerReports());
        if (operation.isAtomic()) {
            own(to, operation, mayWait);
            return begun(to, operation, channel.atomic(operation, to.grant()));
        }
        long limit = channel.pieceLimitBytes();
        if (operation.length > limit && operation.sent == 0 && !operation.bytesRequested
            && (operation.flags & Flags.COMMIT_COMPLETE) == 0 && channel.canAnnounce(operation)) {
            operation.isAnnounced = true;
            own(to, operation, true);
            return begun(to, operation, channel.announce(operation, to.grant()));
        }
        for (int left = PIECE_BURST; operation.length - operation.sent > limit; left--) {
            if (left == 0) {
                return false;
            }
            int result = channel.write(operation, limit, to.grant());
            if (result < 0) {
                return sender.failedToBegin(to, operation, result);
            }
            operation.sent += limit;
        }
        own(to, operation, mayWait);
        return begun(to, operation, channel.write(operation, operation.length - operation.sent, to.grant()));
    }

    /** Why the peer cannot confirm the level that an access asks for, a positive errno; 0 if it can. */
    private static int refusedLevel(PeerSends to, TransmitOperation operation, RemoteChannel channel) {
        if ((operation.flags & Flags.COMMIT_COMPLETE) != 0) {
            return operation.isRead() || operation.isAtomic() ? FabricErrno.EBADFLAGS
                : channel.carriesCommits() ? 0 : FabricErrno.EOPNOTSUPP;
        }
        // what brings bytes here has always been executed there
        return (operation.flags & Flags.DELIVERY_COMPLETE) == 0 || (operation.flags & Flags.READ) != 0
            || (to.channel().limits().levels() & Flags.DELIVERY_COMPLETE) != 0 ? 0 : FabricErrno.EBADFLAGS;
    }

    /**
     * Reads memory of the peer that is mapped here. Earlier operations have taken effect: the channel checks that the
     * peer has executed all that was sent, and none of them waits there. Nor does the read's entry overtake an access.
     */
    private boolean readMapped(PeerSends to, TransmitOperation operation, RemoteChannel channel) {
        if (to.outbox().hasAccesses()) {
            return false;
        }
        operation.isInHand = true;
        int result = channel.readMapped(operation);
        FaultPoint.pass();
        operation.isInHand = false;
        if (result == -FabricErrno.EAGAIN) {
            return false;
        }
        to.peer().traffic().accessed(operation.accessedBytes());
        end(operation, -result);
        return true;
    }

    /** Marks the operation as sent, before the call that sends it: the loopback link answers inside that call. */
    private static void own(PeerSends to, TransmitOperation operation, boolean isBarrier) {
        operation.isBarrier = isBarrier;
        to.peer().traffic().accessed(operation.accessedBytes());
        to.outbox().own(operation, TransmitOperation.REMOTE);
        operation.isInHand = true;
    }

    /** Undoes {@link #own} if the channel did not accept the operation, or has ended it. */
    private boolean begun(PeerSends to, TransmitOperation operation, int result) {
        // cleared also if the operation has ended inside the call and the record is free
        operation.isInHand = false;
        if (result == Channel.DONE) {
            return true;
        }
        to.outbox().disown(operation);
        if (result == RemoteChannel.ENDED) {
            sender.complete(operation);
            return true;
        }
        operation.state = TransmitOperation.QUEUED;
        return sender.failedToBegin(to, operation, result);
    }

    /**
     * Processes an answer. It is ignored if the operation has ended meanwhile, because an access to memory failed here.
     * Returns false if no operation to that peer awaits it.
     */
    boolean onReply(PeerSends to, long id, int errno, long offset, long source, long length) {
        if (sender.isOver(id)) {
            return true;
        }
        TransmitOperation operation = sender.find(id);
        if (operation == null || operation.peer != to || !operation.isRemote()) {
            return false;
        }
        if (operation.state == TransmitOperation.ENDED) {
            // its entry waits for those of earlier operations
            return true;
        }
        if (!operation.isAtomic() && to.peer().remoteMemory().keepsOrder()) {
            // the link still moves the bytes, and onEnded() follows: an answer to it is none
            return false;
        }
        boolean isSent = operation.state == TransmitOperation.REMOTE;
        if (errno != 0) {
            if (errno == FabricErrno.EAGAIN) {
                return isSent && !operation.isRead() && !operation.isCounted && sendAgain(to, operation);
            }
            if (errno == FabricErrno.ENODATA && operation.bytesRequested) {
                return true;
            }
            if (errno == FabricErrno.ENODATA && isSent && operation.isAnnounced) {
                operation.isAnnounced = false;
                operation.bytesRequested = true;
                return sendAgain(to, operation);
            }
            // a write may be refused before its last piece was sent
            if (!isSent && operation.sent == 0) {
                return false;
            }
            take(to, operation);
            sender.fail(operation, errno > 0 ? errno : FabricErrno.EIO);
        } else if (!isSent || !place(operation, offset, source, length)) {
            return false;
        } else if (!operation.isRead() || operation.sent == operation.length) {
            take(to, operation);
            end(operation, 0);
        }
        to.scheduleWaiting();
        return true;
    }

    /**
     * Processes the end of an access that the link reports. It is ignored if the operation has ended meanwhile, because
     * an access to memory failed here. Returns false if no operation to that peer awaits it.
     */
    boolean onEnded(PeerSends to, long id, int errno) {
        if (sender.isOver(id)) {
            return true;
        }
        TransmitOperation operation = sender.find(id);
        if (operation == null || operation.peer != to || !operation.isRemote()) {
            return false;
        }
        if (operation.state == TransmitOperation.REMOTE) {
            to.outbox().disown(operation);
            if (errno != 0) {
                // the channel ends next, and the reason that it gives is that of this operation
                peers.failure().begin(to.channel());
            }
            end(operation, errno);
            peers.failure().end();
            to.scheduleWaiting();
        }
        return true;
    }

    /** The peer has placed the oldest counted write; returns false if there is none. */
    boolean onPlaced(PeerSends to) {
        TransmitOperation operation = to.outbox().firstCounted();
        if (operation == null) {
            return false;
        }
        to.outbox().disown(operation);
        sender.complete(operation);
        return true;
    }

    /** Removes an operation that is about to end from its list: sent operations or queued ones. */
    private static void take(PeerSends to, TransmitOperation operation) {
        if (operation.state == TransmitOperation.REMOTE) {
            to.outbox().disown(operation);
        } else {
            to.outbox().remove(operation);
        }
    }

    /** Places the bytes of an answer in local memory. Returns false if they are not what was requested. */
    private static boolean place(TransmitOperation operation, long offset, long source, long length) {
        if (operation.isRead()) {
            if (offset != operation.sent || length < 0 || length > operation.length - offset
                || length == 0 && operation.length != 0) {
                return false;
            }
        } else if (offset != 0 || length != (operation.isFetch() ? operation.atomic.resultBytes : 0)) {
            return false;
        }
        boolean wasInHand = operation.isInHand;
        operation.isInHand = true;
        if (operation.isRead()) {
            operation.copyFrom(offset, source, length);
            operation.sent += length;
        } else if (operation.isFetch()) {
            operation.atomic.results.copyFrom(0, source, length);
        }
        FaultPoint.pass();
        operation.isInHand = wasInHand;
        return true;
    }

    /**
     * Takes an operation whose access to memory failed out of the list of those that the peer will answer.
     *
     * @param isListed false if the access failed before its last piece, or its end was interrupted.
     */
    void takeInHand(TransmitOperation operation, boolean isListed) {
        operation.isInHand = false;
        if (isListed && operation.state == TransmitOperation.REMOTE) {
            ((PeerSends) operation.peer).outbox().disown(operation);
        }
    }

    /**
     * Queues a write or atomic operation again, before all others: the peer had no completion slot for its last piece,
     * and may have one now; or it asks for the bytes of an announced write.
     */
    private static boolean sendAgain(PeerSends to, TransmitOperation operation) {
        to.outbox().disown(operation);
        to.outbox().addFirst(operation);
        to.schedule();
        return true;
    }
}
