package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.codec.queue.ReceiveRequestEncoder;
import org.jfabric.codec.queue.SlabReturnRequestEncoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.SlabDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that give back what they do not have, claim what is not theirs, and spoil or cut their slab. */
@Tag("hostile")
@Timeout(120)
class SlabGarbageTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final long REGION_LENGTH = 1 << 17;
    private static final long SEND = Flags.MSG | Flags.COMPLETION;
    private static final int LIMIT = 1 << 16;
    private static final int LEAST = 16;
    private static final int CELLS = 16;
    private static final long TAG = 9;
    private static final int LENGTH = 32;
    private static final int RETURN = SlabReturnRequestEncoder.TEMPLATE_ID;

    private static String name() {
        return "slab-" + Long.toHexString(new SplittableRandom().nextLong());
    }

    private static void giveBack(ControlClient client, ControlClient.Queues queues, long... contexts) {
        int length = 8 + contexts.length * 8;
        int offset = Deadline.awaitValue("room", () -> {
            int claimed = queues.receive.claim(length);
            return claimed < 0 ? null : claimed;
        });
        for (int i = 0; i < contexts.length; i++) {
            UnsafeApi.putLong(queues.receive.ringAddress() + offset + 8 + i * 8L, contexts[i]);
        }
        queues.receive.commit(offset, length, RETURN);
        client.signal(queues);
    }

    private static void claim(
        ControlClient client, ControlClient.Queues queues, long flags, long buf, long length, long slabContext,
        long context) {
        int offset = Deadline.awaitValue("room", () -> {
            int claimed = queues.receive.claim(64);
            return claimed < 0 ? null : claimed;
        });
        new ReceiveRequestEncoder().wrap(new UnsafeBuffer(queues.receive.ringAddress() + offset + 8, 56), 0)
            .context(context).buf(buf).length(length).srcAddr(-1L).tag(slabContext).ignore(0).flags(flags);
        queues.receive.commit(offset, 64, ReceiveRequestEncoder.TEMPLATE_ID);
        client.signal(queues);
    }

    private static boolean hasEntry(ControlClient.Queues queues) {
        long record = queues.cq.address() + CompletionQueueDescriptor.RECORDS_OFFSET
            + (queues.read & queues.cqCapacity - 1) * CompletionQueueDescriptor.RECORD_LENGTH;
        return (int) UnsafeApi.getLongVolatile(null, record) == (int) queues.read + 1;
    }

    private static long[] next(ControlClient client, ControlClient.Queues queues) {
        long[] entry = client.awaitCompletion(queues);
        UnsafeApi.putLongRelease(
            null, queues.cq.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET, queues.read);
        return entry;
    }

    /** Offset of the payload in the slab, of the entry that was read last. */
    private static long place(ControlClient.Queues queues) {
        return UnsafeApi.getLong(queues.cq.address() + CompletionQueueDescriptor.RECORDS_OFFSET
            + (queues.read - 1 & queues.cqCapacity - 1) * CompletionQueueDescriptor.RECORD_LENGTH + 32);
    }

    /** Sends a message of that content and waits until it was taken from where it stands. */
    private static void send(
        ControlClient client, ControlClient.Queues sender, ControlClient.Region region, long to, int length,
        long content) {
        UnsafeApi.putLong(region.data(), content);
        client.send(sender, SEND, region.address(0), length, to, 0, 1);
        if (length <= 4096) {
            assertEquals(CompletionQueueDescriptor.KIND_SUCCESS, next(client, sender)[0]);
        }
    }

    /** Whatever comes back, no cell that the client has is written to, and none is handed out twice. */
    @Test
    void shouldNeverHandOutACellThatIsOut() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        ControlClient client = DRIVER.client();
        ControlClient.Queues slab = client.openBuffered(name(), LIMIT, LEAST);
        ControlClient.Queues other = client.openBuffered(name(), LIMIT, LEAST);
        ControlClient.Queues sender = client.open(name(), "");
        ControlClient.Region region = client.register(REGION_LENGTH);
        long to = client.insert(sender, slab.address);
        long toOther = client.insert(sender, other.address);
        assertEquals(CELLS, slab.slabCells);
        send(client, sender, region, toOther, LENGTH, 1);
        long foreign = next(client, other)[1];
        // by place, with what stands there
        Map<Long, Long> out = new HashMap<>();
        Map<Long, Long> contextOf = new HashMap<>();
        long[] old = new long[64];
        for (int i = 0; i < 3000; i++) {
            if (out.size() < CELLS) {
                send(client, sender, region, to, LENGTH, i);
                long context = next(client, slab)[1];
                long place = place(slab);
                assertEquals(i, UnsafeApi.getLong(slab.slab.address() + place), "seed " + seed);
                assertEquals(null, out.put(place, (long) i), "handed out twice, seed " + seed);
                contextOf.put(place, context);
                old[i & 63] = context;
            }
            long[] garbage = {random.nextLong(), old[random.nextInt(64)] + (1L << 16), foreign, 0, -1,
                old[random.nextInt(64)] ^ 1L << random.nextInt(16, 64),
                old[random.nextInt(64)] & ~0xFFFFL | random.nextInt(CELLS, 1 << 16)};
            // what is out must not be hit by chance
            giveBack(client, slab, Arrays.stream(garbage).map(context -> contextOf.containsValue(context) ? 0 : context)
                .toArray());
            if (out.size() == CELLS || random.nextBoolean()) {
                long place = out.keySet().stream().skip(random.nextInt(out.size())).findFirst().orElseThrow();
                out.forEach((at, content) -> assertEquals(
                    content, UnsafeApi.getLong(slab.slab.address() + at), "seed " + seed));
                long context = contextOf.remove(place);
                out.remove(place);
                giveBack(client, slab, context, context, context ^ 1L << 63);
                giveBack(client, slab, context);
            }
            Deadline.awaitParked("the driver's reading", slab.receive::isDrained);
        }
        assertFalse(client.isEnded());
        // no client that has no slab can have written this
        giveBack(client, sender, foreign);
        assertTrue(client.expectEnded().contains("receive queue of endpoint " + sender.address));
        DRIVER.bystanders().assertUnharmed();
        client.close();
        DRIVER.assertReclaimed();
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 9, 12, 20, 31, 8 + 32 * 8, 8 + 100 * 8})
    void shouldEndAClientWhoseReturnHasAnImpossibleLength(int length) {
        ControlClient client = DRIVER.client();
        ControlClient.Queues slab = client.openBuffered(name(), LIMIT, LEAST);
        int offset = slab.receive.claim(length);
        assertTrue(offset >= 0);
        UnsafeApi.setMemory(slab.receive.ringAddress() + offset + 8, length - 8, (byte) 0);
        slab.receive.commit(offset, length, RETURN);
        client.signal(slab);
        String reason = client.expectEnded();
        assertTrue(reason.contains("receive queue") && reason.contains("type " + RETURN), reason);
        client.close();
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldEndAClientThatGivesBackInItsTransmitQueue() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues slab = client.openBuffered(name(), LIMIT, LEAST);
        int offset = slab.transmit.claim(16);
        UnsafeApi.putLong(slab.transmit.ringAddress() + offset + 8, 0);
        slab.transmit.commit(offset, 16, RETURN);
        client.signal(slab);
        assertTrue(client.expectEnded().contains("transmit queue"));
        client.close();
        DRIVER.assertReclaimed();
    }

    /** Each request has one entry, whatever it names. */
    @Test
    void shouldAnswerEachClaimOnceWhateverItNames() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        ControlClient client = DRIVER.client();
        ControlClient.Queues slab = client.openBuffered(name(), 128, LEAST);
        ControlClient.Queues sender = client.open(name(), "");
        ControlClient.Region region = client.register(REGION_LENGTH);
        long to = client.insert(sender, slab.address);
        long claims = Flags.CLAIM | Flags.DISCARD | Flags.PEEK;
        int fetched = 0;
        long known = 0;
        for (int i = 0; i < 3000; i++) {
            if (known == 0 || random.nextInt(4) == 0) {
                if (known != 0) {
                    claim(client, slab, Flags.MSG | Flags.COMPLETION | Flags.DISCARD, 0, 0, known, 7);
                    assertEquals(7, next(client, slab)[1], "seed " + seed);
                }
                send(client, sender, region, to, new int[] {LENGTH, 129, 4000, 100_000}[random.nextInt(4)], i);
                known = next(client, slab)[1];
                assertEquals(i, UnsafeApi.getLong(slab.slab.address() + place(slab)), "seed " + seed);
            }
            boolean right = random.nextBoolean();
            long context = right ? known : random.nextBoolean() ? random.nextLong() : known + (1L << 16);
            long looks = claims & random.nextLong();
            long flags = (looks == 0 ? Flags.CLAIM : looks) | Flags.COMPLETION
                | random.nextLong() & random.nextLong() & ~Flags.MSG;
            boolean registered = random.nextBoolean();
            claim(client, slab, flags, registered ? region.address(REGION_LENGTH / 2) : random.nextLong(),
                random.nextInt(200), context, 9);
            long[] entry = next(client, slab);
            assertEquals(9, entry[1], "seed " + seed);
            long cell = slab.cq.address() + CompletionQueueDescriptor.errorCellsOffset(slab.cqCapacity)
                + (slab.read - 1 & slab.cqCapacity - 1) * CompletionQueueDescriptor.ERROR_CELL_LENGTH;
            int err = UnsafeApi.getInt(cell + 8);
            if (entry[0] == CompletionQueueDescriptor.KIND_SUCCESS || err == FabricErrno.ETRUNC) {
                assertTrue(right, "seed " + seed);
                fetched++;
                known = 0;
            } else {
                assertTrue(err == FabricErrno.EINVAL || err == FabricErrno.EFAULT || err == FabricErrno.EBADFLAGS
                    || err == FabricErrno.EOPNOTSUPP, FabricErrno.name(err) + ", seed " + seed);
                if (err == FabricErrno.EFAULT) {
                    // a claim that fails gives its message up
                    assertTrue(right, "seed " + seed);
                    known = 0;
                }
            }
            while (hasEntry(sender)) {
                next(client, sender);
            }
            assertFalse(client.isEnded(), "seed " + seed);
        }
        assertTrue(fetched > 100, fetched + ", seed " + seed);
        client.close();
        DRIVER.assertReclaimed();
    }

    /** What a client writes into its slab changes its own messages and nothing else. */
    @Test
    void shouldNeverDecideByWhatStandsInASlab() {
        ControlClient client = DRIVER.client();
        ControlClient.Queues slab = client.openBuffered(name(), LIMIT, LEAST);
        ControlClient.Queues sender = client.open(name(), "");
        ControlClient.Region region = client.register(REGION_LENGTH);
        long to = client.insert(sender, slab.address);
        for (int i = 1; i <= 200; i++) {
            UnsafeApi.setMemory(slab.slab.address() + SlabDescriptor.CELLS_OFFSET,
                (long) slab.slabCells * slab.slabCellLength, (byte) -i);
            send(client, sender, region, to, LENGTH, i);
            long context = next(client, slab)[1];
            assertEquals(i, UnsafeApi.getLong(slab.slab.address() + place(slab)));
            giveBack(client, slab, context);
        }
        assertFalse(client.isEnded());
        client.close();
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldEndTheClientWhoseSlabIsCut() {
        for (int round = 0; round < 5; round++) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient peer = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues slab = client.openBuffered(name(), LIMIT, LEAST);
            ControlClient.Queues sender = peer.open(name(), "");
            ControlClient.Region region = peer.register(REGION_LENGTH);
            long to = peer.insert(sender, slab.address);
            send(peer, sender, region, to, LENGTH, 1);
            assertNotNull(next(client, slab));
            CutFiles.cut(DRIVER.directory(), CutFiles.nameOf(slab.slab), 0);
            // whole, longer than the limit, stored or announced
            peer.send(sender, SEND, region.address(0), new int[] {0, LENGTH, 70_000, 100_000, LENGTH}[round], to, 0, 2);
            peer.send(sender, SEND, region.address(0), LENGTH, to, 0, 3);
            Deadline.awaitParked("the client's end", client::isEnded);
            DRIVER.assertLogged("was ended", CutFiles.nameOf(slab.slab), "was cut");
            DRIVER.bystanders().assertUnharmed();
            assertFalse(peer.isEnded());
            client.close();
            peer.close();
        }
        DRIVER.assertReclaimed();
    }

    /** What was in hand for an innocent receiver ends, and its cells are all there afterwards. */
    @Test
    void shouldLoseOnlyTheMessageWhoseSendersRegionIsCut() {
        Info hints = new Info().caps(Flags.MSG | Flags.TAGGED).mode(Mode.BUFFERED_RECV);
        FabricNode peer = DRIVER.opened(new FabricNode(
            Fabric.connect(new FabricConfig().directory(DRIVER.directory())), "loopback", hints, 64, 0, () -> { }));
        long self = peer.av.insert(peer.endpoint.name());
        for (int round = 0; round < 12; round++) {
            // no message has come for this receive when the others lose theirs: it has no cell
            assertEquals(0, peer.endpoint.trecv(peer.memory.address() + 64, 8, -1L, TAG, 0, 7));
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            ControlClient.Queues sender = client.open(name(), "");
            ControlClient.Region region = client.register(REGION_LENGTH);
            long to = client.insert(sender, peer.endpoint.name());
            // eager, the begin of an announced one, and an announced one that is claimed
            int length = new int[] {LENGTH, 100_000, 100_000}[round % 3];
            boolean claims = round % 3 == 2;
            if (!claims) {
                CutFiles.cut(DRIVER.directory(), CutFiles.nameOf(region.file()), 0);
            }
            client.send(sender, SEND, region.address(0), length, to, 0, 1);
            if (claims) {
                FabricNode.Entry entry = peer.await();
                CutFiles.cut(DRIVER.directory(), CutFiles.nameOf(region.file()), 0);
                peer.cq.recvContext(entry.context()).context(5);
                assertEquals(0, peer.endpoint.messages().recvmsg(
                    peer.memory.address(), length, -1L, entry.context(), Flags.CLAIM));
                FabricNode.Entry lost = peer.await();
                assertEquals(5, lost.context(), lost::toString);
                assertTrue(lost.err() != 0, lost::toString);
            }
            Deadline.awaitParked("the client's end", client::isEnded);
            client.close();
            assertEquals(0, peer.endpoint.tsend(peer.memory.address(), 8, self, TAG, 8));
            boolean isSent = false;
            boolean isReceived = false;
            while (!isSent || !isReceived) {
                FabricNode.Entry entry = peer.await();
                assertEquals(0, entry.err(), entry::toString);
                isSent |= entry.context() == 8;
                isReceived |= (entry.flags() & (Flags.TAGGED | Flags.RECV)) == (Flags.TAGGED | Flags.RECV);
            }
            // more messages than there are cells, one after the other
            for (int i = 0; i < 300; i++) {
                assertEquals(0, peer.endpoint.send(peer.memory.address(), 8, self, 6));
                int seen = 0;
                while (seen < 2) {
                    FabricNode.Entry entry = peer.await();
                    assertEquals(0, entry.err(), entry::toString);
                    // of a message that was in hand the driver may have told before it saw the fault
                    seen += (entry.flags() & Flags.RECV) != 0 && entry.len() != 8 ? 0 : 1;
                }
            }
        }
        peer.close();
        DRIVER.assertReclaimed();
    }

    /** Limits that the driver cannot hold are refused whoever asks. */
    @Test
    void shouldRefuseLimitsThatCannotBe() {
        ControlClient client = DRIVER.client();
        for (int[] limits : new int[][] {{-1, 0}, {0, -1}, {LIMIT + 1, 0}, {0, LIMIT + 1},
            {Integer.MAX_VALUE, Integer.MIN_VALUE}}) {
            assertEquals(FabricErrno.EMSGSIZE, client.refuseBuffered(name(), limits[0], limits[1]));
        }
        client.close();
        DRIVER.assertReclaimed();
    }
}
