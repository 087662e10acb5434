package org.jfabric.driver.engine;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.agrona.DirectBuffer;
import org.jfabric.client.WorkRequest;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.RefusedValueDescriptor;
import org.jfabric.layout.ViewDescriptor;
import org.jfabric.layout.Words;

/**
 * The transmit side of one endpoint: accepts sends, chooses the protocol for the peer's channel, completes the sends.
 *
 * <p>A message is sent immediately (<em>eager</em>) if it is short enough and the receiver has granted credit for it;
 * else it is <em>announced</em>, and its payload waits here until the receiver has taken it. A send that can begin in
 * neither way now waits in its peer's queue, in order, and delays no other peer's sends.
 *
 * <p>An operation ends with exactly one entry, even if an access to another process's memory failed just before: a
 * pending fault is raised before the report begins, where {@link #recover} finds the operation unreported, and never
 * during the report.
 *
 * <p>Owner: progress agent.
 */
final class Sender {
    private static final long KIND_BITS = Flags.TAGGED | Flags.MSG | Flags.MULTICAST | Flags.TIMESTAMP;
    private static final long ACCESSES = Flags.RMA | Flags.ATOMIC;
    private static final long ACCESS_BITS = ACCESSES | Flags.READ | Flags.WRITE;
    /** An operation with any of these does not take the plain path. */
    private static final long NOT_PLAIN = AcknowledgedSends.NOT_PLAIN | ACCESSES;

    private final TransmitPool pool;
    private final AcknowledgedSends acknowledged = new AcknowledgedSends(this);
    private final RegionTable regions;
    private final PeerTable peers;
    private final CompletionWriter completions;
    private final int completionIndex;
    private final CounterWriter counter;
    private final CounterWriter reads;
    private final CounterWriter writes;
    private final long maxMessageBytes;
    private final int injectSizeBytes;
    private final CompletedCount completed = new CompletedCount();
    /** Null unless the application requested entries in the order of posting. */
    private final SubmissionOrder order;
    private final TransmitShare share;
    private final ShortSends shortSends;
    private final RemoteSends remote;
    /** When the operation was taken that is being executed, if it is a sample that no link has yet; else 0. */
    private long sampledNs;
    /** Of the endpoint, for errors of operations without a peer. */
    private final Traffic own;
    /** Of deferred work, by the index of its record; null until there is some. */
    private CounterWriter[] completionCounters;
    /** Error data of the operation that is being refused, else null. */
    private DirectBuffer refused;

    /**
     * A sender without operations.
     *
     * @param completions     transmit completion queue; null without records of sends.
     * @param own             of the endpoint, for errors of operations without a peer.
     */
    Sender(
        EndpointSettings settings,
        RegionTable regions,
        PeerTable peers,
        CompletionWriter completions,
        int completionIndex,
        EndpointCounters counters,
        Traffic own) {
        this.pool = new TransmitPool(settings.txSize(), settings.injectSizeBytes(), settings.hasAtomics());
        this.share = new TransmitShare(pool, peers);
        this.own = own;
        this.regions = regions;
        this.peers = peers;
        this.completions = completions;
        this.completionIndex = completionIndex;
        this.counter = counters.sends();
        this.reads = counters.reads();
        this.writes = counters.writes();
        this.maxMessageBytes = settings.maxMessageBytes();
        this.injectSizeBytes = settings.injectSizeBytes();
        this.order = settings.strictSends() ? new SubmissionOrder() : null;
        this.shortSends = new ShortSends(
            order == null && counter == null, peers, regions, pool, completions, completionIndex, completed, own);
        this.remote = new RemoteSends(this, peers);
    }

