package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Unknown peers begin messages and do not send the rest: the receives that known peers need stay there. */
@Timeout(60)
class TcpUnknownShareTest {
    private static final int RECEIVES = 8;
    /** Longer than what one read takes, so that a message is never whole at once. */
    private static final int LENGTH = 200_000;
    private static final long GIB = 1L << 30;

    private final List<Socket> attackers = new ArrayList<>();
    private Path directory;
    private FabricDriver driver;
    private FabricNode victim;
    private FabricNode known;
    private long toVictim;

    @BeforeEach
    void open() {
        directory = TestDirectory.create();
        driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(directory.resolve("driver"))
            .threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.link.enabled", "tcp")
            .set("jfabric.tcp.interface", "127.0.0.1").build());
        Info hints = new Info().caps(Flags.TAGGED | Flags.SEND | Flags.RECV);
        hints.epAttr().type(EndpointType.RDM);
        victim = new FabricNode(driver.fabric(), "tcp", hints, 512, 0, () -> { });
        known = new FabricNode(driver.fabric(), "tcp", hints, 512, 0, () -> { });
        toVictim = known.av.insert(victim.endpoint.name());
        victim.av.insert(known.endpoint.name());
    }

    @AfterEach
    void close() throws IOException {
        for (Socket socket : attackers) {
            socket.close();
        }
        driver.close();
        TestDirectory.delete(directory);
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "not reached");
            cycles(1);
            Thread.yield();
        }
    }

    /** So many that each connection was read and each waiting message was tried again. */
    private void cycles(int count) {
        for (int i = 0; i < count; i++) {
            driver.cycle();
        }
    }

    /** A message of an unknown peer of which only the first bytes come. */
    private Socket begin(long length, int written) throws IOException {
        SocketName name = SocketName.parse(victim.endpoint.name());
        Socket socket = new Socket();
        attackers.add(socket);
        socket.setTcpNoDelay(true);
        socket.connect(new InetSocketAddress(name.inetAddress(), name.port()));
        int port = 9000 + attackers.size();
        CmMessage request = new CmMessage(CmMessage.REQUEST, RdmConnectData.request(port, port).encode());
        byte[] bytes = new byte[request.length()];
        request.encode(new UnsafeBuffer(bytes), 0);
        socket.getOutputStream().write(bytes);
        await(() -> available(socket) >= bytes.length);
        assertEquals(CmMessage.RESPONSE, socket.getInputStream().readNBytes(bytes.length)[1]);
        ByteBuffer message = ByteBuffer.allocate(24 + written).order(ByteOrder.LITTLE_ENDIAN)
            .putInt(0x103).putInt(24 << 16).putLong(24 + length).putLong(1);
        socket.getOutputStream().write(message.array());
        return socket;
    }

    private static int available(Socket socket) {
        try {
            return socket.getInputStream().available();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void post(int index) {
        assertEquals(0, victim.endpoint.trecv(
            victim.memory.address() + (long) index * LENGTH, LENGTH, -1, 1, 0, index));
    }

    private void postAll() {
        for (int i = 0; i < RECEIVES; i++) {
            post(i);
        }
    }

    /** Messages of the known peer, the receive of each being posted again. */
    private void exchange(int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(0, known.endpoint.tinject(known.memory.buffer(), 0, 100, toVictim, 1));
            receive(1);
        }
    }

    private void receive(int count) {
        for (int i = 0; i < count; i++) {
            FabricNode.Entry next = victim.await();
            assertEquals(0, next.err());
            assertEquals(100, next.len());
            post((int) next.context());
        }
    }

    @Test
    void shouldLeaveHalfOfTheReceivesToKnownPeersWhenUnknownOnesDoNotFinish() throws Exception {
        postAll();
        for (int i = 0; i < 2 * RECEIVES; i++) {
            begin(LENGTH, 10);
        }
        cycles(1000);
        exchange(100);
        // all receives are used up for a moment, and those posted then belong to known peers, too
        for (int i = 0; i < RECEIVES; i++) {
            assertEquals(0, known.endpoint.tinject(known.memory.buffer(), 0, 100, toVictim, 1));
        }
        cycles(1000);
        List<Integer> ended = new ArrayList<>();
        for (FabricNode.Entry next = victim.poll(); next != null; next = victim.poll()) {
            ended.add((int) next.context());
        }
        assertEquals(RECEIVES / 2, ended.size());
        cycles(1000);
        ended.forEach(this::post);
        receive(RECEIVES - ended.size());
        exchange(100);
        // those who finish are received, and others take their places
        finish(attackers);
    }

    /** Who holds a receive may be any of them, so that all send their rest. */
    private void finish(List<Socket> sockets) throws InterruptedException {
        List<Thread> writers = new ArrayList<>();
        for (Socket socket : sockets) {
            writers.add(Thread.ofVirtual().start(() -> {
                try {
                    socket.getOutputStream().write(new byte[LENGTH - 10]);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }));
        }
        for (int i = 0; i < sockets.size(); i++) {
            FabricNode.Entry next = victim.await();
            assertEquals(0, next.err());
            assertEquals(LENGTH, next.len());
            post((int) next.context());
        }
        for (Thread writer : writers) {
            writer.join();
        }
    }

    /** They have begun before a receive was posted. */
    @Test
    void shouldKeepNewReceivesForKnownPeersWhenUnfinishedMessagesWait() throws Exception {
        for (int i = 0; i < 2 * RECEIVES; i++) {
            // some of them in the driver's memory, and the others unread in their sockets
            begin(i % 2 == 0 ? LENGTH : 3 << 20, 10);
        }
        cycles(1000);
        postAll();
        cycles(1000);
        exchange(100);
        finish(List.of(attackers.get(0), attackers.get(2), attackers.get(4)));
        exchange(100);
    }

    /** It ends with FI_ETRUNC in any case, and need not wait for the bytes that nobody gets. */
    @Test
    void shouldEndAReceiveOnceItIsFullWhenTheMessageIsLonger() throws IOException {
        assertEquals(0, victim.endpoint.trecv(victim.memory.address(), 0, -1, 1, 0, 99));
        begin(GIB, 0);
        FabricNode.Entry empty = victim.await();
        assertEquals(FabricErrno.ETRUNC, empty.err());
        assertEquals(GIB, empty.olen());
        postAll();
        begin(GIB, LENGTH / 2);
        cycles(1000);
        assertNull(victim.poll());
        attackers.getLast().getOutputStream().write(new byte[LENGTH]);
        FabricNode.Entry cut = victim.await();
        assertEquals(FabricErrno.ETRUNC, cut.err());
        assertEquals(GIB - LENGTH, cut.olen());
        post((int) cut.context());
        exchange(100);
    }
}
