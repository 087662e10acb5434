package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.UnsafeApi;
import org.jfabric.client.WorkRequest;
import org.jfabric.codec.wire.AnnounceDecoder;
import org.jfabric.codec.wire.AnnounceVectorDecoder;
import org.jfabric.driver.kit.Requests;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Payloads in several pieces over the real shm link, and announcements of them that no correct driver writes. */
class ShmVectorTest extends ThreeShmNodes {
    private static final int LINE = 64;
    /** Dimension of the pieces behind the block. */
    private static final int DIMENSION = WORD_LENGTH + AnnounceVectorDecoder.BLOCK_LENGTH;
    private static final int PIECES = DIMENSION + AnnounceVectorDecoder.PiecesDecoder.sbeHeaderSize();
    private static final int PIECE = AnnounceVectorDecoder.PiecesDecoder.sbeBlockLength();
    private static final int LENGTH = AnnounceVectorDecoder.PiecesDecoder.lengthEncodingOffset();
    private static final int[] SENT = {70_001, 3, 4096, 9_000};
    private static final int[] RECEIVED = {1, 80_000, 99, 3_000};
    private static final int TOTAL = 83_100;

    private ShmNode.Region alphaRegion;
    private ShmNode.Region betaRegion;

    @BeforeEach
    void addRegions() {
        alphaRegion = alpha.addRegion(1 << 20);
        betaRegion = beta.addRegion(1 << 20);
    }

    /** Every second piece is of the other region; pieces stand at odd places. */
    private static long[] pieces(ShmNode node, ShmNode.Region region, int[] lengths) {
        long[] pieces = new long[2 * lengths.length];
        int at = 1;
        for (int i = 0; i < lengths.length; i++) {
            pieces[2 * i] = i % 2 == 0 ? node.buf(at) : region.buf(at);
            pieces[2 * i + 1] = lengths[i];
            at += lengths[i] + 1;
        }
        return pieces;
    }

    /** Goes through the bytes of a message: fills them, or checks them. */
    private static void touch(ShmNode node, ShmNode.Region region, int[] lengths, int seed, boolean fill) {
        int at = 1;
        int index = 0;
        for (int i = 0; i < lengths.length; i++) {
            long address = (i % 2 == 0 ? node.memory : region.memory()) + at;
            for (int k = 0; k < lengths[i]; k++, index++) {
                byte expected = (byte) (seed + index * 7 + (index >> 8));
                if (fill) {
                    UnsafeApi.putByte(address + k, expected);
                } else if (UnsafeApi.getByte(address + k) != expected) {
                    throw new AssertionError("byte " + index + " differs, seed " + seed);
                }
            }
            at += lengths[i] + 1;
        }
    }

    private void send(int seed, int[] lengths) {
        touch(alpha, alphaRegion, lengths, seed, true);
        assertEquals(0, alpha.endpoint.post(Requests.message(WorkRequest.SEND,
            ShmNode.TAGGED, pieces(alpha, alphaRegion, lengths), toBeta, seed, 0, 200 + seed)));
    }

    private void receive(int seed, int[] lengths) {
        assertEquals(0, beta.endpoint.post(Requests.message(WorkRequest.RECEIVE,
            ShmNode.TAGGED, pieces(beta, betaRegion, lengths), -1, seed, 0, 100 + seed)));
    }

    private void assertTransfers(int seed, int[] sent, int[] received, int length) {
        receive(seed, received);
        send(seed, sent);
        ShmNode.Entry entry = await(beta);
        assertEquals(0, entry.err());
        assertEquals(100 + seed, entry.context());
        assertEquals(length, entry.length());
        assertEquals(200 + seed, await(alpha).context());
        touch(beta, betaRegion, received, seed, false);
    }

    @ParameterizedTest
    @CsvSource({"1,1,1", "5,30,5", "10,29,1", "20,20,20", "63,1,64", "100,200,300", "4000,192,4000", "3000,5191,1"})
    void shouldGatherShortMessagesIntoTheRing(int first, int second, int third) {
        int[] sent = {first, second, third};
        for (int seed = 1; seed < 4; seed++) {
            assertTransfers(seed, sent, new int[] {third, second, first}, first + second + third);
        }
    }

    @Test
    void shouldCopyOnceFromPiecesToPieces() {
        assertTransfers(1, SENT, RECEIVED, TOTAL);
        steps(100);
        long before = beta.services.copiedBytes();
        assertTransfers(2, SENT, RECEIVED, TOTAL);
        assertEquals(TOTAL, beta.services.copiedBytes() - before);
        // and where the message is announced before it is wanted
        send(3, SENT);
        steps(100);
        receive(3, RECEIVED);
        assertEquals(103, await(beta).context());
        touch(beta, betaRegion, RECEIVED, 3, false);
        assertEquals(2 * TOTAL, beta.services.copiedBytes() - before);
    }

