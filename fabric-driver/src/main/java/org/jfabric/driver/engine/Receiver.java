package org.jfabric.driver.engine;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.client.PeekFlags;
import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.layout.Words;

import java.util.List;
import java.util.function.IntFunction;

/**
 * The receive side of one endpoint: takes receives, matches messages, places payloads, completes.
 *
 * <p>Header facts are matched before a payload is moved, so the bytes go straight to the posted buffer; only what
 * nobody waits for goes to the unexpected store. How an announced payload is fetched is in {@link Pulls}.
 *
 * <p>Owner: progress agent.
 */
final class Receiver {
    /** Peers that wait, or are awaited by name, with untagged messages at once; more let a hash grow. */
    private static final int USUAL_SOURCES = 128;

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
    /** {@link #ordinary}, or what the endpoint has instead. */
    private final ReceiveMode mode;
    /** In front of the matcher of tagged messages, in the ordinary mode. */
    private final ExpectedReceives expected;
    private final Streams streams;
    private final ReceiveScan scan;

    /**
     * A receiver without operations.
     *
     * @param settings        of the endpoint.
     * @param engine          of the engine.
     * @param regions         of the client.
     * @param peers           of the endpoint.
     * @param completions     receive completion queue.
     * @param completionIndex the endpoint's index in it.
     * @param counter         counts what ends, or null.
     * @param clock           of the duty cycle.
     */
    Receiver(
        EndpointSettings settings,
        EngineSettings engine,
        RegionTable regions,
        PeerTable peers,
        CompletionWriter completions,
        int completionIndex,
        CounterWriter counter,
        CycleClock clock) {
        this.regions = regions;
        this.pool = pool(settings, clock);
        this.entries = new ReceiveEntries(settings, completions, completionIndex, counter, peers.failure());
        this.store = new UnexpectedStore(
            engine.unexpectedBudgetBytes(), engine.creditWindowBytes(), settings.eagerLimitBytes(), clock);
        boolean directed = settings.directedReceive();
        this.tagged = new TagMatcher(settings.rxSize(), settings.rxSize(), directed);
        // told apart by their sources alone
        int untaggedKeys = Math.min(settings.rxSize(), USUAL_SOURCES);
        this.untagged = new TagMatcher(untaggedKeys, untaggedKeys, directed);
        this.ends = new EndedReceives(
            pool, settings.strictReceives() ? Long.MAX_VALUE : settings.eagerLimitBytes());
        this.pulls = new Pulls(ends);
        this.levels = new ReachedLevels(store);
        this.waiting = new WaitingMessages(tagged, untagged, store, ends, pulls, levels);
        this.sources = new Sources(ends, peers, directed, tagged, untagged);
        this.peeks = new Peeks(regions, pool, entries, ends, waiting, sources, settings.rxSize());
        this.ordinary = new OrdinaryReceives(regions, pool, entries, ends, waiting, sources, peeks);
        if (settings.slab() != null) {
            this.mode = new BufferedReceives(ordinary, settings, regions, pool, entries, ends, waiting, sources);
        } else if (settings.multiReceive()) {
            this.mode = new MultiReceives(ordinary, settings.mayOverrun(), pool, entries, ends, waiting);
        } else {
            this.mode = ordinary;
        }
        pool.modes(ordinary, mode);
        this.expected = new ExpectedReceives(
            engine.straightPath() && settings.slab() == null && counter == null && !settings.strictReceives(),
            settings.rxSize(), pool, tagged, regions, entries, clock);
        this.streams = new Streams(mode, ends, waiting, pool, store);
        this.scan = new ReceiveScan(pool, store, untagged);
    }

    private static ReceivePool pool(EndpointSettings settings, CycleClock clock) {
        IntFunction<ReceiveOperation> newReceive = index -> new ReceiveOperation(index, false);
        IntFunction<ReceiveOperation> newOfDriver = index -> new ReceiveOperation(index, true);
        if (settings.slab() != null) {
            return new ReceivePool(settings.rxSize(), newReceive, settings.slab().cells(), newOfDriver, clock);
        } else if (settings.multiReceive()) {
            return new ReceivePool(settings.rxSize(), MultiBuffer::new, MultiReceives.PARTS, MultiPart::new, clock);
        }
        return new ReceivePool(settings.rxSize(), newReceive, 0, newOfDriver, clock);
    }

