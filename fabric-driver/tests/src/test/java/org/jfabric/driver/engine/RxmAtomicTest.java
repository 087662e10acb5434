package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.agrona.UnsafeApi;
import org.jfabric.client.WorkRequest;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.resource.RegionKey;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Atomic operations by packets of rxm, over connections that a script delays, blocks and cuts into pieces. */
class RxmAtomicTest {
    private static final long BOTH = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    private static final long KEY = 0x5EED_0000_0000_0001L;
    private static final long READ_ONLY = KEY + 1;
    private static final int PART = 512;
    private static final int GUARD = 4096;
    private static final byte UNTOUCHED = 0x5C;
    private static final int SLOT = 1024;

    private Script script = new Script(1);
    private RxmEngineTest.Links links;
    private Engines rig;
    private final List<Long> allocated = new ArrayList<>();

    private void begin(long seed, int eagerLimit) {
        script = new Script(seed);
        links = new RxmEngineTest.Links(script);
        links.eagerLimit = eagerLimit;
        rig = new Engines(script, links);
        rig.caps = Flags.SOURCE | Flags.ATOMIC;
    }

    @AfterEach
    void close() {
        rig.close();
        allocated.forEach(UnsafeApi::freeMemory);
    }

    /** A region of zeroes between guards; the address of its first byte. */
    private long expose(Engines.Node node, long key, long rights, int length) {
        long memory = UnsafeApi.allocateMemory(length + 2L * GUARD);
        allocated.add(memory);
        UnsafeApi.setMemory(memory, length + 2L * GUARD, UNTOUCHED);
        UnsafeApi.setMemory(memory + GUARD, length, (byte) 0);
        node.session.regions().add(new RegisteredRegion(
            9, 0x1_0000_0043L, memory + GUARD, length, new RegionKey(0, key, rights), () -> { }));
        return memory + GUARD;
    }

    private static void assertGuarded(long region, int length) {
        for (int i = 1; i <= GUARD; i++) {
            assertEquals(UNTOUCHED, UnsafeApi.getByte(region - i));
            assertEquals(UNTOUCHED, UnsafeApi.getByte(region + length + i - 1));
        }
    }

    static LongStream seeds() {
        return LongStream.range(0, 60);
    }

    /** One operation, posted. */
    private record Posted(int slot, int length, long expectedOld, int errno, boolean fetches) {
    }

    /** Random operations of two endpoints on each other's memory, against memory of a model. */
    private final class Run {
        final Random random;
        final List<Engines.Node> nodes = new ArrayList<>();
        final long[] regions = new long[2];
        /** What the memory of each is to be when everything has ended. */
        final long[] models = new long[2];
        final List<Map<Long, Posted>> pending = List.of(new HashMap<>(), new HashMap<>());
        final WorkRequest access = new WorkRequest().begin(WorkRequest.ATOMIC);
        long nextContext = 1;
        int refused;

        Run(Random random) {
            this.random = random;
            for (int i = 0; i < 2; i++) {
                Engines.Node node = rig.add(i == 0 ? "a" : "b");
                nodes.add(node);
                regions[i] = expose(node, KEY, BOTH, PART);
                expose(node, READ_ONLY, Flags.REMOTE_READ, PART);
                models[i] = UnsafeApi.allocateMemory(PART);
                allocated.add(models[i]);
                UnsafeApi.setMemory(models[i], PART, (byte) 0);
            }
        }

