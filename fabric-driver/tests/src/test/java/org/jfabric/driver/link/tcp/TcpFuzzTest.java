package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.kit.Change;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Captures of real processes with some bytes changed, cut or repeated: each parser says what is wrong by the one error
 * that it declares, or reads something within the bounds of what is there.
 */
class TcpFuzzTest {
    private static final String ZEROS = "00".repeat(20);
    private static final List<String> CM = List.of(
        "03000000" + ZEROS + "0100000000000000",
        "03010000" + ZEROS + "0100000000000000",
        "03000008" + ZEROS + "0100000000000000" + "010085fd00005561",
        "03010008" + ZEROS + "0100000000000000" + "810085fd0000555a",
        "03000018" + ZEROS + "0100000000000000" + "01020403e5b302000040000000100000000000009f580000",
        "03060002" + ZEROS + "0000000000000000" + "0102");
    private static final List<String> DATA = List.of(
        "03000000000010005000000000000000" + "41".repeat(64),
        "0301000000001800f893040000000000d204000000000000",
        "03000400000010001400000000000000" + "66696e00",
        "03000000020010001000000000000000",
        "03050000010020002000000000000000" + "d204000000000000" + "409c000000000000",
        "03060000010010001000000000000000",
        "03020000000128002800000000000000" + "0000000000000000" + "400d030000000000" + "0000008000000000",
        "0303000000011000500d030000000000",
        "03008000000018003800000000000000" + "d204000000000000" + "42".repeat(32),
        "03040500000130003400000000000000" + "8877665544332211" + "6400000000000000" + "0400000000000000"
            + "0700000000000000" + "43".repeat(4),
        "03040000000240004800000000000000" + "0000000000000000" + "0500000000000000" + "0700000000000000"
            + "0500000000000000" + "0300000000000000" + "0700000000000000" + "44".repeat(8));

    @Provide
    Arbitrary<List<Change>> changes() {
        // the first bytes decide most, so most changes are there
        return Arbitraries.integers().between(0, 400).withDistribution(net.jqwik.api.RandomDistribution.biased())
            .flatMap(at -> Arbitraries.integers().between(0, 255)
                .flatMap(value -> Arbitraries.integers().between(0, 3).map(kind -> Tuple.of(at, value, kind))))
            .map(tuple -> new Change(tuple.get1(), tuple.get2(), tuple.get3())).list().ofMinSize(0).ofMaxSize(4);
    }

    private static byte[] changed(String hex, List<Change> changes) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        for (Change change : changes) {
            bytes = bytes.length == 0 ? bytes : change.apply(bytes);
        }
        return Arrays.copyOf(bytes, Math.min(bytes.length, 4096));
    }

    @Property(tries = 5_000)
    void shouldReadOrRefuseEveryConnectionMessage(
        @ForAll @IntRange(max = 5) int capture, @ForAll("changes") List<Change> changes) {
        byte[] bytes = changed(CM.get(capture), changes);
        UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        try {
            CmMessage message = CmMessage.decode(buffer, 0, bytes.length);
            if (message != null) {
                assertTrue(message.length() <= bytes.length);
                assertTrue(message.data().length <= CmMessage.MAX_DATA_LENGTH);
                RdmConnectData.decode(message.data());
            }
        } catch (FabricException refused) {
            assertEquals(FabricErrno.EIO, refused.errno());
            assertNotNull(refused.getMessage());
        }
    }

    @Property(tries = 5_000)
    void shouldReadOrRefuseEveryHeaderWithinWhatIsThere(
        @ForAll @IntRange(max = 10) int capture, @ForAll("changes") List<Change> changes,
        @ForAll boolean isBigEndian) {
        byte[] bytes = changed(DATA.get(capture), changes);
        // exactly as long as what is there: what is read beyond it would show under a checking allocator
        long memory = UnsafeApi.allocateMemory(Math.max(1, bytes.length));
        try {
            for (int i = 0; i < bytes.length; i++) {
                UnsafeApi.putByte(memory + i, bytes[i]);
            }
            TcpHeader header = new TcpHeader();
            int length = header.decode(memory, bytes.length, isBigEndian);
            if (length == TcpHeader.BROKEN) {
                assertNotNull(header.brokenBy());
            } else if (length != TcpHeader.MORE) {
                assertTrue(length >= TcpHeader.BASE_LENGTH && length <= TcpHeader.MAX_LENGTH, "header " + length);
                assertTrue(length <= bytes.length);
                assertTrue(header.payloadLength() >= 0);
                assertTrue(header.pieces() <= TcpHeader.MAX_DESCRIPTORS);
                RemoteRanges ranges = new RemoteRanges();
                header.copyTo(ranges);
                long left = header.payloadLength();
                for (int i = 0; header.op() == TcpHeader.OP_WRITE && i < ranges.count(); i++) {
                    assertTrue(ranges.lengthBytes(i) >= 0 && ranges.lengthBytes(i) <= left);
                    left -= ranges.lengthBytes(i);
                }
                assertTrue(header.op() != TcpHeader.OP_WRITE || left == 0);
            } else {
                assertTrue(bytes.length < TcpHeader.MAX_LENGTH, "never waits for more than the longest header");
            }
        } finally {
            UnsafeApi.freeMemory(memory);
        }
    }

    @Property(tries = 5_000)
    void shouldRefuseOrReadArbitraryBytes(@ForAll @Size(max = 300) byte[] bytes) {
        try {
            CmMessage.decode(new UnsafeBuffer(bytes), 0, bytes.length);
        } catch (FabricException refused) {
            assertEquals(FabricErrno.EIO, refused.errno());
        }
    }
}
