package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The formats against bytes that real processes of libfabric have exchanged. */
class TcpFormatTest {
    private static final String UNTAGGED_64 = "03000000000010005000000000000000";
    private static final String TAGGED_300000 = "0301000000001800f893040000000000d204000000000000";
    private static final String FIN = "03000400000010001400000000000000";
    private static final String ACK = "03000000020010001000000000000000";
    private static final String READ_REQUEST =
        "03020000000128002800000000000000" + "0000000000000000" + "400d030000000000" + "0000008000000000";
    private static final String READ_RESPONSE = "0303000000011000500d030000000000";
    private static final String RAW_TAGGED_32 = "03008000000018003800000000000000" + "d204000000000000";

    private final MemorySegment memory = Arena.ofAuto().allocate(256, 8);
    private final TcpHeader header = new TcpHeader();
    private final RemoteRanges ranges = new RemoteRanges();

    @Test
    void shouldWriteConnectionMessagesAsCapturedFromLibfabric() {
        String zeros = "00".repeat(20);
        assertEquals("03000000" + zeros + "0100000000000000", hex(new CmMessage(CmMessage.REQUEST, new byte[0])));
        assertEquals("03010000" + zeros + "0100000000000000", hex(new CmMessage(CmMessage.RESPONSE, new byte[0])));
        // the length is in network order though all else is little endian
        assertEquals("03000008" + zeros + "0100000000000000" + "000085fd00005561",
            hex(new CmMessage(CmMessage.REQUEST, RdmConnectData.request(0x85FD, 0x5561).encode())));
        assertEquals("03060002" + zeros + "0000000000000000" + "0102",
            hex(new CmMessage(CmMessage.REJECT, new byte[] {1, 2})));
    }

