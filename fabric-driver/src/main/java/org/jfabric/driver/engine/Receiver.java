package org.jfabric.driver.engine;

import java.util.List;
import java.util.function.IntFunction;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.jfabric.client.PeekFlags;
import org.jfabric.client.WorkRequest;
import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.Words;

/**
 * The receive side of one endpoint: accepts receives, matches messages, places payloads and completes the receives.
 *
 * <p>A message is matched by its header before its payload is moved, so the bytes are placed directly in the posted
 * buffer; only a message without a receive goes to the unexpected store. {@link Pulls} fetches announced payloads.
 *
 * <p>Owner: progress agent.
 */
final class Receiver {
    /** Initial capacity for the sources of untagged messages and directed receives; with more the hash table grows. */
    private static final int USUAL_SOURCES = 128;
    private static final long TAGGED_BUFFER = Flags.TAGGED | Flags.MULTI_RECV;

    private final RegionTable regions;
    private final ReceivePool pool;
    private final ReceiveEntries entries;
    private final UnexpectedStore store;
    private final EndedReceives ends;
    private final Pulls pulls;
    private final ReachedLevels levels;
    private final WaitingMessages waiting;
    private final TagMatcher tagged;
    private final TagMatcher untagged;
    private final Sources sources;
    private final Peeks peeks;
    private final OrdinaryReceives ordinary;
    /** {@link #ordinary}, or the mode that the endpoint has instead. */
    private final ReceiveMode mode;
    /** In front of the matcher of tagged messages, in the ordinary mode. */
    private final ExpectedReceives expected;
    private final Streams streams;
    private final ReceiveScan scan;
    /** {@link #mode} of a shared receive context, else null. */
    private final SharedReceives shared;
    /** Slots of receives that wait for a counter. */
    private int reserved;

    /**
     * A receiver without operations.
     *
     * @param valid    whether a receive may name a source address; without endpoints of a shared receive context.
     * @param entries  writes the entries of receives; null of a shared receive context, whose endpoints have them.
     */
    Receiver(
        EndpointSettings settings,
        EngineSettings engine,
        RegionTable regions,
        LongPredicate valid,
        ReceiveEntries entries,
        CycleClock clock) {
        this.regions = regions;
        this.pool = pool(settings, clock);
        this.entries = entries;
        this.store = new UnexpectedStore(
            engine.unexpectedBudgetBytes(), engine.creditWindowBytes(), settings.eagerLimitBytes(), clock);
        boolean directed = settings.directedReceive();
        this.tagged = new TagMatcher(settings.rxSize(), settings.rxSize(), directed);
        // the keys of untagged messages differ only in their sources
        int untaggedKeys = Math.min(settings.rxSize(), USUAL_SOURCES);
        this.untagged = new TagMatcher(untaggedKeys, untaggedKeys, directed);
        this.levels = new ReachedLevels(store);
        this.ends = new EndedReceives(
            pool, settings.strictReceives() ? Long.MAX_VALUE : settings.eagerLimitBytes(), levels);
        this.pulls = new Pulls(ends);
        this.waiting = new WaitingMessages(tagged, untagged, store, pool, ends, pulls, levels);
        this.sources = new Sources(ends, valid, directed, tagged, untagged);
        this.peeks = new Peeks(regions, pool, ends, waiting, sources, settings.rxSize());
        this.ordinary = new OrdinaryReceives(regions, pool, entries, ends, waiting, sources, peeks);
        this.shared = entries != null ? null : new SharedReceives(ordinary, pool, ends, waiting, sources, peeks);
        if (shared != null) {
            this.mode = shared;
        } else if (settings.slab() != null) {
            this.mode = new BufferedReceives(ordinary, settings, regions, pool, entries, ends, waiting, sources);
        } else if (settings.taggedMultiReceive()) {
            this.mode = new TaggedMultiReceives(
                ends, multiReceives(settings, Flags.TAGGED),
                settings.multiReceive() ? multiReceives(settings, Flags.MSG) : ordinary);
        } else if (settings.multiReceive()) {
            this.mode = multiReceives(settings, Flags.MSG);
        } else {
            this.mode = ordinary;
        }
        pool.modes(shared != null ? shared : ordinary, mode);
        this.expected = new ExpectedReceives(
            shared == null && settings.slab() == null && !entries.areCounted() && !settings.strictReceives()
                && !settings.taggedMultiReceive() && settings.arrivals() == null,
            settings.rxSize(), pool, tagged, regions, entries, clock);
        this.streams = new Streams(mode, ends, waiting, pool, store);
        this.scan = new ReceiveScan(pool, store, untagged);
    }

