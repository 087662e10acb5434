package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.PassiveEndpoint;
import org.jfabric.RemoteMemory;
import org.jfabric.RemoteRequest;
import org.jfabric.RmaIoVec;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.LibfabricPeer;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Remote memory access between an endpoint of this project and a C program of libfabric 1.17, in both roles. */
@Tag("slow")
@Timeout(120)
class LibfabricAccessTest {
    private static final int[] LENGTHS = {1, 8, 5000, 90_000, 1_500_000};
    private static final int REGION = 2 << 20;
    private static final int OFFSET = 64;
    private static final int GUARD = 64;
    private static final long KEY = 7;
    private static final long DATA = 0x1122334455667788L;
    /** What libfabric's completions say of a write with data. */
    private static final String ENTRY = "entry 0x22000 ";

    /** An endpoint and a process, connected by one of them. */
    private static final class Pair implements AutoCloseable {
        final FabricPair fabrics;
        final LibfabricPeer c;
        final Endpoint endpoint;
        final RemoteMemory remote;
        /** Null for reliable datagrams. */
        final ConnectionSide side;
        final long to;
        final MemoryRegion region;

        Pair(String provider, String type, Setup setup, boolean cConnects) {
            Info hints = new Info().caps(Flags.MSG | Flags.RMA | Flags.RMA_PMEM);
            hints.txAttr().opFlags(Flags.DELIVERY_COMPLETE);
            fabrics = FabricPair.withOwnDaemons(setup, hints, 512);
            c = LibfabricPeer.start(provider, type, fabrics::pump);
            if (type.equals("rdm")) {
                side = null;
                endpoint = fabrics.a.endpoint;
                to = fabrics.a.av.insert(c.name());
                c.tellToConnect(setup.seen(endpoint));
            } else {
                Info connects = hints.copy();
                connects.epAttr().type(EndpointType.MSG);
                side = new ConnectionSide(fabrics, fabrics.a, connects);
                to = 0;
                endpoint = cConnects ? accept() : connect();
            }
            c.answer("connected");
            remote = endpoint.remoteMemory();
            region = fabrics.a.domain.allocate(
                REGION, new MemoryRegionAttr().access(RemoteMemoryPair.BOTH).requestedKey(KEY));
            c.ask("region " + KEY + ' ' + REGION + " rw", "region " + KEY);
        }

        private Endpoint connect() {
            Endpoint connecting = side.open(1);
            c.tell("accept");
            connecting.connect(c.name());
            side.next(EventType.CONNECTED, connecting);
            return connecting;
        }

        private Endpoint accept() {
            PassiveEndpoint passive = side.listen(-1);
            c.tellToConnect(passive.name());
            Endpoint accepting = side.open(side.next(EventType.CONNREQ, passive).info(), 1);
            accepting.accept();
            side.next(EventType.CONNECTED, accepting);
            return accepting;
        }

        /** The next completion; err is 0 for success. */
        ConnectionSide.Entry completion() {
            if (side != null) {
                return side.completion();
            }
            FabricNode.Entry entry = fabrics.a.await();
            return new ConnectionSide.Entry(
                entry.context(), entry.flags(), entry.len(), entry.data(), entry.tag(), entry.err());
        }

        void succeeds(long context) {
            ConnectionSide.Entry entry = completion();
            assertEquals(0, entry.err(), () -> "access " + entry.context() + ": " + FabricErrno.name(entry.err()));
            assertEquals(context, entry.context());
        }

        void fill(byte[] bytes) {
            fabrics.a.memory.buffer().putBytes(0, bytes);
        }

        long buf() {
            return fabrics.a.memory.address();
        }

        void assertRegion(int offset, byte[] bytes) {
            byte[] seen = new byte[bytes.length];
            region.buffer().getBytes(offset, seen);
            assertArrayEquals(bytes, seen);
        }

