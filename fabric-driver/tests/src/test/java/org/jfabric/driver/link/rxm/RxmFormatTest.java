package org.jfabric.driver.link.rxm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.RemotePayload;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/** The bytes are those that C peers were seen to send, see the notes on the wire in docs/internals/links.md. */
class RxmFormatTest {
    private static final HexFormat HEX = HexFormat.of();
    private static final int EAGER_LIMIT = 16384;

    private final UnsafeBuffer memory = new UnsafeBuffer(ByteBuffer.allocateDirect(256));
    private final long address = memory.addressOffset();

    @Test
    void connectDataIsThatOfTheCapturedPeers() {
        byte[] request = bytes("01020403 e5b30200 00400000 00100000 00000000 9f580000");

        assertNull(RxmConnectData.mismatch(request, EAGER_LIMIT));
        RxmConnectData read = RxmConnectData.ofRequest(request);
        assertEquals(
            new RxmConnectData(46053, RxmConnectData.FLOW_OFF, EAGER_LIMIT, 4096, 0x589fL << 32), read);
        assertEquals(0x589f, read.process());
        assertEquals(0, read.packetNumber());
        assertArrayEquals(request, read.toRequest());
        byte[] acceptance = bytes("01000000 98580000 00100000 02000000");
        RxmConnectData accepted = RxmConnectData.ofAcceptance(acceptance);
        assertEquals(new RxmConnectData(0, RxmConnectData.FLOW_OFF, 0, 4096, 0x5898L << 32 | 1), accepted);
        assertArrayEquals(acceptance, accepted.toAcceptance());
        assertArrayEquals(bytes("0102"), RxmConnectData.toRefusal(RxmConnectData.REASON_ALREADY));
    }

    @Test
    void whatDoesNotFitTogetherIsNamed() {
        byte[] good = new RxmConnectData(1, RxmConnectData.FLOW_OFF, EAGER_LIMIT, 1, 1).toRequest();

        assertTrue(RxmConnectData.mismatch(changed(good, 0, 2), EAGER_LIMIT).contains("version 2.4.3"));
        assertTrue(RxmConnectData.mismatch(changed(good, 2, 5), EAGER_LIMIT).contains("version 1.5.3"));
        assertTrue(RxmConnectData.mismatch(changed(good, 3, 4), EAGER_LIMIT).contains("version 1.4.4"));
        assertTrue(RxmConnectData.mismatch(changed(good, 1, 3 - good[1]), EAGER_LIMIT).contains("byte order"));
        assertTrue(RxmConnectData.mismatch(changed(good, 7, 1), EAGER_LIMIT).contains("FI_OFI_RXM_NUM_MSG_EPS"));
        assertTrue(RxmConnectData.mismatch(good, 8192).contains("16384 bytes, here it has 8192"));
        assertTrue(RxmConnectData.mismatch(new byte[23], EAGER_LIMIT).contains("only 23 bytes"));
    }

    @Test
    void rendezvousRequestIsThatOfTheCapturedPeer() {
        byte[] captured = bytes("04020000 00000000 0100000000000000 0000000000000000 0000000000000000"
            + "02000000 00000000 400d030000000000 0000000000000000 0000000000000000"
            + "0000000000000000 400d030000000000 0000008000000000" + "00".repeat(72) + "0100000000000000");
        RemotePayload payload = new RemotePayload();
        payload.set(0, 200_000, 0x8000_0000L, 0, 0);

        RxmPacket.begin(address, RxmPacket.RENDEZVOUS, 1);
        RxmPacket.message(address, false, false, 0, 200_000, 0, 0);
        RxmDescriptors.write(address + RxmPacket.HEADER_LENGTH, payload);

        assertArrayEquals(captured, written(RxmPacket.HEADER_LENGTH + RxmDescriptors.LENGTH));
        RemotePayload read = new RemotePayload();
        assertTrue(RxmDescriptors.read(address + RxmPacket.HEADER_LENGTH, 7, 200_000, read));
        assertEquals(7, read.operation());
        assertEquals(1, read.count());
        assertEquals(0x8000_0000L, read.regionNumber(0));
        assertEquals(200_000, read.lengthBytes());
    }

    @Test
    void segmentIsThatOfTheCapturedPeer() {
        RxmPacket.begin(address, RxmPacket.SEGMENT, 1);
        RxmPacket.message(address, false, false, 9, 40_000, 0, 0);
        RxmPacket.segment(address, 2, 0x1c40, RxmPacket.LAST);

        assertArrayEquals(
            bytes("0401401c 02000000 0100000000000000 0900000000000000 0300000000000000"), written(32));
        assertEquals(RxmPacket.SEGMENT, RxmPacket.type(address));
        assertEquals(0x1c40, RxmPacket.segmentLength(address));
        assertEquals(2, RxmPacket.segmentNumber(address));
        assertEquals(RxmPacket.LAST, RxmPacket.position(address));
        assertEquals(40_000, RxmPacket.length(address));
    }

