package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Order among reads, writes, atomic operations and messages of one pair, by what the later one saw. */
@Tag("conformance")
@Tag("link")
@Timeout(240)
class MixedOrderTest {
    private static final long ANY = -1L;
    private static final int ROUNDS = 30;
    private static final int[] UPDATES = {WordAccess.WRITE, WordAccess.SUM, WordAccess.SET};
    private static final int[] READS = {WordAccess.READ, WordAccess.FETCH};
    private static final long GENERAL = Order.RAR | Order.RAW | Order.WAR | Order.WAW;
    private static final long OF_ACCESS = Order.RMA_RAR | Order.RMA_RAW | Order.RMA_WAR | Order.RMA_WAW;
    private static final long OF_ATOMICS = Order.ATOMIC_RAR | Order.ATOMIC_RAW | Order.ATOMIC_WAR | Order.ATOMIC_WAW;
    private static final int WORDS = 3;
    /** Local memory that {@link WordAccess} does not use. */
    private static final int MESSAGES = 1 << 20;
    private static final int LONG_READS = 5;
    private static final int LONG_ROUNDS = 10;
    /** The last word of the peer's memory. */
    private static final int LAST = RemoteMemoryPair.LENGTH - Long.BYTES;

    private static RemoteMemoryPair pair(Setup setup) {
        return new RemoteMemoryPair(setup, Flags.ATOMIC, 512);
    }

    /** More than the way back holds, so that the peer sends the last bytes late. */
    private static void postLongReads(RemoteMemoryPair pair) {
        for (int i = 0; i < LONG_READS; i++) {
            assertEquals(0, pair.remote.read(pair.a.memory.address(MESSAGES + (long) i * RemoteMemoryPair.LENGTH),
                RemoteMemoryPair.LENGTH, pair.toB, 0, pair.key, i));
        }
    }

    /** The last word of a long read. */
    private static long longResult(RemoteMemoryPair pair, int number) {
        return pair.a.memory.buffer().getLong(MESSAGES + number * RemoteMemoryPair.LENGTH + LAST);
    }

    private static WordAccess access(RemoteMemoryPair pair) {
        return new WordAccess(pair.a, pair.toB, pair.key);
    }

