package org.jfabric.driver.link.rxm;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.RemotePayload;

/**
 * The block behind the header of a rendezvous: the location of the payload, in the terms of the channel below.
 *
 * <pre>
 *    0  u64 address | u64 length | u64 key   always four of these
 *   96  u8 number of these in use | 7 unused
 *  104
 * </pre>
 */
final class RxmDescriptors {
    /** Bytes of the block. */
    static final int LENGTH = 104;
    /** Limit of the pieces of one payload. */
    static final int MAX_PIECES = 4;

    private static final int PIECE_LENGTH = 24;
    private static final int COUNT_OFFSET = 96;

    private RxmDescriptors() {
    }

    /** Writes a payload that {@link org.jfabric.driver.link.support.MessageChannel#expose} has described. */
    static void write(long address, RemotePayload payload) {
        for (int i = 0; i < MAX_PIECES; i++) {
            long piece = address + (long) i * PIECE_LENGTH;
            boolean used = i < payload.count();
            UnsafeApi.putLong(piece, used ? payload.regionOffset(i) : 0);
            UnsafeApi.putLong(piece + 8, used ? payload.length(i) : 0);
            UnsafeApi.putLong(piece + 16, used ? payload.regionNumber(i) : 0);
        }
        UnsafeApi.putLong(address + COUNT_OFFSET, payload.count());
    }

    /**
     * Reads a block of a peer.
     *
     * @param address   of the block, {@link #LENGTH} bytes.
     * @return false if there are no or too many pieces, or their total length is not that of the message.
     */
    static boolean read(long address, long operation, long length, RemotePayload payload) {
        int count = UnsafeApi.getByte(address + COUNT_OFFSET) & 0xff;
        if (count == 0 || count > MAX_PIECES) {
            return false;
        }
        payload.begin(operation);
        long rest = length;
        for (int i = 0; i < count; i++) {
            long piece = address + (long) i * PIECE_LENGTH;
            long pieceLength = UnsafeApi.getLong(piece + 8);
            // subtracted one by one, so that no sum overflows
            if (pieceLength < 0 || pieceLength > rest) {
                return false;
            }
            rest -= pieceLength;
            payload.add(UnsafeApi.getLong(piece + 16), 0, UnsafeApi.getLong(piece), pieceLength);
        }
        return rest == 0;
    }
}