    /** If any piece cannot be reached the payload is not copied but arrives in segments. */
    @ParameterizedTest
    @CsvSource({"0,0", "1,0", "2,0", "3,0", "0,8", "1,8", "2,8", "3,8", "0,16", "1,16", "2,16", "3,16"})
    void shouldTakeSegmentsWhereOnePieceIsNotWhatItSeems(int piece, int field) throws IOException {
        assertTransfers(1, SENT, RECEIVED, TOTAL);
        steps(100);
        long before = beta.services.copiedBytes();
        for (long value : new long[] {-1, 1L << 62, Long.MIN_VALUE, 0x7777}) {
            send(2, SENT);
            ByteBuffer ring = ring();
            // an offset within the region is what the peer says it is: there only what is outside is refused
            ring.putLong(announcement(ring) + PIECES + piece * PIECE + field, field == 16 ? value | 1L << 41 : value);
            receive(2, RECEIVED);
            assertEquals(0, await(beta).err());
            assertEquals(202, await(alpha).context());
            touch(beta, betaRegion, RECEIVED, 2, false);
        }
        assertEquals(before, beta.services.copiedBytes());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 5, 6, 0xFFFF, 1L << 16 | 32, 4L << 16 | 24, 5L << 16 | 32, 0xFFFFL << 16 | 32})
    void shouldEndOnlyTheDriverWithAnImpossibleNumberOfPieces(long dimension) throws IOException {
        assertEndsAlpha((ring, at) -> ring.putLong(at + DIMENSION, dimension));
    }

    @ParameterizedTest
    @CsvSource({"0,0", "3,-1", "0,70000", "1,4", "2,9223372036854775807", "3,-9223372036854775808"})
    void shouldEndOnlyTheDriverWhosePiecesDoNotFitTheMessage(int piece, long length) throws IOException {
        assertEndsAlpha((ring, at) -> ring.putLong(at + PIECES + piece * PIECE + LENGTH, length));
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, TOTAL - 1, TOTAL + 1, Long.MIN_VALUE, Long.MAX_VALUE})
    void shouldEndOnlyTheDriverWhoseMessageDoesNotFitItsPieces(long length) throws IOException {
        assertEndsAlpha(
            (ring, at) -> ring.putLong(at + WORD_LENGTH + AnnounceVectorDecoder.lengthEncodingOffset(), length));
    }

    @Test
    void shouldEndOnlyTheDriverWhoseRecordIsTooShort() throws IOException {
        assertEndsAlpha((ring, at) -> ring.putInt(at, PIECES - 1));
        assertEndsAlpha((ring, at) -> ring.putInt(at, PIECES + 3 * PIECE));
    }

    /** Something done to a record. */
    private interface Alteration {
        void apply(ByteBuffer ring, int at);
    }

    private void assertEndsAlpha(Alteration alteration) throws IOException {
        assertTransfers(1, SENT, RECEIVED, TOTAL);
        assertEquals(0, alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), 8, toGamma, 5, 0, 55));
        assertEquals(55, await(alpha).context());
        send(2, SENT);
        ByteBuffer ring = ring();
        alteration.apply(ring, announcement(ring));
        ShmNode.Entry failed = await(alpha);
        assertEquals(202, failed.context());
        assertNotEquals(0, failed.err());
        String errors = beta.services.errors.toString();
        assertTrue(errors.contains("announced a message of") || errors.contains("ANNOUNCE_VECTOR with only"), errors);
        assertEquals(0, gamma.endpoint.receive(ShmNode.TAGGED, gamma.buf(0), 8, -1, 5, 0, 56));
        assertEquals(0, await(gamma).err());
        steps(100);
        assertTransfers(3, SENT, RECEIVED, TOTAL);
    }

    /** Alpha's ring to beta: the one with the latest announcement of pieces. */
    private ByteBuffer ring() throws IOException {
        try (var files = Files.list(base.resolve("alpha"))) {
            for (Path name : files.filter(file -> file.toString().endsWith(".ring")).toList()) {
                try (FileChannel file = FileChannel.open(name, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                    ByteBuffer ring = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size())
                        .order(ByteOrder.LITTLE_ENDIAN);
                    if (announcement(ring) >= 0) {
                        return ring;
                    }
                }
            }
        }
        throw new AssertionError("no announcement of pieces");
    }

    /** Where the announcement of the message with tag 2 stands, which has not been read. */
    private static int announcement(ByteBuffer ring) {
        int found = -1;
        for (int at = RecordRingDescriptor.HEADER_LENGTH; at < ring.capacity(); at += LINE) {
            if (ring.getInt(at + Integer.BYTES) == ShmFrameReader.ANNOUNCE_VECTOR
                && ring.getLong(at + WORD_LENGTH + AnnounceDecoder.tagEncodingOffset()) == 2) {
                found = at;
            }
        }
        return found;
    }

    @Test
    void shouldCarryDataAndLevelsWithPieces() {
        for (long level : new long[] {0, Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE}) {
            for (int[] sent : new int[][] {SENT, {10, 20}}) {
                touch(alpha, alphaRegion, sent, 9, true);
                assertEquals(0, alpha.endpoint.post(Requests.message(
                    WorkRequest.SEND, ShmNode.TAGGED | Flags.REMOTE_CQ_DATA | level,
                    pieces(alpha, alphaRegion, sent), toBeta, 9, 77, 1)));
                steps(100);
                assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 100_000, -1, 9, 0, 2));
                ShmNode.Entry entry = await(beta);
                assertEquals(Flags.RECV | Flags.TAGGED | Flags.REMOTE_CQ_DATA, entry.flags());
                assertTrue(beta.isFilled(0, (int) entry.length(), 9));
                assertEquals(1, await(alpha).context());
            }
        }
    }
}
