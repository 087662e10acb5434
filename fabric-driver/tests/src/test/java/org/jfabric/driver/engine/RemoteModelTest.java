package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.agrona.UnsafeApi;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random reads, writes, writes with data, messages and closes of regions between some endpoints, against memory of a
 * model. Each pair of endpoints has a part of the target's region of its own, so that the order of posting decides what
 * every byte is.
 */
class RemoteModelTest {
    private static final int PART = 40_000;
    private static final int GUARD = 512;
    private static final int SLOTS = 12;
    private static final int SLOT = RemoteRig.MEMORY / (2 * SLOTS);
    private static final int NODES = 3;
    private static final long TAGGED = Flags.TAGGED | Flags.COMPLETION;

    @ParameterizedTest
    @CsvSource({"false, 400", "true, 60"})
    void shouldPlaceEachByteAsTheModelSays(boolean isShm, int runs) {
        int refused = 0;
        int moved = 0;
        for (long seed = 1; seed <= runs; seed++) {
            Run run = new Run(seed, isShm);
            run.run();
            refused += run.refused;
            moved += run.moved;
        }
        assertTrue(refused > runs && moved > 20 * runs, refused + " accesses were refused, " + moved + " succeeded");
    }

    /** One schedule. */
    private static final class Run {
        final long seed;
        final Random random;
        final RemoteRig rig;
        final boolean reportsAll;
        final Endpoint[] endpoints = new Endpoint[NODES];
        final boolean isShm;
        final Map<Long, Access> all = new HashMap<>();
        long nextId = 1;
        int refused;
        int moved;

        Run(long seed, boolean isShm) {
            this.seed = seed;
            this.isShm = isShm;
            random = new Random(seed);
            reportsAll = random.nextInt(3) == 0;
            rig = new RemoteRig(
                isShm, Flags.TAGGED | (reportsAll ? Flags.RMA_EVENT : 0), random.nextInt(4) == 0,
                2 + random.nextInt(30));
            for (int i = 0; i < NODES; i++) {
                endpoints[i] = new Endpoint(i, rig.add("e" + i));
            }
            for (Endpoint endpoint : endpoints) {
                for (Endpoint other : endpoints) {
                    assertEquals(other.index, endpoint.node.to(other.node));
                }
                endpoint.expose();
            }
        }

        String where() {
            return "seed " + seed;
        }

        void run() {
            for (int i = 0; i < 600; i++) {
                Endpoint from = endpoints[random.nextInt(NODES)];
                switch (random.nextInt(16)) {
                    case 0, 1, 2, 3 -> write(from, peer(from));
                    case 4, 5, 6 -> read(from, peer(from));
                    case 7 -> message(from, peer(from));
                    case 8 -> {
                        if (random.nextInt(6) == 0) {
                            from.replaceRegion(this);
                        }
                    }
                    case 9, 10 -> takeEntries(from, random.nextInt(4));
                    default -> rig.step(from.node);
                }
            }
            for (int i = 0; i < 4000 && Arrays.stream(endpoints).anyMatch(each -> !each.pending.isEmpty()); i++) {
                rig.steps(1);
                for (Endpoint each : endpoints) {
                    takeEntries(each, Integer.MAX_VALUE);
                }
            }
            for (Endpoint each : endpoints) {
                assertEquals(Map.of(), each.pending, where());
                assertEquals(0, each.node.endpoint.outstandingSends(), where());
                takeEntries(each, Integer.MAX_VALUE);
                each.regions.forEach(region -> region.assertAsExpected(this));
                assertEquals(0, each.node.completions.writer.driverQuota().inUse(), where());
            }
            for (Access each : all.values()) {
                assertEquals(each.hasData && each.errno == 0, each.reported, where());
            }
            assertEquals(List.of(), rig.logged(), where());
            rig.close();
        }

        /** Also itself, but not over shm, which reaches other drivers only. */
        private Endpoint peer(Endpoint from) {
            Endpoint to = endpoints[random.nextInt(NODES)];
            return to == from && isShm ? endpoints[(from.index + 1) % NODES] : to;
        }