    /**
     * Takes a plain receive where it is expected.
     *
     * @return 0 or {@code -FI_EAGAIN}; 1 if {@link #receive} has to take it.
     */
    int expect(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        return expected.post(flags, buf, len, srcAddr, tag, ignore, context);
    }

    /**
     * Takes a receive, or a peek at the messages that wait ({@link Peeks}).
     *
     * @param flags   operation flags and kind.
     * @param buf     address in registered memory.
     * @param len     bytes.
     * @param srcAddr source or -1.
     * @param tag     tag.
     * @param ignore  bits of the tag that do not count; of a multi-receive buffer its least free room in bytes.
     * @param context context.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        expected.spill();
        ReceiveOperation operation = pool.take();
        if (operation == null) {
            return -FabricErrno.EAGAIN;
        }
        operation.posted(flags, buf, len, context);
        post(operation, srcAddr, tag, ignore);
        return 0;
    }

    /**
     * Takes a receive that is scattered over pieces of registered memory.
     *
     * @param flags   operation flags and kind.
     * @param pieces  address and length of each, one after the other.
     * @param count   of pieces, at most {@link org.jfabric.driver.link.PieceList#MAX_PIECES}.
     * @param srcAddr source or -1.
     * @param tag     tag.
     * @param ignore  bits of the tag that do not count.
     * @param context context.
     * @return 0 or {@code -FI_EAGAIN}.
     */
    int receiveVector(
        long flags, long[] pieces, int count, long srcAddr, long tag, long ignore, long context) {
        expected.spill();
        ReceiveOperation operation = pool.take();
        if (operation == null) {
            return -FabricErrno.EAGAIN;
        }
        operation.posted(flags, 0, 0, context);
        if (operation.scatterOver(regions, pieces, count)) {
            post(operation, srcAddr, tag, ignore);
        } else {
            mode.postUnregistered(operation, srcAddr, tag, ignore);
        }
        return 0;
    }

    /**
     * Takes back cells of the receive slab; contexts that mean none are ignored.
     *
     * @param contexts of entries that handed cells out.
     * @param count    of them.
     */
    void giveBack(long[] contexts, int count) {
        mode.giveBack(contexts, count);
    }

    /**
     * A whole message is here.
     *
     * @param peer    its sender.
     * @param flags   kind and {@code REMOTE_CQ_DATA}.
     * @param tag     tag.
     * @param data    remote CQ data.
     * @param address native address of the payload.
     * @param length  bytes.
     */
    void onMessage(Peer peer, long flags, long tag, long data, long address, int length) {
        if (!expected.take(peer, flags, tag, address, length)) {
            take(peer, flags, tag, data, address, length);
        }
    }

    /**
     * A whole message is here, whose sender waits for an acknowledgement.
     *
     * @param peer      its sender.
     * @param operation the sender's id of it.
     * @param flags     kind, {@code REMOTE_CQ_DATA}, one level, and {@code FENCE} perhaps.
     * @param tag       tag.
     * @param data      remote CQ data.
     * @param address   native address of the payload.
     * @param length    bytes.
     */
    void onMessageToAcknowledge(
        Peer peer, long operation, long flags, long tag, long data, long address, int length) {
        if ((flags & Flags.FENCE) != 0 && !levels.fence(peer, operation)) {
            return;
        }
        long level = (flags & Flags.MATCH_COMPLETE) != 0 ? Flags.MATCH_COMPLETE : Flags.DELIVERY_COMPLETE;
        levels.taking(peer, level, operation);
        StoredMessage stored = take(peer, flags, tag, data, address, length);
        if (stored != null && level == Flags.MATCH_COMPLETE) {
            levels.stored(stored, level, operation);
        } else {
            levels.taken(0);
        }
    }