    private MultiReceives multiReceives(EndpointSettings settings, long kind) {
        return new MultiReceives(ordinary, settings, pool, entries, ends, waiting, kind);
    }

    SharedReceives.Bound bind(
        ReceiveEntries ofEndpoint, LongPredicate valid, Supplier<List<PeerReceives>> peers, boolean isSelective,
        boolean mayOverrun) {
        return shared.bind(ofEndpoint, valid, peers, isSelective, mayOverrun);
    }

    /** Receives that have ended, with other operations of their completion queue; 0 of a shared receive context. */
    long endedReceives() {
        return entries == null ? 0 : entries.ended();
    }

    /** Whether it is that of a shared receive context. */
    boolean isShared() {
        return shared != null;
    }

    /** Unbinds an endpoint whose peers are closed. */
    void unbind(SharedReceives.Bound bound) {
        shared.unbind(bound);
    }

    private static ReceivePool pool(EndpointSettings settings, CycleClock clock) {
        IntFunction<ReceiveOperation> newReceive = index -> new ReceiveOperation(index, false);
        IntFunction<ReceiveOperation> newOfDriver = index -> new ReceiveOperation(index, true);
        if (settings.slab() != null) {
            return new ReceivePool(settings.rxSize(), newReceive, settings.slab().cells(), newOfDriver, clock);
        } else if (settings.multiReceive() || settings.taggedMultiReceive()) {
            return new ReceivePool(settings.rxSize(), MultiBuffer::new, MultiReceives.PARTS, MultiPart::new, clock);
        }
        return new ReceivePool(settings.rxSize(), newReceive, 0, newOfDriver, clock);
    }

    /**
     * Posts a plain receive to the queue of expected receives, if possible. Returns 0 or {@code -FI_EAGAIN}; 1 if the
     * caller must call {@link #receive} instead.
     */
    int expect(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        return expected.post(flags, buf, len, srcAddr, tag, ignore, context);
    }

    /**
     * Accepts a receive, or a peek at the waiting messages ({@link Peeks}).
     *
     * @param srcAddr source or -1.
     * @param ignore  bits of the tag that are not compared; for a multi-receive buffer its minimum free space in bytes.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        spill(flags);
        ReceiveOperation operation = pool.take();
        if (operation == null) {
            return -FabricErrno.EAGAIN;
        }
        operation.posted(flags, buf, len, context);
        post(operation, srcAddr, tag, ignore);
        return 0;
    }

    /** Accepts a receive of any number of pieces, or a multi-receive buffer. Returns 0 or {@code -FI_EAGAIN}. */
    int post(WorkRequest request) {
        spill(request.flags);
        ReceiveOperation operation = pool.take();
        if (operation == null) {
            return -FabricErrno.EAGAIN;
        }
        start(operation, request);
        return 0;
    }

    /** Untagged receives and messages never meet tagged ones. */
    private void spill(long flags) {
        if ((flags & Flags.TAGGED) != 0) {
            expected.spill();
        }
    }

    /** Takes the slot of a receive that a counter starts; returns false if none is free. */
    boolean reserve() {
        boolean hasRoom = pool.takeRoom();
        reserved += hasRoom ? 1 : 0;
        return hasRoom;
    }

    /** Starts a receive with a slot of {@link #reserve}. */
    void start(WorkRequest request, CounterWriter completion) {
        ReceiveOperation operation = unreserved(completion);
        spill(request.flags);
        start(operation, request);
    }