        void write(Endpoint from, Endpoint to) {
            Access access = access(from, to);
            if (access == null) {
                return;
            }
            access.isWrite = true;
            boolean inject = random.nextInt(6) == 0;
            access.length = inject ? random.nextInt(65) : access.length;
            access.hasData = random.nextInt(4) == 0;
            from.fill(access.slot, access.length, access.id);
            long flags = Flags.WRITE | (access.hasData ? Flags.REMOTE_CQ_DATA : 0)
                | (random.nextInt(8) == 0 ? Flags.FENCE : 0);
            long source = (long) access.slot * SLOT;
            from.pending.put(access.id, access);
            int result = inject
                ? from.node.inject(flags, source, access.length, to.index, access.offset,
                    access.region.exposed.key(), access.id, access.id)
                : from.node.access(flags, source, access.length, to.index, access.offset,
                    access.region.exposed.key(), access.id, access.id);
            if (accepted(from, access, result)) {
                access.region.write(access);
                if (inject) {
                    from.fill(access.slot, 64, -1);
                }
            }
        }

        void read(Endpoint from, Endpoint to) {
            Access access = access(from, to);
            if (access == null) {
                return;
            }
            access.expected = access.region.expected(access.offset, access.length);
            from.pending.put(access.id, access);
            accepted(from, access, from.node.access(Flags.READ, (long) access.slot * SLOT, access.length, to.index,
                access.offset, access.region.exposed.key(), 0, access.id));
        }

        /** In the part of the pair, of a region that may be closed. */
        Access access(Endpoint from, Endpoint to) {
            int slot = from.slot();
            if (slot < 0) {
                return null;
            }
            Access access = new Access(nextId++, from, to);
            all.put(access.id, access);
            access.slot = slot;
            access.region = random.nextInt(8) == 0
                ? to.regions.get(random.nextInt(to.regions.size())) : to.regions.getLast();
            access.length = random.nextInt(3) == 0 ? random.nextInt(100)
                : random.nextInt(4) == 0 ? random.nextInt(SLOT) : random.nextInt(3000);
            access.offset = GUARD + from.index * (PART + GUARD) + random.nextInt(PART - access.length);
            return access;
        }

        boolean accepted(Endpoint from, Access access, int result) {
            if (result == 0) {
                return true;
            }
            assertEquals(-FabricErrno.EAGAIN, result, where());
            from.pending.remove(access.id);
            all.remove(access.id);
            from.slots[access.slot] = false;
            return false;
        }

        /** With its number as its tag, so that it has a receive of its own. */
        void message(Endpoint from, Endpoint to) {
            Access received = new Access(nextId++, from, to);
            if (to.node.endpoint.receive(
                TAGGED, to.node.buf(RemoteRig.MEMORY - 64), 8, -1, received.id, 0, received.id) != 0) {
                return;
            }
            to.pending.put(received.id, received);
            for (Access each : all.values()) {
                if (each.from == from && each.to == to && each.hasData && !each.reported && !each.ended) {
                    received.before.add(each);
                }
            }
            Access sent = new Access(nextId++, from, to);
            from.pending.put(sent.id, sent);
            int result = from.node.endpoint.send(
                TAGGED, from.node.buf(RemoteRig.MEMORY - 64), 8, to.index, received.id, 0, sent.id);
            if (result != 0) {
                assertEquals(-FabricErrno.EAGAIN, result, where());
                from.pending.remove(sent.id);
                received.isCancelled = true;
                to.node.endpoint.cancel(received.id);
            }
        }

        void takeEntries(Endpoint at, int most) {
            CompletionReader.Entry entry;
            for (int i = 0; i < most && (entry = at.node.completions.take()) != null; i++) {
                if ((entry.flags() & (Flags.REMOTE_READ | Flags.REMOTE_WRITE)) == 0) {
                    ended(at, entry);
                } else if ((entry.flags() & Flags.REMOTE_CQ_DATA) != 0) {
                    reported(at, entry);
                } else {
                    assertTrue(reportsAll, where());
                }
            }
        }

        /** A write with data, which carries its number. */
        private void reported(Endpoint at, CompletionReader.Entry entry) {
            Access access = all.get(entry.data());
            assertNotNull(access, () -> entry + ", " + where());
            assertTrue(access.hasData && !access.reported && access.to == at, () -> entry + ", " + where());
            assertTrue(access.id > at.lastReported[access.from.index], where());
            assertEquals(access.from.index, entry.source(), where());
            assertEquals(access.length, entry.length(), where());
            assertTrue(!access.ended || access.errno == 0, where());
            at.lastReported[access.from.index] = access.id;
            access.reported = true;
        }