    /**
     * A message waits at its sender.
     *
     * @param peer    its sender.
     * @param flags   kind and {@code REMOTE_CQ_DATA}.
     * @param tag     tag.
     * @param data    remote CQ data.
     * @param payload length and place; the link's object.
     */
    void onAnnounce(Peer peer, long flags, long tag, long data, RemotePayload payload) {
        if (WaitingMessages.isImpossible(payload.lengthBytes())) {
            peer.violation("announced a message of " + payload.lengthBytes() + " bytes");
            return;
        }
        if ((flags & Flags.FENCE) != 0 && !levels.fence(peer, payload.operation())) {
            return;
        }
        ReceiveOperation operation = arrive(peer, flags, tag, payload.lengthBytes());
        if (operation != null) {
            operation.message(peer, flags & ReceiveOperation.MESSAGE_BITS, tag, data, payload.lengthBytes());
            pulls.start(operation, payload);
        } else {
            waiting.announce(peer, flags, tag, data, payload);
        }
    }

    /**
     * Tells the peer what it waits for: a request for segments, or that its payload was taken.
     *
     * @param peer      up.
     * @param operation with something to tell.
     * @return false if the channel is full.
     */
    boolean tellPeer(Peer peer, ReceiveOperation operation) {
        return pulls.tellPeer(peer, operation);
    }

    /**
     * A piece of a payload that was asked for.
     *
     * @param peer    its sender.
     * @param sink    id of the receive.
     * @param offset  place in the message.
     * @param address native address of the bytes.
     * @param length  bytes.
     */
    void onSegment(Peer peer, long sink, long offset, long address, int length) {
        pulls.onSegment(peer, pool.find(sink), offset, address, length);
    }

    /**
     * A pending fetch of the link has ended.
     *
     * @param peer            its sender.
     * @param remoteOperation the peer's id of the operation.
     * @param errno           0 or a positive fabric errno.
     */
    void onPulled(Peer peer, long remoteOperation, int errno) {
        pulls.onPulled(peer, remoteOperation, errno);
    }

    /**
     * A streamed message begins.
     *
     * @param peer      its sender.
     * @param flags     kind and {@code REMOTE_CQ_DATA}.
     * @param tag       tag.
     * @param data      remote CQ data.
     * @param length    bytes.
     * @param placement filled with the answer.
     */
    void place(Peer peer, long flags, long tag, long data, long length, Placement placement) {
        expected.spill();
        streams.place(peer, flags, tag, data, length, placement);
    }

    /**
     * All bytes of a streamed message have arrived.
     *
     * @param peer      its sender.
     * @param placement as filled.
     */
    void onPlaced(Peer peer, Placement placement) {
        streams.onPlaced(peer, placement);
    }

    /**
     * A streamed message will not arrive as a whole.
     *
     * @param peer      its sender.
     * @param placement as filled.
     * @param errno     positive fabric errno.
     */
    void onAborted(Peer peer, Placement placement, int errno) {
        streams.onAborted(peer, placement, errno);
    }

    /**
     * A peer is gone: what needs it fails; what was received whole stays.
     *
     * @param peer  gone.
     * @param errno positive fabric errno.
     */
    void failPeer(Peer peer, int errno) {
        expected.spill();
        while (peer.firstPull() != null) {
            ReceiveOperation operation = peer.firstPull();
            peer.removePull(operation);
            if (operation.state == ReceiveState.FILLING) {
                waiting.abort(operation.late.filling, errno);
            } else if (operation.state == ReceiveState.ENDED_TO_TELL) {
                // received whole; there is only no one left to be told
                operation.state = ReceiveState.ENDED;
            } else if (operation.reported) {
                ends.release(operation);
            } else {
                ends.fail(operation, operation.late.received, errno);
            }
        }
        waiting.failPeer(peer, errno);
        sources.failDirected(peer.source(), errno);
    }

    /**
     * A place in the address vector will mean another peer: messages from it have an unknown sender now, and receives
     * that name it end with {@code FI_ECANCELED}.
     *
     * @param source the removed {@code fi_addr}.
     */
    void forgetSource(int source) {
        sources.forget(source);
    }

