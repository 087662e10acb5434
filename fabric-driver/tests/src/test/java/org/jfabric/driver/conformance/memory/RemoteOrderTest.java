package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jfabric.RemoteRequest;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Order of reads, writes and messages of one pair. Each test posts the operations without waiting in between, of
 * lengths that take one frame or many, and looks at what the later one saw.
 */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class RemoteOrderTest {
    private static final long ANY = -1L;
    private static final int[] LENGTHS = {8, 64, 8192, 300_000};
    private static final int ROUNDS = 20;
    /** Where the second operation's local memory is. */
    private static final int SECOND = 1 << 20;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"EP-134", "EP-138"})
    void shouldOfferEveryOrderForEverySize(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            Info info = pair.a.info;
            assertEquals(setup.messageOrder(), info.txAttr().msgOrder());
            assertEquals(setup.messageOrder(), info.rxAttr().msgOrder());
            assertEquals(FabricAddress.ORDER_SIZE_UNLIMITED, info.epAttr().maxOrderRawSize());
            assertEquals(setup.isForeign() ? 0 : FabricAddress.ORDER_SIZE_UNLIMITED, info.epAttr().maxOrderWarSize());
            assertEquals(FabricAddress.ORDER_SIZE_UNLIMITED, info.epAttr().maxOrderWawSize());
            Info asked = RemoteMemoryPair.hints(0).linkName(setup.link);
            asked.txAttr().msgOrder((Order.RAW | Order.WAW | Order.RMA_WAR) & setup.messageOrder());
            asked.epAttr().maxOrderRawSize(1 << 20).maxOrderWawSize(FabricAddress.ORDER_SIZE_UNLIMITED);
            assertEquals(FabricAddress.ORDER_SIZE_UNLIMITED,
                pair.a.fabric.info(asked).best().epAttr().maxOrderRawSize());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-018", "TX-026", "EP-139", "EP-135"})
    void shouldReadWhatAnEarlierWriteHasWritten(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            for (int length : LENGTHS) {
                for (int round = 0; round < ROUNDS; round++) {
                    pair.a.fill(0, length, round);
                    assertEquals(0, pair.remote.write(pair.a.memory.address(), length,
                        pair.toB, pair.at(0), pair.key, 1));
                    assertEquals(0,
                        pair.remote.read(pair.a.memory.address(SECOND), length, pair.toB, pair.at(0), pair.key, 2));
                    // over a card the answer that a write waits for may come behind the bytes of the read
                    awaitBoth(pair, 1, 2);
                    pair.a.assertFilled(SECOND, length, round);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-027", "EP-140", "EP-136"})
    void shouldNotShowALaterWriteToARead(Setup setup) {
        setup.assumeOrderBehindReads();
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            for (int length : LENGTHS) {
                for (int round = 0; round < ROUNDS; round++) {
                    pair.bytes().putBytes(0, FabricNode.pattern(round, 0, length));
                    pair.a.fill(0, length, round + 1);
                    assertEquals(0,
                        pair.remote.read(pair.a.memory.address(SECOND), length, pair.toB, pair.at(0), pair.key, 1));
                    assertEquals(0, pair.remote.write(pair.a.memory.address(), length,
                        pair.toB, pair.at(0), pair.key, 2));
                    pair.a.await(1);
                    pair.a.await(2);
                    pair.a.assertFilled(SECOND, length, round);
                    FabricNode.assertPattern(pair.bytes(), 0, length, round + 1, 0);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-028", "EP-141", "EP-137"})
    void shouldKeepTheBytesOfTheLaterWrite(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            for (int first : LENGTHS) {
                for (int second : LENGTHS) {
                    pair.forget();
                    pair.a.fill(0, first, 1);
                    pair.a.fill(SECOND, second, 2);
                    assertEquals(0, pair.remote.write(pair.a.memory.address(), first,
                        pair.toB, pair.at(0), pair.key, 1));
                    assertEquals(0,
                        pair.remote.write(pair.a.memory.address(SECOND), second, pair.toB, pair.at(0), pair.key, 2));
                    pair.a.await(1);
                    pair.a.await(2);
                    FabricNode.assertPattern(pair.bytes(), 0, second, 2, 0);
                    if (first > second) {
                        FabricNode.assertPattern(pair.bytes(), second, first - second, 1, second);
                    }
                    pair.assertUntouched(Math.max(first, second), Math.max(first, second) + 64);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TX-025")
    void shouldEndReadsInTheOrderOfPosting(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < LENGTHS.length; i++) {
                    int length = LENGTHS[(i + round) % LENGTHS.length];
                    assertEquals(0, pair.remote.read(
                        pair.a.memory.address((long) i * SECOND), length, pair.toB, pair.at(0), pair.key, i + 1));
                }
                for (int i = 0; i < LENGTHS.length; i++) {
                    pair.a.await(i + 1);
                }
            }
        }
    }

    /** Over tcp a read ends later than the write behind it, unless the order of completions is asked for. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-037", "TX-039"})
    void shouldEndAccessesAndMessagesInTheOrderOfPostingIfThatIsAskedFor(Setup setup) {
        Info hints = RemoteMemoryPair.hints(0);
        hints.txAttr().compOrder(Order.STRICT);
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup, hints, 512)) {
            assertEquals(Order.STRICT, pair.a.info.txAttr().compOrder());
            RemoteRequest fast = new RemoteRequest().memory(pair.a.memory.address(), 8).destAddr(pair.toB)
                .remote(pair.at(0), pair.key).flags(Flags.INJECT_COMPLETE | Flags.COMPLETION);
            for (int round = 0; round < ROUNDS; round++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 7, 0, 3));
                for (int i = 0; i < 4; i++) {
                    assertEquals(0, pair.remote.read(
                        pair.a.memory.address(SECOND), LENGTHS[(i + round) % 4],
                            pair.toB, pair.at(0), pair.key, 10 * i + 1));
                    assertEquals(0, pair.remote.writemsg(fast.opContext(10 * i + 2)));
                    assertEquals(0, pair.remote.write(
                        pair.a.memory.address(), LENGTHS[i], pair.toB, pair.at(0), pair.key, 10 * i + 3));
                }
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 7, 41));
                for (int i = 0; i < 4; i++) {
                    pair.a.await(10 * i + 1);
                    pair.a.await(10 * i + 2);
                    pair.a.await(10 * i + 3);
                }
                pair.a.await(41);
                pair.b.await(3);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-024", "EP-136"})
    void shouldPlaceAWriteBeforeALaterMessageArrives(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            for (int length : LENGTHS) {
                for (int round = 0; round < ROUNDS; round++) {
                    pair.a.fill(0, length, round);
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 7, 0, 3));
                    assertEquals(0, pair.remote.write(pair.a.memory.address(), length,
                        pair.toB, pair.at(0), pair.key, 1));
                    assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 7, 2));
                    pair.b.await(3);
                    FabricNode.assertPattern(pair.bytes(), 0, length, round, 0);
                    awaitBoth(pair, 1, 2);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-136")
    void shouldReadBeforeALaterMessageLetsThePeerChangeTheBytes(Setup setup) {
        setup.assumeOrderBehindReads();
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            for (int length : LENGTHS) {
                for (int round = 0; round < ROUNDS; round++) {
                    pair.bytes().putBytes(0, FabricNode.pattern(round, 0, length));
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 7, 0, 3));
                    assertEquals(0, pair.remote.read(pair.a.memory.address(SECOND), length,
                        pair.toB, pair.at(0), pair.key, 1));
                    assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 7, 2));
                    pair.b.await(3);
                    pair.bytes().setMemory(0, length, (byte) 0);
                    awaitBoth(pair, 1, 2);
                    pair.a.assertFilled(SECOND, length, round);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-136")
    void shouldKeepTheOrderAlsoWhenWritesWithDataFindNoSlot(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup, RemoteMemoryPair.hints(0), 16)) {
            int count = 3000;
            int posted = 0;
            int seen = 0;
            int ended = 0;
            Deadline deadline = Deadline.usual();
            while (seen < count) {
                String state = posted + " posted, " + ended + " ended, " + seen + " reported";
                deadline.check("all reports", () -> state);
                while (posted < count) {
                    pair.a.memory.buffer().putLong(8 * (posted % 512), posted);
                    int result = pair.remote.writedata(
                        pair.a.memory.address(8 * (posted % 512)), 8, posted, pair.toB, pair.at(0), pair.key, 1);
                    if (result == -FabricErrno.EAGAIN) {
                        break;
                    }
                    assertEquals(0, result);
                    posted++;
                }
                FabricNode.Entry local = pair.a.poll();
                ended += local == null ? 0 : 1;
                // slower than the writer: the queue is full most of the time
                if (posted == count || posted % 3 == 0 || local == null) {
                    FabricNode.Entry entry = pair.b.poll();
                    if (entry != null) {
                        assertEquals(seen, entry.data());
                        seen++;
                    }
                } else {
                    Thread.onSpinWait();
                }
            }
            while (ended < count) {
                assertEquals(0, pair.a.await().err());
                ended++;
            }
            assertEquals(count - 1, pair.bytes().getLong(0));
        }
    }

    private static void awaitBoth(RemoteMemoryPair pair, long first, long second) {
        long sum = pair.a.await().context() + pair.a.await().context();
        assertEquals(first + second, sum);
    }
}