        private void ended(Endpoint at, CompletionReader.Entry entry) {
            Access access = at.pending.remove(entry.context());
            assertNotNull(access, () -> entry + ", " + where());
            access.ended = true;
            access.errno = entry.errno();
            if (access.region == null) {
                assertEquals(access.isCancelled ? FabricErrno.ECANCELED : 0, entry.errno(), where());
                assertTrue(access.isCancelled || access.before.stream().allMatch(
                    each -> each.reported || each.region.isClosed), () -> "overtaken, " + where());
                return;
            }
            at.slots[access.slot] = false;
            assertEquals(Flags.RMA | (access.isWrite ? Flags.WRITE : Flags.READ), entry.flags(), where());
            if (entry.errno() != 0) {
                refused++;
                assertEquals(FabricErrno.EKEYREJECTED, entry.errno(), where());
                assertTrue(access.region.isClosed && !access.reported, where());
                return;
            }
            moved++;
            if (!access.isWrite) {
                byte[] seen = new byte[access.length];
                for (int i = 0; i < seen.length; i++) {
                    seen[i] = UnsafeApi.getByte(at.node.memory + (long) access.slot * SLOT + i);
                }
                assertArrayEquals(access.expected, seen, where());
            }
        }
    }

    /** An access, a message or a receive as it was posted. */
    private static final class Access {
        final long id;
        final Endpoint from;
        final Endpoint to;
        /** Null for a message or a receive. */
        Region region;
        int slot;
        int offset;
        int length;
        boolean isWrite;
        boolean hasData;
        boolean isCancelled;
        boolean ended;
        boolean reported;
        int errno;
        /** Of a read: the bytes that earlier writes of the pair have left. */
        byte[] expected;
        /** Of a receive: the writes with data that were posted before its message. */
        final List<Access> before = new ArrayList<>();

        Access(long id, Endpoint from, Endpoint to) {
            this.id = id;
            this.from = from;
            this.to = to;
        }
    }

    /** A region, and what the model says of its bytes. */
    private static final class Region {
        final RemoteRig.Exposed exposed;
        byte[] bytes;
        boolean isClosed;

        Region(RemoteRig.Exposed exposed) {
            this.exposed = exposed;
            bytes = new byte[exposed.length()];
            Arrays.fill(bytes, RemoteRig.UNTOUCHED);
        }

        byte[] expected(int offset, int length) {
            return Arrays.copyOfRange(bytes, offset, offset + length);
        }

        void write(Access access) {
            if (!isClosed) {
                for (int i = 0; i < access.length; i++) {
                    bytes[access.offset + i] = pattern(access.id, i);
                }
            }
        }

        /** From now on nothing may change, whatever was placed. */
        void close(Run run) {
            byte[] now = exposed.bytes(0, bytes.length);
            for (int node = 0; node <= NODES; node++) {
                int guard = node * (PART + GUARD);
                for (int i = guard; i < guard + GUARD; i++) {
                    assertEquals(RemoteRig.UNTOUCHED, now[i], run.where());
                }
            }
            exposed.close();
            isClosed = true;
            bytes = now;
        }

        void assertAsExpected(Run run) {
            byte[] seen = exposed.bytes(0, bytes.length);
            if (!Arrays.equals(bytes, seen)) {
                assertArrayEquals(bytes, seen, run::where);
            }
        }
    }

    private static byte pattern(long id, int index) {
        return (byte) (id * 31 + index * 7 + (index >> 8) + 1);
    }

    /** A node and what the model knows of it. */
    private static final class Endpoint {
        final int index;
        final RemoteRig.Node node;
        final List<Region> regions = new ArrayList<>();
        final Map<Long, Access> pending = new HashMap<>();
        final boolean[] slots = new boolean[SLOTS];
        /** The last write with data of each source that was reported here. */
        final long[] lastReported = new long[NODES];
        long lastKey;

        Endpoint(int index, RemoteRig.Node node) {
            this.index = index;
            this.node = node;
        }

        void expose() {
            // another one for each region
            lastKey++;
            regions.add(new Region(node.expose(lastKey * 16 + index, NODES * (PART + GUARD) + GUARD)));
        }

        /** Closes the region in use and exposes one with another key. */
        void replaceRegion(Run run) {
            regions.getLast().close(run);
            expose();
        }

        void fill(int slot, int length, long id) {
            for (int i = 0; i < length; i++) {
                UnsafeApi.putByte(node.memory + (long) slot * SLOT + i, pattern(id, i));
            }
        }

        int slot() {
            for (int i = 0; i < SLOTS; i++) {
                if (!slots[i]) {
                    slots[i] = true;
                    return i;
                }
            }
            return -1;
        }
    }
}