    /**
     * An address has a place in the address vector: messages that came from there and wait match receives that name it.
     *
     * @param address of a peer.
     * @param source  its new {@code fi_addr}.
     */
    void learnSource(String address, int source) {
        sources.learn(address, source);
    }

    /**
     * Cancels the oldest posted receive with that context.
     *
     * @param context as posted.
     * @return true if there was one.
     */
    boolean cancel(long context) {
        expected.spill();
        return cancel(tagged, context) || cancel(untagged, context);
    }

    /**
     * Ends all receives that wait for a message, because none will come.
     *
     * @param errno positive fabric errno.
     */
    void cancelPosted(int errno) {
        expected.disable();
        sources.cancelPosted(errno);
    }

    /**
     * Who may fill the memory for messages without a receive.
     *
     * @return the one budget.
     */
    MessageBudget budget() {
        return store.budget();
    }

    /**
     * Receives that have made room for others since the start.
     *
     * @return the count, and who is told of it.
     */
    CompletedCount completed() {
        return pool.completed();
    }

    /**
     * Operations that have not ended.
     *
     * @return a count.
     */
    int outstanding() {
        return pool.outstanding();
    }

    /**
     * Messages that wait for a receive, stored or announced.
     *
     * @return a count.
     */
    int unexpectedMessages() {
        return waiting.count();
    }

    /**
     * The records, for those who look at them.
     *
     * @return the one scan.
     */
    ReceiveScan scan() {
        expected.spill();
        return scan;
    }

    /**
     * Ends what was in hand when an access to shared memory failed.
     *
     * @param all peers of the endpoint.
     */
    void recover(List<Peer> all) {
        expected.recover();
        new ReceiveRecovery(pool, ends, waiting, pulls, peeks).run(all);
        mode.recover();
        levels.recover();
    }

    /** The endpoint is gone: gives back what operations hold, without entries but with their completion credit. */
    void close() {
        int unfinished = expected.close();
        for (int i = 0, size = pool.size(); i < size; i++) {
            ReceiveOperation operation = pool.get(i);
            if (operation.state != ReceiveState.FREE) {
                unfinished += operation.reported || operation.isOfDriver ? 0 : 1;
                operation.releaseMemory();
            }
        }
        mode.close();
        entries.retire(unfinished);
        pool.close();
        store.close();
    }

    private void post(ReceiveOperation operation, long srcAddr, long tag, long ignore) {
        if ((operation.flags & PeekFlags.ANY) != 0) {
            mode.peek(operation, srcAddr, tag, ignore);
        } else if (mode == ordinary) {
            // most endpoints: where there are some of all three modes, the call below would not be inlined
            ordinary.post(operation, srcAddr, tag, ignore);
        } else {
            mode.post(operation, srcAddr, tag, ignore);
        }
    }

    /** Places a message in the buffer of a receive, or keeps it; the kept one, or null. */
    private StoredMessage take(Peer peer, long flags, long tag, long data, long address, int length) {
        if (mode != ordinary && mode.takeWhole(peer, flags, data, address, length)) {
            return null;
        }
        ReceiveOperation operation = arrive(peer, flags, tag, length);
        if (operation != null) {
            operation.message(peer, flags & ReceiveOperation.MESSAGE_BITS, tag, data, length);
            operation.place(0, address, operation.placedBytes());
            peer.passed(length);
            ends.end(operation);
            return null;
        }
        StoredMessage message = waiting.store(peer, flags, tag, data, length);
        if (message != null) {
            message.resident = true;
            message.state = StoredMessage.FILLING;
            Words.copy(address, message.block, length);
            message.state = StoredMessage.STORED;
        }
        return message;
    }

    private ReceiveOperation arrive(Peer peer, long flags, long tag, long length) {
        expected.spill();
        return mode == ordinary
            ? ordinary.arrive(peer, flags, tag, length) : mode.arrive(peer, flags, tag, length);
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