    /**
     * Accepts an operation that starts now. Returns 0, {@code -FI_EAGAIN} or {@code -FI_EOPNOTSUPP}.
     */
    int post(WorkRequest request) {
        if (request.kind == WorkRequest.ATOMIC && !hasAtomics()) {
            return -FabricErrno.EOPNOTSUPP;
        }
        TransmitOperation operation = take(request);
        if (operation == null) {
            return -FabricErrno.EAGAIN;
        }
        if (order != null) {
            order.add(operation);
        }
        start(operation, request);
        return 0;
    }

    /**
     * Takes the record of an operation that a counter starts. Injected bytes are copied now; nothing else is checked.
     * Returns in state {@code TRIGGERED}; null if none is free.
     */
    TransmitOperation reserve(WorkRequest request) {
        TransmitOperation operation = take(request);
        if (operation == null) {
            return null;
        }
        if (request.isDeferred()) {
            operation.flags |= Flags.TRIGGER;
        }
        if (request.isInjected()) {
            // a longer one is refused at its start
            keepInjected(operation, request.injected, Math.min(request.injectedLength, injectSizeBytes));
        }
        // last: if the copy fails, recover() ends an operation that is not waiting
        operation.state = TransmitOperation.TRIGGERED;
        return operation;
    }

    /** A record for an operation; a hostile client may have set flags that make a message an access of memory. */
    private TransmitOperation take(WorkRequest request) {
        TransmitOperation operation = pool.take();
        if (operation != null) {
            boolean isMessage = request.kind == WorkRequest.SEND;
            long flags = request.flags & ~(isMessage ? ACCESSES | Flags.TRIGGER : Flags.TRIGGER);
            operation.flags = flags;
            operation.length = 0;
            operation.tag = isMessage ? request.tag : 0;
            operation.data = (flags & Flags.REMOTE_CQ_DATA) == 0 ? 0 : request.data;
            operation.context = request.context;
            if ((flags & Flags.INJECT) != 0) {
                operation.length = request.injectedLength;
                operation.address = request.injected;
            }
        }
        return operation;
    }

    /** Starts an operation with a record of {@link #reserve}. */
    void start(TransmitOperation reserved, WorkRequest request, CounterWriter completion) {
        start(unreserved(reserved, request, completion), request);
    }

    private void start(TransmitOperation operation, WorkRequest request) {
        int kind = request.kind;
        if (request.isInjected() && operation.length > injectSizeBytes) {
            fail(operation, FabricErrno.EINVAL);
        } else if (kind == WorkRequest.ATOMIC ? !remote.prepare(operation, request)
            : !request.isInjected() && !resolve(operation, request)) {
            operation.vector.forget();
            if (kind == WorkRequest.ATOMIC || request.count != 1) {
                fail(operation, FabricErrno.EFAULT);
            } else {
                refuseMemory(operation, request.pieces[0], request.pieces[1]);
            }
        } else if (kind != WorkRequest.SEND) {
            if (kind == WorkRequest.ACCESS && request.rangeCount != 0) {
                RemoteSends.addRanges(operation, request);
            }
            remote.post(operation, request.address, request.remoteAddr, request.key);
        } else {
            if (request.isInjected()) {
                keepInjected(operation, operation.address, (int) operation.length);
            }
            post(operation, request.address, operation.length);
        }
    }

    /** Finds the local memory of a message or an access. Returns false if it is not registered. */
    private boolean resolve(TransmitOperation operation, WorkRequest request) {
        long[] pieces = request.pieces;
        boolean isRead = operation.isRead();
        if (request.count != 1) {
            boolean isFound = isRead ? operation.vector.resolve(regions, pieces, request.count)
                : operation.vector.fetch(regions, pieces, request.count);
            if (isFound && operation.vector.count() != 0) {
                operation.pieces = operation.vector;
                operation.length = operation.vector.lengthBytes();
            }
            return isFound;
        }
        long length = pieces[1];
        if (length == 0) {
            return true;
        }
        RegisteredRegion region = regions.find(pieces[0], length);
        if (region == null) {
            region = isRead ? regions.findCopied(pieces[0], length) : regions.fetch(pieces[0], length);
            if (region == null) {
                return false;
            }
        }
        operation.region = region;
        operation.address = region.address() + MemoryRegionDescriptor.offset(pieces[0]);
        operation.length = length;
        return true;
    }