        void assertHas(int slot, int offset, byte[] bytes) {
            assertArrayEquals(bytes, c.bytes(slot, offset, bytes.length));
        }

        @Override
        public void close() {
            c.close();
            fabrics.close();
        }
    }

    /** As the C program fills its memory. */
    private static byte[] pattern(int seed, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (seed + 7 * i);
        }
        return bytes;
    }

    @ParameterizedTest(name = "{0} {1} {2}, C connects: {3}")
    @CsvSource({"tcp,msg,NETWORK_EMBEDDED,false", "tcp,msg,NETWORK_EMBEDDED,true", "net,msg,NETWORK_EMBEDDED,false",
        "net,rdm,NETWORK_EMBEDDED,false", "net,rdm,NETWORK_DAEMON,false"})
    @Requirement({"REF-040", "REF-041"})
    void shouldWriteAndReadMemoryOfTheCProgram(String provider, String type, Setup setup, boolean cConnects) {
        try (Pair pair = new Pair(provider, type, setup, cConnects)) {
            int seed = 1;
            for (int length : LENGTHS) {
                for (long level : new long[] {
                    Flags.INJECT_COMPLETE, Flags.DELIVERY_COMPLETE, Flags.COMMIT_COMPLETE}) {
                    pair.c.ask("fill 1 0 " + (length + 2 * GUARD) + ' ' + 0, "ok");
                    byte[] around = pattern(0, length + 2 * GUARD);
                    pair.fill(pattern(++seed, length));
                    assertEquals(0, pair.remote.writemsg(new RemoteRequest().memory(pair.buf(), length)
                        .destAddr(pair.to).remote(OFFSET, KEY).opContext(1).flags(level | Flags.COMPLETION)));
                    pair.succeeds(1);
                    // behind the write, so that it is in place whatever its level says
                    pair.fabrics.a.memory.buffer().setMemory(0, length, (byte) 0);
                    assertEquals(0, pair.remote.read(pair.buf(), length, pair.to, OFFSET, KEY, 2));
                    pair.succeeds(2);
                    byte[] seen = new byte[length];
                    pair.fabrics.a.memory.buffer().getBytes(0, seen);
                    assertArrayEquals(pattern(seed, length), seen);
                    System.arraycopy(seen, 0, around, OFFSET, length);
                    pair.assertHas(1, 0, around);
                }
            }
            shouldWriteAndReadSeveralRanges(pair);
            pair.fill(pattern(9, 100));
            assertEquals(0, pair.remote.writedata(pair.buf(), 100, DATA, pair.to, 1000, KEY, 3));
            String entry = pair.c.ask("await");
            assertTrue(entry.startsWith(ENTRY) && entry.endsWith(" 0x" + Long.toHexString(DATA)), entry);
            pair.succeeds(3);
            pair.assertHas(1, 1000, pattern(9, 100));
            assertEquals(0, pair.remote.injectWrite(pair.fabrics.a.memory.buffer(), 0, 50, pair.to, 2000, KEY));
            assertEquals(0, pair.remote.read(pair.buf(), 0, pair.to, 0, KEY, 4));
            pair.succeeds(4);
            pair.assertHas(1, 2000, pattern(9, 50));
        }
    }

    private static void shouldWriteAndReadSeveralRanges(Pair pair) {
        for (int length : new int[] {60, 900_000}) {
            int third = length / 3;
            pair.c.ask("fill 1 0 " + REGION + " 0", "ok");
            pair.fill(pattern(5, length));
            RmaIoVec ranges = new RmaIoVec().add(1_200_000, third, KEY).add(0, 2L * third, KEY);
            RemoteRequest request = new RemoteRequest().memory(pair.buf(), length).destAddr(pair.to).remote(ranges)
                .opContext(1).flags(Flags.DELIVERY_COMPLETE | Flags.COMPLETION);
            assertEquals(0, pair.remote.writemsg(request));
            pair.succeeds(1);
            byte[] whole = pattern(5, length);
            pair.assertHas(1, 1_200_000, Arrays.copyOf(whole, third));
            pair.assertHas(1, 0, Arrays.copyOfRange(whole, third, length));
            pair.fabrics.a.memory.buffer().setMemory(0, length, (byte) 0);
            assertEquals(0, pair.remote.readmsg(request.flags(Flags.COMPLETION).opContext(2)));
            pair.succeeds(2);
            byte[] seen = new byte[length];
            pair.fabrics.a.memory.buffer().getBytes(0, seen);
            assertArrayEquals(whole, seen);
        }
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource({"tcp,msg,NETWORK_EMBEDDED", "net,rdm,NETWORK_DAEMON"})
    @Requirement("CL-023")
    void shouldServeCommitsOfTheCProgram(String provider, String type, Setup setup) {
        try (DiskDirectory disk = new DiskDirectory(); Pair pair = new Pair(provider, type, setup, false);
             DriverView view = new DriverView(pair.fabrics.directoryOf(pair.fabrics.a))) {
            MemoryRegion region = pair.fabrics.a.domain.allocatePersistent(
                disk.file("region"), REGION, new MemoryRegionAttr().access(RemoteMemoryPair.BOTH).requestedKey(9));
            int commits = 0;
            for (int length : LENGTHS) {
                pair.c.ask("fill 0 0 " + length + ' ' + length, "ok");
                pair.c.ask("write " + length + " 64 9 c", "done");
                assertEquals(++commits, view.counter(SystemCounter.REGION_SYNCS.label()));
                byte[] seen = new byte[length];
                region.buffer().getBytes(OFFSET, seen);
                assertArrayEquals(pattern(length, length), seen);
            }
        }
    }

    @ParameterizedTest(name = "{0} {1} {2}, C connects: {3}")
    @CsvSource({"tcp,msg,NETWORK_EMBEDDED,false", "tcp,msg,NETWORK_EMBEDDED,true", "net,msg,NETWORK_EMBEDDED,true",
        "net,rdm,NETWORK_EMBEDDED,false", "net,rdm,NETWORK_DAEMON,false"})
    @Requirement({"REF-040", "REF-041"})
    void shouldServeWritesAndReadsOfTheCProgram(String provider, String type, Setup setup, boolean cConnects) {
        try (Pair pair = new Pair(provider, type, setup, cConnects)) {
            int seed = 1;
            for (int length : LENGTHS) {
                for (String command : new String[] {"write %d 64 7 -", "write %d 64 7 d", "writev %d 64 7"}) {
                    byte[] around = pattern(0, length + 2 * GUARD);
                    pair.region.buffer().putBytes(0, around);
                    pair.c.ask("fill 0 0 " + length + ' ' + ++seed, "ok");
                    pair.c.ask(command.formatted(length), "done");
                    pair.c.ask("fill 0 0 " + length + " 0", "ok");
                    pair.c.ask("read " + length + " 64 7", "done");
                    pair.assertHas(0, 0, pattern(seed, length));
                    System.arraycopy(pattern(seed, length), 0, around, OFFSET, length);
                    pair.assertRegion(0, around);
                }
            }
            pair.c.ask("fill 0 0 100 9", "ok");
            pair.c.ask("writedata 100 1000 7 0x" + Long.toHexString(DATA), "done");
            ConnectionSide.Entry entry = pair.completion();
            assertEquals(Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, entry.flags());
            assertEquals(DATA, entry.data());
            assertEquals(100, entry.len());
            pair.assertRegion(1000, pattern(9, 100));
            pair.c.ask("inject 50 2000 7", "done");
            pair.c.ask("read 0 0 7", "done");
            pair.assertRegion(2000, pattern(9, 50));
        }
    }

    /** Key, range and right: nothing is touched, each operation ends, and reliable datagrams connect again. */
    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource({"tcp,msg,NETWORK_EMBEDDED", "net,rdm,NETWORK_EMBEDDED", "net,rdm,NETWORK_DAEMON"})
    @Requirement("REF-033")
    void shouldEndTheConnectionWhereTheCProgramMayNotAccessMemory(String provider, String type, Setup setup) {
        String[] commands = {"write 8 0 8 d", "read 8 0 8", "write 8 2097145 7 d", "read 9 2097144 7",
            "write 8 0xfffffffffffffff8 7 d", "read 8 0x7fffffffffffffff 7", "write 100000 2097148 7 d",
            "write 8 0 6 d", "read 8 0 5"};
        boolean isMsg = type.equals("msg");
        for (int from = 0; from < commands.length; from += isMsg ? 1 : commands.length) {
            try (Pair pair = new Pair(provider, type, setup, false)) {
                byte[] bytes = pattern(1, REGION);
                pair.region.buffer().putBytes(0, bytes);
                region(pair, 5, Flags.REMOTE_WRITE);
                region(pair, 6, Flags.REMOTE_READ);
                for (int i = from; i < (isMsg ? from + 1 : commands.length); i++) {
                    String answer = pair.c.ask(commands[i]);
                    assertTrue(answer.startsWith("error "), () -> "it succeeds: " + answer);
                    if (isMsg) {
                        pair.side.next(EventType.SHUTDOWN, pair.endpoint);
                        assertEquals(-FabricErrno.ENOTCONN, pair.remote.write(pair.buf(), 8, 0, 0, KEY, 1));
                    } else {
                        pair.c.ask("read 8 0 7", "done");
                        pair.assertHas(0, 0, pattern(1, 8));
                    }
                }
                pair.assertRegion(0, bytes);
            }
        }
    }

    private static void region(Pair pair, long key, long rights) {
        pair.fabrics.a.domain.allocate(64, new MemoryRegionAttr().access(rights).requestedKey(key));
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource({"tcp,msg,NETWORK_EMBEDDED", "net,rdm,NETWORK_EMBEDDED", "net,rdm,NETWORK_DAEMON"})
    @Requirement("REF-033")
    void shouldEndEachAccessOnceThatTheCProgramRefuses(String provider, String type, Setup setup) {
        try (Pair pair = new Pair(provider, type, setup, false)) {
            pair.c.ask("fill 1 0 64 1", "ok");
            // what the driver reads after the refusal goes by the next connection, and may succeed
            pair.c.signal("STOP");
            assertEquals(0, pair.remote.write(pair.buf(), 8, pair.to, 0, KEY + 1, 0));
            for (int i = 1; i < 5; i++) {
                assertEquals(0, i % 2 == 0 ? pair.remote.write(pair.buf(), 100_000, pair.to, 0, KEY, i)
                    : pair.remote.read(pair.buf(), 8, pair.to, 0, KEY, i));
            }
            pair.fabrics.a.awaitRead(5);
            pair.c.signal("CONT");
            for (int i = 0; i < 5; i++) {
                ConnectionSide.Entry entry = pair.completion();
                assertEquals(i, entry.context());
                assertTrue(entry.err() == FabricErrno.ECONNRESET || entry.err() == FabricErrno.ESHUTDOWN,
                    () -> "access " + entry.context() + ": " + FabricErrno.name(entry.err()));
            }
            pair.assertHas(1, 0, pattern(1, 64));
            if (pair.side != null) {
                pair.side.next(EventType.SHUTDOWN, pair.endpoint);
                return;
            }
            // the C program may not have noticed the end yet
            Deadline deadline = Deadline.usual();
            ConnectionSide.Entry entry;
            do {
                deadline.check("a read", pair.endpoint::toString);
                assertEquals(0, pair.remote.read(pair.buf(), 8, pair.to, 0, KEY, 9));
                entry = pair.completion();
            } while (entry.err() != 0);
        }
    }
}
