package org.jfabric.driver.link.verbs;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.ffi.SendRequests;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;

/**
 * The send queue of one connection: a ring of pre-built work requests, each with a slot of registered memory. The first
 * request of a cycle is handed to the card at once, the others together with the next poll. Requests whose end is told
 * ask for a completion each: one that waited for a later request's would be held up with it while the peer has no
 * receive. Of the others every n-th asks, and the last of a batch; a completion stands for all before it, because a
 * reliable connection completes in order.
 *
 * <pre>
 *   head ......... posted ......... tail
 *     with the card      waits for poll
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class SendQueue {
    /** A send that nobody waits for. */
    private static final byte QUIET = 0;
    /** A send whose end is told. */
    private static final byte SEND = 1;
    /** The same, out of the application's memory; from here on all use that. */
    private static final byte GATHERED = 2;
    /** A part of a read that others follow. */
    private static final byte PART = 3;
    /** The last part of a read. */
    private static final byte READ = 4;

    /** Well below what devices take in one request. */
    private static final long MAX_READ_BYTES = 1L << 30;

    private final VerbsDataPath path;
    private final long queuePair;
    private final SendRequests requests;
    private final RegionKeys keys;
    private final long memory;
    private final int memoryKey;
    private final int slotBytes;
    private final int inlineBytes;
    private final int signalEvery;
    private final int mask;
    private final byte[] kinds;
    private final long[] operations;
    private final RegionKeys.Key[] temporary;
    private long head;
    private long posted;
    private long tail;
    private int sinceSignal;
    private boolean postedInCycle;
    private boolean refused;
    private boolean isStopped;
    private boolean hasFailed;
    private int failure;

    SendQueue(
        VerbsDataPath path, long queuePair, SendRequests requests, RegionKeys keys, long memory, int memoryKey,
        int slotBytes, int inlineBytes, int signalEvery) {
        this.path = path;
        this.queuePair = queuePair;
        this.requests = requests;
        this.keys = keys;
        this.memory = memory;
        this.memoryKey = memoryKey;
        this.slotBytes = slotBytes;
        this.inlineBytes = inlineBytes;
        this.signalEvery = signalEvery;
        this.mask = requests.count() - 1;
        this.kinds = new byte[requests.count()];
        this.operations = new long[requests.count()];
        this.temporary = new RegionKeys.Key[requests.count()];
    }

    // ---- messages ----

    /** As {@link Channel#send}. */
    int send(TransmitOperation operation) {
        if (!hasRoom(1)) {
            return refuse();
        }
        int slot = (int) tail & mask;
        boolean isCopied = operation.length <= slotBytes;
        boolean hasData = (operation.flags & Flags.REMOTE_CQ_DATA) != 0;
        requests.begin(slot, hasData ? VerbsConstants.WR_SEND_WITH_IMM : VerbsConstants.WR_SEND,
            isCopied && operation.length <= inlineBytes ? VerbsConstants.SEND_INLINE : 0);
        if (hasData) {
            requests.immediate(slot, (int) operation.data);
        }
        if (isCopied) {
            copy(slot, operation);
        } else {
            int result = gather(slot, operation);
            if (result < 0) {
                return result;
            }
        }
        boolean isTold = !isCopied
            || (operation.flags & (Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE)) != 0;
        push(slot, isCopied ? isTold ? SEND : QUIET : GATHERED, operation.id());
        if (!postedInCycle && (operation.flags & Flags.MORE) == 0) {
            post();
        }
        return isTold ? Channel.PENDING : Channel.DONE;
    }

    /** The caller has to wait: for room, or until a region is registered. */
    int refuse() {
        refused = true;
        return -FabricErrno.EAGAIN;
    }

    private void copy(int slot, TransmitOperation operation) {
        int length = (int) operation.length;
        if (length != 0) {
            long at = memory + (long) slot * slotBytes;
            operation.copyTo(0, at, length);
            requests.piece(slot, 0, at, length, memoryKey);
        }
        requests.pieceCount(slot, length == 0 ? 0 : 1);
    }

    /** The card reads the payload from where it is. */
    private int gather(int slot, TransmitOperation operation) {
        PieceList pieces = operation.pieces;
        int count = pieces == null ? 1 : pieces.count();
        if (count > requests.pieces()) {
            return -FabricErrno.EOPNOTSUPP;
        }
        for (int i = 0; i < count; i++) {
            RegisteredRegion region = pieces == null ? operation.region : pieces.region(i);
            if (region == null) {
                return -FabricErrno.EOPNOTSUPP;
            }
            RegionKeys.Key key = keys.of(region);
            if (key == null) {
                return refuse();
            }
            if (key.errno() != 0) {
                return -key.errno();
            }
            requests.piece(slot, i, pieces == null ? operation.address : pieces.address(i),
                (int) (pieces == null ? operation.length : pieces.length(i)), key.local());
        }
        requests.pieceCount(slot, count);
        return 0;
    }

    private boolean hasRoom(int count) {
        return requests.count() - (tail - head) >= count && failure == 0;
    }

    private void push(int slot, byte kind, long operation) {
        kinds[slot] = kind;
        operations[slot] = operation;
        if (tail != posted) {
            requests.follow((int) (tail - 1) & mask, slot);
        }
        tail++;
        if (kind != QUIET && kind != PART || ++sinceSignal >= signalEvery) {
            sinceSignal = 0;
            requests.signal(slot);
        }
    }

    /** Hands over what waits, with one call. */
    private void post() {
        if (posted == tail || failure != 0) {
            return;
        }
        requests.signal((int) (tail - 1) & mask);
        sinceSignal = 0;
        int result = path.postSend(queuePair, requests.address((int) posted & mask));
        postedInCycle = true;
        if (result < 0) {
            failure = -result;
        } else {
            posted = tail;
        }
    }

    // ---- memory of the peer ----

    /** As {@link VerbsChannel#pull}. */
    int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
        RegionKeys.Key single = null;
        if (destPieces == null) {
            single = destRegion == null ? keys.covering(this, destAddress, length) : keys.of(destRegion);
            if (single == null) {
                return -FabricErrno.EAGAIN;
            }
            if (single.errno() != 0) {
                return -single.errno();
            }
        } else {
            int result = keysOf(destPieces);
            if (result < 0) {
                return result;
            }
        }
        int parts = parts(source, destPieces, length);
        if (parts > requests.count()) {
            if (single != null) {
                keys.give(single);
            }
            return -FabricErrno.EOPNOTSUPP;
        }
        if (!hasRoom(parts)) {
            return refuse();
        }
        read(source, destAddress, destPieces, length, single);
        if (!postedInCycle) {
            post();
        }
        return Channel.PENDING;
    }

    private int keysOf(PieceList pieces) {
        for (int i = 0; i < pieces.count(); i++) {
            RegisteredRegion region = pieces.region(i);
            RegionKeys.Key key = region == null ? null : keys.of(region);
            if (region == null) {
                return -FabricErrno.EOPNOTSUPP;
            }
            if (key == null) {
                return -FabricErrno.EAGAIN;
            }
            if (key.errno() != 0) {
                return -key.errno();
            }
        }
        return 0;
    }

    /** Requests that a read takes: one for each stretch that is in one piece on both sides. */
    private static int parts(RemotePayload source, PieceList dest, long length) {
        long longest = 0;
        for (int i = 0; i < source.count(); i++) {
            longest += 1 + source.length(i) / MAX_READ_BYTES;
        }
        return (int) Math.min(Integer.MAX_VALUE, longest + (dest == null ? 0 : dest.count()));
    }

    private void read(
        RemotePayload source, long destAddress, PieceList dest, long length, RegionKeys.Key single) {
        long done = 0;
        int from = 0;
        long skipped = 0;
        int to = 0;
        long filled = 0;
        while (done < length) {
            if (skipped == source.length(from)) {
                from++;
                skipped = 0;
                continue;
            }
            long here = dest == null ? length - done : dest.length(to) - filled;
            long bytes = Math.min(MAX_READ_BYTES, Math.min(length - done, Math.min(
                source.length(from) - skipped, here)));
            long at = dest == null ? destAddress + done : dest.address(to) + filled;
            RegionKeys.Key key = dest == null ? single : keys.of(dest.region(to));
            boolean isLast = done + bytes == length;
            int slot = (int) tail & mask;
            requests.begin(slot, VerbsConstants.WR_RDMA_READ, 0);
            requests.remote(slot, source.regionOffset(from) + skipped, (int) source.regionNumber(from));
            requests.piece(slot, 0, at, (int) bytes, key.local());
            requests.pieceCount(slot, 1);
            temporary[slot] = isLast ? single : null;
            push(slot, isLast ? READ : PART, source.operation());
            done += bytes;
            skipped += bytes;
            filled += bytes;
            if (dest != null && filled == dest.length(to)) {
                to++;
                filled = 0;
            }
        }
    }

    // ---- ends ----

    /** A request, and so all before it, has succeeded. */
    void completed(int slot, VerbsChannel channel) {
        long end = head + ((slot - (int) head) & mask) + 1;
        while (head != end) {
            int ended = (int) head & mask;
            // the handler may send, which finds room by it
            head++;
            if (kinds[ended] == READ) {
                giveBack(ended);
            }
            if (isStopped) {
                continue;
            }
            if (kinds[ended] == SEND || kinds[ended] == GATHERED) {
                channel.handler().onSent(operations[ended], 0);
            } else if (kinds[ended] == READ) {
                channel.protocol().onPulled(operations[ended], 0);
            }
        }
    }

    /** A request has failed; those before it that asked for no completion have succeeded. Nobody is told. */
    void failed(int slot) {
        long end = head + ((slot - (int) head) & mask) + 1;
        if (end > posted) {
            return;
        }
        hasFailed = true;
        while (head != end) {
            giveBack((int) head & mask);
            head++;
        }
    }

    private void giveBack(int slot) {
        if (temporary[slot] != null) {
            keys.give(temporary[slot]);
            temporary[slot] = null;
        }
    }

    // ---- steps ----

    /** Hands over what waits, and says that there is room; 0 if there was nothing to do. */
    int poll(ChannelHandler handler) {
        int work = posted == tail ? 0 : 1;
        post();
        postedInCycle = false;
        if (refused && !isStopped && hasRoom(1)) {
            refused = false;
            handler.onWritable();
            work++;
        }
        return work;
    }

    /** Whether a poll could do something. */
    boolean hasWork() {
        return posted != tail || postedInCycle || refused && hasRoom(1);
    }

    /** Whether somebody waits for room, or for a registration. */
    boolean isRefused() {
        return refused;
    }

    /** The handler is not called any more. */
    void stop() {
        isStopped = true;
    }

    /** Whether a request came back with an error. */
    boolean hasFailed() {
        return hasFailed;
    }

    /** Whether requests use memory of the application: those that the card has, and those that wait. */
    boolean usesRegions() {
        for (long i = head; i != tail; i++) {
            if (kinds[(int) i & mask] >= GATHERED) {
                return true;
            }
        }
        return false;
    }

    /** Requests that the card has. */
    int outstanding() {
        return (int) (posted - head);
    }

    /** Why the card did not take a request; a positive errno, 0 if it took all. */
    int failure() {
        return failure;
    }

    /** The connection is over: what was registered for reads that did not end, or not begin, is given back. */
    void release() {
        for (int i = 0; i < temporary.length; i++) {
            giveBack(i);
        }
        keys.giveUp(this);
    }
}