    /** Ends an operation with a record of {@link #reserve} without a start. */
    void endReserved(TransmitOperation reserved, WorkRequest request, CounterWriter completion, int errno) {
        fail(unreserved(reserved, request, completion), errno);
    }

    /** The record as if it were taken now; its place in the order of posting is that of its start. */
    private TransmitOperation unreserved(
        TransmitOperation operation, WorkRequest request, CounterWriter completion) {
        if (request.isDeferred()) {
            if (completionCounters == null) {
                completionCounters = new CounterWriter[pool.size()];
            }
            completionCounters[(int) operation.id] = completion;
        }
        operation.state = TransmitOperation.FREE;
        if (order != null) {
            order.add(operation);
        }
        return operation;
    }

    /** The part for reads and writes of remote memory. */
    RemoteSends remote() {
        return remote;
    }

    /** Whether the operations have room for what atomic ones need. */
    boolean hasAtomics() {
        return pool.hasAtomics();
    }

    RegionTable regions() {
        return regions;
    }

    int injectSizeBytes() {
        return injectSizeBytes;
    }

    /** Whether the operation with that id has ended. */
    boolean isOver(long id) {
        return pool.isOver(id);
    }

    /** The next operation is a sample; it was taken now. */
    void beginSample(long nowNs) {
        sampledNs = nowNs;
    }

    /**
     * Ends what {@link #beginSample} has begun. Returns the time given there; 0 if the operation has failed, or waits
     * and has taken the time with it.
     */
    long endSample() {
        long beganNs = sampledNs;
        sampledNs = 0;
        return beganNs;
    }

    /** A fault has interrupted an operation, which waits for {@link #recover}. */
    void onFault() {
        shortSends.shut();
    }

    /**
     * Whether a message to a destination can leave without work for a link, but perhaps for the engine: a channel with
     * frames is up.
     */
    boolean isConnected(long destAddr) {
        PeerSends to = peers.peer(destAddr);
        return to != null && to.frames() != null;
    }

    /** Sends a message that needs no record; returns false if the caller must call {@link #send} instead. */
    boolean sendShort(long flags, long buf, long len, long destAddr, long tag, long context) {
        return shortSends.send(flags, buf, len, destAddr, tag, context);
    }

    /** As {@link #sendShort}, but the payload is copied before the call returns. */
    boolean injectShort(long flags, long nativeAddress, int len, long destAddr, long tag, long context) {
        return len <= injectSizeBytes && shortSends.inject(flags, nativeAddress, len, destAddr, tag, context);
    }

    /** Accepts a send of registered memory. Returns 0 or {@code -FI_EAGAIN}. */
    int send(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        TransmitOperation operation = takeMessage(flags, len, tag, data, context);
        if (operation == null) {
            return -FabricErrno.EAGAIN;
        }
        if (len != 0) {
            RegisteredRegion region = regions.find(buf, len);
            if (region == null) {
                region = regions.fetch(buf, len);
                if (region == null) {
                    refuseMemory(operation, buf, len);
                    return 0;
                }
            }
            operation.region = region;
            operation.address = region.address() + MemoryRegionDescriptor.offset(buf);
        }
        post(operation, destAddr, len);
        return 0;
    }

    private void post(TransmitOperation operation, long destAddr, long len) {
        PeerSends to = peers.peer(destAddr);
        if (to == null) {
            refusePeer(operation, destAddr);
            return;
        }
        if (len < 0 || len > maxMessageBytes) {
            fail(operation, FabricErrno.EINVAL);
            return;
        }
        operation.peer = to;
        if (to.isClear() && begin(to, operation)) {
            if (operation.state == TransmitOperation.ANNOUNCED) {
                share.onWait(to, destAddr);
            }
            return;
        }
        hold(operation);
        to.enqueue(operation);
        share.onWait(to, destAddr);
    }

