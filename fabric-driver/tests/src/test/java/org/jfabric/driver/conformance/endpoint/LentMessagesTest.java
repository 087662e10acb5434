package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.SplittableRandom;
import org.jfabric.Completion;
import org.jfabric.MessageHandler;
import org.jfabric.RecvContext;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that are read where they lie in the peer's ring. */
@Tag("conformance")
@Timeout(120)
class LentMessagesTest {
    private static final long ANY = -1L;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final int CELLS = 256;
    private static final int LIMIT = 4096;
    private static final int RING = 256 << 10;
    private static final long TAG = 9;
    private static final int MESSAGES = 3000;
    private static final long OWN_SEND = 1L << 40;
    private static final long CLAIMED = 1L << 41;
    private static final long UNTAGGED = Flags.RECV | Flags.MSG;

    private Path base;
    private FabricDriver alpha;
    private FabricDriver beta;
    private FabricNode a;
    private FabricNode b;
    private long toB;
    private long toA;
    /** Entries that are of no message. */
    private final List<Long> ends = new ArrayList<>();

    @BeforeEach
    void open() {
        base = TestDirectory.create();
        alpha = launch("alpha");
        beta = launch("beta");
        a = node(alpha);
        b = node(beta);
        toB = a.av.insert(b.endpoint.name());
        toA = b.av.insert(a.endpoint.name());
        // connects
        send(8, 1);
        assertEquals(8, b.await().len());
        a.await(1);
        growRing();
        // gives its cell back
        b.assertQuiet(1);
    }

    /** As much as it holds was sent over it: it has all of its memory. */
    private void growRing() {
        for (int i = 0; i < 2 * RING / LIMIT; i++) {
            send(LIMIT, i);
            assertEquals(LIMIT, b.await().len());
            a.await(i);
        }
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        alpha.close();
        beta.close();
        TestDirectory.delete(base);
    }