    private void start(ReceiveOperation operation, WorkRequest request) {
        posted(operation, request);
        if ((request.flags & TAGGED_BUFFER) == TAGGED_BUFFER && operation instanceof MultiBuffer buffer) {
            buffer.minFree = request.data;
        }
        if (request.count <= 1 || operation.scatterOver(regions, request.pieces, request.count)) {
            post(operation, request.address, request.tag, request.ignore);
        } else {
            mode.postUnregistered(operation, request.address, request.tag, request.ignore);
        }
    }

    /** Ends a receive with a slot of {@link #reserve} without a start. */
    void endReserved(WorkRequest request, CounterWriter completion, int errno) {
        ReceiveOperation operation = unreserved(completion);
        posted(operation, request);
        ends.fail(operation, 0, errno);
    }

    /** A record for a receive that has its slot. */
    private ReceiveOperation unreserved(CounterWriter completion) {
        ReceiveOperation operation = pool.takeReserved();
        reserved--;
        operation.counter = completion;
        return operation;
    }

    private static void posted(ReceiveOperation operation, WorkRequest request) {
        boolean isOnePiece = request.count == 1;
        operation.posted(
            request.isDeferred() ? request.flags | Flags.TRIGGER : request.flags & ~Flags.TRIGGER,
            isOnePiece ? request.pieces[0] : 0, isOnePiece ? request.pieces[1] : 0, request.context);
    }

    /** Frees cells of the receive slab; contexts that identify none are ignored. */
    void giveBack(long[] contexts, int count) {
        mode.giveBack(contexts, count);
    }

    /**
     * A complete message has arrived.
     *
     * @param flags   kind and {@code REMOTE_CQ_DATA}.
     * @param address native address of the payload.
     */
    void onMessage(PeerReceives from, long flags, long tag, long data, long address, int length) {
        if (!expected.take(from, flags, tag, address, length)) {
            take(from, flags, tag, data, address, length);
        }
    }

    /**
     * A complete message has arrived whose sender waits for an acknowledgement.
     *
     * @param flags     kind, {@code REMOTE_CQ_DATA}, one level, and optionally {@code FENCE}.
     * @param address   native address of the payload.
     */
    void onMessageToAcknowledge(
        PeerReceives from, long operation, long flags, long tag, long data, long address, int length) {
        if ((flags & Flags.FENCE) != 0 && !levels.fence(from, operation)) {
            return;
        }
        long level = (flags & Flags.MATCH_COMPLETE) != 0 ? Flags.MATCH_COMPLETE : Flags.DELIVERY_COMPLETE;
        levels.taking(from, level, operation);
        StoredMessage stored = take(from, flags, tag, data, address, length);
        if (stored != null && level == Flags.MATCH_COMPLETE) {
            levels.stored(stored, level, operation);
        } else {
            levels.taken(0);
        }
    }

    /**
     * A message is announced; its payload waits at its sender.
     *
     * @param flags   kind and {@code REMOTE_CQ_DATA}.
     * @param payload length and place; the link's object.
     */
    void onAnnounce(PeerReceives from, long flags, long tag, long data, RemotePayload payload) {
        if (WaitingMessages.isImpossible(payload.lengthBytes())) {
            from.peer().violation("announced a message of " + payload.lengthBytes() + " bytes");
            return;
        }
        if ((flags & Flags.FENCE) != 0 && !levels.fence(from, payload.operation())) {
            return;
        }
        if ((flags & Flags.LENT) != 0 && mode.takeLent(from, flags, tag, data, payload)) {
            return;
        }
        ReceiveOperation operation;
        try {
            operation = arrive(from, flags, tag, payload.lengthBytes());
        } catch (InternalError earlier) {
            // raised before anything was changed; without a record of the message its sender would wait forever
            announced(from, flags, tag, data, payload, arrive(from, flags, tag, payload.lengthBytes()));
            throw earlier;
        }
        announced(from, flags, tag, data, payload, operation);
    }