    @Test
    void shouldReadConnectionMessagesPieceByPiece() {
        byte[] bytes = bytes("03010008" + "00".repeat(20) + "0100000000000000" + "810085fd0000555a");
        UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        for (int available = 0; available < bytes.length; available++) {
            assertNull(CmMessage.decode(buffer, 0, available), "after " + available);
        }
        CmMessage message = CmMessage.decode(buffer, 0, bytes.length);
        assertEquals(CmMessage.RESPONSE, message.type());
        assertFalse(message.isBigEndian());
        assertEquals(new RdmConnectData(0x81, 0, 0x85FD, 0x555A), RdmConnectData.decode(message.data()));
        bytes[31] = 1;
        bytes[24] = 0;
        assertTrue(CmMessage.decode(buffer, 0, bytes.length).isBigEndian());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "02", "0302", "03ff", "03000101", "0300ffff", "474554202f20485454502f312e310d0a",
        "0300000000000000000000000000000000000000000000000000000000000000",
        "0300000000000000000000000000000000000000000000000200000000000000"})
    void shouldRefuseOtherConnectionMessagesAtOnce(String hex) {
        byte[] bytes = bytes(hex);
        FabricException refused = assertThrows(
            FabricException.class, () -> CmMessage.decode(new UnsafeBuffer(bytes), 0, bytes.length));
        assertEquals(FabricErrno.EIO, refused.errno());
    }

    @Test
    void shouldAnswerEveryVersionWithVersionZeroAndTheOwnProcess() {
        for (String request : new String[] {"000085fd00005561", "010085fd00005561", "7f0185fd00005561"}) {
            byte[] answer = RdmConnectData.decode(bytes(request)).response(0x1234).encode();
            assertArrayEquals(bytes("000085fd00001234"), answer);
        }
        assertThrows(FabricException.class, () -> RdmConnectData.decode(bytes("00008500000055")));
        assertThrows(FabricException.class, () -> RdmConnectData.decode(bytes("0000000000005561")));
    }

    @Test
    void shouldReadHeadersAsCapturedFromLibfabric() {
        decode(UNTAGGED_64, 16);
        assertEquals(64, header.payloadLength());
        assertFalse(header.isTagged() || header.isAck() || header.wantsAck() || header.hasData());
        decode(TAGGED_300000, 24);
        assertTrue(header.isTagged());
        assertEquals(1234, header.tag());
        assertEquals(300_000, header.payloadLength());
        decode(FIN, 16);
        assertTrue(header.wantsAck());
        assertEquals(4, header.payloadLength());
        decode(ACK, 16);
        assertTrue(header.isAck());
        decode(READ_REQUEST, 40);
        assertEquals(1, header.pieces());
        assertEquals(0, ranges().address(0));
        assertEquals(200_000, ranges().lengthBytes(0));
        assertEquals(0x8000_0000L, ranges().key(0));
        // the count of pieces is left over from the request and means nothing
        decode(READ_RESPONSE, 16);
        assertEquals(TcpHeader.OP_READ_RESPONSE, header.op());
        assertEquals(200_000, header.payloadLength());
        decode(RAW_TAGGED_32, 24);
        assertTrue(header.isTagged());
        assertEquals(1234, header.tag());
        assertEquals(32, header.payloadLength());
    }

    @Test
    void shouldWriteHeadersAsCapturedFromLibfabric() {
        long address = memory.address();
        assertEquals(16, TcpHeader.encodeMessage(address, false, false, 0, 0, 0, 64));
        assertEquals(UNTAGGED_64, hex(16));
        assertEquals(24, TcpHeader.encodeMessage(address, false, true, 0, 1234, 0, 300_000));
        assertEquals(TAGGED_300000, hex(24));
        assertEquals(16, TcpHeader.encodeMessage(address, false, false, TcpHeader.FLAG_WANTS_ACK, 0, 0, 4));
        assertEquals(FIN, hex(16));
        TcpHeader.encodeAck(address, false);
        assertEquals(ACK, hex(16));
        RemotePayload source = new RemotePayload();
        source.set(1, 300_000, 0x8000_0000L, 0, 0);
        assertEquals(40, TcpHeader.encodeReadRequest(address, false, source, 200_000));
        assertEquals(READ_REQUEST, hex(40));
        TcpHeader.encodeReadResponse(address, false, 200_000);
        assertEquals("0303000000001000500d030000000000", hex(16));
    }

    @Test
    void shouldAskForAsManyPiecesAsTheBytesNeed() {
        RemotePayload source = new RemotePayload();
        source.begin(7);
        source.add(11, 0, 100, 1000);
        source.add(12, 0, 200, 1000);
        source.add(13, 0, 300, 1000);
        int length = TcpHeader.encodeReadRequest(memory.address(), false, source, 1500);
        assertEquals(16 + 2 * 24, length);
        assertEquals(length, header.decode(memory.address(), length, false));
        assertEquals(2, header.pieces());
        assertEquals(1000, ranges().lengthBytes(0));
        assertEquals(12, ranges().key(1));
        assertEquals(200, ranges().address(1));
        assertEquals(500, ranges().lengthBytes(1));
    }

    /** Both directions, both byte orders, all kinds: one side writes and the other reads. */
    @Test
    void shouldReadWhatItWritesInBothByteOrders() {
        for (int variant = 0; variant < 16; variant++) {
            boolean isBigEndian = (variant & 1) != 0;
            boolean isTagged = (variant & 2) != 0;
            int flags = ((variant & 4) != 0 ? TcpHeader.FLAG_CQ_DATA : 0)
                | ((variant & 8) != 0 ? TcpHeader.FLAG_WANTS_ACK : 0);
            int length = TcpHeader.encodeMessage(
                memory.address(), isBigEndian, isTagged, flags, 0x8123456789ABCDEFL, -2, 1L << 40);
            for (int available = 0; available < length; available++) {
                assertEquals(TcpHeader.MORE, header.decode(memory.address(), available, isBigEndian));
            }
            assertEquals(length, header.decode(memory.address(), length, isBigEndian));
            assertEquals(isTagged, header.isTagged());
            assertEquals(isTagged ? 0x8123456789ABCDEFL : 0, header.tag());
            assertEquals((variant & 4) != 0 ? -2 : 0, header.data());
            assertEquals((variant & 8) != 0, header.wantsAck());
            assertEquals(1L << 40, header.payloadLength());
        }
        TcpHeader.encodeMessage(memory.address(), true, false, 0, 0, 0, 0x1234);
        assertEquals("03000000000010000000000000001244", hex(16));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "02000000000010005000000000000000", // version
        "03080000000010005000000000000000", // operation
        "03050000010020002000000000000000", // rendezvous, which was not agreed to
        "03000002000010005000000000000000", // flags
        "03000000000018005000000000000000", // longer than its words
        "03010000000010005000000000000000", // tagged without a tag
        "03000000000010000f00000000000000", // shorter than its header
        "03000000000010000000000000000080", // negative
        "03000000020010001100000000000000", // acknowledgement with a payload
        "03000400020010001000000000000000", // acknowledgement that wants one
        "03000000010010001000000000000000", // data of an operation that has none
        "03020000000028002900000000000000", // read without pieces
        "03028000000130003000000000000000", // read with a tag
        "03048000000130003800000000000000", // write with a tag
        "03020000000529005000000000000000"}) // read of five
    void shouldRefuseOtherHeaders(String hex) {
        decode(hex + "00".repeat(120 - hex.length() / 2), TcpHeader.BROKEN);
        assertFalse(header.brokenBy().isEmpty());
    }

    /** As libfabric's tcp provider writes them: cq data in front of place, length and key. */
    @Test
    void shouldWriteAndReadTheHeadersOfRemoteAccess() {
        TransmitOperation operation = new TransmitOperation(0, 0);
        operation.remoteAddress = 0x64;
        operation.length = 5000;
        operation.key = 7;
        operation.data = 0x1122334455667788L;
        String piece = "6400000000000000" + "8813000000000000" + "0700000000000000";
        assertEquals(40, TcpHeader.encodeWrite(memory.address(), false, 0, operation));
        assertEquals("0304000000012800" + "b013000000000000" + piece, hex(40));
        assertEquals(40, TcpHeader.encodeReadRequest(memory.address(), false, operation));
        assertEquals("0302000000012800" + "2800000000000000" + piece, hex(40));
        for (boolean isBigEndian : new boolean[] {false, true}) {
            int length = TcpHeader.encodeWrite(memory.address(), isBigEndian,
                TcpHeader.FLAG_CQ_DATA | TcpHeader.FLAG_WANTS_ACK, operation);
            assertEquals(TcpHeader.MAX_SENT_LENGTH, length);
            if (!isBigEndian) {
                assertEquals("0304050000013000" + "b813000000000000" + "8877665544332211" + piece, hex(48));
            }
            assertEquals(TcpHeader.MORE, header.decode(memory.address(), length - 1, isBigEndian));
            assertEquals(length, header.decode(memory.address(), length, isBigEndian));
            assertEquals(TcpHeader.OP_WRITE, header.op());
            assertEquals(operation.data, header.data());
            assertTrue(header.wantsAck());
            assertFalse(header.asksForCommit());
            assertEquals(5000, header.payloadLength());
            assertEquals(1, ranges().count());
            assertEquals(0x64, ranges().address(0));
            assertEquals(5000, ranges().lengthBytes(0));
            assertEquals(7, ranges().key(0));
        }
    }

    /** The bytes of a write are those of its pieces, whose lengths may overflow. */
    @Test
    void shouldRefuseWritesWhosePiecesAreNotTheirPayload() {
        long[][] refused = {{9}, {7}, {-1, 9}, {Long.MAX_VALUE, Long.MAX_VALUE, 10},
            {Long.MIN_VALUE, Long.MIN_VALUE, 8}, {4, 3}, {4, 4, 1}, {0, 0, 0, 0}};
        for (long[] lengths : refused) {
            assertEquals(TcpHeader.BROKEN, decodeWrite(lengths), () -> Arrays.toString(lengths));
        }
        for (long[] lengths : new long[][] {{8}, {4, 4}, {0, 8, 0, 0}, {1, 2, 3, 2}}) {
            assertEquals(16 + 24 * lengths.length, decodeWrite(lengths), () -> Arrays.toString(lengths));
        }
    }

    private int decodeWrite(long... lengths) {
        int headerLength = 16 + 24 * lengths.length;
        StringBuilder hex = new StringBuilder("0304000000" + HexFormat.of().toHexDigits((byte) lengths.length)
            + HexFormat.of().toHexDigits((byte) headerLength) + "00" + words(headerLength + 8));
        for (long length : lengths) {
            hex.append(words(0, length, 1));
        }
        byte[] bytes = bytes(hex + "00".repeat(8));
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return header.decode(memory.address(), bytes.length, false);
    }

    private static String words(long... words) {
        StringBuilder hex = new StringBuilder();
        for (long word : words) {
            hex.append(HexFormat.of().toHexDigits(Long.reverseBytes(word)));
        }
        return hex.toString();
    }

    private RemoteRanges ranges() {
        header.copyTo(ranges);
        return ranges;
    }

    private void decode(String hex, int expected) {
        byte[] bytes = bytes(hex);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        assertEquals(expected, header.decode(memory.address(), bytes.length, false), hex);
    }

    private String hex(int length) {
        return HexFormat.of().formatHex(memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
    }

    private static String hex(CmMessage message) {
        byte[] bytes = new byte[CmMessage.MAX_LENGTH];
        Arrays.fill(bytes, (byte) 0x55);
        message.encode(new UnsafeBuffer(bytes), 0);
        return HexFormat.of().formatHex(bytes, 0, message.length());
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }
}
