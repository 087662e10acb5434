package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A peer that speaks as libfabric 2.x's provider tcp does for reliable datagrams: the test writes the bytes that such
 * processes were seen to write, and expects those that they expect.
 */
@Timeout(60)
class LaterLibfabricTest {
    private static final HexFormat HEX = HexFormat.of();
    private static final String ZEROS = "00".repeat(20);
    private static final String PROBE = "0100000000000000";
    private static final String FIN = "03000400000010001400000000000000" + "66696e00";
    private static final String ACK = "03000000020010001000000000000000";

    private final TcpNode node = new TcpNode();
    private final List<Socket> sockets = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        node.close();
        assertEquals(0, node.link.readPool().taken() + node.link.writePool().taken());
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not reached; errors " + node.errors);
            if (node.step() == 0) {
                Thread.yield();
            }
        }
    }

    private byte[] read(Socket socket, int length) throws IOException {
        InputStream in = socket.getInputStream();
        await(() -> {
            try {
                return in.available() >= length;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        return in.readNBytes(length);
    }

    private static void write(Socket socket, String hex) throws IOException {
        socket.getOutputStream().write(HEX.parseHex(hex));
    }

    private static String port(int port) {
        return HEX.toHexDigits((short) port);
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.bind(new InetSocketAddress("127.0.0.1", 0));
        socket.connect(new InetSocketAddress(node.name().inetAddress(), node.name().port()));
        sockets.add(socket);
        return socket;
    }

    /** Version 1 is what 2.x asks with, 2 what it may some day; bit 0 of the second byte says "never connect to me". */
    @ParameterizedTest
    @CsvSource({"0100", "0101", "0200"})
    @Requirement("EP-131")
    void shouldAnswerRequestsSoThatNoRendezvousFollows(String versionAndFeatures) throws IOException {
        Socket socket = connect();
        write(socket, "03000008" + ZEROS + PROBE + versionAndFeatures + port(34301) + "00005561");

        byte[] answer = read(socket, 40);

        String hex = HEX.formatHex(answer);
        // version 0 without the bit "the version is checked", the same port, the process id of this endpoint
        assertEquals("03010008" + ZEROS + PROBE + "0000" + port(34301), hex.substring(0, 72));
        assertNotEquals("00000000", hex.substring(72));
        Recorder seen = node.handler("fi_sockaddr_in://127.0.0.1:34301");
        await(() -> seen.ups == 1);
        exchange(socket, seen);
    }

    @ParameterizedTest
    @CsvSource({"00", "81"})
    @Requirement("EP-131")
    void shouldConnectWithBytesThatAListenerOfItAccepts(String version) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            Recorder seen = node.connect("fi_sockaddr_in://127.0.0.1:" + server.getLocalPort());
            Socket socket = server.accept();
            sockets.add(socket);
            assertEquals(node.name().inetAddress(), socket.getInetAddress(), "by it we are known");
            String request = HEX.formatHex(read(socket, 40));
            assertEquals("03000008" + ZEROS + PROBE + "0000" + port(node.name().port()), request.substring(0, 72));
            assertNotEquals("00000000", request.substring(72));
            // it answers what was asked and shows its own process id; a message may follow in the same segment
            write(socket, "03010008" + ZEROS + PROBE + version + "00" + port(node.name().port()) + "0000555a"
                + FIN);
            await(() -> seen.ups == 1 && seen.messages.size() == 1);
            assertEquals(ACK, HEX.formatHex(read(socket, 16)));
            seen.messages.clear();
            seen.tags.clear();
            exchange(socket, seen);
        }
    }

    /** Messages of both kinds in both directions, acknowledged, and longer than what is read ahead. */
    private void exchange(Socket socket, Recorder seen) throws IOException {
        ByteBuffer tagged = ByteBuffer.allocate(24 + 300_000).order(ByteOrder.LITTLE_ENDIAN);
        tagged.put(HEX.parseHex("0301000000001800" + "f893040000000000" + "d204000000000000"))
            .put(TcpNode.payload(300_000, 1));
        // a C program may leave the number of descriptors of an earlier read, which means nothing here
        String untagged = "0300000000011000" + "5000000000000000" + HEX.formatHex(TcpNode.payload(64, 2));
        socket.getOutputStream().write(tagged.array());
        write(socket, untagged + FIN);
        await(() -> seen.messages.size() == 3);
        assertArrayEquals(TcpNode.payload(300_000, 1), seen.messages.get(0));
        assertEquals(1234L, seen.tags.get(0));
        assertArrayEquals(TcpNode.payload(64, 2), seen.messages.get(1));
        assertArrayEquals(new byte[] {'f', 'i', 'n', 0}, seen.messages.get(2));
        assertEquals(ACK, HEX.formatHex(read(socket, 16)));

        assertTrue(node.send(seen.channel, 1234, 8, 3) >= 0);
        assertEquals("0301000000001800" + "2000000000000000" + "d204000000000000"
            + HEX.formatHex(TcpNode.payload(8, 3)), HEX.formatHex(read(socket, 32)));
        TransmitOperation last = node.operation(Flags.MSG | Flags.TRANSMIT_COMPLETE, 0, 4, 4);
        assertTrue(seen.channel.send(last, 0) >= 0);
        assertEquals("0300040000001000" + "1400000000000000" + HEX.formatHex(TcpNode.payload(4, 4)),
            HEX.formatHex(read(socket, 20)));
        assertEquals(List.of(), seen.sent, "before the peer has acknowledged it");
        write(socket, ACK);
        await(() -> seen.sent.size() == 1);
        assertEquals(List.of(), node.errors);
    }

    /**
     * Operations that the peer has and this link does not offer: the answer to the peer's request excludes them, and a
     * peer that uses one nevertheless is disconnected.
     */
    @ParameterizedTest
    @CsvSource({
        "0304000000012800" + "3000000000000000" + "0000000000000000" + "0800000000000000" + "0000008000000000"
            + "4142434445464748",
        "0305000001002000" + "2000000000000000" + "d204000000000000" + "409c000000000000",
        "0306000001001000" + "1000000000000000",
        "0308000000001000" + "1000000000000000"})
    void shouldEndAConnectionThatWritesToMemoryOrBeginsARendezvous(String hex) throws IOException {
        Socket socket = connect();
        write(socket, "03000008" + ZEROS + PROBE + "0100" + port(34301) + "00005561");
        read(socket, 40);
        Recorder seen = node.handler("fi_sockaddr_in://127.0.0.1:34301");
        await(() -> seen.ups == 1);

        write(socket, hex);

        await(() -> seen.downs == 1);
        assertEquals(FabricErrno.EIO, seen.downErrno);
        assertEquals(1, node.errors.size(), node.errors::toString);
        assertEquals(0, seen.messages.size());
    }

    @Test
    void shouldTakeARestartOfThePeerForOne() throws IOException {
        Socket first = connect();
        write(first, "03000008" + ZEROS + PROBE + "0100" + port(34301) + "00005561");
        read(first, 40);
        Recorder seen = node.handler("fi_sockaddr_in://127.0.0.1:34301");
        await(() -> seen.ups == 1);
        Socket again = connect();
        write(again, "03000008" + ZEROS + PROBE + "0100" + port(34301) + "00005561");
        // the same process asks for a second connection: its own bytes come back
        assertEquals("03060008" + "00".repeat(28) + "0100" + port(34301) + "00005561",
            HEX.formatHex(read(again, 40)));
        assertEquals(0, seen.downs);
        // its end comes before the first words of its successor
        first.close();
        Socket restarted = connect();
        write(restarted, "03000008" + ZEROS + PROBE + "0100" + port(34301) + "00005562");
        assertEquals("03010008", HEX.formatHex(read(restarted, 40)).substring(0, 8));
        assertEquals(1, seen.downs);
        assertEquals(2, seen.ups);
    }
}
