package org.jfabric.driver.link.tcp;

import java.util.ArrayDeque;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * The memory that the peer of one connection may read, and the peer's reads that wait for their answers.
 *
 * <p>The protocol above exposes payloads, under keys of this class. All other keys are those of regions, and the engine
 * knows what may be done with them. A read of other memory is refused.
 *
 * <p>Owner: progress agent.
 */
final class ExposedMemory {
    /** Limit of waiting requests: more than any JFabric peer has outstanding. Each request occupies memory here. */
    static final int MAX_WAITING = 4096;

    private record Piece(long address, long length) {
    }

    private final Long2ObjectHashMap<Piece> byKey = new Long2ObjectHashMap<>();
    private final ArrayDeque<RemoteRanges> waiting = new ArrayDeque<>();
    private final ArrayDeque<RemoteRanges> free = new ArrayDeque<>();
    private final PieceList found = new PieceList();
    /** Drawn, so that it is none of the keys that applications choose for their regions. */
    private long nextKey;

    ExposedMemory(long firstKey) {
        nextKey = firstKey;
    }

    void expose(TransmitOperation operation, RemotePayload target) {
        target.begin(operation.id());
        if (operation.pieces == null) {
            add(target, operation.address, operation.length);
            return;
        }
        for (int i = 0; i < operation.pieces.count(); i++) {
            add(target, operation.pieces.address(i), operation.pieces.length(i));
        }
    }

    private void add(RemotePayload target, long address, long length) {
        byKey.put(nextKey, new Piece(address, length));
        target.add(nextKey, 0, 0, length);
        nextKey++;
    }

    /**
     * Reverses {@link #expose}; false if a read of the memory is not answered completely yet, so that the memory may
     * still be accessed.
     *
     * @param inHand the read that is being answered, or null.
     */
    boolean conceal(RemotePayload target, RemoteRanges inHand) {
        boolean isRead = false;
        for (int i = 0; i < target.count(); i++) {
            long key = target.regionNumber(i);
            if (byKey.remove(key) != null) {
                isRead |= inHand != null && names(inHand, key);
                for (RemoteRanges ranges : waiting) {
                    isRead |= names(ranges, key);
                }
            }
        }
        return !isRead;
    }

    private static boolean names(RemoteRanges ranges, long key) {
        for (int i = 0; i < ranges.count(); i++) {
            if (ranges.key(i) == key) {
                return true;
            }
        }
        return false;
    }

    /**
     * Accepts a read of the peer.
     *
     * @param engine null if the engine has no memory for peers.
     * @return 0, or why it is refused, a positive fabric errno.
     */
    int request(TcpHeader header, RemoteHandler engine) {
        if (waiting.size() == MAX_WAITING) {
            return FabricErrno.ENOBUFS;
        }
        RemoteRanges ranges = free.isEmpty() ? new RemoteRanges() : free.removeFirst();
        header.copyTo(ranges);
        int errno = find(ranges, engine, found);
        if (errno == 0) {
            waiting.addLast(ranges);
        } else {
            give(ranges);
        }
        return errno;
    }

    /** Whether a read names regions, and no payload that the protocol above has exposed. */
    boolean isAccess(RemoteRanges ranges) {
        return !byKey.containsKey(ranges.key(0));
    }

    /**
     * Finds the memory of a read now; its owner may have closed a region since the last time. Returns 0, or why the
     * peer may not read it, a positive fabric errno.
     */
    int find(RemoteRanges ranges, RemoteHandler engine, PieceList pieces) {
        if (isAccess(ranges)) {
            return engine == null ? FabricErrno.EACCES : engine.find(ranges, Flags.REMOTE_READ, pieces);
        }
        pieces.forget();
        for (int i = 0; i < ranges.count(); i++) {
            Piece piece = byKey.get(ranges.key(i));
            long offset = ranges.address(i);
            long length = ranges.lengthBytes(i);
            if (piece == null || offset < 0 || length < 0 || offset > piece.length || length > piece.length - offset) {
                return FabricErrno.EKEYREJECTED;
            }
            pieces.add(piece.address + offset, length);
        }
        return 0;
    }

    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    /** The oldest waiting read. */
    RemoteRanges oldest() {
        return waiting.peekFirst();
    }

    /** Removes the oldest waiting read; the caller gives it back. */
    RemoteRanges take() {
        return waiting.removeFirst();
    }

    void dropWaiting() {
        waiting.clear();
    }

    void give(RemoteRanges ranges) {
        free.addFirst(ranges);
    }
}
