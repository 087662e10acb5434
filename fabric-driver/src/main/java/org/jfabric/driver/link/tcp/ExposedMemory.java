package org.jfabric.driver.link.tcp;

import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;

import java.util.ArrayDeque;

/**
 * The memory that the peer of one connection may read, by the keys that were sent to it, and the peer's reads that wait
 * for their answers. A read of other memory is refused.
 *
 * <p>Owner: progress agent.
 */
final class ExposedMemory {
    /** The first key of libfabric's tcp provider. */
    private static final long FIRST_KEY = 0x8000_0000L;
    /** Limit of waiting requests: more than any JFabric peer has outstanding. Each request occupies memory here. */
    private static final int MAX_WAITING = 4096;

    private record Piece(long address, long length) {
    }

    private final Long2ObjectHashMap<Piece> byKey = new Long2ObjectHashMap<>();
    private final ArrayDeque<PieceList> waiting = new ArrayDeque<>();
    private final ArrayDeque<PieceList> free = new ArrayDeque<>();
    private long nextKey = FIRST_KEY;

    ExposedMemory() {
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
     */
    boolean conceal(RemotePayload target, PieceList inHand) {
        boolean isRead = false;
        for (int i = 0; i < target.count(); i++) {
            Piece piece = byKey.remove(target.regionNumber(i));
            if (piece != null) {
                isRead |= inHand != null && overlaps(inHand, piece);
                for (PieceList list : waiting) {
                    isRead |= overlaps(list, piece);
                }
            }
        }
        return !isRead;
    }

    private static boolean overlaps(PieceList list, Piece piece) {
        for (int i = 0; i < list.count(); i++) {
            if (list.address(i) >= piece.address && list.address(i) < piece.address + piece.length) {
                return true;
            }
        }
        return false;
    }

    /** Accepts a read of the peer; false if it names memory that the peer may not read, or too many reads wait. */
    boolean request(TcpHeader header) {
        if (waiting.size() == MAX_WAITING) {
            return false;
        }
        PieceList list = free.isEmpty() ? new PieceList() : free.removeFirst();
        for (int i = 0; i < header.pieces(); i++) {
            Piece piece = byKey.get(header.pieceKey(i));
            long offset = header.pieceOffset(i);
            long length = header.pieceLength(i);
            if (piece == null || offset < 0 || length < 0 || offset > piece.length || length > piece.length - offset) {
                give(list);
                return false;
            }
            list.add(piece.address + offset, length);
        }
        waiting.addLast(list);
        return true;
    }

    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    /** Removes the oldest waiting read and returns its memory; the caller gives the list back. */
    PieceList take() {
        return waiting.removeFirst();
    }

    void give(PieceList list) {
        list.forget();
        free.addFirst(list);
    }
}
