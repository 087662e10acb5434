package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A peer that writes to memory, reads it and answers reads as it likes. Its connection ends and is counted, no byte
 * outside of the ranges that it may use is touched, and another peer is served before and after.
 */
@Timeout(120)
class TcpRemoteGarbageTest {
    private static final long BOTH = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    private static final int LENGTH = 1 << 16;
    private static final long KEY = 77;
    private static final long READ_ONLY = 78;
    private static final long CLOSED = 79;
    private static final byte GUARD = 0x5C;
    private static final AtomicInteger NAMES = new AtomicInteger(20_000);

    private FabricPair pair;
    private MemoryRegion target;
    private final List<MemoryRegion> guards = new ArrayList<>();
    private final List<Socket> sockets = new ArrayList<>();

    @BeforeEach
    void open() {
        Info hints = new Info().caps(Flags.MSG | Flags.TAGGED | Flags.RMA);
        hints.txAttr().opFlags(Flags.DELIVERY_COMPLETE);
        // few slots, so that those that are lost would be missed
        pair = new FabricPair(Setup.NETWORK_EMBEDDED, hints, 16);
        guard(BOTH, 1);
        target = region(BOTH, KEY);
        guard(Flags.REMOTE_READ, READ_ONLY);
        guard(0, 2);
        region(BOTH, CLOSED).close();
    }

    private MemoryRegion region(long access, long key) {
        MemoryRegion region = pair.b.domain.allocate(LENGTH, new MemoryRegionAttr().access(access).requestedKey(key));
        region.buffer().setMemory(0, LENGTH, GUARD);
        return region;
    }

    private void guard(long access, long key) {
        guards.add(region(access, key));
    }