        void post(int side) {
            AtomicDatatype datatype = AtomicDatatype.values()[random.nextInt(10)];
            AtomicOperation operation = AtomicOperation.values()[random.nextInt(19)];
            int form = random.nextInt(3);
            int size = AtomicExecutor.sizeBytes(form, datatype.code(), operation.code());
            int slot = (int) (nextContext % 64) * SLOT;
            if (size == 0 || pending.get(side).values().stream().anyMatch(each -> each.slot == slot)) {
                return;
            }
            Engines.Node node = nodes.get(side);
            int count = random.nextInt(1 + 128 / size);
            int length = count * size;
            for (int i = 0; i < 2 * 128; i++) {
                UnsafeApi.putByte(node.memory + slot + i, (byte) random.nextInt(4));
            }
            int place = random.nextInt(PART / size - count + 1) * size;
            int errno = mistake(size, count);
            boolean reads = operation == AtomicOperation.ATOMIC_READ;
            access.flags = Flags.ATOMIC | Flags.COMPLETION | (form == AtomicForm.BASE ? Flags.WRITE : Flags.READ)
                | (random.nextInt(10) == 0 ? Flags.FENCE : 0);
            access.form = form;
            access.datatype = datatype.code();
            access.operation = operation.code();
            access.elements = count;
            access.address = node.fiAddr(nodes.get(1 - side));
            access.remoteAddr = switch (errno) {
                case FabricErrno.EFAULT -> PART - length + size;
                case FabricErrno.EINVAL -> 1;
                default -> place;
            };
            access.key = errno == FabricErrno.EKEYREJECTED ? KEY + 77
                : errno == FabricErrno.EACCES && !reads ? READ_ONLY : KEY;
            access.context = nextContext;
            access.count = pieces(access.pieces, node, slot, reads ? 0 : length);
            access.comparePieces = pieces(
                access.compares, node, slot + 128, form == AtomicForm.COMPARE ? length : 0);
            access.resultPieces = pieces(access.results, node, slot + 512, form == AtomicForm.BASE ? 0 : length);
            if (node.endpoint.post(access) != 0) {
                return;
            }
            node.posted++;
            int expected = errno == FabricErrno.EACCES && reads ? 0 : errno;
            long old = 0;
            if (expected == 0) {
                old = UnsafeApi.allocateMemory(128);
                allocated.add(old);
                AtomicExecutor.execute(datatype.code(), operation.code(), count, models[1 - side] + place,
                    node.memory + slot, form == AtomicForm.COMPARE ? node.memory + slot + 128 : 0, old);
            }
            pending.get(side).put(nextContext++, new Posted(slot, length, old, expected, form != AtomicForm.BASE));
        }

        /** What is to be wrong with an operation; usually nothing. */
        private int mistake(int size, int count) {
            return switch (random.nextInt(20)) {
                case 0 -> FabricErrno.EKEYREJECTED;
                case 1 -> count == 0 ? 0 : FabricErrno.EFAULT;
                case 2 -> size == 1 || count == 0 ? 0 : FabricErrno.EINVAL;
                case 3 -> FabricErrno.EACCES;
                default -> 0;
            };
        }

        /** One or two pieces of that length together. */
        private int pieces(long[] list, Engines.Node node, int offset, int length) {
            int first = length == 0 ? 0 : random.nextInt(length + 1);
            list[0] = node.buf(offset);
            list[1] = first;
            list[2] = node.buf(offset + first);
            list[3] = length - first;
            return 2;
        }

        void takeEntries() {
            for (int side = 0; side < 2; side++) {
                Engines.Node node = nodes.get(side);
                for (CompletionReader.Entry entry : node.completions.takeAll()) {
                    Posted ended = pending.get(side).remove(entry.context());
                    assertEquals(ended.errno, entry.errno(), () -> entry + ", seed " + script.seed());
                    refused += ended.errno == 0 ? 0 : 1;
                    for (int i = 0; ended.errno == 0 && ended.fetches && i < ended.length; i++) {
                        assertEquals(UnsafeApi.getByte(ended.expectedOld + i),
                            UnsafeApi.getByte(node.memory + ended.slot + 512 + i), () -> "seed " + script.seed());
                    }
                }
            }
        }

        /** A link that refuses a packet at random may look as if nothing was on its way. */
        void awaitAll() {
            for (int step = 0; step < 100_000 && pending.stream().anyMatch(each -> !each.isEmpty()); step++) {
                rig.step();
                takeEntries();
            }
            assertEquals(0, pending.stream().mapToInt(Map::size).sum(), () -> "pending, seed " + script.seed());
        }

