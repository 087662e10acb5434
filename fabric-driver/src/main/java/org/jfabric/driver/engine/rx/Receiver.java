package org.jfabric.driver.engine.rx;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.engine.EndpointSettings;
import org.jfabric.driver.engine.EngineSettings;
import org.jfabric.driver.engine.complete.CompletionWriter;
import org.jfabric.driver.engine.complete.CounterWriter;
import org.jfabric.driver.engine.complete.CompletedCount;
import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.engine.peer.Peer;
import org.jfabric.driver.engine.peer.PeerTable;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.Words;

import java.util.List;

/**
 * The receive side of one endpoint: takes receives, matches messages, places payloads, completes.
 *
 * <p>Header facts are matched before a payload is moved, so the bytes go straight to the posted buffer; only what
 * nobody waits for goes to the unexpected store. How an announced payload is fetched is in {@link Pulls}.
 *
 * <p>Owner: progress agent.
 */
public final class Receiver {
    static final long MESSAGE_BITS = Flags.TAGGED | Flags.MSG | Flags.REMOTE_CQ_DATA | Flags.MULTICAST;

    /** Peers that wait, or are awaited by name, with untagged messages at once; more let a hash grow. */
    private static final int USUAL_SOURCES = 128;

    private final ReceiveEntries entries;
    /** Longer messages may be overtaken by those that were matched after them. */
    private final long orderedLimitBytes;
    private final boolean directed;
    private final ReceivePool pool;
    private final TagMatcher tagged;
    private final TagMatcher untagged;
    private final MultiReceives multi;
    private final UnexpectedStore store;
    private final Pulls pulls;
    private final Streams streams;
    private final ReceivePosts posts;
    private final ReachedLevels levels;
    private final ReceiveScan scan;
    private final Peeks peeks;
    /** Null without that mode. */
    private final BufferedReceives buffered;
    private final UnfinishedMessages unfinished;
    private final Sources sources;

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
    public Receiver(
        EndpointSettings settings,
        EngineSettings engine,
        RegionTable regions,
        PeerTable peers,
        CompletionWriter completions,
        int completionIndex,
        CounterWriter counter,
        CycleClock clock) {
        this.entries = new ReceiveEntries(settings, completions, completionIndex, counter, peers.failure());
        this.orderedLimitBytes = settings.strictReceives() ? Long.MAX_VALUE : settings.eagerLimitBytes();
        this.directed = settings.directedReceive();
        int parts = settings.slab() != null ? settings.slab().cells() : MultiReceives.parts(settings);
        this.pool = new ReceivePool(settings.rxSize(), parts, clock);
        this.tagged = new TagMatcher(settings.rxSize(), settings.rxSize(), directed);
        // told apart by their sources alone
        int untaggedKeys = Math.min(settings.rxSize(), USUAL_SOURCES);
        this.untagged = new TagMatcher(untaggedKeys, untaggedKeys, directed);
        this.multi = new MultiReceives(this, settings, pool, untagged, entries, completions.driverShare());
        this.store = new UnexpectedStore(
            engine.unexpectedBudgetBytes(), engine.creditWindowBytes(), settings.eagerLimitBytes(), clock);
        this.scan = new ReceiveScan(pool, store, untagged);
        this.pulls = new Pulls(this, pool);
        this.streams = new Streams(this, pool, store);
        this.levels = new ReachedLevels(this, store);
        this.unfinished = new UnfinishedMessages(store);
        this.sources = new Sources(this, peers, directed, tagged, untagged);
        this.peeks = new Peeks(this, regions, pool, entries, store, pulls, levels, sources, settings.rxSize());
        this.buffered = settings.slab() == null ? null : new BufferedReceives(
            this, settings, regions, pool, tagged, untagged, entries, store, pulls, peeks, completions.driverShare(),
            completionIndex);
        this.posts = new ReceivePosts(this, regions, pool, sources, tagged, untagged, multi, peeks, buffered);
    }

