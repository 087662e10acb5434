package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** What a closed endpoint leaves behind: nothing of its own, and everything of the others. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class EndpointCloseTest {
    private static final long ANY = -1L;
    private static final int LENGTH = 64;
    private static final long DEADLINE_NS = Deadline.ns(20);

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-027")
    void shouldGiveBackItsNameItsQueuesAndItsRoom(Setup setup) throws IOException {
        setup.assumeNames();
        try (FabricPair pair = new FabricPair(setup)) {
            Path directory = pair.directory(pair.a.fabric.driverName());
            Info named = pair.a.info.copy().srcAddr("jfabric://" + pair.a.fabric.driverName() + "/again");
            pair.assertTransfers(pair.a.endpoint);
            long files = count(directory);
            long slots = pair.a.endpoint.rxSizeLeft();
            // more often than a client may have endpoints at a time
            for (int i = 0; i < 300; i++) {
                Endpoint endpoint = pair.open(named);
                assertEquals(named.srcAddr(), endpoint.name());
                long left = endpoint.rxSizeLeft();
                assertEquals(0, endpoint.trecv(pair.a.memory.address(), LENGTH, ANY, 1, 0, i));
                assertEquals(left - 1, endpoint.rxSizeLeft());
                if (i % 100 == 0) {
                    pair.assertTransfers(endpoint);
                }
                endpoint.close();
                endpoint.close();
            }
            awaitCount(pair, directory, files);
            // the queue has all its slots again
            awaitSlots(pair, slots);
            pair.assertTransfers(pair.a.endpoint);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-029")
    void shouldDropWhatWasPostedWithoutAWord(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.open(pair.a.info);
            long left = pair.a.endpoint.rxSizeLeft();
            for (int i = 0; i < 10; i++) {
                assertEquals(0, endpoint.trecv(pair.a.memory.address(), LENGTH, ANY, i, 0, 100 + i));
            }
            // never taken
            assertEquals(0, endpoint.messages().tsendmsg(
                pair.a.memory.address(), setup.heldLength(), 0, pair.toB, 1, 200, setup.heldFlags()));
            pair.a.assertQuiet(100);
            long to = pair.b.av.insert(endpoint.name());
            endpoint.close();
            pair.a.assertQuiet(200);
            // nor does a message that still comes for them complete one; until the other driver hears of the close a
            // send may leave it with success
            long deadline = System.nanoTime() + DEADLINE_NS;
            do {
                assertTrue(System.nanoTime() - deadline < 0, "no send to the closed endpoint fails");
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, to, 1, 1));
            } while (pair.b.await().err() == 0);
            pair.a.assertQuiet(200);
            awaitSlots(pair, left);
            pair.assertTransfers(pair.a.endpoint);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-030")
    void shouldHarmNoEntryOfOthersInTheSameQueue(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.open(pair.a.info);
            int each = 20;
            for (int i = 0; i < each; i++) {
                // a of itself, and the one that will be closed, in turn
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, i, 1000 + i));
                assertEquals(0, endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, 100 + i, 2000 + i));
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, i, 0, i));
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 100 + i, 0, 100 + i));
            }
            for (int i = 0; i < 2 * each; i++) {
                pair.b.await();
            }
            endpoint.close();
            BitSet mine = new BitSet();
            BitSet closed = new BitSet();
            long deadline = System.nanoTime() + DEADLINE_NS;
            int idle = 0;
            while (mine.cardinality() < each || idle < 100) {
                assertTrue(System.nanoTime() - deadline < 0, "the open endpoint has only entries of " + mine);
                FabricNode.Entry entry = pair.a.poll();
                idle++;
                if (entry != null) {
                    idle = 0;
                    assertEquals(0, entry.err(), entry::toString);
                    assertEquals(Flags.SEND | Flags.TAGGED, entry.flags());
                    BitSet seen = entry.context() < 2000 ? mine : closed;
                    int index = (int) entry.context() % 1000;
                    assertTrue(index < each && !seen.get(index), () -> "seen before, or never posted: " + entry);
                    seen.set(index);
                }
                Thread.yield();
            }
            pair.assertTransfers(pair.a.endpoint);
        }
    }

    private static void awaitSlots(FabricPair pair, long expected) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (pair.a.endpoint.rxSizeLeft() < expected) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "slots are lost: " + pair.a.endpoint.rxSizeLeft());
            pair.a.assertQuiet(1);
        }
    }

    private static long count(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.count();
        }
    }

    private static void awaitCount(FabricPair pair, Path directory, long expected) throws IOException {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (count(directory) != expected) {
            assertTrue(System.nanoTime() - deadline < 0, count(directory) + " files instead of " + expected);
            pair.a.assertQuiet(1);
        }
    }
}
