package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.SendRequests;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Writes one connection: messages, and reads of the peer's memory. Each send whose completion is reported is signaled:
 * if it relied on the completion of a later request, it would be delayed with that while the peer has no receive.
 *
 * <p>Owner: progress agent.
 */
final class VerbsWriter {
    /** A send whose completion is not reported. */
    private static final byte QUIET = 0;
    /** A send whose completion is reported. */
    private static final byte SEND = 1;
    /** The same, from the application's memory; this kind and those below use that memory. */
    private static final byte GATHERED = 2;
    /** One request of a read, but not its last. */
    private static final byte PART = 3;
    /** The last request of a read. */
    private static final byte READ = 4;

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
        ring.add(kind != QUIET && kind != PART);
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
        if (!ring.hasRoom(parts)) {
            return refuse();
        }
        read(source, destAddress, destPieces, length, single);
        ring.postFirst();
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

    // ---- completions ----

    /** A request and all before it have succeeded. */
    void completed(int slot, VerbsChannel channel) {
        long end = ring.behind(slot);
        while (ring.head() != end) {
            // removed first: the handler may send and uses the room
            int ended = ring.remove();
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

    /** A request has failed; those before it that were not signaled have succeeded. No completion is reported. */
    void failed(int slot) {
        if (!ring.isOutstanding(slot)) {
            return;
        }
        hasFailed = true;
        long end = ring.behind(slot);
        while (ring.head() != end) {
            giveBack(ring.remove());
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