    private void announced(
        PeerReceives from, long flags, long tag, long data, RemotePayload payload, ReceiveOperation operation) {
        if (operation != null) {
            operation.message(from, flags & ReceiveOperation.MESSAGE_BITS, tag, data, payload.lengthBytes());
            pulls.start(operation, payload);
        } else {
            waiting.announce(from, flags, tag, data, payload);
        }
    }

    /** Sends the receives' control messages to the peers. */
    Pulls pulls() {
        return pulls;
    }

    /**
     * A requested segment of a payload has arrived.
     *
     * @param address native address of the bytes.
     */
    void onSegment(PeerReceives from, long sink, long offset, long address, int length) {
        pulls.onSegment(from, pool.find(sink), offset, address, length);
    }

    /**
     * A pending pull of the link has ended.
     *
     * @param errno           0 or a positive fabric errno.
     */
    void onPulled(PeerReceives from, long remoteOperation, int errno) {
        pulls.onPulled(from, remoteOperation, errno);
    }

    /**
     * A streamed message begins.
     *
     * @param flags     kind and {@code REMOTE_CQ_DATA}.
     */
    void place(PeerReceives from, long flags, long tag, long data, long length, Placement placement) {
        expected.spill();
        streams.place(from, flags, tag, data, length, placement);
    }

    /** A streamed message with FI_TIMESTAMP is about to be reported as placed. */
    void arrivedAt(PeerReceives from, Placement placement, long timeNs) {
        streams.arrivedAt(from, placement, timeNs);
    }

    /** All bytes of a streamed message have arrived. */
    void onPlaced(PeerReceives from, Placement placement) {
        // a message that was held back may take a receive now
        expected.spill();
        streams.onPlaced(from, placement);
    }

    /**
     * A streamed message will not arrive completely.
     *
     * @param errno     positive fabric errno.
     */
    void onAborted(PeerReceives from, Placement placement, int errno) {
        streams.onAborted(from, placement, errno);
    }

    /** Messages of a group are lost; false if the entry that says so has no place yet. */
    boolean gap(PeerReceives from, long first, long last) {
        ReceiveEntries of = entries != null ? entries : from.bound().entries();
        return from.entryOrder().isEmpty() && !waiting.hasUntagged(from) && mode.hasShown(from)
            && of.gap(from, first, last);
    }

    /**
     * A peer is down: operations that need it fail; messages that were received completely stay.
     *
     * @param errno         positive fabric errno.
     * @param isUpElsewhere whether another context of its endpoint still reaches this one.
     */
    void failPeer(PeerReceives from, int errno, boolean isUpElsewhere) {
        expected.spill();
        while (from.firstPull() != null) {
            ReceiveOperation operation = from.firstPull();
            from.removePull(operation);
            if (operation.state == ReceiveState.FILLING) {
                waiting.abort(operation.late.filling, errno);
            } else if (operation.state == ReceiveState.ENDED_TO_TELL) {
                // the payload was received completely; there is no sender to notify any more
                operation.state = ReceiveState.ENDED;
            } else if (operation.reported) {
                ends.release(operation);
            } else {
                ends.fail(operation, operation.late.received, errno);
            }
        }
        waiting.failPeer(from, errno);
        mode.failPeer(from, errno);
        sources.failPeer(from, errno, isUpElsewhere);
    }

    /**
     * A place in the address vector was removed and may be reused for another peer: its messages have an unknown sender
     * now, and directed receives from it end with {@code FI_ECANCELED}.
     */
    void forgetSource(int source) {
        sources.forget(source);
    }

    /** An address was inserted into the address vector: its waiting messages match directed receives from now on. */
    void learnSource(String address, int source) {
        sources.learn(address, source);
    }

    /** Cancels the oldest posted receive with that context. Returns true if there was one. */
    boolean cancel(long context) {
        expected.spill();
        return cancel(tagged, context) || cancel(untagged, context);
    }

    /**
     * Ends all receives that wait for a message, because none will arrive.
     *
     * @param errno positive fabric errno.
     */
    void cancelPosted(int errno) {
        expected.disable();
        sources.cancelPosted(errno);
    }