        void assertAsModelled() {
            for (int side = 0; side < 2; side++) {
                for (int i = 0; i < PART; i++) {
                    assertEquals(UnsafeApi.getByte(models[side] + i), UnsafeApi.getByte(regions[side] + i),
                        () -> "seed " + script.seed());
                }
                assertGuarded(regions[side], PART);
                nodes.get(side).assertAtRest();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyOperationIsExecutedOnceInOrderAndAnswered(long seed) {
        begin(seed, 512);
        script.randomize();
        Random random = new Random(seed);
        links.network.receives = seed % 2 == 0 ? 0 : 4 + random.nextInt(12);
        Run run = new Run(random);
        for (int step = 0; step < 3000; step++) {
            for (int side = 0; side < 2; side++) {
                if (random.nextInt(3) != 0) {
                    run.post(side);
                }
            }
            if (random.nextInt(4) == 0) {
                rig.step();
                run.takeEntries();
            }
        }
        run.awaitAll();
        rig.settle();
        assertEquals(1, links.network.connectionsUp());
        assertTrue(run.refused > 20, () -> "refused " + run.refused);
        run.assertAsModelled();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyOperationEndsOnceWhenConnectionsAreCut(long seed) {
        begin(seed, 512);
        script.randomize();
        Random random = new Random(seed);
        Run run = new Run(random);
        for (int i = 0; i < 300; i++) {
            run.post(random.nextInt(2));
            rig.steps(random.nextInt(3));
            if (i % 60 == 59) {
                links.network.cut();
            }
        }
        rig.settle();
        for (int side = 0; side < 2; side++) {
            for (CompletionReader.Entry entry : run.nodes.get(side).completions.takeAll()) {
                assertTrue(run.pending.get(side).remove(entry.context()) != null, () -> entry + ", seed " + seed);
            }
            assertEquals(0, run.pending.get(side).size(), () -> "seed " + seed);
            assertGuarded(run.regions[side], PART);
            run.nodes.get(side).assertAtRest();
        }
    }

    private WorkRequest sum(Engines.Node from, Engines.Node to, int form, int count, long context) {
        WorkRequest access = new WorkRequest().begin(WorkRequest.ATOMIC);
        access.flags = Flags.ATOMIC | Flags.COMPLETION | (form == AtomicForm.BASE ? Flags.WRITE : Flags.READ);
        access.form = form;
        access.datatype = AtomicDatatype.INT64.code();
        access.operation = AtomicOperation.SUM.code();
        access.elements = count;
        access.address = from.fiAddr(to);
        access.key = KEY;
        access.context = context;
        access.pieces[0] = from.buf(0);
        access.pieces[1] = (long) count * Long.BYTES;
        access.count = 1;
        access.results[0] = from.buf(SLOT * (1 + context % 100));
        access.results[1] = form == AtomicForm.BASE ? 0 : access.pieces[1];
        access.resultPieces = 1;
        return access;
    }

    /** Both sides send as much as they may while the link takes one packet at a time. */
    @Test
    void answersWaitWhileNeitherSideCanSend() {
        begin(1, 2048);
        script.capacityFrames = 1;
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        long[] regions = {expose(a, KEY, BOTH, 1024), expose(b, KEY, BOTH, 1024)};
        int count = 60;
        for (Engines.Node node : List.of(a, b)) {
            for (int word = 0; word < 128; word++) {
                UnsafeApi.putLong(node.memory + 8L * word, word + 1);
            }
            for (int i = 0; i < count; i++) {
                assertEquals(0, node.endpoint.post(sum(node, node == a ? b : a, AtomicForm.FETCH, 128, i)));
                node.posted++;
            }
        }
        rig.settle();
        for (Engines.Node node : List.of(a, b)) {
            List<CompletionReader.Entry> entries = node.completions.takeAll();
            assertEquals(count, entries.size());
            for (CompletionReader.Entry entry : entries) {
                assertEquals(0, entry.errno());
                long old = node.memory + SLOT * (1 + entry.context());
                assertEquals(entry.context(), UnsafeApi.getLong(old));
                assertEquals(128 * entry.context(), UnsafeApi.getLong(old + 127 * 8));
            }
            node.assertAtRest();
        }
        for (long region : regions) {
            assertEquals(count, UnsafeApi.getLong(region));
            assertEquals(128L * count, UnsafeApi.getLong(region + 127 * 8));
            assertGuarded(region, 1024);
        }
    }

    @Test
    void operationThatDoesNotFitIntoAPacketEndsWithAnError() {
        begin(1, 256);
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        expose(b, KEY, BOTH, 1024);
        assertEquals(0, a.endpoint.post(sum(a, b, AtomicForm.BASE, 21, 1)));
        assertEquals(FabricErrno.EINVAL, a.next().errno());
        assertEquals(0, a.endpoint.post(sum(a, b, AtomicForm.BASE, 20, 2)));
        assertEquals(0, a.next().errno());
        a.posted += 2;
        rig.settle();
        a.assertAtRest();
    }

    @Test
    void endpointWithoutTheCapabilityRefusesAndGoesOn() {
        begin(1, 256);
        Engines.Node a = rig.add("a");
        rig.caps = Flags.SOURCE;
        Engines.Node b = rig.add("b");
        expose(b, KEY, BOTH, 1024);
        assertEquals(0, a.endpoint.post(sum(a, b, AtomicForm.FETCH, 1, 1)));
        assertEquals(FabricErrno.EACCES, a.next().errno());
        b.trecv(0, 10, 1, 1);
        a.tsend(b, 0, 10, 1, 2);
        assertEquals(0, a.next().errno());
        assertEquals(0, b.next().errno());
        assertEquals(1, links.network.connectionsUp());
    }

    @Test
    void endpointChangesItsOwnMemory() {
        begin(3, 512);
        Engines.Node a = rig.add("a");
        long region = expose(a, KEY, BOTH, 64);
        UnsafeApi.putLong(a.memory, 5);
        for (int i = 0; i < 3; i++) {
            assertEquals(0, a.endpoint.post(sum(a, a, AtomicForm.FETCH, 1, i)));
            assertEquals(0, a.next().errno());
            assertEquals(5L * i, UnsafeApi.getLong(a.memory + SLOT * (1 + i)));
        }
        a.posted += 3;
        assertEquals(15, UnsafeApi.getLong(region));
        rig.settle();
        a.assertAtRest();
    }

    // ---- packets of the test's making ----

    private static ByteBuffer request(
        int connection, int op, int datatype, int operation, long[] ranges, long... words) {
        ByteBuffer packet = ByteBuffer.allocate(64 + 96 + 8 * words.length).order(ByteOrder.nativeOrder());
        packet.put(0, (byte) 4).put(1, (byte) 4).putLong(8, connection).putLong(16, 0x77).put(32, (byte) 2)
            .put(34, (byte) op).putLong(40, packet.capacity()).put(56, (byte) datatype).put(57, (byte) operation)
            .put(58, (byte) (ranges.length / 3));
        for (int i = 0; i < ranges.length; i++) {
            packet.putLong(64 + 8 * i, ranges[i]);
        }
        for (int i = 0; i < words.length; i++) {
            packet.putLong(160 + 8 * i, words[i]);
        }
        return packet;
    }

    /** Requests and answers as C peers send them, with some bytes changed, cut or longer. */
    @ParameterizedTest
    @MethodSource("seeds")
    void mutatedPacketsTouchOnlyTheRegionOrEndThatConnection(long seed) {
        begin(seed, 512);
        Random random = new Random(seed);
        Engines.Node b = rig.add("b");
        Engines.Node a = rig.add("a");
        Engines.Node c = rig.add("c");
        long region = expose(b, KEY, BOTH, 1024);
        long readOnly = expose(b, READ_ONLY, Flags.REMOTE_READ, 1024);
        b.trecv(0, 10, 1, 1);
        c.tsend(b, 0, 10, 1, 2);
        assertEquals(0, b.next().errno());
        int connection = 0;
        boolean isUp = false;
        for (int round = 0; round < 300; round++) {
            if (!isUp) {
                connection++;
                b.trecv(0, 10, 1, 1);
                a.tsend(b, 0, 10, 1, 2);
                rig.settle();
                a.completions.takeAll();
                b.completions.takeAll();
            }
            links.network.send(a.address, Flags.MSG, 0, mutated(random, connection));
            rig.settle();
            isUp = links.network.connectionsUp() == 2;
        }
        assertTrue(connection > 3, "connections " + connection);
        assertGuarded(region, 1024);
        assertGuarded(readOnly, 1024);
        for (int i = 0; i < 1024; i++) {
            assertEquals(0, UnsafeApi.getByte(readOnly + i));
        }
        assertTrue(UnsafeApi.getLong(region) != 0, "none of them was executed");
        b.completions.takeAll();
        b.trecv(0, 10, 3, 1);
        c.tsend(b, 0, 10, 3, 2);
        assertEquals(0, b.next().errno());
    }

    private static byte[] mutated(Random random, int connection) {
        ByteBuffer packet = switch (random.nextInt(4)) {
            case 0 -> request(connection, 6, 6, 2, new long[] {0, 1, KEY}, 1);
            case 1 -> request(connection, 7, 7, 2, new long[] {8, 1, KEY, 512, 2, KEY}, 1, 2, 3);
            case 2 -> request(connection, 8, 6, 12, new long[] {16, 1, READ_ONLY}, 1, 0);
            default -> {
                ByteBuffer response = ByteBuffer.allocate(72).order(ByteOrder.nativeOrder());
                yield response.put(0, (byte) 4).put(1, (byte) 5).putLong(8, connection).putLong(16, 0x77)
                    .put(32, (byte) 2).put(34, (byte) 6).putLong(40, 72);
            }
        };
        byte[] bytes = packet.array();
        for (int i = random.nextInt(4); i > 0; i--) {
            // rarely in the header, where most changes end the connection at once
            int from = random.nextInt(3) == 0 ? 0 : 56;
            bytes[from + random.nextInt(bytes.length - from)] = (byte) random.nextInt();
        }
        return random.nextInt(6) == 0 ? Arrays.copyOf(bytes, random.nextInt(2 * bytes.length)) : bytes;
    }
}
