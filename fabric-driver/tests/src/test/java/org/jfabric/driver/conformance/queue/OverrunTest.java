package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.ResourceManagement;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** A reader that does not keep up: with resource management nothing is lost, without it the queue overruns. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class OverrunTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final int SIZE = 16;
    /** More than any ring that a queue of that size may have got, and less than an endpoint may have outstanding. */
    private static final int MESSAGES = 100;
    private static final int STRIDE = 48;
    private static final int LENGTH = 64;

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[MESSAGES * STRIDE]);
    private final long[] sources = new long[MESSAGES];
    private final CompletionError error = new CompletionError();

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-145", "CQ-146", "REF-014"})
    void shouldGiveTheEntriesThatHadASlotAndThenTellTheOverrunForEver(Setup setup) {
        try (FabricPair pair = unmanaged(setup)) {
            overrun(pair);
            assertOverrun(pair.b.cq, drain(pair));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-147", "CQ-148", "ERR-007"})
    void shouldReportNothingMoreAndDisturbNoOtherQueue(Setup setup) {
        try (FabricPair pair = unmanaged(setup)) {
            CompletionQueue other = pair.b.domain.openCompletionQueue(
                new CompletionQueueAttr().size(SIZE).format(CompletionFormat.TAGGED));
            Endpoint bystander = pair.b.domain.openEndpoint(pair.b.info);
            bystander.bind(other, Flags.TRANSMIT | Flags.RECV);
            bystander.bind(pair.b.av);
            bystander.enable();
            long toBystander = pair.a.av.insert(bystander.name());
            overrun(pair);
            drain(pair);
            // operations still run to their end, but no entry tells of it
            long left = pair.b.endpoint.rxSizeLeft();
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 7, 0, 1));
            pair.a.fill(0, LENGTH, 999);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, 7, 2));
            pair.a.await(2);
            until(pair, "the receive", () -> pair.b.endpoint.rxSizeLeft() == left);
            pair.b.assertFilled(0, LENGTH, 999);
            assertOverrun(pair.b.cq, -FabricErrno.EOVERRUN);
            for (int i = 0; i < 3 * SIZE; i++) {
                assertEquals(0, bystander.trecv(pair.b.memory.address(), LENGTH, ANY, 8, 0, i));
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH, toBystander, 8, i));
                pair.a.await(i);
                until(pair, "the bystander", () -> other.read(entries, 0, 1) == 1);
                assertEquals(i, entries.getLong(0));
            }
            assertOverrun(pair.b.cq, -FabricErrno.EOVERRUN);
            pair.b.endpoint.close();
            pair.b.cq.close();
            assertEquals(-FabricErrno.EOPBADSTATE, pair.b.cq.read(entries, 0, 1));
        }
    }

    /** Tries to overrun: posts whatever is taken, and reads less than that. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-014")
    void shouldLoseNothingWhenTheReaderIsSlowAndResourcesAreManaged(Setup setup) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        Info hints = new Info().caps(Flags.TAGGED);
        hints.domainAttr().resourceManagement(ResourceManagement.ENABLED);
        try (FabricPair pair = new FabricPair(setup, hints, SIZE)) {
            assertEquals(ResourceManagement.ENABLED, pair.b.info.domainAttr().resourceManagement());
            int total = 30 * SIZE;
            int posted = 0;
            int read = 0;
            while (read < total) {
                int before = posted;
                int result = 0;
                while (posted < total
                    && (result = pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, posted)) == 0) {
                    posted++;
                }
                if (posted < total) {
                    assertEquals(-FabricErrno.EAGAIN, result, "seed " + seed);
                    assertEquals(SIZE, posted - read, "seed " + seed);
                }
                // the sender's completion says that the receiver's entry is on its way or there
                for (int i = before; i < posted; i++) {
                    assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, 1, i));
                    pair.a.await(i);
                }
                int wanted = 1 + random.nextInt(posted - read);
                for (int i = 0; i < wanted; i++) {
                    pair.b.await(read++);
                }
            }
            pair.b.assertQuiet(50);
        }
    }

    /** Fills the second node's queue beyond its ring, without reading. */
    private static void overrun(FabricPair pair) {
        assertEquals(ResourceManagement.DISABLED, pair.b.info.domainAttr().resourceManagement());
        long left = pair.b.endpoint.rxSizeLeft();
        assertTrue(left >= MESSAGES, () -> "only " + left + " receives may be outstanding");
        for (int i = 0; i < MESSAGES; i++) {
            assertEquals(0, pair.b.endpoint.trecv(
                pair.b.memory.address((long) i * LENGTH), LENGTH, ANY, i, 0, 1000 + i));
        }
        assertEquals(left - MESSAGES, pair.b.endpoint.rxSizeLeft());
        for (int i = 0; i < MESSAGES; i++) {
            pair.a.fill(0, LENGTH - i % 8, i);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH - i % 8, pair.toB, i, i));
            pair.a.await(i);
        }
        until(pair, "all receives", () -> pair.b.endpoint.rxSizeLeft() == left);
        pair.b.awaitStep();
    }

    /** Reads what was stored before the overrun, checks every member and returns what the read behind it answers. */
    private int drain(FabricPair pair) {
        int read = 0;
        int count;
        while ((count = pair.b.cq.readFrom(entries, 0, 1 + read % 7, sources)) > 0) {
            for (int i = 0; i < count; i++, read++) {
                int at = i * STRIDE;
                assertEquals(1000 + read, entries.getLong(at));
                assertEquals(Flags.RECV | Flags.TAGGED, entries.getLong(at + 8));
                assertEquals(LENGTH - read % 8, entries.getLong(at + 16));
                assertEquals(read, entries.getLong(at + 40));
                assertEquals(pair.toA, sources[i]);
                pair.b.assertFilled((long) read * LENGTH, LENGTH - read % 8, read);
            }
        }
        assertTrue(read >= SIZE && read < MESSAGES, "stored " + read);
        return count;
    }

    private void assertOverrun(CompletionQueue queue, int first) {
        assertEquals(-FabricErrno.EOVERRUN, first);
        for (int i = 0; i < 3; i++) {
            assertEquals(-FabricErrno.EOVERRUN, queue.read(entries, 0, 4));
            assertEquals(-FabricErrno.EOVERRUN, queue.read(entries, 0, 0));
            assertEquals(-FabricErrno.EOVERRUN, queue.readFrom(entries, 0, 4, sources));
            assertEquals(-FabricErrno.EOVERRUN, queue.poll(entry -> { }, 4));
            error.opContext(5).err(5);
            assertEquals(1, queue.readErr(error, 0));
            assertEquals(FabricErrno.EOVERRUN, error.err());
            assertEquals(268, error.err());
            assertEquals(0, error.opContext());
        }
    }

    private static FabricPair unmanaged(Setup setup) {
        Info hints = new Info().caps(Flags.TAGGED | Flags.SOURCE);
        hints.domainAttr().resourceManagement(ResourceManagement.DISABLED);
        return new FabricPair(setup, hints, SIZE);
    }

    private static void until(FabricPair pair, String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "no end of " + what);
            pair.a.assertQuiet(1);
        }
    }
}
