package org.jfabric.driver.link.shm;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Flags;
import org.jfabric.codec.wire.AnnounceVectorDecoder;
import org.jfabric.codec.wire.AnnounceVectorEncoder;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

/**
 * The announcement of a payload in several pieces, which the receiver's driver copies once, piece by piece. Only to
 * peers that know it: others get an ordinary announcement without region, and segments.
 *
 * <p>Owner: progress agent.
 */
final class ShmVectorFrames {
    private static final int HEAD_LENGTH =
        WORD_LENGTH + AnnounceVectorEncoder.BLOCK_LENGTH + AnnounceVectorEncoder.PiecesEncoder.sbeHeaderSize();
    private static final int PIECE_LENGTH = AnnounceVectorEncoder.PiecesEncoder.sbeBlockLength();
    private static final int NUMBER = AnnounceVectorDecoder.PiecesDecoder.regionNumberEncodingOffset();
    private static final int GENERATION = AnnounceVectorDecoder.PiecesDecoder.regionGenerationEncodingOffset();
    private static final int OFFSET = AnnounceVectorDecoder.PiecesDecoder.regionOffsetEncodingOffset();
    private static final int LENGTH = AnnounceVectorDecoder.PiecesDecoder.lengthEncodingOffset();

    private final AnnounceVectorEncoder encoder = new AnnounceVectorEncoder();
    private final AnnounceVectorDecoder decoder = new AnnounceVectorDecoder();

    /** Whether the peer can map every piece of what is sent. */
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

    /** The frame's fields in front of the pieces; null if the record is too short for what it says. */
    AnnounceVectorDecoder read(DirectBuffer ring, int offset, int recordLength) {
        if (recordLength < HEAD_LENGTH) {
            return null;
        }
        return decoder.wrap(
            ring, offset + WORD_LENGTH, AnnounceVectorDecoder.BLOCK_LENGTH, AnnounceVectorDecoder.SCHEMA_VERSION);
    }

    /**
     * Takes the pieces, each field once; their number, their lengths and the record's length must fit together.
     *
     * @return false if they cannot be.
     */
    static boolean readPieces(AnnounceVectorDecoder frame, int recordLength, long length, RemotePayload payload) {
        DirectBuffer ring = frame.buffer();
        int dimension = frame.limit();
        int blockLength = ring.getShort(dimension) & 0xFFFF;
        int count = ring.getShort(dimension + Short.BYTES) & 0xFFFF;
        if (blockLength != PIECE_LENGTH || count < 1 || count > PieceList.MAX_PIECES
            || recordLength != HEAD_LENGTH + count * PIECE_LENGTH) {
            return false;
        }
        long rest = length;
        int at = dimension + AnnounceVectorDecoder.PiecesDecoder.sbeHeaderSize();
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