    /** Accepts a send whose payload must not be read after the call returns. Returns 0 or {@code -FI_EAGAIN}. */
    int inject(long flags, long nativeAddress, int len, long destAddr, long tag, long data, long context) {
        TransmitOperation operation = takeMessage(flags, len, tag, data, context);
        if (operation == null) {
            return -FabricErrno.EAGAIN;
        }
        PeerSends to = peers.peer(destAddr);
        if (to == null || len < 0 || len > injectSizeBytes) {
            fail(operation, FabricErrno.EINVAL);
            return 0;
        }
        operation.peer = to;
        if (to.isClear() && (flags & AcknowledgedSends.NOT_PLAIN) == 0 && to.canSendEager(len)) {
            operation.address = nativeAddress;
            if (trySend(to, operation)) {
                if (operation.state == TransmitOperation.IN_LINK) {
                    keepInjected(operation, nativeAddress, len);
                }
                return 0;
            }
        }
        keepInjected(operation, nativeAddress, len);
        to.enqueue(operation);
        share.onWait(to, destAddr);
        return 0;
    }

    static void keepInjected(TransmitOperation operation, long nativeAddress, int len) {
        if (nativeAddress != operation.injectAddress) {
            Words.copy(nativeAddress, operation.injectAddress, len);
        }
        operation.address = operation.injectAddress;
    }

    /**
     * Begins the oldest operation of a peer's queue, if possible now.
     *
     * @param operation not begun.
     * @return true if the operation has left the queue: completed, taken by the link, or failed; false if it must wait.
     */
    boolean begin(PeerSends to, TransmitOperation operation) {
        if ((operation.flags & NOT_PLAIN) != 0) {
            return operation.isRemote() ? remote.begin(to, operation) : acknowledged.begin(to, operation);
        }
        // as beginPlain(), with one call less on the stack, see ShmChannel.send()
        return to.canSendEager(operation.length) ? trySend(to, operation) : beginLong(to, operation);
    }

    boolean beginPlain(PeerSends to, TransmitOperation operation) {
        return to.canSendEager(operation.length) ? trySend(to, operation) : beginLong(to, operation);
    }

    private boolean beginLong(PeerSends to, TransmitOperation operation) {
        return to.outbox().mayAnnounce(to, operation.length) && announce(to, operation);
    }

    boolean announce(PeerSends to, TransmitOperation operation) {
        FrameChannel frames = to.frames();
        if (frames == null) {
            // longer than the longest message of a link without announcements
            fail(operation, FabricErrno.EOPNOTSUPP);
            return true;
        }
        hold(operation);
        // the loopback link may take the payload and finish the operation before the call returns
        to.outbox().own(operation, TransmitOperation.ANNOUNCED);
        long lengthBytes = operation.length;
        int result = frames.announce(operation, to.grant());
        if (result == Channel.DONE) {
            to.announced(lengthBytes);
            return true;
        }
        to.outbox().disown(operation);
        operation.state = TransmitOperation.QUEUED;
        return failedToBegin(to, operation, result);
    }

    /**
     * The operation has reached its completion level.
     *
     * @param operation not in any list.
     */
    void complete(TransmitOperation operation) {
        FaultPoint.pass();
        if (order == null) {
            reportSuccess(operation);
        } else {
            endInOrder(operation, 0);
        }
    }

    private void reportSuccess(TransmitOperation operation) {
        long flags = operation.flags;
        long context = operation.context;
        operation.reported = true;
        // released before the client can see the entry
        release(operation);
        CounterWriter counts = counter(operation);
        if (counts != null) {
            counts.success(operation.length);
        }
        if ((flags & Flags.COMPLETION) != 0) {
            completions.success(completionIndex, 0, context, entryFlags(flags), 0, 0, 0, 0, -1L);
        } else {
            completions.retire();
        }
    }