    @Test
    void taggedMessageWithDataComesBackAsWritten() {
        RxmPacket.begin(address, RxmPacket.EAGER, -3);
        RxmPacket.message(address, true, true, 1, 5, -1L, Long.MIN_VALUE);

        assertTrue(RxmPacket.isVersionKnown(address));
        assertEquals(RxmPacket.EAGER, RxmPacket.type(address));
        assertEquals(-3, RxmPacket.connection(address));
        assertEquals(1, RxmPacket.message(address));
        assertEquals(RxmPacket.TAGGED_OP, RxmPacket.op(address));
        assertTrue(RxmPacket.hasData(address));
        assertEquals(-1L, RxmPacket.data(address));
        assertEquals(Long.MIN_VALUE, RxmPacket.tag(address));
        memory.putByte(32, (byte) 3);
        assertFalse(RxmPacket.isVersionKnown(address));
    }

    /** As libfabric 1.17 sends them, whose header has the length of what follows it. */
    @Test
    void atomicRequestAndResponseAreThoseOfCPeers() {
        byte[] request = bytes("04040000 00000000 0100000000000000 0700000000000000 0000000000000000"
            + "02000800 00000000 7000000000000000 0000000000000000 070c010000000000"
            + "4000000000000000 0100000000000000 efbe000000000000" + "00".repeat(72));
        memory.setMemory(0, 256, (byte) 0x55);
        RxmPacket.begin(address, RxmPacket.ATOMIC, 1);
        RxmPacket.atomic(address, 7, 2, 7, 12, 16);
        RxmPacket.range(address, 64, 1, 0xbeef);
        assertArrayEquals(request, written(160));
        assertEquals(address + 160, RxmPacket.operands(address));
        assertEquals(8, RxmPacket.op(address));
        assertEquals(7, RxmPacket.datatype(address));
        assertEquals(12, RxmPacket.atomicOperation(address));
        assertEquals(1, RxmPacket.ranges(address));
        assertEquals(64, RxmPacket.rangeOffset(address, 0));
        assertEquals(1, RxmPacket.rangeCount(address, 0));
        assertEquals(0xbeef, RxmPacket.rangeKey(address, 0));
        RxmPacket.withoutRange(address);
        assertEquals(0, RxmPacket.ranges(address));

        byte[] refusal = bytes("04050000 00000000 0100000000000000 0700000000000000 0000000000000000"
            + "02000700 00000000 0800000000000000 0000000000000000 0000000000000000 fffffff3 00000000");
        RxmPacket.begin(address, RxmPacket.ATOMIC_RESPONSE, 1);
        RxmPacket.atomicResponse(address, 7, 7, 13, 0);
        assertArrayEquals(refusal, written(72));
        assertEquals(-13, RxmPacket.status(address));
        RxmPacket.atomicResponse(address, 7, 7, 0, 300);
        assertEquals(0, RxmPacket.status(address));
        assertEquals(300, RxmPacket.valueBytes(address));
        assertEquals(308, RxmPacket.length(address));
        assertEquals(address + 72, RxmPacket.values(address));
    }

    @Property(tries = 500)
    void answersComeOutInOrderAndWhole(@ForAll @Size(min = 1, max = 200) int[] lengths) {
        RxmAnswers answers = new RxmAnswers();
        int added = 0;
        int taken = 0;
        while (taken < lengths.length) {
            boolean adds = added < lengths.length && (added == taken || (lengths[added] & 1) != 0);
            int length = 1 + (lengths[adds ? added : taken] >>> 1) % 5000;
            if (adds) {
                new UnsafeBuffer(answers.add(length), length).setMemory(0, length, (byte) added++);
                continue;
            }
            assertEquals(length, answers.firstLength());
            UnsafeBuffer first = new UnsafeBuffer(answers.first(), length);
            for (int i = 0; i < length; i++) {
                assertEquals((byte) taken, first.getByte(i));
            }
            answers.removeFirst();
            taken++;
            assertEquals(added == taken, answers.isEmpty());
        }
        answers.close();
    }

    @Property(tries = 2000)
    void descriptorsOfAnyBytesAreRefusedOrAsLongAsTheMessage(
        @ForAll @Size(RxmDescriptors.LENGTH) byte[] block, @ForAll byte count, @ForAll long length) {
        memory.putBytes(0, block);
        memory.putByte(96, count);
        RemotePayload payload = new RemotePayload();

        if (RxmDescriptors.read(address, 1, length, payload)) {
            assertEquals(length, payload.lengthBytes());
            assertTrue(payload.count() >= 1 && payload.count() <= RxmDescriptors.MAX_PIECES);
            for (int i = 0; i < payload.count(); i++) {
                assertTrue(payload.length(i) >= 0, () -> "a length below zero in " + HEX.formatHex(block));
            }
        }
    }

    @Property(tries = 2000)
    void connectDataOfAnyBytesIsRefusedOrRead(@ForAll @Size(max = 300) byte[] data) {
        if (RxmConnectData.mismatch(data, EAGER_LIMIT) == null) {
            assertEquals(EAGER_LIMIT, RxmConnectData.ofRequest(data).eagerLimit());
        }
        assertEquals(data.length >= 16, RxmConnectData.ofAcceptance(data) != null);
        assertNotNull(RxmConnectData.toRefusal(RxmConnectData.reason(data)));
    }

    private byte[] written(int length) {
        byte[] bytes = new byte[length];
        memory.getBytes(0, bytes);
        return bytes;
    }

    private static byte[] bytes(String hex) {
        return HEX.parseHex(hex.replace(" ", ""));
    }

    private static byte[] changed(byte[] bytes, int index, int value) {
        byte[] copy = bytes.clone();
        copy[index] = (byte) value;
        return copy;
    }
}