    /** Both operations of a round have ended. */
    private static void awaitBoth(RemoteMemoryPair pair) {
        assertEquals(0, pair.a.await().err());
        assertEquals(0, pair.a.await().err());
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TX-016")
    void shouldKeepReadsBehindReads(Setup setup) throws InterruptedException {
        try (RemoteMemoryPair pair = pair(setup)) {
            pair.bytes().putLong(LAST, 0);
            UnsafeBuffer clock = pair.bytes();
            Thread owner = new Thread(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    clock.getAndAddLong(LAST, 1);
                }
            });
            owner.start();
            try {
                WordAccess access = access(pair);
                long last = 0;
                for (int round = 0; round < LONG_ROUNDS; round++) {
                    postLongReads(pair);
                    access.post(WordAccess.FETCH, LAST, 0, LONG_READS);
                    access.post(WordAccess.READ, LAST, 0, LONG_READS + 1);
                    access.post(WordAccess.FETCH, LAST, 0, LONG_READS + 2);
                    long[] seen = new long[LONG_READS + 3];
                    for (int i = 0; i < seen.length; i++) {
                        pair.a.await(i);
                        seen[i] = i < LONG_READS ? longResult(pair, i) : access.result(i);
                    }
                    for (long next : seen) {
                        assertTrue(next >= last, "a read saw an older state than one before it");
                        last = next;
                    }
                }
            } finally {
                owner.interrupt();
                owner.join();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-018", "TX-012"})
    void shouldKeepReadsBehindUpdates(Setup setup) {
        try (RemoteMemoryPair pair = pair(setup)) {
            WordAccess access = access(pair);
            for (int update : UPDATES) {
                for (int read : READS) {
                    for (int round = 1; round <= ROUNDS; round++) {
                        pair.bytes().putLong(8, 1000);
                        access.post(update, 8, round, 1);
                        access.post(read, 8, 0, 2);
                        awaitBoth(pair);
                        assertEquals(WordAccess.next(update, 1000, round), access.result(2));
                    }
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-019", "TX-012"})
    void shouldKeepUpdatesBehindReads(Setup setup) {
        setup.assumeOrderBehindReads();
        try (RemoteMemoryPair pair = pair(setup)) {
            WordAccess access = access(pair);
            for (int read : READS) {
                for (int update : UPDATES) {
                    for (int round = 1; round <= ROUNDS; round++) {
                        pair.bytes().putLong(8, 1000);
                        access.post(read, 8, 0, 1);
                        access.post(update, 8, round, 2);
                        awaitBoth(pair);
                        assertEquals(1000, access.result(1));
                        assertEquals(WordAccess.next(update, 1000, round), pair.bytes().getLong(8));
                    }
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-019", "TX-022"})
    void shouldKeepUpdatesAndMessagesBehindLongReads(Setup setup) {
        setup.assumeOrderBehindReads();
        try (RemoteMemoryPair pair = pair(setup)) {
            WordAccess access = access(pair);
            for (int update : UPDATES) {
                for (int round = 1; round <= LONG_ROUNDS; round++) {
                    pair.bytes().putLong(LAST, 1000);
                    boolean sends = round % 2 == 0;
                    postLongReads(pair);
                    if (sends) {
                        assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 7, 0, 9));
                        assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 7, LONG_READS));
                        pair.b.await(9);
                        pair.bytes().putLong(LAST, -1);
                    } else {
                        access.post(update, LAST, round, LONG_READS);
                    }
                    for (int i = 0; i <= LONG_READS; i++) {
                        int number = (int) pair.a.await().context();
                        assertTrue(number == LONG_READS || longResult(pair, number) == 1000, "read " + number);
                    }
                    assertEquals(sends ? -1 : WordAccess.next(update, 1000, round), pair.bytes().getLong(LAST));
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-021", "TX-012"})
    void shouldKeepUpdatesBehindUpdates(Setup setup) {
        int length = 100_000;
        try (RemoteMemoryPair pair = pair(setup)) {
            WordAccess access = access(pair);
            pair.a.memory.buffer().setMemory(MESSAGES, length, (byte) 0);
            for (int first : UPDATES) {
                for (int second : UPDATES) {
                    for (int round = 1; round <= ROUNDS; round++) {
                        pair.bytes().putLong(length - 8, 1000);
                        // a long write in front of both, which the peer places in pieces
                        assertEquals(0, pair.remote.write(
                            pair.a.memory.address(MESSAGES), length, pair.toB, 0, pair.key, 3));
                        access.post(first, length - 8, round, 1);
                        access.post(second, length - 8, 2 * round, 2);
                        awaitBoth(pair);
                        assertEquals(0, pair.a.await().err());
                        assertEquals(WordAccess.next(second, WordAccess.next(first, 0, round), 2 * round),
                            pair.bytes().getLong(length - 8));
                    }
                }
            }
        }
    }

    /** A message is received into the word that is accessed behind it. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-017", "TX-020", "TX-012"})
    void shouldKeepReadsAndUpdatesBehindMessages(Setup setup) {
        try (RemoteMemoryPair pair = pair(setup)) {
            WordAccess access = access(pair);
            for (int kind = 0; kind < WordAccess.KINDS; kind++) {
                for (int length : new int[] {8, 64, 1000}) {
                    for (int round = 0; round < ROUNDS / 3; round++) {
                        pair.bytes().setMemory(0, length, (byte) 0);
                        pair.a.memory.buffer().putLong(MESSAGES, 1000 + round);
                        boolean isTagged = round % 2 == 0;
                        if (isTagged) {
                            assertEquals(0, pair.b.endpoint.trecv(pair.target.address(), length, ANY, 7, 0, 9));
                        } else {
                            assertEquals(0, pair.b.endpoint.recv(pair.target.address(), length, ANY, 9));
                        }
                        pair.b.awaitRead(1);
                        // not at the endpoint's level: over rxm such a message would be placed later
                        assertEquals(0, isTagged
                            ? pair.a.endpoint.messages().tsendmsg(
                                pair.a.memory.address(MESSAGES), length, 0, pair.toB, 7, 8, Flags.INJECT_COMPLETE)
                            : pair.a.endpoint.messages().sendmsg(
                                pair.a.memory.address(MESSAGES), length, 0, pair.toB, 8, Flags.INJECT_COMPLETE));
                        access.post(kind, 0, 1001 + round, 1);
                        awaitBoth(pair);
                        pair.b.await(9);
                        if (WordAccess.reads(kind)) {
                            assertEquals(1000 + round, access.result(1), "kind " + kind);
                        }
                        assertEquals(WordAccess.next(kind, 1000 + round, 1001 + round), pair.bytes().getLong(0),
                            "kind " + kind);
                    }
                }
            }
        }
    }

    /** The peer changes the word as soon as it has the message, and finds it as the access has left it. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-022", "TX-024", "TX-012"})
    void shouldKeepMessagesBehindReadsAndUpdates(Setup setup) {
        try (RemoteMemoryPair pair = pair(setup)) {
            WordAccess access = access(pair);
            for (int kind = 0; kind < WordAccess.KINDS; kind++) {
                for (int round = 0; round < ROUNDS; round++) {
                    pair.bytes().putLong(0, 1000);
                    boolean isTagged = round % 2 == 0;
                    assertEquals(0, isTagged ? pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 7, 0, 9)
                        : pair.b.endpoint.recv(pair.b.memory.address(), 8, ANY, 9));
                    access.post(kind, 0, 1001, 1);
                    assertEquals(0, isTagged
                        ? pair.a.endpoint.tsend(pair.a.memory.address(MESSAGES), 8, pair.toB, 7, 8)
                        : pair.a.endpoint.send(pair.a.memory.address(MESSAGES), 8, pair.toB, 8));
                    pair.b.await(9);
                    assertEquals(WordAccess.next(kind, 1000, 1001), pair.bytes().getLong(0), "kind " + kind);
                    pair.bytes().putLong(0, -1);
                    awaitBoth(pair);
                    if (WordAccess.reads(kind)) {
                        assertEquals(1000, access.result(1), "kind " + kind);
                    }
                }
            }
        }
    }

    /** What is asked for is offered, to senders and to receivers, and the mixture keeps it. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-033", "RX-010", "TX-012"})
    void shouldKeepTheOrdersOfAccessesAndAtomicsThatAreAskedFor(Setup setup) {
        setup.assumeOrderBehindReads();
        setup.assumeRemoteMemory();
        for (long order : new long[] {Order.NONE, GENERAL, OF_ACCESS, OF_ATOMICS, GENERAL | OF_ACCESS | OF_ATOMICS}) {
            Info hints = RemoteMemoryPair.hints(Flags.ATOMIC);
            hints.txAttr().msgOrder(order);
            hints.rxAttr().msgOrder(order);
            try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, hints, 512)) {
                assertEquals(order, pair.a.info.txAttr().msgOrder() & order);
                assertEquals(order, pair.b.info.rxAttr().msgOrder() & order);
                mix(pair, 2000);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("RX-010")
    void shouldOfferEveryOrderToReceivers(Setup setup) {
        setup.assumeRemoteMemory();
        long every = setup.messageOrder();
        long caps = setup.isStream() ? 0 : Flags.ATOMIC;
        try (FabricPair pair = new FabricPair(setup)) {
            for (int bit = 0; bit < Long.SIZE; bit++) {
                Info hints = RemoteMemoryPair.hints(caps).linkName(setup.link);
                hints.rxAttr().msgOrder(1L << bit);
                boolean isOrder = (every & 1L << bit) != 0;
                assertEquals(isOrder, !pair.a.fabric.info(hints).matches().isEmpty(), "bit " + bit);
            }
            Info any = RemoteMemoryPair.hints(caps).linkName(setup.link);
            any.rxAttr().msgOrder(Order.NONE);
            assertEquals(every, pair.a.fabric.info(any).best().rxAttr().msgOrder());
        }
    }

    /** Posts accesses of every kind to a few words, as many as are taken; each brings what the model says. */
    private static void mix(RemoteMemoryPair pair, int count) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        WordAccess access = access(pair);
        long[] model = new long[WORDS];
        long[] expected = new long[count];
        int[] kinds = new int[count];
        pair.bytes().setMemory(0, WORDS * Long.BYTES, (byte) 0);
        int posted = 0;
        int ended = 0;
        long beginNs = System.nanoTime();
        while (ended < count) {
            while (posted < count) {
                int word = random.nextInt(WORDS);
                int kind = random.nextInt(WordAccess.KINDS);
                long operand = random.nextBoolean() ? model[word] + 1 : random.nextInt(100);
                int result = access.tryPost(kind, (long) word * Long.BYTES, operand, posted);
                if (result == -FabricErrno.EAGAIN) {
                    break;
                }
                assertEquals(0, result);
                kinds[posted] = kind;
                expected[posted++] = model[word];
                model[word] = WordAccess.next(kind, model[word], operand);
            }
            FabricNode.Entry entry = pair.a.poll();
            if (entry != null) {
                int number = (int) entry.context();
                assertEquals(0, entry.err());
                if (WordAccess.reads(kinds[number])) {
                    assertEquals(expected[number], access.result(number),
                        () -> "access " + number + " of kind " + kinds[number] + ", seed " + seed);
                }
                ended++;
            } else {
                pair.pair.pump();
            }
            assertTrue(System.nanoTime() - beginNs < FabricNode.DEADLINE_NS, () -> "no progress, seed " + seed);
        }
        for (int word = 0; word < WORDS; word++) {
            assertEquals(model[word], pair.bytes().getLong(word * Long.BYTES), () -> "seed " + seed);
        }
    }
}