    /** The budget of the endpoint's memory for messages without a receive. */
    MessageBudget budget() {
        return store.budget();
    }

    /** The number of receives that have freed their slots since the start. */
    CompletedCount completed() {
        return pool.completed();
    }

    /** The number of operations that have not ended. */
    int outstanding() {
        return pool.outstanding();
    }

    /** The number of messages that wait for a receive, stored or announced. */
    int unexpectedMessages() {
        return waiting.count();
    }

    /** The records of the receive side, for snapshots. */
    ReceiveScan scan() {
        expected.spill();
        return scan;
    }

    /** Begins a scan over many calls: until {@link #endScan()} each receive keeps its place. */
    void beginScan() {
        expected.beginScan();
    }

    /** Ends a scan that {@link #beginScan()} began. */
    void endScan() {
        expected.endScan();
    }

    /** The number of messages that were received by {@link ExpectedReceives}. */
    long expectedMessages() {
        return expected.taken();
    }

    /**
     * Ends the receives that were being processed when an access to shared memory failed.
     *
     * @param all peers of the endpoint; a shared receive context has those of its endpoints.
     */
    void recover(List<PeerReceives> all) {
        expected.recover();
        new ReceiveRecovery(pool, ends, waiting, pulls, peeks).run(shared == null ? all : shared.peers());
        mode.recover();
        levels.recover();
    }

    /** Closes: releases the memory and the completion credit of the operations, and writes no entries. */
    void close() {
        int unfinished = expected.close() + reserved;
        for (int i = 0, size = pool.size(); i < size; i++) {
            ReceiveOperation operation = pool.get(i);
            if (operation.state != ReceiveState.FREE) {
                unfinished += operation.reported || operation.isOfDriver ? 0 : 1;
                operation.releaseMemory();
            }
        }
        mode.close();
        if (entries != null) {
            entries.close();
            entries.retire(unfinished);
        }
        pool.close();
        store.close();
    }

    private void post(ReceiveOperation operation, long srcAddr, long tag, long ignore) {
        if ((operation.flags & PeekFlags.ANY) != 0) {
            mode.peek(operation, srcAddr, tag, ignore);
        } else if (mode == ordinary) {
            // most endpoints: in a process with endpoints of all three modes, the call below would not be inlined
            ordinary.post(operation, srcAddr, tag, ignore);
        } else {
            mode.post(operation, srcAddr, tag, ignore);
        }
    }

    /** Places a message in the buffer of a receive, or stores it; returns the stored message, or null. */
    private StoredMessage take(PeerReceives from, long flags, long tag, long data, long address, int length) {
        if (mode != ordinary && mode.takeWhole(from, flags, data, address, length)) {
            return null;
        }
        ReceiveOperation operation = arrive(from, flags, tag, length);
        if (operation != null) {
            operation.message(from, flags & ReceiveOperation.MESSAGE_BITS, tag, data, length);
            operation.place(0, address, operation.placedBytes());
            from.passed(length);
            ends.end(operation);
            return null;
        }
        StoredMessage message = waiting.store(from, flags, tag, data, length);
        if (message != null) {
            message.resident = true;
            message.state = StoredMessage.FILLING;
            Words.copy(address, message.block, length);
            message.state = StoredMessage.STORED;
        }
        return message;
    }

    private ReceiveOperation arrive(PeerReceives from, long flags, long tag, long length) {
        expected.makeWay(flags, tag);
        return mode == ordinary
            ? ordinary.arrive(from, flags, tag, length) : mode.arrive(from, flags, tag, length);
    }

    private boolean cancel(TagMatcher matcher, long context) {
        for (PostedReceive receive = matcher.firstPosted(); receive != null; receive = matcher.nextPosted(receive)) {
            ReceiveOperation operation = (ReceiveOperation) receive;
            if (operation.context == context) {
                matcher.cancel(receive);
                ends.fail(operation, 0, FabricErrno.ECANCELED);
                return true;
            }
        }
        return false;
    }
}