    @AfterEach
    void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        assertServesOthers();
        pair.close();
    }

    /** More writes with data than there are slots, and a read. */
    private void assertServesOthers() {
        for (int i = 0; i < 40; i++) {
            pair.a.memory.buffer().putLong(0, i);
            assertEquals(0, pair.a.endpoint.remoteMemory().writedata(
                pair.a.memory.address(), 8, i, pair.toB, LENGTH - 8, KEY, i));
            assertEquals(i, pair.b.await(0).data());
            pair.a.await(i);
            assertEquals(i, target.buffer().getLong(LENGTH - 8));
        }
        assertEquals(0, pair.a.endpoint.remoteMemory().read(pair.a.memory.address(8), 8, pair.toB, LENGTH - 8, KEY, 1));
        pair.a.await(1);
        assertEquals(39, pair.a.memory.buffer().getLong(8));
        byte[] untouched = new byte[LENGTH];
        Arrays.fill(untouched, GUARD);
        for (MemoryRegion guard : guards) {
            byte[] seen = new byte[LENGTH];
            guard.buffer().getBytes(0, seen);
            assertArrayEquals(untouched, seen, "memory that the peer may not write was touched");
        }
    }

    /** A peer that has connected to the second endpoint. */
    private Socket peer() throws IOException {
        SocketName name = SocketName.parse(pair.b.endpoint.name());
        Socket socket = new Socket();
        sockets.add(socket);
        socket.setTcpNoDelay(true);
        socket.bind(new InetSocketAddress("127.0.0.1", 0));
        socket.connect(new InetSocketAddress(name.inetAddress(), name.port()));
        CmMessage request = new CmMessage(
            CmMessage.REQUEST, RdmConnectData.request(NAMES.incrementAndGet(), 7).encode());
        byte[] bytes = new byte[request.length()];
        request.encode(new UnsafeBuffer(bytes), 0);
        socket.getOutputStream().write(bytes);
        byte[] answer = read(socket, 40);
        assertEquals(CmMessage.RESPONSE, answer[1]);
        return socket;
    }

    private byte[] read(Socket socket, int length) throws IOException {
        Deadline deadline = Deadline.usual();
        while (socket.getInputStream().available() < length) {
            deadline.check(length + " bytes", socket::toString);
            pair.pump();
            Thread.yield();
        }
        return socket.getInputStream().readNBytes(length);
    }

    private boolean hasEnded(Socket socket) {
        try {
            socket.setSoTimeout(1);
            return socket.getInputStream().read() < 0;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    private void awaitEnd(Socket socket) {
        Deadline deadline = Deadline.usual();
        while (!hasEnded(socket)) {
            deadline.check("the end of the connection", socket::toString);
            pair.pump();
        }
    }

    /** Of the second driver. */
    private long refusals() {
        try (DriverView view = new DriverView(pair.directory("beta"))) {
            return view.counters().getOrDefault(
                "tcp: connections closed because a remote access was refused", 0L);
        }
    }

    /** A message with that op; pieces are place, length and key of each. */
    private static byte[] frame(int op, int flags, byte[] payload, long... pieces) {
        int header = 16 + ((flags & TcpHeader.FLAG_CQ_DATA) != 0 ? 8 : 0) + 8 * pieces.length;
        ByteBuffer frame = ByteBuffer.allocate(header + payload.length).order(ByteOrder.LITTLE_ENDIAN);
        frame.put((byte) 3).put((byte) op).putShort((short) flags).put((byte) 0).put((byte) (pieces.length / 3))
            .put((byte) header).put((byte) 0).putLong(header + payload.length);
        if ((flags & TcpHeader.FLAG_CQ_DATA) != 0) {
            frame.putLong(1);
        }
        for (long word : pieces) {
            frame.putLong(word);
        }
        return frame.put(payload).array();
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) 0x11);
        return bytes;
    }

    @Test
    @Requirement("REF-033")
    void shouldEndTheConnectionOfAWriteThatIsNotAllowedAndTouchNothing() throws IOException {
        byte[] eight = bytes(8);
        byte[][] frames = {
            frame(4, 0, eight, 0, 8, KEY + 100),
            frame(4, 0, eight, 0, 8, CLOSED),
            frame(4, 0, eight, 0, 8, READ_ONLY),
            frame(4, 0, eight, 0, 8, 2),
            frame(4, 0, eight, -1, 8, KEY),
            frame(4, 0, eight, LENGTH - 7, 8, KEY),
            frame(4, 0, eight, Long.MAX_VALUE, 8, KEY),
            frame(4, 0, eight, Long.MIN_VALUE, 8, KEY),
            frame(4, 0, bytes(LENGTH + 1), 0, LENGTH + 1, KEY),
            frame(4, 0, new byte[0], LENGTH + 1, 0, KEY),
            frame(4, 5, eight, 0, 8, KEY + 100),
            // the pieces in front of the one that is refused are not written either
            frame(4, 0, bytes(16), 0, 8, KEY, 0, 8, READ_ONLY),
            frame(4, 0, bytes(32), 0, 8, KEY, 8, 8, KEY, 16, 8, KEY, LENGTH, 8, KEY),
            frame(4, TcpHeader.FLAG_COMMIT, eight, 0, 8, KEY)};
        long refused = refusals();
        for (byte[] frame : frames) {
            Socket socket = peer();
            socket.getOutputStream().write(frame);
            awaitEnd(socket);
            assertEquals(++refused, refusals(), () -> Arrays.toString(frame));
        }
        assertUntouched(0, LENGTH);
        // what they are like has no header: the protocol is broken
        for (byte[] frame : new byte[][] {frame(4, 0, eight, 0, 9, KEY), frame(4, 0, eight, 0, 7, KEY),
            frame(4, 0, eight, 0, Long.MAX_VALUE, KEY, 0, Long.MIN_VALUE, KEY, 0, 9, KEY), frame(4, 0, eight),
            frame(4, 0, eight, 0, 4, KEY, 4, 1, KEY, 5, 1, KEY, 6, 1, KEY, 7, 1, KEY),
            frame(4, 0x80, eight, 0, 8, KEY)}) {
            Socket socket = peer();
            socket.getOutputStream().write(frame);
            awaitEnd(socket);
        }
        assertEquals(refused, refusals());
        assertUntouched(0, LENGTH);
    }

    private void assertUntouched(int from, int to) {
        for (int i = from; i < to; i++) {
            assertEquals(GUARD, target.buffer().getByte(i), "a byte was written");
        }
    }

    @Test
    void shouldPlaceTheBytesOfSeveralPiecesInTheirOrder() throws IOException {
        Socket socket = peer();
        byte[] payload = TcpNode.payload(30_000, 3);
        socket.getOutputStream().write(frame(4, TcpHeader.FLAG_WANTS_ACK, payload,
            40_000, 10_000, KEY, 100, 0, KEY, 0, 1, KEY, 1000, 19_999, KEY));
        byte[] ack = read(socket, 16);
        assertEquals(2, ack[4]);
        byte[] seen = new byte[30_000];
        target.buffer().getBytes(40_000, seen, 0, 10_000);
        target.buffer().getBytes(0, seen, 10_000, 1);
        target.buffer().getBytes(1000, seen, 10_001, 19_999);
        assertArrayEquals(payload, seen);
        assertUntouched(1, 1000);
        assertUntouched(21_000 - 1, 40_000);
        assertUntouched(50_000, LENGTH - 8);
        socket.getOutputStream().write(frame(2, 0, new byte[0],
            40_000, 10_000, KEY, 100, 0, KEY, 0, 1, KEY, 1000, 19_999, KEY));
        byte[] answer = read(socket, 16 + 30_000);
        assertEquals(3, answer[1]);
        assertArrayEquals(payload, Arrays.copyOfRange(answer, 16, answer.length));
    }

    @Test
    @Requirement("REF-033")
    void shouldEndTheConnectionOfAReadThatIsNotAllowed() throws IOException {
        long[][] pieces = {{0, 8, KEY + 100}, {0, 8, CLOSED}, {0, 8, 2}, {-1, 8, KEY}, {LENGTH - 7, 8, KEY},
            {0, -1, KEY}, {0, Long.MAX_VALUE, KEY}, {8, Long.MAX_VALUE - 8, KEY}, {Long.MIN_VALUE, Long.MIN_VALUE, KEY},
            {0, 8, KEY, 0, 8, KEY, LENGTH, 1, KEY}};
        long refused = refusals();
        for (long[] each : pieces) {
            Socket socket = peer();
            socket.getOutputStream().write(frame(2, 0, new byte[0], each));
            awaitEnd(socket);
            assertEquals(++refused, refusals(), () -> Arrays.toString(each));
        }
    }

    /** The memory is the application's again when the region is closed: not a byte of the rest arrives there. */
    @Test
    @Requirement("REF-033")
    void shouldWriteNothingAfterTheRegionIsClosed() throws IOException {
        for (int half : new int[] {100, 3000, LENGTH / 2}) {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment memory = arena.allocate(LENGTH, 64);
                memory.fill(GUARD);
                MemoryRegion region = pair.b.domain.register(
                    memory, new MemoryRegionAttr().access(BOTH).requestedKey(80));
                Socket socket = peer();
                byte[] frame = frame(4, 0, bytes(LENGTH), 0, LENGTH, 80);
                int sent = 40 + half;
                long refused = refusals();
                socket.getOutputStream().write(frame, 0, sent);
                Deadline deadline = Deadline.usual();
                while (memory.get(ValueLayout.JAVA_BYTE, half - 1) == GUARD) {
                    deadline.check("the first bytes", socket::toString);
                    pair.pump();
                }
                region.close();
                try {
                    socket.getOutputStream().write(frame, sent, frame.length - sent);
                } catch (IOException e) {
                    assertTrue(e.getMessage() != null);
                }
                awaitEnd(socket);
                assertEquals(refused + 1, refusals());
                for (int i = half; i < LENGTH; i++) {
                    assertEquals(GUARD, memory.get(ValueLayout.JAVA_BYTE, i), "byte " + i);
                }
            }
        }
    }

    /** Its slot is free again, and so is the memory. */
    @Test
    void shouldSurviveWritersThatLeaveInTheMiddle() throws IOException {
        byte[] frame = frame(4, TcpHeader.FLAG_CQ_DATA, bytes(LENGTH), 0, LENGTH, KEY);
        for (int i = 0; i < 40; i++) {
            Socket socket = peer();
            socket.getOutputStream().write(frame, 0, 100 + 1000 * i);
            for (int turn = 0; turn < 20; turn++) {
                pair.pump();
            }
            socket.close();
        }
        pair.b.assertQuiet(50);
    }

    /** Answers that nobody asked for, and those to a read of this side that have another length. */
    @Test
    void shouldEndTheConnectionOfAnAnswerThatWasNotAskedFor() throws IOException {
        Socket socket = peer();
        socket.getOutputStream().write(frame(3, 0, bytes(8)));
        awaitEnd(socket);
        for (int length : new int[] {0, 7, 9, 100_000}) {
            Socket answering = peer();
            long to = pair.b.av.insert("fi_sockaddr_in://127.0.0.1:" + NAMES.get());
            pair.b.memory.buffer().setMemory(0, 200, GUARD);
            assertEquals(0, pair.b.endpoint.remoteMemory().read(pair.b.memory.address(100), 8, to, 5, 6, 1));
            byte[] request = read(answering, 40);
            assertEquals(2, request[1]);
            assertArrayEquals(frame(2, 0, new byte[0], 5, 8, 6), request);
            answering.getOutputStream().write(frame(3, 0, bytes(length)));
            awaitEnd(answering);
            FabricNode.Entry entry = pair.b.await();
            assertEquals(FabricErrno.name(FabricErrno.EIO), FabricErrno.name(entry.err()));
            assertEquals(1, entry.context());
            for (int i = 0; i < 200; i++) {
                assertEquals(GUARD, pair.b.memory.buffer().getByte(i));
            }
            pair.b.assertQuiet(5);
        }
    }

    /** Reads that nobody fetches the answers of occupy bounded memory. */
    @Test
    void shouldEndTheConnectionOfAPeerThatOnlyAsks() throws IOException {
        Socket socket = peer();
        socket.setSendBufferSize(1 << 20);
        byte[] frame = frame(2, 0, new byte[0], 0, LENGTH, KEY);
        long refused = refusals();
        Deadline deadline = Deadline.usual();
        try {
            for (Deadline end = Deadline.usual(); !end.isOver() && refusals() == refused;) {
                deadline.check("the end", socket::toString);
                socket.getOutputStream().write(frame);
                pair.pump();
            }
        } catch (IOException expected) {
            assertTrue(expected.getMessage() != null);
        }
        assertEquals(refused + 1, refusals());
    }

    @Test
    void shouldTouchNothingElseWhateverFramesArrive() throws IOException {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 60; round++) {
            Socket socket = peer();
            try {
                for (int i = 0; i < 8; i++) {
                    byte[] frame = random(random);
                    for (int changes = random.nextInt(4); changes > 0; changes--) {
                        frame[random.nextInt(Math.min(frame.length, 64))] = (byte) random.nextInt();
                    }
                    socket.getOutputStream().write(frame, 0, random.nextInt(8) == 0 ? frame.length / 2 : frame.length);
                    pair.pump();
                }
            } catch (IOException e) {
                // the driver has ended the connection
                assertTrue(e.getMessage() != null);
            }
            for (int turn = 0; turn < 10; turn++) {
                pair.pump();
            }
            socket.close();
            for (FabricNode.Entry entry = pair.b.poll(); entry != null; entry = pair.b.poll()) {
                assertEquals(0, entry.err());
            }
        }
        Deadline deadline = Deadline.usual();
        for (int quiet = 0; quiet < 100; quiet++) {
            deadline.check("the last entry", pair.b.endpoint::toString);
            quiet = pair.b.poll() == null ? quiet : 0;
            pair.pump();
        }
    }

    private static byte[] random(SplittableRandom random) {
        long[] pieces = new long[3 * (1 + random.nextInt(4))];
        int total = 0;
        for (int i = 0; i < pieces.length; i += 3) {
            pieces[i] = random.nextInt(LENGTH / 2);
            pieces[i + 1] = random.nextInt(4000);
            pieces[i + 2] = KEY;
            total += (int) pieces[i + 1];
        }
        int op = 2 + random.nextInt(3);
        int flags = op == 4 ? random.nextInt(2) * TcpHeader.FLAG_CQ_DATA + random.nextInt(2) * TcpHeader.FLAG_WANTS_ACK
            : 0;
        return op == 4 ? frame(4, flags, bytes(total), pieces) : op == 2 ? frame(2, 0, new byte[0], pieces)
            : frame(3, 0, bytes(total));
    }
}
