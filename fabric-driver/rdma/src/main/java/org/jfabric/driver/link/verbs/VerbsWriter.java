package org.jfabric.driver.link.verbs;

import org.agrona.UnsafeApi;
import org.jfabric.driver.ffi.SendRequests;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.AtomicPart;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;

/**
 * Writes one connection: messages, and accesses to the peer's memory. Each send whose completion is reported is
 * signaled: if it relied on the completion of a later request, it would be delayed with that while the peer has no
 * receive.
 *
 * <p>Owner: progress agent.
 */
final class VerbsWriter {
    /** A send whose completion is not reported. */
    private static final byte QUIET = 0;
    /** A send whose completion is reported. */
    private static final byte SEND = 1;
    /** A write to the peer's memory that was copied, or an atomic operation whose old value is not wanted. */
    private static final byte CHANGE = 2;
    /** An atomic operation; the card writes the old value into the slot's memory. */
    private static final byte FETCH = 3;
    /** As {@link #SEND}, from the application's memory; this kind and those below use that memory. */
    private static final byte GATHERED = 4;
    /** One request of a read for the protocol above, but not its last. */
    private static final byte PART = 5;
    /** The last request of a read for the protocol above. */
    private static final byte PULL = 6;
    /** A write of the application's memory, or the last request of an application's read. */
    private static final byte ACCESS = 7;
    /** One request of an application's read, but not its last. */
    private static final byte ACCESS_PART = 8;

    /** Well below the limit of devices for one request. */
    private static final long MAX_READ_BYTES = 1L << 30;

    private final SendRing ring;
    private final SendRequests requests;
    private final RegionKeys keys;
    private final byte[] kinds;
    private final long[] operations;
    private final RegionKeys.Key[] temporary;
    private boolean refused;
    private boolean isStopped;
    private boolean hasFailed;

    VerbsWriter(SendRing ring, RegionKeys keys) {
        this.ring = ring;
        this.requests = ring.requests();
        this.keys = keys;
        this.kinds = new byte[requests.count()];
        this.operations = new long[requests.count()];
        this.temporary = new RegionKeys.Key[requests.count()];
    }

    // ---- messages ----

    /** As {@link Channel#send}. */
    int send(TransmitOperation operation) {
        if (!ring.hasRoom(1)) {
            return refuse();
        }
        int slot = ring.nextSlot();
        boolean isCopied = operation.length <= ring.slotBytes();
        ring.begin(slot, operation);
        if (isCopied) {
            ring.copy(slot, operation);
            // a memory fault must not come after the request is posted
            FaultPoint.pass();
        } else {
            int result = gather(slot, operation);
            if (result < 0) {
                return result;
            }
        }
        boolean isReported = !isCopied
            || (operation.flags & (Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE)) != 0;
        push(slot, isCopied ? isReported ? SEND : QUIET : GATHERED, operation.id());
        if ((operation.flags & Flags.MORE) == 0) {
            ring.postFirst();
        }
        return isReported ? Channel.PENDING : Channel.DONE;
    }

    /** Makes the caller wait for room or for the registration of a region; {@code -FI_EAGAIN}. */
    int refuse() {
        refused = true;
        return -FabricErrno.EAGAIN;
    }

    /** Describes the payload in place, from where the card reads it. */
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

    private void push(int slot, byte kind, long operation) {
        kinds[slot] = kind;
        operations[slot] = operation;
        ring.add(kind != QUIET && kind != PART && kind != ACCESS_PART);
    }

    // ---- memory of the peer ----

    /** As {@link org.jfabric.driver.link.RemoteChannel#write}, of the whole range. */
    int write(TransmitOperation operation) {
        int refusal = refusal(operation);
        if (refusal != 0) {
            return refusal;
        }
        if (!ring.hasRoom(1)) {
            return refuse();
        }
        int slot = ring.nextSlot();
        boolean isCopied = operation.length <= ring.slotBytes();
        ring.beginWrite(slot, operation);
        requests.remote(slot, operation.remoteAddress, (int) operation.key);
        if (isCopied) {
            ring.copy(slot, operation);
        } else {
            int result = gather(slot, operation);
            if (result < 0) {
                return result;
            }
        }
        push(slot, isCopied ? CHANGE : ACCESS, operation.id());
        if ((operation.flags & Flags.MORE) == 0) {
            ring.postFirst();
        }
        return Channel.DONE;
    }

