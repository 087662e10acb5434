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
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
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
import org.junit.jupiter.params.provider.ValueSource;

/** An endpoint over rxm and a peer of which the test writes every byte. */
@Tag("conformance")
class RxmPeerTest {
    private static final int HEADER_LENGTH = 64;
    private static final int MESSAGE_HEADER_LENGTH = 16;
    private static final int CM_LENGTH = 32;
    private static final long ANY = -1L;

    private final Path base = TestDirectory.create();
    private FabricDriver driver;
    private FabricNode node;
    private Socket peer;
    /** What the endpoint wants to see in packets for it. */
    private int connection;

    @BeforeEach
    void connect() throws IOException {
        driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", "rxm")
            .set("jfabric.tcp.interface", "127.0.0.1").build());
        Fabric fabric = driver.fabric();
        node = new FabricNode(fabric, "rxm", new Info().caps(Flags.MSG | Flags.TAGGED), 64, 0, driver::cycle);
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
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (in.available() < length) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not " + length + " bytes");
            driver.cycle();
            Thread.yield();
        }
        return in.readNBytes(length);
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

    /** No endpoint has memory that peers may change, but who asks must not wait for ever. */
    @Test
    void shouldAnswerAnAtomicOperationWithARefusal() throws IOException {
        peer.getOutputStream().write(packet(4, 6, connection, 0x1234, 96 + 8).array());

        ByteBuffer answer = ByteBuffer.wrap(read(MESSAGE_HEADER_LENGTH + HEADER_LENGTH + 8))
            .order(ByteOrder.LITTLE_ENDIAN);

        int at = MESSAGE_HEADER_LENGTH;
        assertEquals(5, answer.get(at + 1), "an atomic response");
        assertEquals(7, answer.getLong(at + 8), "for the peer's number");
        assertEquals(0x1234, answer.getLong(at + 16));
        assertEquals(6, answer.get(at + 34));
        assertEquals(8, answer.getLong(at + 40));
        answer.order(ByteOrder.BIG_ENDIAN);
        assertEquals(FabricErrno.EOPNOTSUPP, answer.getInt(at + HEADER_LENGTH));
        assertEquals(0, answer.getInt(at + HEADER_LENGTH + 4));
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

    @ParameterizedTest
    @ValueSource(ints = {5, 7, 8, 9})
    void shouldEndAConnectionOfWhichAPacketHasNoMeaningHere(int type) throws IOException {
        peer.getOutputStream().write(packet(type, 0, connection, 3, 104).array());
        awaitEnd();
    }
}