    /**
     * Takes a receive, or a look at the messages that wait ({@link Peeks}).
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
    public int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        return posts.receive(flags, buf, len, srcAddr, tag, ignore, context);
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
    public int receiveVector(
        long flags, long[] pieces, int count, long srcAddr, long tag, long ignore, long context) {
        return posts.receiveVector(flags, pieces, count, srcAddr, tag, ignore, context);
    }

    /**
     * Takes back cells of the receive slab; contexts that mean none are passed over.
     *
     * @param contexts of entries that handed cells out.
     * @param count    of them.
     */
    public void giveBack(long[] contexts, int count) {
        if (buffered != null) {
            buffered.giveBack(contexts, count);
        }
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
    public void onMessage(Peer peer, long flags, long tag, long data, long address, int length) {
        take(peer, flags, tag, data, address, length);
    }

    /**
     * Messages whose senders wait for acknowledgements.
     *
     * @return the one that answers them.
     */
    public ReachedLevels levels() {
        return levels;
    }

    /** Places a message in the buffer of a receive, or keeps it; the kept one, or null. */
    StoredMessage take(Peer peer, long flags, long tag, long data, long address, int length) {
        if (buffered != null && buffered.takeWhole(peer, flags, data, address, length)) {
            return null;
        }
        ReceiveOperation operation = arrive(peer, flags, tag, length);
        if (operation != null) {
            operation.message(peer, flags & MESSAGE_BITS, tag, data, length);
            operation.place(0, address, operation.placedBytes());
            peer.passed(length);
            end(operation);
            return null;
        }
        StoredMessage message = store(peer, flags, tag, data, length);
        if (message != null) {
            message.resident = true;
            message.state = StoredMessage.FILLING;
            Words.copy(address, message.block, length);
            message.state = StoredMessage.STORED;
        }
        return message;
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
    public void onAnnounce(Peer peer, long flags, long tag, long data, RemotePayload payload) {
        if (isImpossible(payload.lengthBytes())) {
            peer.violation("announced a message of " + payload.lengthBytes() + " bytes");
            return;
        }
        if ((flags & Flags.FENCE) != 0 && !levels.fence(peer, payload.operation())) {
            return;
        }
        ReceiveOperation operation = arrive(peer, flags, tag, payload.lengthBytes());
        if (operation != null) {
            operation.message(peer, flags & MESSAGE_BITS, tag, data, payload.lengthBytes());
            pulls.start(operation, payload);
            return;
        }
        if (!peer.held().announced()) {
            peer.violation("announced more messages than any peer may");
            return;
        }
        StoredMessage message = store.takeMessage();
        message.payload.set(payload);
        fill(message, peer, flags, tag, data, payload.lengthBytes());
        message.state = StoredMessage.ANNOUNCED;
        matcher(flags).addUnexpected(message);
    }

    /**
     * Tells the peer what it waits for: a request for segments, or that its payload was taken.
     *
     * @param peer      up.
     * @param operation with something to tell.
     * @return false if the channel is full.
     */
    public boolean tellPeer(Peer peer, ReceiveOperation operation) {
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
    public void onSegment(Peer peer, long sink, long offset, long address, int length) {
        pulls.onSegment(peer, pool.find(sink), offset, address, length);
    }

    /**
     * A pending fetch of the link has ended.
     *
     * @param peer            its sender.
     * @param remoteOperation the peer's id of the operation.
     * @param errno           0 or a positive fabric errno.
     */
    public void onPulled(Peer peer, long remoteOperation, int errno) {
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
    public void place(Peer peer, long flags, long tag, long data, long length, Placement placement) {
        streams.place(peer, flags, tag, data, length, placement);
    }

    /**
     * All bytes of a streamed message have arrived.
     *
     * @param peer      its sender.
     * @param placement as filled.
     */
    public void onPlaced(Peer peer, Placement placement) {
        streams.onPlaced(peer, placement);
    }

    /**
     * A streamed message will not arrive as a whole.
     *
     * @param peer      its sender.
     * @param placement as filled.
     * @param errno     positive fabric errno.
     */
    public void onAborted(Peer peer, Placement placement, int errno) {
        streams.onAborted(peer, placement, errno);
    }

    /**
     * A peer is gone: what needs it fails; what was received whole stays.
     *
     * @param peer  gone.
     * @param errno positive fabric errno.
     */
    public void failPeer(Peer peer, int errno) {
        while (peer.firstPull() != null) {
            ReceiveOperation operation = peer.firstPull();
            peer.removePull(operation);
            if (operation.state == ReceiveOperation.FILLING) {
                abort(operation.filling, errno);
            } else if (operation.state == ReceiveOperation.ENDED_TO_TELL) {
                // received whole; there is only no one left to be told
                operation.state = ReceiveOperation.ENDED;
            } else if (operation.reported) {
                release(operation);
            } else {
                fail(operation, operation.received, errno);
            }
        }
        unfinished.failPeer(tagged, peer, errno);
        unfinished.failPeer(untagged, peer, errno);
        sources.failDirected(peer.source(), errno);
    }

    /**
     * A place in the address vector will mean another peer: messages from it have an unknown sender now, and receives
     * that name it end with {@code FI_ECANCELED}.
     *
     * @param source the removed {@code fi_addr}.
     */
    public void forgetSource(int source) {
        sources.forget(source);
    }

    /**
     * An address has a place in the address vector: messages that came from there and wait match receives that name it.
     *
     * @param address of a peer.
     * @param source  its new {@code fi_addr}.
     */
    public void learnSource(String address, int source) {
        sources.learn(address, source);
    }

    /**
     * Cancels the oldest posted receive with that context.
     *
     * @param context as posted.
     * @return true if there was one.
     */
    public boolean cancel(long context) {
        return cancel(tagged, context) || cancel(untagged, context);
    }

    /**
     * Ends all receives that wait for a message, because none will come.
     *
     * @param errno positive fabric errno.
     */
    public void cancelPosted(int errno) {
        sources.cancelPosted(errno);
    }

    /**
     * Who may fill the memory for messages without a receive.
     *
     * @return the one budget.
     */
    public MessageBudget budget() {
        return store.budget();
    }

    /**
     * Receives that have made room for others since the start.
     *
     * @return the count, and who is told of it.
     */
    public CompletedCount completed() {
        return pool.completed();
    }

    /**
     * Operations that have not ended.
     *
     * @return a count.
     */
    public int outstanding() {
        return pool.outstanding();
    }

    /**
     * Messages that wait for a receive, stored or announced.
     *
     * @return a count.
     */
    public int unexpectedMessages() {
        return tagged.unexpectedCount() + untagged.unexpectedCount();
    }

    /**
     * The records, for those who look at them.
     *
     * @return the one scan.
     */
    public ReceiveScan scan() {
        return scan;
    }

    /**
     * Ends what was in hand when an access to shared memory failed.
     *
     * @param all peers of the endpoint.
     */
    public void recover(List<Peer> all) {
        new ReceiveRecovery(this, pool, store, pulls, peeks).run(all);
        if (buffered != null) {
            buffered.recover();
        } else {
            multi.recover();
        }
        levels.recover();
    }

    /** The endpoint is gone: gives back what operations hold, without entries but with their completion credit. */
    public void close() {
        int unfinished = 0;
        for (int i = 0, size = pool.size(); i < size; i++) {
            ReceiveOperation operation = pool.get(i);
            if (operation.state != ReceiveOperation.FREE) {
                unfinished += operation.reported || operation.isPart ? 0 : 1;
                operation.releaseMemory();
            }
        }
        multi.close();
        if (buffered != null) {
            buffered.close();
        }
        entries.retire(unfinished);
        pool.close();
        store.close();
    }

    /** Writes the entry of a receive whose message is placed, and ends it. */
    void end(ReceiveOperation operation) {
        // a fault of the sender's memory must not be raised in the middle of the report, which nobody would finish
        FaultPoint.pass();
        Peer peer = operation.peer;
        if (peer.entryOrder().isEmpty()) {
            reportSuccess(operation);
        } else if (isTurnOf(operation, ReceiveOperation.ENDED, 0, 0)) {
            reportSuccess(operation);
            reportEnded(peer);
        }
    }

    private void reportSuccess(ReceiveOperation operation) {
        pool.ending(operation);
        complete(operation);
        release(operation);
    }

    /** A message was matched whose payload comes later. */
    void begin(ReceiveOperation operation) {
        operation.peer.entryOrder().begin(operation, operation.messageLength <= orderedLimitBytes);
    }

    /**
     * Whether the entry of a message that is placed or lost may be written; if not, it is written in its turn. What
     * discards a message receives nothing, so it has no place in the order.
     */
    boolean isTurnOf(ReceiveOperation operation, int endedState, long placed, int errno) {
        if ((operation.flags & Flags.DISCARD) != 0 || operation.peer.entryOrder().isTurnOf(operation)) {
            return true;
        }
        operation.endedPlaced = placed;
        operation.endedErrno = errno;
        operation.state = endedState;
        return false;
    }

    /** Writes the entries that waited for one that was written just now. */
    void reportEnded(Peer peer) {
        for (ReceiveOperation next = peer.entryOrder().pollEnded(); next != null;
            next = peer.entryOrder().pollEnded()) {
            boolean isPull = next.state == ReceiveOperation.ENDED_TO_TELL;
            // in hand, so that it is found if an access to shared memory fails
            next.state = ReceiveOperation.POSTED;
            if (isPull && peer.channel() != null) {
                pulls.reportEnded(next, next.endedErrno);
                continue;
            }
            if (isPull) {
                peer.removePull(next);
            }
            if (next.endedErrno == 0) {
                reportSuccess(next);
            } else {
                reportFailure(next, next.endedPlaced, next.endedErrno);
            }
        }
    }

    /** Writes the entry of a receive whose message is placed; its record is needed for some time. */
    void complete(ReceiveOperation operation) {
        pool.endingLater(operation);
        if (operation.cell != null) {
            buffered.complete(operation);
        } else if (operation.isPart) {
            multi.complete(operation);
        } else {
            entries.complete(operation);
        }
    }

    /** Writes the error entry of a receive and ends it. */
    void fail(ReceiveOperation operation, long placed, int errno) {
        FaultPoint.pass();
        if (operation.isBuffer()) {
            multi.cancel(operation, errno);
            return;
        }
        Peer peer = operation.peer;
        if (peer == null) {
            reportFailure(operation, placed, errno);
        } else if (isTurnOf(operation, ReceiveOperation.ENDED, placed, errno)) {
            reportFailure(operation, placed, errno);
            reportEnded(peer);
        }
    }

    private void reportFailure(ReceiveOperation operation, long placed, int errno) {
        pool.ending(operation);
        writeError(operation, placed, errno);
        release(operation);
    }

    /** Writes the error entry of a receive; its record is needed for some time. */
    void writeError(ReceiveOperation operation, long placed, int errno) {
        pool.endingLater(operation);
        if (operation.cell != null) {
            buffered.fail(operation, placed, errno);
        } else if (operation.isPart) {
            multi.fail(operation, placed, errno);
        } else {
            entries.error(operation, placed, 0, errno);
        }
    }

    /** Gives the record back; its entry is written. */
    void release(ReceiveOperation operation) {
        if (operation.isPart && buffered == null) {
            multi.release(operation);
            return;
        }
        operation.releaseMemory();
        pool.give(operation);
    }

    static boolean isImpossible(long length) {
        return length < 0 || length > MemoryRegionDescriptor.MAX_LENGTH;
    }

    TagMatcher matcher(long flags) {
        return (flags & Flags.TAGGED) != 0 ? tagged : untagged;
    }

    ReceiveOperation arrive(Peer peer, long flags, long tag, long length) {
        if (buffered != null) {
            return buffered.arrive(peer, flags, tag, length);
        }
        return (flags & Flags.TAGGED) != 0
            ? (ReceiveOperation) tagged.arrive(tag, peer.source()) : multi.arrive(peer, length);
    }

    void deliver(ReceiveOperation operation, StoredMessage message) {
        if (operation.reported) {
            // it was discarded while its payload was on the way
            peeks.drop(operation, message);
            return;
        }
        operation.message(message.peer, message.flags, message.tag(), message.data, message.length);
        switch (message.state) {
            case StoredMessage.STORED -> {
                boolean awaited = message.awaited != 0;
                if (awaited) {
                    levels.taking(message);
                }
                if (!message.inPlace) {
                    operation.place(0, message.block, operation.placedBytes());
                }
                Peer peer = message.peer;
                message.peer = null;
                peer.left(message.length, message.epoch);
                store.giveMessage(message);
                end(operation);
                if (awaited) {
                    levels.taken(0);
                }
            }
            case StoredMessage.FILLING -> {
                operation.state = ReceiveOperation.FILLING;
                operation.filling = message;
                message.receive = operation;
                begin(operation);
                // the message is in no matcher any more: the peer's end must find it here
                message.peer.addPull(operation);
            }
            default -> {
                Peer peer = message.peer;
                message.peer = null;
                peer.held().announcementLeft();
                pulls.start(operation, message.payload);
                store.giveMessage(message);
            }
        }
    }

    StoredMessage store(Peer peer, long flags, long tag, long data, long length) {
        if (!peer.held().store(length)) {
            peer.violation("sent more unexpected bytes than it was granted");
            return null;
        }
        StoredMessage message = store.takeMessage();
        if (length != 0) {
            message.block = store.takeBlock(length);
        }
        fill(message, peer, flags, tag, data, length);
        matcher(flags).addUnexpected(message);
        return message;
    }

    static void fill(StoredMessage message, Peer peer, long flags, long tag, long data, long length) {
        message.peer = peer;
        message.epoch = peer.epoch();
        message.flags = flags & MESSAGE_BITS;
        message.data = data;
        message.length = length;
        message.arrived((flags & Flags.TAGGED) != 0 ? tag : 0, peer.source());
    }

    void abort(StoredMessage message, int errno) {
        if (message.isClaimed()) {
            unfinished.lost(message, errno);
            return;
        }
        ReceiveOperation receive = message.receive;
        if (receive == null) {
            matcher(message.flags).removeUnexpected(message);
        }
        message.peer.left(message.length, message.epoch);
        store.giveMessage(message);
        if (receive != null && receive.reported) {
            release(receive);
        } else if (receive != null) {
            fail(receive, 0, errno);
        }
    }

    private boolean cancel(TagMatcher matcher, long context) {
        for (PostedReceive receive = matcher.firstPosted(); receive != null; receive = matcher.nextPosted(receive)) {
            ReceiveOperation operation = (ReceiveOperation) receive;
            if (operation.context == context) {
                matcher.cancel(receive);
                fail(operation, 0, FabricErrno.ECANCELED);
                return true;
            }
        }
        return false;
    }
}