    /**
     * The operation has failed. It gets an error entry even if no entry was requested, and also if it is an inject.
     *
     * @param operation not in any list.
     * @param errno     positive fabric errno.
     */
    void fail(TransmitOperation operation, int errno) {
        FaultPoint.pass();
        sampledNs = 0;
        operation.awaited = 0;
        operation.failure = 0;
        if (order == null) {
            reportFailure(operation, errno);
        } else {
            endInOrder(operation, errno);
        }
    }

    /** As {@link #fail}: its memory is not registered. */
    private void refuseMemory(TransmitOperation operation, long address, long lengthBytes) {
        refuse(operation, FabricErrno.EFAULT,
            RefusedValueDescriptor.value(RefusedValueDescriptor.LOCAL_MEMORY, address, lengthBytes, 0));
    }

    /** As {@link #fail}: the address vector does not have the destination. */
    void refusePeer(TransmitOperation operation, long destAddr) {
        refuse(operation, FabricErrno.EINVAL,
            RefusedValueDescriptor.value(RefusedValueDescriptor.PEER, destAddr, 0, 0));
    }

    /** An entry that has to wait for earlier ones does not name the value. */
    private void refuse(TransmitOperation operation, int errno, DirectBuffer value) {
        refused = value;
        try {
            fail(operation, errno);
        } finally {
            refused = null;
        }
    }

    /** The value for which an operation is refused, for the error data of its entry; null if it is not known. */
    private DirectBuffer refusedValue(TransmitOperation operation, int errno) {
        DirectBuffer value = refused;
        refused = null;
        boolean isOfTheRange = errno == FabricErrno.ENOKEY || errno == FabricErrno.EACCES
            || errno == FabricErrno.EFAULT || errno == FabricErrno.EKEYREJECTED;
        return value == null && isOfTheRange && operation.isRemote() && operation.peer != null && !operation.hasRanges
            ? RefusedValueDescriptor.value(RefusedValueDescriptor.REMOTE_MEMORY, operation.remoteAddress,
                operation.accessedBytes(), operation.key)
            : value;
    }

    private void endInOrder(TransmitOperation operation, int errno) {
        if (!order.isTurnOf(operation)) {
            hold(operation);
            operation.failure = errno;
            operation.state = TransmitOperation.ENDED;
            return;
        }
        report(operation, errno);
        reportEnded();
    }

    /** Writes the entries that waited for the one that was just written. */
    private void reportEnded() {
        for (TransmitOperation next = order.pollEnded(); next != null; next = order.pollEnded()) {
            int errno = next.failure;
            next.failure = 0;
            report(next, errno);
        }
    }

    /** What an operation's entry says of it. */
    private static long entryFlags(long flags) {
        return (flags & ACCESSES) != 0 ? flags & ACCESS_BITS : Flags.SEND | (flags & KIND_BITS);
    }

    /** The counter of an operation, also after its record was given back. */
    private CounterWriter counter(TransmitOperation operation) {
        long flags = operation.flags;
        if ((flags & (ACCESSES | Flags.TRIGGER)) == 0) {
            return counter;
        }
        if ((flags & Flags.TRIGGER) != 0) {
            return completionCounters[(int) operation.id];
        }
        return (flags & Flags.READ) != 0 ? reads : writes;
    }

    private void report(TransmitOperation operation, int errno) {
        if (errno == 0) {
            reportSuccess(operation);
        } else {
            reportFailure(operation, errno);
        }
    }

    private void reportFailure(TransmitOperation operation, int errno) {
        long flags = operation.flags;
        long context = operation.context;
        DirectBuffer value = refusedValue(operation, errno);
        operation.reported = true;
        (operation.peer == null ? own : ((PeerSends) operation.peer).peer().traffic()).failed();
        // as in reportSuccess(): released before the client can see the entry
        release(operation);
        CounterWriter counts = counter(operation);
        if (counts != null) {
            counts.error();
        }
        completions.error(
            completionIndex,
            0,
            context,
            entryFlags(flags),
            0,
            0,
            0,
            0,
            -1L,
            0,
            errno,
            peers.failure().of(errno),
            value);
    }

