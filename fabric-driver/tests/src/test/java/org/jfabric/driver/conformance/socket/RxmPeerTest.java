package org.jfabric.driver.conformance.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An endpoint over rxm and a peer of which the test writes every byte. */
@Tag("conformance")
class RxmPeerTest {
    private static final int HEADER_LENGTH = 64;
    private static final int MESSAGE_HEADER_LENGTH = 16;
    private static final int CM_LENGTH = 32;
    private static final long ANY = -1L;
    private static final long KEY = 0x5EED_0000_0001L;

    private Path base = TestDirectory.create();
    private FabricDriver driver;
    private FabricNode node;
    private Socket peer;
    /** What the endpoint wants to see in packets for it. */
    private int connection;

    @BeforeEach
    void connect() throws IOException {
        connect(0);
    }

    private void connect(long moreCaps) throws IOException {
        driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", "rxm")
            .set("jfabric.tcp.interface", "127.0.0.1").build());
        Fabric fabric = driver.fabric();
        node = new FabricNode(
            fabric, "rxm", new Info().caps(Flags.MSG | Flags.TAGGED | moreCaps), 64, 0, driver::cycle);
        SocketName name = SocketName.parse(node.endpoint.name());
        peer = new Socket();
        peer.setTcpNoDelay(true);
        peer.bind(new InetSocketAddress("127.0.0.1", 0));
        peer.connect(new InetSocketAddress(name.inetAddress(), name.port()));
        // listens at port 5000, no flow control, eager limit 16384, its number for this connection is 7
        peer.getOutputStream().write(HexFormat.of().parseHex("03000018" + "00".repeat(20) + "0100000000000000"
            + "01020403" + "8813" + "0200" + "00400000" + "00100000" + "07000000" + "9f580000"));
        ByteBuffer answer = ByteBuffer.wrap(read(CM_LENGTH + 16)).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(1, answer.get(1), "accepted");
        connection = answer.getInt(CM_LENGTH);
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        driver.close();
        TestDirectory.delete(base);
    }

    private byte[] read(int length) throws IOException {
        InputStream in = peer.getInputStream();
        byte[] bytes = new byte[length];
        int taken = 0;
        long deadline = System.nanoTime() + Deadline.ns(20);
        // whatever is there is taken: the kernel's window may stay closed while a part of a packet is left
        while (taken < length) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not " + length + " bytes");
            taken += in.readNBytes(bytes, taken, Math.min(in.available(), length - taken));
            driver.cycle();
            Thread.yield();
        }
        return bytes;
    }

    private void awaitEnd() throws IOException {
        peer.setSoTimeout(1);
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (true) {
            assertTrue(System.nanoTime() - deadline < 0, "the connection was not closed");
            driver.cycle();
            try {
                assertEquals(-1, peer.getInputStream().read());
                return;
            } catch (SocketTimeoutException notYet) {
                Thread.yield();
            }
        }
    }

    /** A packet in a message of the connection: type, operation, whom it is for, length of the message. */
    private static ByteBuffer packet(int type, int op, long connection, long message, int payloadLength) {
        int length = MESSAGE_HEADER_LENGTH + HEADER_LENGTH + payloadLength;
        ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(0, (byte) 3).put(6, (byte) MESSAGE_HEADER_LENGTH).putLong(8, length);
        int at = MESSAGE_HEADER_LENGTH;
        buffer.put(at, (byte) 4).put(at + 1, (byte) type).putLong(at + 8, connection).putLong(at + 16, message)
            .put(at + 32, (byte) 2).put(at + 34, (byte) op).putLong(at + 40, payloadLength);
        return buffer;
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 40_000, 1 << 20})
    void shouldReachItself(int length) {
        // one packet, segments, a payload that is read: the end of each goes back to the endpoint as well
        long self = node.av.insert(node.endpoint.name());
        for (int i = 1; i <= 3; i++) {
            node.fill(0, length, i);
            assertEquals(0, node.endpoint.trecv(node.memory.address(FabricNode.MEMORY / 2), length, self, i, 0, i));
            assertEquals(0, node.endpoint.tsend(node.memory.address(0), length, self, i, 10 + i));
            FabricNode.Entry first = node.await();
            FabricNode.Entry second = node.await();
            assertEquals(Set.of((long) i, 10L + i), Set.of(first.context(), second.context()));
            assertEquals(0, first.err() | second.err(), () -> first + ", " + second);
            node.assertFilled(FabricNode.MEMORY / 2, length, i);
        }
    }

    @Test
    void shouldTakePacketsForItsConnection() throws IOException {
        ByteBuffer eager = packet(0, 0, connection, 0, 4);
        eager.put(MESSAGE_HEADER_LENGTH + HEADER_LENGTH, "fin\0".getBytes());
        assertEquals(0, node.endpoint.recv(node.memory.address(), 64, ANY, 1));
        peer.getOutputStream().write(eager.array());
        assertEquals(4, node.await(1).len());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, -1, 1 << 20})
    void shouldEndAConnectionOfWhichAPacketIsForAnother(int beside) throws IOException {
        assertEquals(0, node.endpoint.recv(node.memory.address(), 64, ANY, 1));
        peer.getOutputStream().write(packet(0, 0, (long) connection + beside, 0, 4).array());
        awaitEnd();
        node.assertQuiet(20);
    }

    /** An endpoint without the capability: who asks must not wait for ever. */
    @Test
    void shouldAnswerAnAtomicOperationWithARefusal() throws IOException {
        peer.getOutputStream().write(atomic(6, 7, 2, new long[] {0, 1, KEY}, 1));
        assertAnswer(6, FabricErrno.EACCES);
        shouldTakePacketsForItsConnection();
    }

    /** A request of 64-bit integers, unsigned for an odd code: ranges of offset, count and key, then operands. */
    private byte[] atomic(int op, int datatype, int operation, long[] ranges, long... operands) {
        ByteBuffer request = packet(4, op, connection, 0x1234, 96 + 8 * operands.length);
        int at = MESSAGE_HEADER_LENGTH;
        // C peers count the header too
        request.putLong(at + 40, HEADER_LENGTH + 96 + 8L * operands.length);
        request.put(at + 56, (byte) datatype).put(at + 57, (byte) operation).put(at + 58, (byte) (ranges.length / 3));
        for (int i = 0; i < ranges.length; i++) {
            request.putLong(at + HEADER_LENGTH + 8 * i, ranges[i]);
        }
        for (int i = 0; i < operands.length; i++) {
            request.putLong(at + HEADER_LENGTH + 96 + 8 * i, operands[i]);
        }
        return request.array();
    }

    private void assertAnswer(int op, int errno, long... values) throws IOException {
        int bytes = 8 + 8 * values.length;
        ByteBuffer answer = ByteBuffer.wrap(read(MESSAGE_HEADER_LENGTH + HEADER_LENGTH + bytes))
            .order(ByteOrder.LITTLE_ENDIAN);
        int at = MESSAGE_HEADER_LENGTH;
        assertEquals(5, answer.get(at + 1), "an atomic response");
        assertEquals(7, answer.getLong(at + 8), "for the peer's number");
        assertEquals(0x1234, answer.getLong(at + 16));
        assertEquals(op, answer.get(at + 34));
        for (int i = 0; i < values.length; i++) {
            assertEquals(values[i], answer.getLong(at + HEADER_LENGTH + 8 + 8 * i));
        }
        answer.order(ByteOrder.BIG_ENDIAN);
        assertEquals(-errno, answer.getInt(at + HEADER_LENGTH), "a negative errno, big-endian");
        assertEquals(8 * values.length, answer.getInt(at + HEADER_LENGTH + 4));
    }

    private void withRemoteMemory() throws IOException {
        close();
        base = TestDirectory.create();
        connect(Flags.ATOMIC | Flags.RMA);
    }

    private MemoryRegion region(long key, long access) {
        MemoryRegion region = node.domain.allocate(4096, new MemoryRegionAttr().access(access).requestedKey(key));
        region.buffer().setMemory(0, 4096, (byte) 0);
        return region;
    }

    /** Of several ranges all are checked before the first is changed; old values come in one list. */
    @Test
    void shouldExecuteAnOperationOnSeveralRanges() throws IOException {
        withRemoteMemory();
        UnsafeBuffer first = region(KEY, Flags.REMOTE_READ | Flags.REMOTE_WRITE).buffer();
        UnsafeBuffer second = region(KEY + 1, Flags.REMOTE_READ | Flags.REMOTE_WRITE).buffer();
        region(KEY + 2, Flags.REMOTE_READ);
        first.putLong(8, 100);
        second.putLong(16, 200);
        second.putLong(24, 300);
        long[] ranges = {8, 1, KEY, 16, 2, KEY + 1, 0, 0, KEY, 32, 1, KEY};

        peer.getOutputStream().write(atomic(7, 6, 2, ranges, 1, 2, 3, 4));
        assertAnswer(7, 0, 100, 200, 300, 0);
        peer.getOutputStream().write(atomic(8, 7, 12, ranges, 7, 8, 9, 10, 101, 202, 999, 4));
        assertAnswer(8, 0, 101, 202, 303, 4);
        peer.getOutputStream().write(atomic(7, 6, 10, ranges));
        assertAnswer(7, 0, 7, 8, 303, 10);

        ranges[11] = KEY + 2;
        peer.getOutputStream().write(atomic(6, 6, 11, ranges, 1, 1, 1, 1));
        assertAnswer(6, FabricErrno.EACCES);
        assertEquals(7, first.getLong(8));
        assertEquals(8, second.getLong(16));
    }

    /** As many elements as a C peer can send, which are more than one of JFabric sends. */
    @Test
    void shouldExecuteTheLongestOperationOfACPeer() throws IOException {
        withRemoteMemory();
        MemoryRegion region = node.domain.allocate(
            1 << 20, new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(KEY));
        int count = (16384 - 96) / 8;
        long[] operands = new long[count];
        long[] zeroes = new long[count];
        for (int i = 0; i < count; i++) {
            operands[i] = i + 1;
            region.buffer().putLong(8 * i, 0);
        }
        peer.getOutputStream().write(atomic(7, 6, 2, new long[] {0, count, KEY}, operands));
        assertAnswer(7, 0, zeroes);
        peer.getOutputStream().write(atomic(7, 6, 10, new long[] {0, count, KEY}));
        assertAnswer(7, 0, operands);
        // one whose answer fits into no packet
        peer.getOutputStream().write(atomic(7, 6, 10, new long[] {0, 2048, KEY}));
        assertAnswer(7, FabricErrno.EINVAL);
        shouldTakePacketsForItsConnection();
    }

    @ParameterizedTest
    @CsvSource({
        // op, datatype, operation, offset, count, key beside the right one, answer
        "6, 6, 2, 0, 1, 9, FI_EKEYREJECTED", "6, 6, 2, 4090, 1, 0, FI_EFAULT", "6, 6, 2, -8, 1, 0, FI_EFAULT",
        "6, 6, 2, 4, 1, 0, FI_EINVAL", "7, 6, 2, 0, 1, 1, FI_EACCES", "8, 6, 12, 0, 1, 1, FI_EACCES",
        "6, 12, 2, 0, 1, 0, FI_EOPNOTSUPP", "6, 200, 2, 0, 1, 0, FI_EOPNOTSUPP", "6, 6, 10, 0, 1, 0, FI_EOPNOTSUPP",
        "6, 6, 19, 0, 1, 0, FI_EOPNOTSUPP", "9, 6, 2, 0, 1, 0, FI_EOPNOTSUPP", "0, 6, 2, 0, 1, 0, FI_EOPNOTSUPP"})
    void shouldAnswerWhatIsNotAllowedAndGoOn(
        int op, int datatype, int operation, long offset, long count, long key, String errno) throws IOException {
        withRemoteMemory();
        UnsafeBuffer target = region(KEY, Flags.REMOTE_READ | Flags.REMOTE_WRITE).buffer();
        UnsafeBuffer readOnly = region(KEY + 1, Flags.REMOTE_READ).buffer();
        long[] operands = op == 8 ? new long[] {5, 0} : new long[] {5};
        peer.getOutputStream().write(atomic(op, datatype, operation, new long[] {offset, count, KEY + key}, operands));
        assertAnswer(op, errno(errno));
        for (int i = 0; i < 4096; i += 8) {
            assertEquals(0, target.getLong(i) | readOnly.getLong(i));
        }
        shouldTakePacketsForItsConnection();
        peer.getOutputStream().write(atomic(7, 6, 2, new long[] {8, 1, KEY}, 5));
        assertAnswer(7, 0, 0);
        assertEquals(5, target.getLong(8));
    }

    private static int errno(String name) {
        return switch (name) {
            case "FI_EKEYREJECTED" -> FabricErrno.EKEYREJECTED;
            case "FI_EFAULT" -> FabricErrno.EFAULT;
            case "FI_EINVAL" -> FabricErrno.EINVAL;
            case "FI_EACCES" -> FabricErrno.EACCES;
            default -> FabricErrno.EOPNOTSUPP;
        };
    }

    /** Operands that do not fit the elements, more ranges than there can be, a packet that is cut. */
    @ParameterizedTest
    @ValueSource(strings = {"operands", "count", "negative", "ranges", "cut"})
    void shouldEndAConnectionOfWhichAnAtomicOperationIsMalformed(String what) throws IOException {
        withRemoteMemory();
        UnsafeBuffer target = region(KEY, Flags.REMOTE_READ | Flags.REMOTE_WRITE).buffer();
        byte[] bytes = switch (what) {
            case "operands" -> atomic(6, 6, 11, new long[] {0, 1, KEY}, 5, 5);
            case "count" -> atomic(6, 6, 11, new long[] {0, 1L << 61, KEY});
            case "negative" -> atomic(6, 6, 11, new long[] {0, 2, KEY, 0, -1, KEY}, 5);
            case "ranges" -> {
                byte[] five = atomic(6, 6, 11, new long[] {0, 1, KEY}, 5);
                five[MESSAGE_HEADER_LENGTH + 58] = 5;
                yield five;
            }
            default -> packet(4, 6, connection, 1, 95).array();
        };
        peer.getOutputStream().write(bytes);
        awaitEnd();
        assertEquals(0, target.getLong(0));
    }

    /** A peer that takes no answers is not read on when many wait; all of them come when it reads. */
    @Test
    void shouldKeepAnswersForAPeerThatDoesNotRead() throws IOException, InterruptedException {
        withRemoteMemory();
        MemoryRegion region = node.domain.allocate(
            1 << 20, new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(KEY));
        region.buffer().putLong(0, 0);
        int count = 3000;
        byte[] fetch = atomic(7, 6, 10, new long[] {0, 1024, KEY});
        byte[] add = atomic(6, 6, 2, new long[] {0, 1, KEY}, 1);
        Thread writer = new Thread(() -> {
            try {
                for (int i = 0; i < count; i++) {
                    peer.getOutputStream().write(fetch);
                    peer.getOutputStream().write(add);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        writer.start();
        for (int i = 0; i < 3000; i++) {
            driver.cycle();
        }
        for (int i = 0; i < count; i++) {
            ByteBuffer answer = ByteBuffer.wrap(read(MESSAGE_HEADER_LENGTH + HEADER_LENGTH + 8 + 8192))
                .order(ByteOrder.LITTLE_ENDIAN);
            assertEquals(i, answer.getLong(MESSAGE_HEADER_LENGTH + HEADER_LENGTH + 8));
            read(MESSAGE_HEADER_LENGTH + HEADER_LENGTH + 8);
        }
        writer.join();
        shouldTakePacketsForItsConnection();
    }

    /** Remote writes and the write variant of the rendezvous. */
    @ParameterizedTest
    @ValueSource(strings = {
        "0304000000012800" + "3000000000000000" + "0000000000000000" + "0800000000000000" + "0000008000000000"
            + "4142434445464748",
        "0302000000012800" + "2800000000000000" + "0000000000000000" + "0800000000000000" + "0000008000000000"})
    void shouldEndAConnectionThatReachesForMemory(String hex) throws IOException {
        peer.getOutputStream().write(HexFormat.of().parseHex(hex));
        awaitEnd();
    }

    /** Writes and reads of the connection, with nothing added, between packets. */
    @Test
    void shouldPlaceAndReadBytesOfARegion() throws IOException {
        withRemoteMemory();
        UnsafeBuffer target = region(KEY, Flags.REMOTE_READ | Flags.REMOTE_WRITE).buffer();
        peer.getOutputStream().write(access(4, 8, 8, KEY, 0x1122334455667788L).array());
        peer.getOutputStream().write(atomic(7, 6, 2, new long[] {8, 1, KEY}, 1));
        peer.getOutputStream().write(access(2, 8, 8, KEY).array());
        assertAnswer(7, 0, 0x1122334455667788L);
        ByteBuffer answer = ByteBuffer.wrap(read(MESSAGE_HEADER_LENGTH + 8)).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(3, answer.get(1), "an answer to a read");
        assertEquals(0x1122334455667789L, answer.getLong(MESSAGE_HEADER_LENGTH));
        assertEquals(0x1122334455667789L, target.getLong(8));
    }

    @ParameterizedTest
    @CsvSource({"4, 8, 9", "2, 8, 9", "4, 4092, 0", "2, 4092, 0", "4, -8, 0", "2, 8, 2", "4, 8, 1"})
    void shouldEndAConnectionWhoseAccessIsRefused(int op, long offset, long key) throws IOException {
        withRemoteMemory();
        UnsafeBuffer target = region(KEY, Flags.REMOTE_READ | Flags.REMOTE_WRITE).buffer();
        UnsafeBuffer readOnly = region(KEY + 1, Flags.REMOTE_READ).buffer();
        region(KEY + 2, Flags.REMOTE_WRITE);
        peer.getOutputStream().write((op == 4 ? access(4, offset, 8, KEY + key, -1)
            : access(2, offset, 8, KEY + key)).array());
        awaitEnd();
        for (int i = 0; i < 4096; i += 8) {
            assertEquals(0, target.getLong(i) | readOnly.getLong(i));
        }
        node.assertQuiet(20);
    }

    /** An atomic response that names the endpoint's own write: the bytes are still on their way, so it ends nothing. */
    @Test
    void shouldEndAConnectionThatAnswersAWriteAsAnAtomicOperation() throws IOException {
        withRemoteMemory();
        long toPeer = node.av.insert("fi_sockaddr_in://127.0.0.1:5000");
        assertEquals(0, node.endpoint.atomics().atomic(
            node.memory.address(), 1, toPeer, 0, KEY, AtomicDatatype.INT64, AtomicOperation.SUM, 1));
        ByteBuffer request = ByteBuffer.wrap(read(MESSAGE_HEADER_LENGTH + HEADER_LENGTH + 96 + 8))
            .order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(4, request.get(MESSAGE_HEADER_LENGTH + 1), "an atomic request");
        long operation = request.getLong(MESSAGE_HEADER_LENGTH + 16);
        peer.getOutputStream().write(packet(5, 6, connection, operation, 8).array());
        assertEquals(0, node.await(1).err());

        // not acknowledged, so that it is outstanding; the record is used once more
        assertEquals(0, node.endpoint.remoteMemory().writemsg(new RemoteRequest().memory(node.memory.address(), 8)
            .destAddr(toPeer).remote(0, KEY).opContext(2).flags(Flags.DELIVERY_COMPLETE | Flags.COMPLETION)));
        read(MESSAGE_HEADER_LENGTH + 24 + 8);
        peer.getOutputStream().write(packet(5, 6, connection, operation + (1L << 32), 8).array());
        FabricNode.Entry ended = node.await();
        assertEquals(2, ended.context());
        assertEquals(FabricErrno.EIO, ended.err(), "by the end of the connection");
        awaitEnd();
    }

    /** A message of the connection that writes to memory (4) or reads it (2). */
    private static ByteBuffer access(int op, long offset, long length, long key, long... payload) {
        int bytes = MESSAGE_HEADER_LENGTH + 24 + 8 * payload.length;
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        buffer.put((byte) 3).put((byte) op).put(5, (byte) 1).put(6, (byte) (MESSAGE_HEADER_LENGTH + 24))
            .putLong(8, bytes).putLong(16, offset).putLong(24, length).putLong(32, key);
        for (int i = 0; i < payload.length; i++) {
            buffer.putLong(40 + 8 * i, payload[i]);
        }
        return buffer;
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 7, 8, 9, 200})
    void shouldEndAConnectionOfWhichAPacketHasNoMeaningHere(int type) throws IOException {
        peer.getOutputStream().write(packet(type, 0, connection, 3, 104).array());
        awaitEnd();
    }
}