    /** As {@link org.jfabric.driver.link.RemoteChannel#read}: a request for each piece of local memory. */
    int read(TransmitOperation operation) {
        int refusal = refusal(operation);
        if (refusal != 0) {
            return refusal;
        }
        PieceList pieces = operation.pieces;
        int count = pieces != null ? pieces.count() : operation.length == 0 ? 0 : 1;
        int result = pieces != null ? keysOf(pieces) : count == 0 ? 0 : keyOf(operation.region);
        if (result < 0) {
            return result == -FabricErrno.EAGAIN ? refuse() : result;
        }
        if (!ring.hasRoom(Math.max(1, count))) {
            return refuse();
        }
        long remote = operation.remoteAddress;
        for (int i = 0; i < Math.max(1, count); i++) {
            int slot = ring.nextSlot();
            requests.begin(slot, VerbsConstants.WR_RDMA_READ, 0);
            requests.remote(slot, remote, (int) operation.key);
            if (pieces != null && count != 0) {
                requests.piece(slot, 0, pieces.address(i), (int) pieces.length(i), keys.of(pieces.region(i)).local());
                remote += pieces.length(i);
            } else if (count != 0) {
                requests.piece(
                    slot, 0, operation.address, (int) operation.length, keys.of(operation.region).local());
            }
            requests.pieceCount(slot, Math.min(1, count));
            push(slot, i + 1 < count ? ACCESS_PART : ACCESS, operation.id());
        }
        if ((operation.flags & Flags.MORE) == 0) {
            ring.postFirst();
        }
        return Channel.DONE;
    }

    /** As {@link org.jfabric.driver.link.RemoteChannel#atomic}: what {@link AtomicForm#existsOnCard} names. */
    int atomic(TransmitOperation operation) {
        AtomicPart part = operation.atomic;
        if (!AtomicForm.existsOnCard(part.form, part.datatype, part.operation)) {
            return -FabricErrno.EOPNOTSUPP;
        }
        if (part.count != 1 || (operation.remoteAddress & Long.BYTES - 1) != 0) {
            return -FabricErrno.EINVAL;
        }
        int refusal = refusal(operation);
        if (refusal != 0) {
            return refusal;
        }
        if (!ring.hasRoom(1)) {
            return refuse();
        }
        int slot = ring.nextSlot();
        long memory = ring.memory(slot);
        operation.copyTo(0, memory, Long.BYTES);
        long operand = UnsafeApi.getLong(memory);
        long compare = 0;
        boolean isSwap = part.form == AtomicForm.COMPARE;
        if (isSwap) {
            part.compares.copyTo(0, memory, Long.BYTES);
            compare = UnsafeApi.getLong(memory);
        }
        // as above
        FaultPoint.pass();
        requests.begin(slot, isSwap ? VerbsConstants.WR_ATOMIC_CMP_AND_SWP : VerbsConstants.WR_ATOMIC_FETCH_AND_ADD, 0);
        requests.atomic(slot, operation.remoteAddress, (int) operation.key, isSwap ? compare : operand, operand);
        ring.receiveValue(slot);
        push(slot, part.form == AtomicForm.BASE ? CHANGE : FETCH, operation.id());
        if ((operation.flags & Flags.MORE) == 0) {
            ring.postFirst();
        }
        return Channel.DONE;
    }