    /**
     * The operation has reached its completion level, or failed.
     *
     * @param operation not in any list.
     * @param errno     0 or a positive fabric errno.
     */
    void end(TransmitOperation operation, int errno) {
        if (errno == 0) {
            complete(operation);
        } else {
            fail(operation, errno);
        }
    }

    /**
     * A pending send has left the link, or failed.
     *
     * @param errno     0 or a positive fabric errno.
     * @return false if the link does not have it.
     */
    boolean onSent(PeerSends to, TransmitOperation operation, int errno) {
        if (operation.state == TransmitOperation.IN_LINK) {
            to.outbox().disown(operation);
            end(operation, errno);
            return true;
        }
        if (operation.state == TransmitOperation.AWAITING) {
            acknowledged.onSent(to, operation, errno);
            return true;
        }
        return false;
    }

    /**
     * A pending send has left the host; returns false if the link does not have it. Its entry is written at once: links
     * with times complete sends in the order of posting by themselves.
     */
    boolean onDeparted(PeerSends to, TransmitOperation operation, long timeNs) {
        if (operation.state != TransmitOperation.IN_LINK) {
            return false;
        }
        if ((operation.flags & Flags.COMPLETION) != 0) {
            FaultPoint.pass();
            operation.flags |= Flags.TIMESTAMP;
            completions.at(timeNs);
        }
        return onSent(to, operation, 0);
    }

    /**
     * Processes a peer's acknowledgement of the levels that a message has reached. It is ignored if the operation has
     * ended meanwhile, because an access to memory failed here.
     *
     * @param errno  0, or a positive fabric errno if they will never be reached.
     * @return false if it was not requested.
     */
    boolean onAcknowledged(PeerSends to, long id, long levels, int errno) {
        if (pool.isOver(id)) {
            return true;
        }
        TransmitOperation operation = pool.find(id);
        // an operation whose entry waits for earlier ones has ended, too
        return operation != null && operation.peer == to && operation.state == TransmitOperation.ENDED
            || acknowledged.onAcknowledged(to, operation, levels, errno);
    }

    /** Finds an operation by the id in a peer's message. Returns the operation, or null if it has ended. */
    TransmitOperation find(long id) {
        return pool.find(id);
    }

    /**
     * Cancels one queued operation with that context. Injects have no context of their own and cannot be cancelled:
     * they have the endpoint's context, for their error entries. Returns true if there was one.
     */
    boolean cancel(long context) {
        for (int i = 0, size = pool.size(); i < size; i++) {
            TransmitOperation operation = pool.get(i);
            if (operation.state == TransmitOperation.QUEUED && operation.context == context
                && (operation.flags & (Flags.INJECT | Flags.COMPLETION)) != Flags.INJECT) {
                ((PeerSends) operation.peer).withdraw(operation);
                fail(operation, FabricErrno.ECANCELED);
                return true;
            }
        }
        return false;
    }

    /** The number of operations that have ended since the start. */
    CompletedCount completed() {
        return completed;
    }

    /** What a peer may have of the operations. */
    TransmitShare share() {
        return share;
    }

    /** The number of operations that have not ended. */
    int outstanding() {
        return pool.inUse();
    }

    /** Places of records, a count that never changes. */
    int records() {
        return pool.size();
    }

    /**
     * Visits the remote access at a place, if there is one.
     *
     * @param place   from 0.
     */
    void visitAccess(int place, QueueVisitor visitor) {
        TransmitOperation operation = pool.get(place);
        if (operation.state != TransmitOperation.FREE && operation.peer != null && operation.isRemote()) {
            visitor.onAccess(
                ((PeerSends) operation.peer).peer(),
                operation.isAtomic() ? ViewDescriptor.ACCESS_ATOMIC
                    : operation.isRead() ? ViewDescriptor.ACCESS_READ : ViewDescriptor.ACCESS_WRITE,
                operation.key, operation.state == TransmitOperation.QUEUED, operation.accessedBytes(),
                operation.sinceNs);
        }
    }

