package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.wire.AnnounceVectorDecoder;
import org.jfabric.codec.wire.AnnounceVectorEncoder;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.Flags;

/**
 * The announcement of a payload in several pieces, which the receiver's driver copies once, piece by piece. It is sent
 * only to peers that support it; others get a plain announcement without a region, and then segments.
 *
 * <p>Owner: progress agent.
 */
final class ShmVectorFrames {
    private static final int DIMENSION_LENGTH = AnnounceVectorEncoder.PiecesEncoder.sbeHeaderSize();
    private static final int HEAD_LENGTH = WORD_LENGTH + AnnounceVectorEncoder.BLOCK_LENGTH + DIMENSION_LENGTH;
    private static final int PIECE_LENGTH = AnnounceVectorEncoder.PiecesEncoder.sbeBlockLength();
    private static final int NUMBER = AnnounceVectorDecoder.PiecesDecoder.regionNumberEncodingOffset();
    private static final int GENERATION = AnnounceVectorDecoder.PiecesDecoder.regionGenerationEncodingOffset();
    private static final int OFFSET = AnnounceVectorDecoder.PiecesDecoder.regionOffsetEncodingOffset();
    private static final int LENGTH = AnnounceVectorDecoder.PiecesDecoder.lengthEncodingOffset();

    private final AnnounceVectorEncoder encoder = new AnnounceVectorEncoder();
    private final AnnounceVectorDecoder decoder = new AnnounceVectorDecoder();

    /** Whether the peer can map every piece of the payload. */
    static boolean isReachable(TransmitOperation operation) {
        PieceList pieces = operation.pieces;
        for (int i = 0; i < pieces.count(); i++) {
            if (pieces.region(i).number() == RemotePayload.NO_REGION) {
                return false;
            }
        }
        return true;
    }

    /** Bytes of the record, its word included. */
    static int length(TransmitOperation operation) {
        return HEAD_LENGTH + PIECE_LENGTH * operation.pieces.count();
    }

    /** Writes the body of the record. */
    void write(UnsafeBuffer ring, int offset, int channel, int grant, long flags, TransmitOperation operation) {
        PieceList pieces = operation.pieces;
        AnnounceVectorEncoder.PiecesEncoder group = encoder.wrap(ring, offset)
            .channel(channel).grant(grant & 0xFFFF_FFFFL).tag(operation.tag)
            .data((flags & Flags.REMOTE_CQ_DATA) != 0 ? operation.data : 0).flags(flags)
            .length(operation.length).operation(operation.id()).piecesCount(pieces.count());
        for (int i = 0; i < pieces.count(); i++) {
            RegisteredRegion region = pieces.region(i);
            group.next().regionNumber(region.number()).regionGeneration(region.generation())
                .regionOffset(pieces.address(i) - region.address()).length(pieces.length(i));
        }
    }

    /** Reads the fields in front of the pieces; null if the record is too short. */
    AnnounceVectorDecoder read(DirectBuffer ring, int offset, int recordLength) {
        if (recordLength < HEAD_LENGTH) {
            return null;
        }
        return decoder.wrap(
            ring, offset + WORD_LENGTH, AnnounceVectorDecoder.BLOCK_LENGTH, AnnounceVectorDecoder.SCHEMA_VERSION);
    }

    /**
     * Reads the pieces, each field once. Their number, their lengths and the record's length must be consistent.
     *
     * @param dimension offset of the group, which is the record's last field.
     * @param end       offset behind the record.
     * @return false if they are not consistent.
     */
    static boolean readPieces(DirectBuffer ring, int dimension, int end, long length, RemotePayload payload) {
        int blockLength = ring.getShort(dimension) & 0xFFFF;
        int count = ring.getShort(dimension + Short.BYTES) & 0xFFFF;
        if (blockLength != PIECE_LENGTH || count < 1 || count > PieceList.MAX_PIECES
            || end != dimension + DIMENSION_LENGTH + count * PIECE_LENGTH) {
            return false;
        }
        long rest = length;
        int at = dimension + DIMENSION_LENGTH;
        for (int i = 0; i < count; i++, at += PIECE_LENGTH) {
            long bytes = ring.getLong(at + LENGTH);
            if (bytes <= 0 || bytes > rest) {
                return false;
            }
            rest -= bytes;
            payload.add(ring.getLong(at + NUMBER), ring.getLong(at + GENERATION), ring.getLong(at + OFFSET), bytes);
        }
        return rest == 0;
    }
}