    private FabricDriver launch(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve(name))
            .threadingMode(ThreadingMode.INVOKER).set(ShmConfig.RING_LENGTH_BYTES, RING)
            .set(ShmConfig.SEGMENT_LENGTH_BYTES, 16 << 10).build());
    }

    private FabricNode node(FabricDriver driver) {
        return new FabricNode(driver.fabric(), "shm",
            BufferedReceiveTest.hints(), 512, 0, this::pump);
    }

    private void pump() {
        alpha.cycle();
        beta.cycle();
    }

    private void send(int length, int seed) {
        // not where a message lies that perhaps waits to be sent
        long offset = (long) (seed & 127) << 16;
        a.fill(offset, length, seed);
        assertEquals(0, a.endpoint.send(a.memory.address(offset), length, toB, seed));
    }

    /** The next poll finds four messages: batches of a ring grow with what it brings. */
    private void sendBurst(int length) {
        for (int i = 0; i < 4; i++) {
            send(length, i);
        }
        for (int i = 0; i < 4; i++) {
            send(length, i);
        }
        for (int batch : new int[] {1, 1, 2}) {
            assertEquals(batch, poll(message -> assertTrue(isInRing(message)), 16));
        }
    }

    private void onEnd(Completion entry) {
        ends.add(entry.opContext());
    }

    private int poll(MessageHandler handler, int limit) {
        return b.cq.pollMessages(handler, this::onEnd, limit);
    }

    private static void assertShows(RecvContext message, int length, int seed) {
        assertTrue(message.isOpen());
        assertEquals(length, message.buffer().capacity());
        FabricNode.assertPattern(message.buffer(), 0, length, seed, 0);
    }

    /** Name of the file that is mapped at an address. */
    private static Path mappedAt(long address) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
                String range = line.substring(0, line.indexOf(' '));
                int dash = range.indexOf('-');
                if (Long.parseUnsignedLong(range.substring(0, dash), 16) <= address
                    && address < Long.parseUnsignedLong(range.substring(dash + 1), 16)) {
                    int path = line.indexOf('/');
                    return path < 0 ? Path.of("none") : Path.of(line.substring(path));
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return Path.of("unmapped");
    }

    private static boolean isInRing(RecvContext message) {
        return mappedAt(message.buffer().addressOffset()).toString().endsWith(".ring");
    }

    private static boolean isInSlab(RecvContext message) {
        return mappedAt(message.buffer().addressOffset()).toString().endsWith(".slab");
    }

    @Test
    void shouldShowAMessageWhereItLiesInTheRingWithoutAnEntry() {
        RecvContext[] seen = new RecvContext[1];
        for (int length : new int[] {1, 40, 100, LIMIT}) {
            send(length, 3);
            assertEquals(1, poll(message -> {
                seen[0] = message;
                assertTrue(isInRing(message), () -> "" + mappedAt(message.buffer().addressOffset()));
                assertEquals(a.fabric.driverName(), mappedAt(message.buffer().addressOffset()).getParent()
                    .getFileName().toString());
                assertShows(message, length, 3);
                assertEquals(length, message.messageLength());
                assertEquals(UNTAGGED, message.flags());
                assertEquals(toA, message.source());
                assertEquals(0, message.data() + message.tag());
                assertTrue(message.isWhole());
                assertTrue(message.id() < 0);
                assertSame(message, b.cq.recvContext(message.id()));
                assertSame(b.endpoint, message.endpoint());
                assertEquals(-FabricErrno.EOPBADSTATE, poll(other -> { }, 1));
                assertEquals(-FabricErrno.EOPBADSTATE, b.cq.poll(other -> { }, 1));
            }, 8));
            assertFalse(seen[0].isOpen());
            assertEquals(0, seen[0].buffer().capacity());
            assertEquals(-FabricErrno.EINVAL, seen[0].retain());
            assertEquals(-FabricErrno.EINVAL, seen[0].release());
            a.await(3);
        }
        b.assertQuiet(20);
        assertEquals(List.of(), ends);
    }

    @Test
    void shouldCopyForReadersOfEntriesAsEver() {
        send(100, 4);
        assertEquals(1, b.cq.poll(entry -> {
            RecvContext message = b.cq.recvContext(entry);
            assertTrue(isInSlab(message));
            assertShows(message, 100, 4);
        }, 8));
        // taken by a cycle that no reader of messages runs
        send(100, 5);
        pump();
        assertEquals(1, poll(message -> {
            assertTrue(isInSlab(message));
            assertShows(message, 100, 5);
            assertEquals(UNTAGGED, message.flags());
            assertEquals(toA, message.source());
        }, 8));
        // behind an entry that is not read
        assertEquals(0, b.endpoint.send(b.memory.address(), 8, toA, 77));
        pump();
        send(100, 6);
        List<String> order = new ArrayList<>();
        assertEquals(2, b.cq.pollMessages(message -> {
            assertTrue(isInSlab(message));
            assertShows(message, 100, 6);
            order.add("message");
        }, entry -> order.add("" + entry.opContext()), 8));
        assertEquals(List.of("77", "message"), order);
    }

    @Test
    void shouldShowWhatIsNotPlainWithItsFacts() {
        assertEquals(0, b.endpoint.trecv(0, 0, ANY, TAG, 0, 1));
        a.fill(0, 50_000, 7);
        assertEquals(0, a.endpoint.messages().tsenddata(a.memory.address(), 64, 5, toB, TAG, 1));
        assertEquals(0, a.endpoint.messages().senddata(a.memory.address(), 64, 6, toB, 2));
        assertEquals(0, a.endpoint.send(a.memory.address(), 50_000, toB, 3));
        int[] seen = new int[1];
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        while (seen[0] < 3 && System.nanoTime() - deadline < 0) {
            poll(message -> {
                assertFalse(isInRing(message));
                boolean tagged = (message.flags() & Flags.TAGGED) != 0;
                assertEquals(tagged ? TAG : 0, message.tag());
                if (message.isWhole()) {
                    assertTrue((message.flags() & Flags.REMOTE_CQ_DATA) != 0);
                    assertEquals(tagged ? 5 : 6, message.data());
                    assertShows(message, 64, 7);
                } else {
                    assertTrue((message.flags() & Flags.MORE) != 0);
                    assertEquals(50_000, message.messageLength());
                    assertEquals(0, b.endpoint.messages().recvmsg(0, 0, ANY, message.id(), Flags.DISCARD));
                }
                seen[0]++;
            }, 8);
            a.cq.poll(entry -> { }, 8);
        }
        assertEquals(3, seen[0]);
    }

    @Test
    void shouldLendAtMostAQuarterOfTheRingAndCopyTheRest() {
        int inRing = 0;
        int messages = 200;
        int sent = 0;
        List<Boolean> where = new ArrayList<>();
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        boolean beyond = false;
        while (where.size() < messages && System.nanoTime() - deadline < 0) {
            while (sent < messages && sent - where.size() < 50) {
                send(LIMIT - 100, sent++);
            }
            a.cq.poll(entry -> { }, 64);
            int before = where.size();
            poll(message -> {
                assertShows(message, LIMIT - 100, where.size());
                where.add(isInRing(message));
            }, 64);
            int lent = (int) where.subList(before, where.size()).stream().filter(each -> each).count();
            assertTrue(lent * LIMIT <= RING / 4, lent + " of " + (where.size() - before));
            beyond |= lent > 0 && lent < where.size() - before;
            inRing += lent;
        }
        assertEquals(messages, where.size());
        assertTrue(beyond, where::toString);
        assertTrue(inRing >= 10, where::toString);
    }

    @Test
    void shouldShowNoMoreThanTheLimitAtATime() {
        for (int i = 0; i < 30; i++) {
            send(8, i);
        }
        int[] seen = new int[1];
        assertEquals(0, poll(message -> seen[0]++, 0));
        assertEquals(-FabricErrno.EINVAL, poll(message -> seen[0]++, -1));
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        while (seen[0] < 30 && System.nanoTime() - deadline < 0) {
            int before = seen[0];
            int result = poll(message -> assertShows(message, 8, seen[0]++), 7);
            assertTrue(result <= 7, () -> "" + result);
            assertEquals(Math.max(0, result), seen[0] - before);
        }
        assertEquals(30, seen[0]);
    }

    @Test
    void shouldKeepClaimAndDiscardWhatLiesInTheRing() {
        RecvContext[] kept = new RecvContext[1];
        send(500, 11);
        assertEquals(1, poll(message -> {
            long lent = message.id();
            assertEquals(0, message.retain());
            assertTrue(isInSlab(message));
            assertNotEquals(lent, message.id());
            assertSame(message, b.cq.recvContext(message.id()));
            kept[0] = message;
        }, 1));
        a.await(11);
        send(500, 12);
        assertEquals(1, poll(message -> {
            message.context(5);
            assertTrue(isInRing(message));
            assertEquals(-FabricErrno.EINVAL, b.endpoint.messages().trecvmsg(
                b.memory.address(RECEIVE), 600, ANY, 0, 0, message.id(), Flags.CLAIM), "of the other kind");
            assertEquals(0, b.endpoint.messages().recvmsg(
                b.memory.address(RECEIVE), 600, ANY, message.id(), Flags.CLAIM | Flags.COMPLETION));
            assertFalse(message.isOpen());
        }, 1));
        FabricNode.Entry claimed = b.await(5);
        assertEquals(UNTAGGED | Flags.CLAIM, claimed.flags());
        assertEquals(toA, claimed.source());
        b.assertFilled(RECEIVE, 500, 12);
        send(500, 13);
        assertEquals(1, poll(message -> {
            message.context(6);
            assertEquals(0, b.endpoint.messages().recvmsg(0, 0, ANY, message.id(), Flags.DISCARD));
        }, 1));
        assertEquals(500, b.await(6).len());
        send(500, 14);
        assertEquals(1, poll(message -> assertEquals(0, message.release()), 1));
        assertShows(kept[0], 500, 11);
        assertEquals(0, kept[0].release());
        assertFalse(kept[0].isOpen());
        b.assertQuiet(20);
    }

    @Test
    void shouldRefuseToKeepWithoutACell() {
        List<RecvContext> kept = new ArrayList<>();
        for (int i = 0; i < CELLS; i++) {
            send(16, i);
            assertEquals(1, poll(message -> {
                assertTrue(isInRing(message));
                assertEquals(0, message.retain());
                kept.add(message);
            }, 1));
            a.await(i);
        }
        assertEquals(CELLS, new HashSet<>(kept).size());
        send(16, 999);
        assertEquals(1, poll(message -> {
            long id = message.id();
            assertEquals(-FabricErrno.EAGAIN, message.retain());
            assertEquals(-FabricErrno.EAGAIN, b.endpoint.messages().recvmsg(
                b.memory.address(), 16, ANY, id, Flags.CLAIM));
            assertEquals(-FabricErrno.EAGAIN, b.endpoint.messages().recvmsg(0, 0, ANY, id, Flags.DISCARD));
            assertEquals(id, message.id());
            assertTrue(isInRing(message));
            assertShows(message, 16, 999);
        }, 1));
        for (int i = 0; i < CELLS; i++) {
            assertShows(kept.get(i), 16, i);
            assertEquals(0, kept.get(i).release());
        }
        send(16, 1000);
        assertEquals(1, poll(message -> assertEquals(0, message.retain()), 1));
    }

    @Test
    void shouldShowAllThatIsLentBeforeAnExceptionPassesThrough() {
        sendBurst(16);
        int[] seen = new int[1];
        IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> poll(message -> {
            assertShows(message, 16, seen[0]++);
            throw new IllegalStateException("of " + seen[0]);
        }, 16));
        assertEquals("of 1", thrown.getMessage());
        assertEquals(seen[0] - 1, thrown.getSuppressed().length);
        assertEquals(4, seen[0]);
        b.assertQuiet(20);
    }

    /** A handler may read a mapped file of its own that becomes shorter: no peer is to blame for that. */
    @Test
    void shouldPassAFaultOfOtherMemoryOnAndKeepThePeer() {
        sendBurst(16);
        int[] seen = new int[1];
        InternalError thrown = assertThrows(InternalError.class, () -> poll(message -> {
            assertShows(message, 16, seen[0]++);
            if (seen[0] == 1) {
                throw new InternalError("of the handler's own memory");
            }
        }, 16));
        assertEquals("of the handler's own memory", thrown.getMessage());
        assertEquals(4, seen[0]);
        send(24, 5);
        assertEquals(1, poll(message -> assertShows(message, 24, 5), 16));
    }

    @Test
    void shouldGiveTheRingBackAfterEachCall() {
        // many times its length
        for (int i = 0; i < 20 * RING / LIMIT; i++) {
            int seed = i;
            send(LIMIT, i);
            assertEquals(1, poll(message -> assertShows(message, LIMIT, seed), 8));
            a.await(i);
        }
    }

    @Test
    void shouldHoldTheRingWhileAnotherQueueIsReadInTheHandler() {
        FabricNode other = node(beta);
        long toOther = a.av.insert(other.endpoint.name());
        a.fill(8192, LIMIT, 99);
        send(3000, 21);
        int[] got = new int[2];
        assertEquals(1, poll(message -> {
            // more than the ring holds would overwrite the message
            for (int i = 0; i < 40 * RING / LIMIT; i++) {
                if (got[1] - got[0] < 4) {
                    got[1] += a.endpoint.send(a.memory.address(8192), LIMIT, toOther, 3) == 0 ? 1 : 0;
                }
                other.cq.pollMessages(inner -> got[0]++, entry -> { }, 4);
                a.cq.poll(entry -> { }, 16);
            }
            assertTrue(got[0] > RING / LIMIT / 4 && got[0] < RING / LIMIT, () -> "" + got[0]);
            assertShows(message, 3000, 21);
        }, 8));
        // what waits for room comes when that is given back, and the ring goes round
        Deadline.awaitParked("the rest", () -> {
            other.cq.pollMessages(inner -> got[0]++, entry -> { }, 4);
            if (got[1] < 3 * RING / LIMIT) {
                got[1] += a.endpoint.send(a.memory.address(8192), LIMIT, toOther, 3) == 0 ? 1 : 0;
            }
            a.cq.poll(entry -> { }, 16);
            return got[0] == 3 * RING / LIMIT;
        });
        other.close();
    }

    @Test
    void shouldSurviveTheCloseOfTheEndpointInTheHandler() {
        sendBurst(16);
        int[] seen = new int[1];
        int result = poll(message -> {
            assertTrue(isInRing(message));
            seen[0]++;
            b.endpoint.close();
            assertFalse(message.isOpen());
            assertEquals(0, message.buffer().capacity());
            assertEquals(-FabricErrno.EINVAL, message.retain());
        }, 16);
        assertEquals(4, result);
        assertEquals(1, seen[0]);
        a.assertQuiet(0);
    }

    @Test
    void shouldKeepTheMemoryMappedWhenTheDriverIsClosedInTheHandler() {
        send(16, 5);
        Path[] file = new Path[1];
        assertEquals(1, poll(message -> {
            long address = message.buffer().addressOffset();
            file[0] = mappedAt(address);
            assertEquals(2, mappings(file[0]));
            b.close();
            beta.close();
            assertFalse(message.isOpen());
            assertEquals(file[0], mappedAt(address));
        }, 16));
        // its owner's
        assertEquals(1, mappings(file[0]));
        assertEquals(-FabricErrno.EOPBADSTATE, poll(message -> { }, 1));
    }

    @Test
    void shouldKeepTheMemoryMappedWhenThePeerEndsInTheHandler() {
        send(1000, 5);
        Path[] file = new Path[1];
        assertEquals(1, poll(message -> {
            long address = message.buffer().addressOffset();
            file[0] = mappedAt(address);
            a.close();
            alpha.close();
            Deadline.awaitParked("the end of the connection", () -> {
                beta.cycle();
                return rings("beta") == 0;
            });
            assertTrue(isInRing(message) || mappedAt(address).toString().contains(".ring"));
            assertShows(message, 1000, 5);
            assertEquals(0, message.retain());
            assertShows(message, 1000, 5);
            assertEquals(0, message.release());
        }, 16));
        Deadline.awaitParked("the end of the mapping", () -> mappings(file[0]) == 0);
    }

    /** Compiled code raises the fault later than at the access. */
    @ParameterizedTest
    @ValueSource(ints = {0, 30_000})
    void shouldEndThePeerThatCutsWhatIsRead(int warmUp) {
        long[] sum = new long[1];
        MessageHandler summing = message -> {
            if (message.messageLength() == 24) {
                sum[0]--;
            }
            for (int i = 0; i < message.buffer().capacity(); i += 8) {
                sum[0] += message.buffer().getLong(i);
            }
        };
        for (int i = 0; i < warmUp; i++) {
            assertEquals(0, a.endpoint.send(a.memory.address(), 512, toB, 1));
            while (poll(summing, 16) < 1) {
                pump();
            }
            a.cq.poll(entry -> { }, 16);
        }
        // empty polls, so that the batches begin anew
        b.assertQuiet(2);
        sendBurst(LIMIT);
        int[] seen = new int[1];
        int result = poll(message -> {
            seen[0]++;
            cut(mappedAt(message.buffer().addressOffset()));
            summing.onMessage(message);
        }, 16);
        assertEquals(4, result);
        assertEquals(1, seen[0]);
        int after = poll(message -> { }, 16);
        assertTrue(after == -FabricErrno.EAGAIN || after == 0, () -> FabricErrno.name(-after));
        Deadline.awaitParked("the end of the connection", () -> {
            poll(message -> { }, 16);
            return rings("beta") == 0;
        });
        // both get on
        Deadline.awaitParked("another message", () -> {
            int sent = a.endpoint.send(a.memory.address(), 24, toB, 9);
            assertTrue(sent == 0 || sent == -FabricErrno.EAGAIN, () -> FabricErrno.name(-sent));
            a.poll();
            boolean[] come = new boolean[1];
            poll(message -> come[0] |= message.messageLength() == 24, 16);
            return come[0];
        });
    }

    /** In whatever way the reader reads, each message comes once, as it was sent, in order. */
    @Test
    void shouldKeepOrderAndContentsInWhateverWayMessagesAreRead() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        Reader reader = new Reader(random, seed);
        int[] lengths = {0, 8, 40, 64, 500, LIMIT, LIMIT + 1, 40_000};
        int sent = 0;
        long deadline = System.nanoTime() + 3 * FabricNode.DEADLINE_NS;
        while ((reader.next < MESSAGES || sent < MESSAGES) && System.nanoTime() - deadline < 0) {
            if (sent < MESSAGES && sent - reader.next < 60) {
                // mostly short ones, in bursts
                for (int burst = random.nextInt(1, 8); burst > 0 && sent < MESSAGES; burst--) {
                    int length = Math.max(8, lengths[random.nextInt(random.nextInt(20) == 0 ? 8 : 6)]);
                    long slot = (long) (sent & 127) * (1 << 16);
                    a.memory.buffer().setMemory((int) slot, length, (byte) sent);
                    a.memory.buffer().putLong((int) slot, sent);
                    int way = random.nextInt(8);
                    int result = way == 0 ? a.endpoint.messages().senddata(a.memory.address(slot), length, sent, toB, 1)
                        : way < 4 && length <= a.endpoint.injectSize()
                        ? a.endpoint.inject(a.memory.buffer(), (int) slot, length, toB)
                        : a.endpoint.send(a.memory.address(slot), length, toB, 1);
                    sent += result == 0 ? 1 : 0;
                }
            }
            if (random.nextInt(4) == 0 && b.endpoint.send(b.memory.address(), 8, toA, OWN_SEND) == 0) {
                reader.ownSends++;
            }
            a.cq.poll(entry -> { }, random.nextInt(1, 16));
            reader.read();
        }
        assertEquals(MESSAGES, reader.next, "seed " + seed);
        Deadline.awaitParked("the rest", () -> {
            a.cq.poll(entry -> { }, 16);
            reader.read();
            reader.useKept();
            return reader.ownSends == 0 && reader.kept.isEmpty() && reader.claims == 0;
        });
        System.out.println(reader.lent + " lent, " + reader.refused + " not kept");
        // while messages wait for cells none is
        assertTrue(reader.lent > MESSAGES / 100, reader.lent + " were lent, seed " + seed);
        b.assertQuiet(20);
    }


    /** What the second application knows. */
    private final class Reader {
        private final SplittableRandom random;
        private final long seed;
        private final List<RecvContext> kept = new ArrayList<>();
        private final List<Long> keptNumbers = new ArrayList<>();
        private long next;
        private int ownSends;
        private int claims;
        private int lent;
        private int refused;

        Reader(SplittableRandom random, long seed) {
            this.random = random;
            this.seed = seed;
        }

        void read() {
            int limit = random.nextInt(1, 20);
            int result = switch (random.nextInt(8)) {
                case 0 -> b.cq.poll(this::onEntry, limit);
                case 1 -> {
                    pump();
                    yield 0;
                }
                default -> b.cq.pollMessages(this::onMessage, this::onEntry, limit);
            };
            assertTrue(result >= 0 || result == -FabricErrno.EAGAIN, () -> result + ", seed " + seed);
            // in the first half more and more are kept, until the slab is full and messages wait
            for (int i = random.nextInt(next < MESSAGES / 2 && kept.size() < CELLS ? 2 : 30); i > 0; i--) {
                useKept();
            }
        }

        private void onEntry(Completion entry) {
            RecvContext message = b.cq.recvContext(entry);
            if (message != null) {
                onMessage(message);
            } else if (entry.opContext() == OWN_SEND) {
                ownSends--;
            } else {
                assertEquals(CLAIMED, entry.opContext(), "seed " + seed);
                claims--;
            }
        }

        private void onMessage(RecvContext message) {
            assertEquals(next, message.buffer().getLong(0), "seed " + seed);
            assertContents(message, next);
            long number = next++;
            // one in the ring has a number that no cell has
            boolean isLent = ((int) message.id() & 0xFFFF) >= CELLS;
            lent += isLent ? 1 : 0;
            assertEquals(next - 1, (message.flags() & Flags.REMOTE_CQ_DATA) == 0 ? next - 1 : message.data());
            int dice = random.nextInt(6);
            if (!message.isWhole() || dice == 0) {
                end(message, isLent);
            } else if (dice < 4) {
                int result = message.retain();
                refused += isLent && result == -FabricErrno.EAGAIN ? 1 : 0;
                assertTrue(result == 0 || isLent && result == -FabricErrno.EAGAIN, () -> result + ", seed " + seed);
                assertContents(message, number);
                if (result == 0) {
                    kept.add(message);
                    keptNumbers.add(number);
                }
            } else if (dice == 4) {
                assertEquals(0, message.release(), "seed " + seed);
            }
        }

        private void end(RecvContext message, boolean isLent) {
            message.context(CLAIMED);
            int result = random.nextBoolean() ? b.endpoint.messages().recvmsg(0, 0, ANY, message.id(), Flags.DISCARD)
                : b.endpoint.messages().recvmsg(b.memory.address(RECEIVE), 50_000, ANY, message.id(),
                    Flags.CLAIM | Flags.COMPLETION);
            assertTrue(result == 0 || isLent && result == -FabricErrno.EAGAIN, () -> result + ", seed " + seed);
            claims += result == 0 ? 1 : 0;
        }

        void useKept() {
            if (!kept.isEmpty()) {
                int index = random.nextInt(kept.size());
                RecvContext message = kept.remove(index);
                assertContents(message, keptNumbers.remove(index));
                if (random.nextBoolean()) {
                    assertEquals(0, message.release(), "seed " + seed);
                } else {
                    end(message, false);
                }
            }
        }

        private void assertContents(RecvContext message, long number) {
            int length = message.buffer().capacity();
            assertEquals(number, message.buffer().getLong(0), "seed " + seed);
            for (int i = 8; i < length; i += 7) {
                assertEquals((byte) number, message.buffer().getByte(i), "seed " + seed);
            }
        }
    }

    private static void cut(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(0);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private long rings(String driver) {
        try (var files = Files.list(base.resolve(driver))) {
            return files.filter(file -> file.toString().endsWith(".ring")).count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static long mappings(Path file) {
        try {
            return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.contains(file.toString())).count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