    /** Closes: releases the memory and the completion credit of the operations, and writes no entries. */
    void close() {
        int unfinished = shortSends.close() + pool.inUse();
        if (unfinished != 0) {
            completions.retire(unfinished);
        }
        for (int i = 0, size = pool.size(); i < size; i++) {
            TransmitOperation operation = pool.get(i);
            if (operation.state != TransmitOperation.FREE) {
                operation.releaseMemory();
            }
        }
        pool.close();
    }

    /**
     * Ends every operation that was being processed when an access to shared memory failed: it is in no list any more,
     * so no other code would end it.
     */
    void recover(List<PeerSends> all) {
        Set<TransmitOperation> known = Collections.newSetFromMap(new IdentityHashMap<>());
        shortSends.recover();
        pool.addFree(known);
        for (PeerSends to : all) {
            to.outbox().addAll(known);
        }
        if (order != null) {
            order.addEndedTo(known);
        }
        for (int i = 0, size = pool.size(); i < size; i++) {
            TransmitOperation operation = pool.get(i);
            if (operation.isInHand && operation.state != TransmitOperation.ENDED) {
                remote.takeInHand(operation, known.contains(operation));
            } else if (known.contains(operation) || operation.state == TransmitOperation.TRIGGERED) {
                continue;
            }
            if (operation.reported) {
                release(operation);
            } else {
                fail(operation, FabricErrno.EIO);
            }
        }
        if (order != null) {
            reportEnded();
        }
    }

    /** As {@link #take(WorkRequest)}, for a message of one piece. */
    private TransmitOperation takeMessage(long flags, long len, long tag, long data, long context) {
        TransmitOperation operation = pool.take();
        if (operation != null) {
            operation.flags = flags & ~(ACCESSES | Flags.TRIGGER);
            operation.length = len;
            operation.tag = tag;
            operation.data = (flags & Flags.REMOTE_CQ_DATA) == 0 ? 0 : data;
            operation.context = context;
            if (order != null) {
                order.add(operation);
            }
        }
        return operation;
    }

    private boolean trySend(PeerSends to, TransmitOperation operation) {
        int result = to.channel().send(operation, to.grant());
        if (result >= 0) {
            if (to.channel() == null) {
                // it went down inside the call: the next channel must not begin with this message's bytes spent, and
                // this send must not be left in no list
                fail(operation, FabricErrno.ECONNRESET);
                return true;
            }
            to.spend(operation.length);
        }
        if (result == Channel.DONE) {
            complete(operation);
            return true;
        }
        if (result == Channel.PENDING) {
            hold(operation);
            to.outbox().own(operation, TransmitOperation.IN_LINK);
            return true;
        }
        return failedToBegin(to, operation, result);
    }

    boolean failedToBegin(PeerSends to, TransmitOperation operation, int result) {
        to.grantNotSent();
        if (result == -FabricErrno.EAGAIN) {
            to.peer().traffic().retried();
            return false;
        }
        fail(operation, -result);
        return true;
    }

    /** Retains the memory of an operation that is not complete when its posting call returns; once only. */
    static void hold(TransmitOperation operation) {
        if (operation.state == TransmitOperation.FREE) {
            operation.state = TransmitOperation.QUEUED;
            operation.retainMemory();
        }
    }

    private void release(TransmitOperation operation) {
        if (operation.state != TransmitOperation.FREE) {
            operation.releaseMemory();
        }
        pool.give(operation);
        // last: a fault that is reported late must not find the operation counted but not returned to the pool
        completed.increment();
        share.onEnd();
    }
}
