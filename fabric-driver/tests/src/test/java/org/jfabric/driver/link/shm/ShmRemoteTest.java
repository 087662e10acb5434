package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.agrona.UnsafeApi;
import org.jfabric.codec.wire.RemoteAnnounceEncoder;
import org.jfabric.codec.wire.RemoteReadEncoder;
import org.jfabric.codec.wire.RemoteReplyEncoder;
import org.jfabric.codec.wire.RemoteWriteEncoder;
import org.jfabric.codec.wire.ShortEncoder;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The frames of remote memory access through the rings of two real shm links, and those no correct driver writes. */
class ShmRemoteTest {
    private static final int MEMORY = 64 << 10;
    private static final long OPERATION = 0x1122_3344_0000_0005L;
    private static final long KEY = 0x8877_6655_4433_2211L;
    private static final long ADDRESS = 0xFEDC_BA98_7654_3210L;
    private static final long WHOLE = 0x0123_4567_89AB_CDEFL;
    private static final long DATA = 0xA5A5_0000_5A5A_FFFFL;
    private static final int GRANT = 0x9000_0001;

    @TempDir
    Path base;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(MEMORY, 64);
    private RemoteNode alpha;
    private RemoteNode beta;

    @BeforeEach
    void start() throws IOException {
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
        alpha = new RemoteNode(base, "alpha");
        beta = new RemoteNode(base, "beta");
        for (int i = 0; i < MEMORY; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + (i >> 8)));
        }
    }

    @AfterEach
    void stop() {
        alpha.close();
        beta.close();
        arena.close();
    }

    private void steps() {
        for (int i = 0; i < 10; i++) {
            alpha.step();
            beta.step();
        }
    }

    private void connect() {
        alpha.connect(beta);
        for (Deadline end = Deadline.usual(); !end.isOver() && (alpha.channel == null || beta.channel == null);) {
            alpha.step();
            beta.step();
            if (alpha.events.remove("down")) {
                // the end of an earlier connection is seen late where a process that was just started has its socket
                alpha.connect(beta);
            }
        }
        assertTrue(alpha.channel != null && beta.channel != null, () -> "errors " + alpha.services.errors);
        alpha.growRing(beta.endpoint.address);
        beta.growRing(alpha.endpoint.address);
        alpha.take();
        beta.take();
        beta.payloads.clear();
    }

    private RemoteChannel remote() {
        return alpha.channel.remoteMemory();
    }

    private TransmitOperation operation(long flags) {
        TransmitOperation operation = new TransmitOperation(0, 0);
        operation.id = OPERATION;
        operation.flags = Flags.RMA | flags;
        operation.key = KEY;
        operation.remoteAddress = ADDRESS;
        operation.length = WHOLE;
        operation.data = DATA;
        operation.address = memory.address();
        return operation;
    }

    private byte[] bytes(int from, int length) {
        return memory.asSlice(from, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private static String hex(long value) {
        return Long.toHexString(value);
    }

    private static String write(boolean hasData, long offset, int length) {
        return String.join(" ", "write", hex(OPERATION), Boolean.toString(hasData), hex(KEY), hex(ADDRESS), hex(WHOLE),
            hasData ? hex(DATA) : "0", hex(offset), hex(length));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 55, 56, 57, 64, 120, 121, 1000, 4096, RemoteNode.SEGMENT})
    void shouldCarryAllFieldsAndBytesOfAWrite(int length) {
        connect();
        assertEquals(RemoteNode.SEGMENT, remote().pieceLimitBytes());
        for (boolean hasData : new boolean[] {true, false}) {
            // more frames than a ring takes, so that their places vary
            for (int i = 0; i < 30; i++) {
                TransmitOperation operation = operation(Flags.WRITE | (hasData ? Flags.REMOTE_CQ_DATA : 0));
                operation.sent = i * 13;
                assertEquals(Channel.DONE, remote().write(operation, length, GRANT + i));
                beta.step();
                assertEquals(
                    List.of("grant " + hex(0x9000_0001L + i), write(hasData, i * 13, length)), beta.take());
                assertArrayEquals(bytes(i * 13, length), beta.payloads.removeLast());
            }
        }
    }

    @Test
    void shouldGatherAWriteOfSeveralPieces() {
        connect();
        TransmitOperation operation = operation(Flags.WRITE);
        operation.vector.add(memory.address() + 100, 50);
        operation.vector.add(memory.address() + 1000, 200);
        operation.pieces = operation.vector;
        operation.length = 250;
        operation.sent = 20;
        assertEquals(Channel.DONE, remote().write(operation, 130, GRANT));
        beta.step();
        byte[] expected = Arrays.copyOf(bytes(120, 30), 130);
        System.arraycopy(bytes(1000, 100), 0, expected, 30, 100);
        assertArrayEquals(expected, beta.payloads.removeLast());
    }

    @Test
    void shouldCarryAllFieldsOfARead() {
        connect();
        assertEquals(Channel.DONE, remote().read(operation(Flags.READ | Flags.REMOTE_CQ_DATA), GRANT));
        beta.step();
        assertEquals(List.of("grant 90000001", String.join(
            " ", "read", hex(OPERATION), "false", hex(KEY), hex(ADDRESS), hex(WHOLE), "0")), beta.take());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 23, 24, 25, 88, 192, 193, 4096, RemoteNode.SEGMENT})
    void shouldCarryAllFieldsAndBytesOfAReply(int length) {
        connect();
        for (boolean reports : new boolean[] {true, false}) {
            for (int i = 0; i < 30; i++) {
                assertEquals(Channel.DONE, remote().reply(
                    OPERATION, reports ? 0 : FabricErrno.EAGAIN, reports, -i, memory.address() + i, length, GRANT));
                beta.step();
                assertEquals(List.of("grant 90000001", String.join(" ", "reply", hex(OPERATION),
                    reports ? "0" : hex(FabricErrno.EAGAIN), Boolean.toString(reports), hex(-i), hex(length))),
                    beta.take());
                assertArrayEquals(bytes(i, length), beta.payloads.removeLast());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 5", "-2147483648, 5", "2147483647, 5", "4096, 5", "4095, 4095", "11, 11"})
    void shouldTakeAnImpossibleErrnoForAnErrorOfThePeer(int sent, int expected) {
        connect();
        assertEquals(Channel.DONE, remote().reply(OPERATION, sent, false, 0, 0, 0, GRANT));
        beta.step();
        assertEquals(
            "reply " + hex(OPERATION) + ' ' + hex(expected) + " false 0 0", beta.take().getLast());
    }

    @Test
    void shouldKeepTheOrderOfMessagesAndRemoteAccess() {
        connect();
        assertEquals(Channel.DONE, alpha.channel.frames().sendShort(Flags.TAGGED, 1, memory.address(), 8,
            RemoteNode.FIRST_GRANT));
        assertEquals(Channel.DONE, remote().write(operation(Flags.WRITE), 8, RemoteNode.FIRST_GRANT));
        assertEquals(Channel.DONE, remote().read(operation(Flags.READ), RemoteNode.FIRST_GRANT));
        assertEquals(Channel.DONE, alpha.channel.frames().sendShort(Flags.TAGGED, 2, memory.address(), 8,
            RemoteNode.FIRST_GRANT));
        steps();
        // the first message tells the grant, so it has the longer header
        assertEquals(List.of("message", "write", "read", "short"),
            beta.take().stream().map(event -> event.split(" ")[0]).filter(event -> !event.equals("grant")).toList());
    }

    @Test
    void shouldSayThatAFullRingTakesNoMore() {
        connect();
        TransmitOperation operation = operation(Flags.WRITE);
        int written = 0;
        while (remote().write(operation, RemoteNode.SEGMENT, GRANT) == Channel.DONE) {
            written++;
        }
        assertTrue(written > 3 && written < RemoteNode.RING / RemoteNode.SEGMENT, "written " + written);
        assertEquals(-FabricErrno.EAGAIN, remote().write(operation, RemoteNode.SEGMENT, GRANT));
        while (remote().read(operation, GRANT) == Channel.DONE) {
            written++;
        }
        assertEquals(-FabricErrno.EAGAIN, remote().read(operation, GRANT));
        assertEquals(-FabricErrno.EAGAIN, remote().reply(OPERATION, 0, false, 0, 0, 0, GRANT));
        steps();
        assertEquals(2 * written, beta.take().size());
        assertEquals(Channel.DONE, remote().write(operation, RemoteNode.SEGMENT, GRANT));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 31, 32, 33, 64, 96, 97, 4096, RemoteNode.SEGMENT})
    void shouldCarryAllFieldsAndBytesOfAShortWrite(int length) {
        connect();
        for (int i = 0; i < 30; i++) {
            TransmitOperation operation = operation(Flags.WRITE);
            operation.length = length;
            operation.address = memory.address() + i;
            assertEquals(Channel.DONE, remote().writeShort(operation, 0));
            beta.step();
            assertEquals(List.of(String.join(" ", "short", hex(OPERATION), hex(KEY), hex(ADDRESS), hex(length))),
                beta.take());
            assertArrayEquals(bytes(i, length), beta.payloads.removeLast());
        }
    }

    @Test
    void shouldCarryTheNumberOfWritesThatArePlaced() {
        connect();
        for (long count : new long[] {1, 16, Long.MAX_VALUE}) {
            assertEquals(Channel.DONE, remote().placed(count, 0));
            beta.step();
            assertEquals(List.of("placed " + hex(count)), beta.take());
        }
    }

    /** Sixteen bits of credit are in a short record: a longer record comes first. */
    @Test
    void shouldNotWriteAShortRecordWhoseCreditDoesNotFit() {
        connect();
        TransmitOperation operation = operation(Flags.WRITE);
        operation.length = 8;
        assertEquals(-FabricErrno.EOPNOTSUPP, remote().writeShort(operation, GRANT));
        assertEquals(-FabricErrno.EOPNOTSUPP, remote().placed(1, GRANT));
        assertEquals(Channel.DONE, ((ShmChannel) alpha.channel).sendGrant(GRANT));
        assertEquals(Channel.DONE, remote().writeShort(operation, GRANT));
        assertEquals(Channel.DONE, remote().placed(1, GRANT));
        steps();
        assertEquals(3, beta.take().size());
    }

    @Test
    void shouldCarryThePlacesOfTheBytesOfAnAnnouncedWrite() {
        connect();
        TransmitOperation operation = operation(Flags.WRITE | Flags.REMOTE_CQ_DATA);
        operation.address = memory.address() + 100;
        assertFalse(remote().canAnnounce(operation), "memory in no region");
        operation.region = new RegisteredRegion(0, 77, memory.address(), MEMORY, () -> { });
        assertFalse(remote().canAnnounce(operation), "a region in no file");
        operation.region = new RegisteredRegion(9, 77, memory.address(), MEMORY, () -> { });
        operation.length = 5000;
        assertTrue(remote().canAnnounce(operation));
        assertEquals(Channel.DONE, remote().announce(operation, GRANT));
        beta.step();
        assertEquals(List.of("grant " + hex(0x9000_0001L), String.join(" ", "announced", hex(OPERATION), "true",
            hex(KEY), hex(ADDRESS), hex(5000), hex(DATA), "1", "9", hex(77), hex(100), hex(5000))), beta.take());
    }

    /** A region of beta that alpha may read: its file. */
    private MappedFile region(long number, long generation) {
        MappedFile file = MappedFile.create(beta.services.directoryFd(),
            FileType.MEMORY_REGION.fileName(number), MemoryRegionDescriptor.DATA_OFFSET + (long) MEMORY);
        FileHeaderDescriptor.write(file.buffer(0, FileHeaderDescriptor.HEADER_LENGTH), FileType.MEMORY_REGION, 0,
            beta.services.ownerId(), generation, MEMORY);
        for (int i = 0; i < MEMORY; i++) {
            file.buffer().putByte(MemoryRegionDescriptor.DATA_OFFSET + i, (byte) (i * 3));
        }
        return file;
    }

    /** A read of beta's memory into alpha's. */
    private TransmitOperation reading(int offset, int length) {
        TransmitOperation operation = operation(Flags.READ);
        operation.remoteAddress = offset;
        operation.length = length;
        return operation;
    }

    private void grant(MappedFile file, long number, long generation) {
        assertEquals(Channel.DONE, beta.channel.remoteMemory().grantRead(KEY, new RegisteredRegion(
            number, generation, file.address() + MemoryRegionDescriptor.DATA_OFFSET, MEMORY, () -> { }), GRANT));
        // it is mapped in the steps behind the first read
        for (Deadline end = Deadline.usual(); !end.isOver() && remote().readMapped(reading(0, 8)) != Channel.DONE;) {
            steps();
        }
        assertEquals(Channel.DONE, remote().readMapped(reading(0, 8)));
    }

    @Test
    void shouldReadAGrantedRegionUntilItIsClosed() {
        connect();
        assertEquals(-FabricErrno.EAGAIN, remote().readMapped(reading(0, 8)));
        try (MappedFile file = region(3, 55)) {
            grant(file, 3, 55);
            assertEquals(Channel.DONE, remote().readMapped(reading(1000, 300)));
            for (int i = 0; i < 300; i++) {
                assertEquals((byte) ((1000 + i) * 3), memory.get(ValueLayout.JAVA_BYTE, i));
            }
            for (long[] range : new long[][] {{MEMORY - 7, 8}, {-1, 8}, {MEMORY + 1, 0}, {Long.MAX_VALUE, 8}}) {
                TransmitOperation beyond = reading(0, (int) range[1]);
                beyond.remoteAddress = range[0];
                assertEquals(-FabricErrno.EAGAIN, remote().readMapped(beyond), "the peer refuses it");
            }
            // what was sent before is not executed yet
            assertEquals(Channel.DONE, remote().write(operation(Flags.WRITE), 8, GRANT));
            assertEquals(-FabricErrno.EAGAIN, remote().readMapped(reading(0, 8)));
            steps();
            assertEquals(Channel.DONE, remote().readMapped(reading(0, 8)));
            file.buffer().putLong(MemoryRegionDescriptor.CLOSED_OFFSET, 1);
            assertEquals(-FabricErrno.EAGAIN, remote().readMapped(reading(0, 8)));
            // the grant is forgotten, so that the next one can come
            file.buffer().putLong(MemoryRegionDescriptor.CLOSED_OFFSET, 0);
            assertEquals(-FabricErrno.EAGAIN, remote().readMapped(reading(0, 8)));
            grant(file, 3, 55);
        }
    }

    /** The copied bytes change the word themselves, so that it is certain to change during the copy. */
    @Test
    void shouldEndAReadOfARegionThatIsClosedMeanwhileWithAnError() {
        connect();
        try (MappedFile file = region(3, 55)) {
            grant(file, 3, 55);
            TransmitOperation operation = reading(8, 8);
            operation.address = file.address() + MemoryRegionDescriptor.CLOSED_OFFSET;
            assertEquals(-FabricErrno.EKEYREJECTED, remote().readMapped(operation));
        }
    }

    @ParameterizedTest
    @CsvSource({"24, REMOTE_ANNOUNCE, 59", "25, REMOTE_GRANT, 39"})
    void shouldEndTheConnectionOfAPeerWhoseAnnouncementOrGrantIsTooShort(int type, String name, int longest) {
        for (int length : new int[] {longest, 8, 0}) {
            connect();
            beta.services.errors.clear();
            writeRecord(type, body(length));
            assertEnded(name + " with only " + (WORD_LENGTH + length) + " bytes");
            beta.take();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 5, 65535})
    void shouldEndTheConnectionOfAPeerWhoseAnnouncedPiecesDoNotFitTheRecord(int pieces) {
        connect();
        byte[] body = body(RemoteAnnounceEncoder.BLOCK_LENGTH + 4 + 32);
        body[RemoteAnnounceEncoder.BLOCK_LENGTH] = 32;
        body[RemoteAnnounceEncoder.BLOCK_LENGTH + 2] = (byte) pieces;
        body[RemoteAnnounceEncoder.BLOCK_LENGTH + 3] = (byte) (pieces >> 8);
        writeRecord(RemoteAnnounceEncoder.TEMPLATE_ID, body);
        assertEnded("whose pieces do not fit it");
    }

    /** Writes a record as the peer may: only its word is certain. */
    private void writeRecord(int type, byte[] body) {
        ShmConnection connection = alpha.link.connection(beta.endpoint.address);
        int length = WORD_LENGTH + body.length;
        int offset = connection.claim(length);
        assertTrue(offset >= 0);
        connection.ring().putBytes(offset + WORD_LENGTH, body);
        connection.commit(offset, length, type);
    }

    /** A body that names beta's channel; the rest is zero. */
    private byte[] body(int length) {
        byte[] body = new byte[length];
        int id = ((ShmChannel) alpha.channel).remoteId;
        for (int i = 0; i < Math.min(Integer.BYTES, length); i++) {
            body[i] = (byte) (id >> 8 * i);
        }
        return body;
    }

    private void assertEnded(String reason) {
        steps();
        assertEquals(1, beta.services.errors.size(), () -> "errors " + beta.services.errors);
        assertTrue(beta.services.errors.getLast().toString().contains(reason), beta.services.errors::toString);
        assertEquals(List.of("down"), beta.take());
        assertNull(beta.channel);
        // both can connect anew
        connect();
    }

    @ParameterizedTest
    @CsvSource({"20, REMOTE_WRITE", "21, REMOTE_READ", "22, REMOTE_REPLY"})
    void shouldEndTheConnectionOfAPeerWhoseRecordIsTooShort(int type, String name) {
        int block = switch (type) {
            case RemoteWriteEncoder.TEMPLATE_ID -> RemoteWriteEncoder.BLOCK_LENGTH;
            case RemoteReadEncoder.TEMPLATE_ID -> RemoteReadEncoder.BLOCK_LENGTH;
            default -> RemoteReplyEncoder.BLOCK_LENGTH;
        };
        for (int length : new int[] {block - 1, block - 8, 4, 0}) {
            connect();
            beta.services.errors.clear();
            writeRecord(type, body(length));
            assertEnded(name + " with only " + (WORD_LENGTH + length) + " bytes");
            beta.take();
        }
        writeRecord(type, body(block));
        steps();
        assertEquals(2, beta.take().size(), "a record of the least length is whole");
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 21, 22})
    void shouldEndTheConnectionOfAPeerThatAccessesMemoryWhereNoneIs(int type) {
        connect();
        beta.takesRemoteAccess = false;
        writeRecord(type, body(RemoteWriteEncoder.BLOCK_LENGTH));
        assertEnded("remote memory access");
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 21, 22})
    void shouldIgnoreFramesThatNameNoChannel(int type) {
        connect();
        byte[] body = body(RemoteWriteEncoder.BLOCK_LENGTH);
        body[3] ^= 1;
        writeRecord(type, body);
        steps();
        assertEquals(List.of(), beta.take());
        assertEquals(0, beta.services.errors.size());
    }

    /** A Short has a word of another kind: its id is no type of a record. */
    @Test
    void shouldEndTheConnectionOfAPeerWhoseRecordHasTheTypeOfAnotherMessage() {
        connect();
        writeRecord(ShortEncoder.TEMPLATE_ID, body(64));
        assertEnded("type " + ShortEncoder.TEMPLATE_ID);
    }

    @Test
    void shouldEndTheConnectionOfAPeerWhoseRecordHasAnUnknownType() {
        connect();
        writeRecord(ShmFrameReader.MAX_TYPE + 1, body(64));
        assertEnded("type " + (ShmFrameReader.MAX_TYPE + 1));
    }

    static IntStream types() {
        return IntStream.rangeClosed(ShmFrameReader.EAGER_MSG, ShmFrameReader.MAX_TYPE);
    }

    /** Whatever the fields hold, the peer's driver takes the frame, ignores it or ends the connection, and goes on. */
    @ParameterizedTest
    @MethodSource("types")
    void shouldLiveWithRandomFramesOfEveryType(int type) {
        for (int seed = 0; seed < 50; seed++) {
            if (alpha.channel == null || beta.channel == null) {
                connect();
            }
            Random random = new Random(type * 1000L + seed);
            byte[] body = new byte[random.nextInt(120)];
            random.nextBytes(body);
            if (random.nextBoolean()) {
                byte[] named = body(Math.min(Integer.BYTES, body.length));
                System.arraycopy(named, 0, body, 0, named.length);
            }
            writeRecord(type, body);
            steps();
            if (alpha.channel != null && beta.channel == null) {
                // the frame said that alpha had closed it
                alpha.channel.close(FabricErrno.ECONNRESET);
                alpha.channel = null;
            }
            assertEquals(alpha.channel == null, beta.channel == null, "type " + type + ", seed " + seed);
            alpha.take();
            beta.take();
            beta.payloads.clear();
        }
        if (alpha.channel == null) {
            connect();
        }
        assertEquals(Channel.DONE, remote().write(operation(Flags.WRITE), 100, GRANT));
        steps();
        assertEquals(write(false, 0, 100), beta.take().getLast());
    }

    /** The fields lie where the schema has them, each at a multiple of its size. */
    @Test
    void shouldAlignTheFields() {
        assertEquals(0, RemoteWriteEncoder.BLOCK_LENGTH % 8 + RemoteReadEncoder.BLOCK_LENGTH % 8
            + RemoteReplyEncoder.BLOCK_LENGTH % 8);
        connect();
        assertEquals(Channel.DONE, remote().write(operation(Flags.WRITE | Flags.REMOTE_CQ_DATA), 8, GRANT));
        ShmConnection connection = alpha.link.connection(beta.endpoint.address);
        long record = connection.ring().addressOffset();
        long end = record + RemoteNode.RING / 2;
        while (UnsafeApi.getInt(record + Integer.BYTES) != RemoteWriteEncoder.TEMPLATE_ID) {
            record += 64;
            assertTrue(record < end, "no record");
        }
        long[] expected = {OPERATION, KEY, ADDRESS, WHOLE, 0, DATA, Flags.REMOTE_CQ_DATA};
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], UnsafeApi.getLong(record + 2 * WORD_LENGTH + 8L * i), "field " + i);
        }
    }
}