    /** Cards have keys of 32 bits; longer accesses than one request takes are longer than any message, too. */
    private static int refusal(TransmitOperation operation) {
        return operation.length > MAX_READ_BYTES ? -FabricErrno.EINVAL
            : operation.key >>> Integer.SIZE == 0 ? 0 : -FabricErrno.EKEYREJECTED;
    }

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
        if (!ring.hasRoom(parts)) {
            return refuse();
        }
        read(source, destAddress, destPieces, length, single);
        ring.postFirst();
        return Channel.PENDING;
    }

    private int keysOf(PieceList pieces) {
        for (int i = 0; i < pieces.count(); i++) {
            int result = keyOf(pieces.region(i));
            if (result != 0) {
                return result;
            }
        }
        return 0;
    }

    private int keyOf(RegisteredRegion region) {
        if (region == null) {
            return -FabricErrno.EOPNOTSUPP;
        }
        RegionKeys.Key key = keys.of(region);
        return key == null ? -FabricErrno.EAGAIN : -key.errno();
    }

    /** Upper limit of a read's requests: one for each range that is contiguous on both sides. */
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
            int slot = ring.nextSlot();
            requests.begin(slot, VerbsConstants.WR_RDMA_READ, 0);
            requests.remote(slot, source.regionOffset(from) + skipped, (int) source.regionNumber(from));
            requests.piece(slot, 0, at, (int) bytes, key.local());
            requests.pieceCount(slot, 1);
            temporary[slot] = isLast ? single : null;
            push(slot, isLast ? PULL : PART, source.operation());
            done += bytes;
            skipped += bytes;
            filled += bytes;
            if (dest != null && filled == dest.length(to)) {
                to++;
                filled = 0;
            }
        }
    }

    // ---- completions ----

    /** A request and all before it have succeeded. */
    void completed(int slot, VerbsChannel channel) {
        long end = ring.behind(slot);
        while (ring.head() != end) {
            // removed first: the handler may send and uses the room
            int ended = ring.remove();
            if (kinds[ended] == PULL) {
                giveBack(ended);
            }
            if (!isStopped) {
                report(ended, channel);
            }
        }
    }

    private void report(int slot, VerbsChannel channel) {
        switch (kinds[slot]) {
            case SEND, GATHERED -> channel.handler().onSent(operations[slot], 0);
            case CHANGE, ACCESS -> channel.handler().remoteHandler().onEnded(operations[slot], 0);
            case FETCH -> channel.handler().remoteHandler().onReply(
                operations[slot], 0, false, 0, ring.memory(slot), Long.BYTES);
            case PULL -> channel.protocol().onPulled(operations[slot], 0);
            default -> {
                // no completion is reported for this request
            }
        }
    }

    /**
     * A request has failed; those before it that were not signaled have succeeded. No completion is reported, but the
     * refusal of an access.
     *
     * @param refusal why the peer's card refuses the access, a positive errno; 0 if the request failed otherwise.
     */
    void failed(int slot, int refusal, VerbsChannel channel) {
        if (!ring.isOutstanding(slot)) {
            return;
        }
        hasFailed = true;
        long end = ring.behind(slot);
        while (ring.head() != end) {
            giveBack(ring.remove());
        }
        boolean isAccess = switch (kinds[slot]) {
            case CHANGE, FETCH, ACCESS, ACCESS_PART -> true;
            default -> false;
        };
        if (refusal != 0 && !isStopped && isAccess) {
            channel.handler().remoteHandler().onEnded(operations[slot], refusal);
        }
    }

    private void giveBack(int slot) {
        if (temporary[slot] != null) {
            keys.give(temporary[slot]);
            temporary[slot] = null;
        }
    }

    // ---- steps ----

    /** Posts waiting requests and reports that there is room; 0 if there was no work. */
    int poll(ChannelHandler handler) {
        int work = ring.poll();
        if (refused && !isStopped && ring.hasRoom(1)) {
            refused = false;
            handler.onWritable();
            work++;
        }
        return work;
    }

    /** Whether a poll has work to do. */
    boolean hasWork() {
        return ring.hasWork() || refused && ring.hasRoom(1);
    }

    /** Whether a message waits for room, or for a registration. */
    boolean isRefused() {
        return refused;
    }

    /** The handler is not called any more. */
    void stop() {
        isStopped = true;
    }

    /** Whether a request has completed with an error. */
    boolean hasFailed() {
        return hasFailed;
    }

    /** Whether posted or waiting requests use memory of the application. */
    boolean usesRegions() {
        for (long i = ring.head(); i != ring.tail(); i++) {
            if (kinds[ring.slot(i)] >= GATHERED) {
                return true;
            }
        }
        return false;
    }

    /** Requests that are posted and not completed. */
    int outstanding() {
        return ring.outstanding();
    }

    /** Why the card did not take a request; a positive errno, 0 if it took all. */
    int failure() {
        return ring.failure();
    }

    /** The connection has ended: registrations for reads that have not completed or not begun are freed. */
    void release() {
        for (int i = 0; i < temporary.length; i++) {
            giveBack(i);
        }
        keys.giveUp(this);
    }
}
