package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.SplittableRandom;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.client.WorkRequest;
import org.jfabric.codec.queue.WorkRequestEncoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients whose requests for remote memory are garbage, and clients that cut the memory of an access. */
@Tag("hostile")
@Timeout(120)
class RemoteGarbageTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final int TYPE = WorkRequestEncoder.TEMPLATE_ID;
    private static final int HEAD = RecordRingDescriptor.WORD_LENGTH + WorkRequestEncoder.BLOCK_LENGTH;
    private static final long WRITE = Flags.RMA | Flags.WRITE | Flags.COMPLETION;
    private static final long READ = Flags.RMA | Flags.READ | Flags.COMPLETION;
    private static final long BOTH = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    private static final long CAPS = Flags.RMA | Flags.TAGGED | Flags.MSG;
    private static final long KEY = 0x4711;
    private static final int LENGTH = 1 << 20;
    private static final byte UNTOUCHED = 0x5C;

    private static String name() {
        return "remote-" + Long.toHexString(new SplittableRandom().nextLong());
    }

    private static ControlClient.Queues open(ControlClient client) {
        return client.open(name(), "", CAPS, 0, null);
    }

    /** A record of that length whatever its contents are; remote: offset, key, context; count: pieces, 256 * ranges. */
    private static void post(
        ControlClient client, ControlClient.Queues queues, int length, int count, long flags, long dest,
        long[] remote, long... pieces) {
        int offset = Deadline.awaitValue("room", () -> {
            int claimed = queues.transmit.claim(length);
            return claimed < 0 ? null : claimed;
        });
        long record = queues.transmit.ringAddress() + offset;
        if (length >= HEAD) {
            new WorkRequestEncoder().wrap(
                new UnsafeBuffer(record + RecordRingDescriptor.WORD_LENGTH, WorkRequestEncoder.BLOCK_LENGTH), 0)
                .context(remote[2]).address(dest).tagOrRemoteAddr(remote[0]).ignoreOrKey(remote[1]).dataOrElements(99)
                .flags(flags).kind((short) WorkRequest.ACCESS).form((short) 0).datatype((short) 0)
                .operation((short) 0).pieces((short) (count & 0xFF))
                .resultPiecesOrRanges((short) (count >>> 8)).comparePieces((short) 0).isTriggered((short) 0);
        }
        for (int i = 0; i < pieces.length && HEAD + 8 * (i + 1) <= length; i++) {
            UnsafeApi.putLong(record + HEAD + 8L * i, pieces[i]);
        }
        queues.transmit.commit(offset, length, TYPE);
        client.signal(queues);
    }

    static void post(
        ControlClient client, ControlClient.Queues queues, long flags, long dest, long offset, long key, long context,
        long... pieces) {
        post(client, queues, HEAD + 8 * pieces.length, pieces.length / 2, flags, dest,
            new long[] {offset, key, context}, pieces);
    }

    @ParameterizedTest
    @CsvSource({
        // bytes behind the head, pieces and 256 * ranges, flags beside FI_RMA: FI_WRITE is 512, FI_READ 256
        "-1, 0, WRITE", "-8, 0, WRITE", "-56, 0, WRITE", "16, 0, WRITE", "0, 1, WRITE", "16, 2, WRITE", "15, 1, WRITE",
        "17, 1, WRITE", "16, 255, WRITE", "80, 5, WRITE", "16, 129, WRITE", "16, 1, NONE", "16, 1, BOTH",
        "16, 1, TAGGED", "16, 1, MSG", "16, 1, ATOMIC", "16, 1, NO_RMA", "16, 0, INJECT_READ", "16, 1, INJECT",
        "15, 255, INJECT", "16, 257, WRITE", "39, 257, WRITE", "41, 257, WRITE", "136, 1281, WRITE", "23, 256, INJECT",
        "24, 65281, READ"})
    void shouldEndTheClientWhoseRequestDoesNotFitItsRecord(int behind, int count, String kind) {
        long flags = switch (kind) {
            case "NONE" -> Flags.RMA;
            case "BOTH" -> Flags.RMA | Flags.READ | Flags.WRITE;
            case "TAGGED" -> WRITE | Flags.TAGGED;
            case "MSG" -> WRITE | Flags.MSG;
            case "ATOMIC" -> WRITE | Flags.ATOMIC;
            case "NO_RMA" -> Flags.WRITE;
            case "INJECT_READ" -> READ | Flags.INJECT;
            case "INJECT" -> WRITE | Flags.INJECT;
            default -> WRITE;
        };
        ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
        ControlClient.Queues queues = open(client);
        ControlClient.Region region = client.expose(LENGTH, BOTH, KEY);
        long self = client.insert(queues, queues.address);
        post(client, queues, HEAD + behind, count, flags, self, new long[] {0, KEY, 1}, region.address(0), 8,
            region.address(0), 8, region.address(0), 8, region.address(0), 8, region.address(0), 8);
        String reason = client.expectEnded();
        assertTrue(reason.contains("transmit queue") && reason.contains("type " + TYPE), reason);
        client.close();
        DRIVER.assertReclaimed();
    }

    /** Each request has one entry, with a documented reason if its fields are wrong; no other memory is touched. */
    @Test
    void shouldAnswerEachWellFormedRequestOnceWhateverItNames() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        FabricNode owner = owner();
        MemoryRegion open = exposed(owner, KEY);
        MemoryRegion closed = owner.domain.allocate(LENGTH);
        closed.buffer().setMemory(0, LENGTH, UNTOUCHED);
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = open(client);
        ControlClient.Region region = client.register(LENGTH);
        long dest = client.insert(queues, owner.endpoint.name());
        long[] values = {0, 1, 8, LENGTH / 2, LENGTH - 8, LENGTH, LENGTH + 1, -1, Long.MAX_VALUE, Long.MIN_VALUE,
            1L << 31, 1L << 32, 1L << 48};
        Set<Integer> reasons = Set.of(FabricErrno.EFAULT, FabricErrno.EINVAL, FabricErrno.EKEYREJECTED,
            FabricErrno.EBADFLAGS, FabricErrno.EOPNOTSUPP);
        int succeeded = 0;
        for (int i = 0; i < 4000; i++) {
            long[] pieces = new long[2 * random.nextInt(5)];
            boolean isWild = random.nextInt(3) == 0;
            for (int k = 0; k < pieces.length; k += 2) {
                pieces[k] = isWild ? random.nextBoolean() ? random.nextLong() : values[random.nextInt(values.length)]
                    : region.address(random.nextLong(LENGTH / 2));
                pieces[k + 1] = isWild ? values[random.nextInt(values.length)] : random.nextInt(5000);
            }
            long flags = (random.nextBoolean() ? WRITE : READ)
                | random.nextLong() & random.nextLong() & ~(Flags.RMA | Flags.READ | Flags.WRITE | Flags.ATOMIC
                    | Flags.MSG | Flags.TAGGED | Flags.INJECT | Flags.REMOTE_CQ_DATA);
            post(client, queues, flags, random.nextInt(8) == 0 ? random.nextLong() : dest,
                random.nextInt(3) == 0 ? values[random.nextInt(values.length)] : random.nextLong(LENGTH / 2),
                random.nextInt(8) == 0 ? random.nextLong() : KEY, i, pieces);
            long[] entry = client.awaitCompletion(queues);
            assertEquals(i, entry[1], "seed " + seed);
            if (entry[0] == CompletionQueueDescriptor.KIND_SUCCESS) {
                succeeded++;
            } else {
                int err = Entries.lastErrno(queues);
                assertTrue(reasons.contains(err), () -> FabricErrno.name(err) + ", seed " + seed);
            }
            Entries.release(queues);
        }
        assertTrue(succeeded > 100, succeeded + ", seed " + seed);
        assertFalse(client.isEnded(), "seed " + seed);
        assertUntouched(closed, 0, LENGTH);
        assertUntouched(owner.memory, 0, LENGTH);
        owner.assertQuiet(20);
        client.close();
        open.close();
        owner.close();
        DRIVER.assertReclaimed();
    }

    private static FabricNode owner() {
        FabricNode node = DRIVER.opened(new FabricNode(
            Fabric.connect(new FabricConfig().directory(DRIVER.directory())), "loopback",
            new Info().caps(CAPS | Flags.SOURCE), 64, 0, () -> { }));
        node.memory.buffer().setMemory(0, 3 * LENGTH, UNTOUCHED);
        return node;
    }

    private static MemoryRegion exposed(FabricNode owner, long key) {
        MemoryRegion region = owner.domain.allocate(LENGTH, new MemoryRegionAttr().access(BOTH).requestedKey(key));
        region.buffer().setMemory(0, LENGTH, UNTOUCHED);
        return region;
    }

    private static void assertUntouched(MemoryRegion region, int from, int to) {
        FabricNode.assertAll(UNTOUCHED, region, from, to);
    }

    /** The innocent initiator has one entry for each access, and goes on. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndOnlyTheTargetWhoseRegionIsCut(boolean isWrite) {
        FabricNode node = owner();
        MemoryRegion own = exposed(node, 1);
        long self = node.av.insert(node.endpoint.name());
        for (int length : new int[] {8, 100_000, LENGTH}) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues queues = open(client);
            ControlClient.Region region = client.expose(LENGTH, BOTH, KEY);
            long to = node.av.insert(queues.address);
            access(node, true, 64, 8, to, 0, KEY, 1);
            node.await(1);
            CutFiles.cut(DRIVER.directory(), CutFiles.nameOf(region.file()), 4096);
            for (int i = 2; i < 5; i++) {
                access(node, isWrite, LENGTH, length, to, LENGTH - length, KEY, i);
            }
            assertLost(node, 3);
            Deadline.awaitParked("the client's end", client::isEnded);
            DRIVER.assertLogged("was ended", CutFiles.nameOf(region.file()), "was cut");
            assertUntouched(node.memory, 0, LENGTH);
            assertUntouched(node.memory, LENGTH + length, 3 * LENGTH);
            node.memory.buffer().setMemory(LENGTH, LENGTH, UNTOUCHED);
            access(node, true, 0, length, self, 0, 1, 9);
            node.await(9);
            client.close();
        }
        own.close();
        node.close();
        DRIVER.assertReclaimed();
    }

    private static void access(
        FabricNode node, boolean isWrite, long local, int length, long to, long offset, long key, long context) {
        assertEquals(0, isWrite
            ? node.endpoint.remoteMemory().write(node.memory.address(local), length, to, offset, key, context)
            : node.endpoint.remoteMemory().read(node.memory.address(local), length, to, offset, key, context));
    }

    /** One entry for each, and none of them a success. */
    private static void assertLost(FabricNode node, int count) {
        long seen = 0;
        for (int i = 0; i < count; i++) {
            FabricNode.Entry entry = Deadline.awaitValue("an access' end", node::poll);
            assertTrue(Set.of(FabricErrno.EIO, FabricErrno.ECONNRESET, FabricErrno.ECONNREFUSED,
                FabricErrno.EHOSTUNREACH, FabricErrno.ESHUTDOWN).contains(entry.err()),
                () -> FabricErrno.name(entry.err()));
            seen |= 1L << entry.context();
        }
        assertEquals(count, Long.bitCount(seen));
        node.assertQuiet(20);
    }

    /** The innocent target keeps the bytes outside of the range. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndOnlyTheInitiatorWhoseRegionIsCut(boolean isWrite) {
        FabricNode node = owner();
        MemoryRegion own = exposed(node, KEY);
        long self = node.av.insert(node.endpoint.name());
        for (int length : new int[] {8, 100_000, LENGTH / 2}) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues queues = open(client);
            ControlClient.Region region = client.register(LENGTH);
            long dest = client.insert(queues, node.endpoint.name());
            post(client, queues, WRITE, dest, 4096, KEY, 1, region.address(0), 8);
            assertEquals(CompletionQueueDescriptor.KIND_SUCCESS, client.awaitCompletion(queues)[0]);
            CutFiles.cut(DRIVER.directory(), CutFiles.nameOf(region.file()), 4096);
            post(client, queues, (isWrite ? WRITE | Flags.REMOTE_CQ_DATA : READ), dest, 4096, KEY, 2,
                region.address(LENGTH / 4), length);
            Deadline.awaitParked("the client's end", client::isEnded);
            DRIVER.assertLogged("was ended", CutFiles.nameOf(region.file()), "was cut");
            client.close();
            assertUntouched(own, 0, 4096);
            assertUntouched(own, 4096 + length, LENGTH);
            node.assertQuiet(20);
            access(node, false, 0, LENGTH, self, 0, KEY, 9);
            node.await(9);
        }
        own.close();
        node.close();
        DRIVER.assertReclaimed();
    }
}
