package org.jfabric.driver.conformance.flags;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.WaitCondition;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** One buffer for many messages. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class MultiReceiveConformanceTest {
    private static final long ANY = -1L;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final long RECEIVED = Flags.RECV | Flags.MSG;
    private static final long DEADLINE_NS = Deadline.ns(20);

    private static Info hints() {
        return new Info().caps(Flags.MSG | Flags.TAGGED | Flags.SOURCE | Flags.MULTI_RECV);
    }

    private static FabricPair open(Setup setup) {
        return new FabricPair(setup, hints(), 512);
    }

    /** Sends and waits until the send has ended. */
    private static void send(FabricPair pair, int length, int seed) {
        pair.a.fill(0, length, seed);
        assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(0), length, pair.toB, seed));
        pair.a.await(seed);
    }

    private static void post(FabricPair pair, int offset, int length, long context) {
        assertEquals(0, pair.b.endpoint.messages().recvmsg(
            pair.b.memory.address(RECEIVE + offset), length, ANY, context, Flags.MULTI_RECV));
    }

    private static void assertMessage(FabricPair pair, long context, int offset, int length, int seed) {
        FabricNode.Entry entry = pair.b.await(context);
        assertEquals(RECEIVED, entry.flags(), () -> "" + entry);
        assertEquals(length, entry.len(), () -> "" + entry);
        assertEquals(pair.b.memory.address(RECEIVE + offset), entry.buf(), () -> "" + entry);
        pair.b.assertFilled(RECEIVE + offset, length, seed);
    }

    private static void assertReleased(FabricPair pair, long context, int err) {
        FabricNode.Entry entry = pair.b.await();
        assertEquals(err, entry.err(), () -> "" + entry);
        assertEquals(context, entry.context(), () -> "" + entry);
        assertEquals(Flags.MULTI_RECV, entry.flags(), () -> "" + entry);
        assertEquals(0, entry.len(), () -> "" + entry);
        assertEquals(0, entry.buf(), () -> "" + entry);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"OPF-011", "OPF-012", "OPF-013", "OPF-014", "CQ-117"})
    void shouldPackManyMessagesIntoOneBuffer(Setup setup) {
        try (FabricPair pair = open(setup)) {
            post(pair, 3, 4096, 7);
            // any start, and behind it multiples of 8
            int offset = 3;
            for (int i = 1; i <= 10; i++) {
                int length = 13 * i;
                send(pair, length, i);
                assertMessage(pair, 7, offset, length, i);
                offset = offset + length + 7 & -8;
            }
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-136", "CQ-139", "OPF-015", "EP-096"})
    void shouldReleaseTheBufferByAnEntryOfItsOwn(Setup setup) {
        try (FabricPair pair = open(setup)) {
            pair.b.endpoint.setopt(EndpointOption.MIN_MULTI_RECV, 100);
            for (int length : new int[] {1011, 1012}) {
                long context = length;
                post(pair, 0, length, context);
                for (int i = 0; i < 3; i++) {
                    send(pair, 304, i + 1);
                    assertMessage(pair, context, i * 304, 304, i + 1);
                }
                if (length == 1011) {
                    assertReleased(pair, context, 0);
                } else {
                    pair.b.assertQuiet(20);
                    send(pair, 100, 9);
                    assertMessage(pair, context, 912, 100, 9);
                    assertReleased(pair, context, 0);
                }
            }
            pair.b.assertQuiet(20);
            // the buffer is the application's again: nothing comes there
            send(pair, 8, 11);
            pair.b.assertQuiet(20);
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(0), 8, ANY, 12));
            assertEquals(RECEIVED, pair.b.await(12).flags());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("OPF-016")
    void shouldNeverSplitAMessageOverBuffers(Setup setup) {
        try (FabricPair pair = open(setup)) {
            pair.b.endpoint.setopt(EndpointOption.MIN_MULTI_RECV, 100);
            post(pair, 0, 454, 1);
            post(pair, 1024, 454, 2);
            send(pair, 304, 1);
            send(pair, 200, 2);
            assertMessage(pair, 1, 0, 304, 1);
            assertReleased(pair, 1, 0);
            assertMessage(pair, 2, 1024, 200, 2);
            // no other buffer is there: it waits for one
            send(pair, 300, 3);
            assertReleased(pair, 2, 0);
            pair.b.assertQuiet(20);
            post(pair, 2048, 454, 3);
            assertMessage(pair, 3, 2048, 300, 3);
            pair.b.endpoint.cancel(3);
            assertReleased(pair, 3, FabricErrno.ECANCELED);
            // longer than a whole buffer
            post(pair, 0, 150, 4);
            send(pair, 200, 4);
            FabricNode.Entry cut = pair.b.await();
            assertEquals(FabricErrno.ETRUNC, cut.err());
            assertEquals(50, cut.olen());
            assertEquals(150, cut.len());
            assertEquals(RECEIVED, cut.flags());
            assertEquals(pair.b.memory.address(RECEIVE), cut.buf());
            assertReleased(pair, 4, 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-097"})
    void shouldHeedAChangedLeastRoomForReceivesPostedLater(Setup setup) {
        try (FabricPair pair = open(setup)) {
            assertEquals(64, pair.b.endpoint.getopt(EndpointOption.MIN_MULTI_RECV));
            pair.b.endpoint.setopt(EndpointOption.MIN_MULTI_RECV, 200);
            post(pair, 0, 1000, 1);
            pair.b.endpoint.setopt(EndpointOption.MIN_MULTI_RECV, 900);
            post(pair, 1024, 1000, 2);
            send(pair, 800, 1);
            assertMessage(pair, 1, 0, 800, 1);
            pair.b.assertQuiet(20);
            send(pair, 8, 2);
            assertMessage(pair, 1, 800, 8, 2);
            assertReleased(pair, 1, 0);
            send(pair, 104, 3);
            assertMessage(pair, 2, 1024, 104, 3);
            assertReleased(pair, 2, 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("RX-007")
    void shouldFollowTheDefaultFlagOnlyForUntaggedReceives(Setup setup) {
        Info wanted = hints();
        wanted.rxAttr().opFlags(Flags.MULTI_RECV);
        try (FabricPair pair = new FabricPair(setup, wanted, 64)) {
            assertEquals(Flags.MULTI_RECV, pair.b.endpoint.getOpFlags(Flags.RECV));
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(RECEIVE), 200, ANY, 1));
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(0), 64, ANY, 5, 0, 2));
            assertEquals(-FabricErrno.EBADFLAGS,
                pair.b.endpoint.messages().trecvmsg(pair.b.memory.address(0), 64, ANY, 5, 0, 2, Flags.MULTI_RECV));
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(0), 8, pair.toB, 5, 3));
            FabricNode.Entry tagged = pair.b.await(2);
            assertEquals(Flags.RECV | Flags.TAGGED, tagged.flags());
            assertEquals(0, tagged.buf());
            pair.a.await(3);
            send(pair, 56, 1);
            send(pair, 96, 2);
            assertMessage(pair, 1, 0, 56, 1);
            assertMessage(pair, 1, 56, 96, 2);
            assertReleased(pair, 1, 0);
            pair.b.endpoint.setOpFlags(Flags.RECV);
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(RECEIVE), 200, ANY, 4));
            send(pair, 8, 5);
            assertEquals(0, pair.b.await(4).buf());
            pair.b.assertQuiet(20);
            pair.b.endpoint.setOpFlags(Flags.RECV | Flags.MULTI_RECV);
            assertEquals(Flags.MULTI_RECV, pair.b.endpoint.getOpFlags(Flags.RECV));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseTheFlagWithoutTheCapability(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, new Info().caps(Flags.MSG), 64)) {
            assertEquals(-FabricErrno.EBADFLAGS,
                pair.b.endpoint.messages().recvmsg(pair.b.memory.address(0), 64, ANY, 1, Flags.MULTI_RECV));
            assertEquals(FabricErrno.EBADFLAGS, assertThrows(FabricException.class,
                () -> pair.b.endpoint.setOpFlags(Flags.RECV | Flags.MULTI_RECV)).errno());
            Info wanted = new Info().caps(Flags.MSG);
            wanted.rxAttr().opFlags(Flags.MULTI_RECV);
            assertEquals(List.of(), pair.a.fabric.info(wanted).matches());
            assertTrue(pair.a.fabric.info(wanted).explain().contains("rx_attr.op_flags"));
            assertEquals(0, pair.a.info.caps() & Flags.MULTI_RECV);
            for (Info match : pair.a.fabric.info(hints()).matches()) {
                assertEquals(Flags.MULTI_RECV, match.rxAttr().caps() & Flags.MULTI_RECV);
                assertEquals(0, match.txAttr().caps() & Flags.MULTI_RECV);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-139", "CQ-136"})
    void shouldReleaseAlsoWhereSuccessesAreNotReported(Setup setup) {
        try (FabricPair pair = open(setup)) {
            CompletionQueue selective = pair.b.domain.openCompletionQueue(
                new CompletionQueueAttr().size(4).format(CompletionFormat.TAGGED));
            Endpoint endpoint = pair.b.domain.openEndpoint(pair.b.info);
            endpoint.bind(selective, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
            endpoint.bind(pair.b.av);
            endpoint.enable();
            long to = pair.a.av.insert(endpoint.name());
            assertEquals(0, endpoint.messages().recvmsg(
                pair.b.memory.address(RECEIVE), 4096, ANY, 7, Flags.MULTI_RECV));
            // more messages than both shares have slots
            for (int i = 0; i < 101; i++) {
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(0), 40, to, i));
                pair.a.await(i);
            }
            UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
            while (selective.read(entry, 0, 1) != 1) {
                pair.a.assertQuiet(1);
            }
            assertEquals(7, entry.getLong(0));
            assertEquals(Flags.MULTI_RECV, entry.getLong(8));
            assertEquals(-FabricErrno.EAGAIN, selective.read(entry, 0, 1));
            endpoint.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-139")
    void shouldKeepTheFlagsOfMessagesInTheModeThatDoesWithoutThem(Setup setup) {
        Info wanted = hints().mode(Mode.NOTIFY_FLAGS_ONLY);
        try (FabricPair pair = new FabricPair(setup, wanted, 64)) {
            post(pair, 0, 100, 7);
            send(pair, 100, 1);
            assertMessage(pair, 7, 0, 100, 1);
            assertReleased(pair, 7, 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldKeepTheOrderOfTheBufferWhateverWayMessagesCome(Setup setup) {
        try (FabricPair pair = open(setup)) {
            int[] lengths = {8, 100_000, 0, 5000, 64, 1 << 20, 17};
            post(pair, 0, 2 << 20, 7);
            int from = 0;
            for (int i = 0; i < lengths.length; i++) {
                pair.a.fill(from, lengths[i], i + 1);
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(from), lengths[i], pair.toB, i));
                from += lengths[i];
            }
            int offset = 0;
            for (int i = 0; i < lengths.length; i++) {
                pair.a.poll();
                assertMessage(pair, 7, offset, lengths[i], i + 1);
                offset = offset + lengths[i] + 7 & -8;
            }
            pair.b.endpoint.cancel(7);
            assertReleased(pair, 7, FabricErrno.ECANCELED);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldLoseNothingWhenTheReaderIsSlow(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, hints(), 8)) {
            post(pair, 0, 1 << 16, 7);
            int sent = 0;
            int received = 0;
            while (received < 300) {
                for (int i = 0; i < 40 && sent < 300; i++) {
                    pair.a.fill(sent * 64, 64, sent);
                    if (pair.a.endpoint.send(pair.a.memory.address(sent * 64L), 64, pair.toB, sent) == 0) {
                        sent++;
                    }
                    pair.a.poll();
                    Thread.yield();
                }
                // by now more messages have come than the queue has slots
                for (int i = 0; i < 30 && received < sent; i++) {
                    assertMessage(pair, 7, received * 64, 64, received);
                    received++;
                }
            }
            pair.b.endpoint.cancel(7);
            assertReleased(pair, 7, FabricErrno.ECANCELED);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldOverrunWhereTheApplicationKeepsRoomItself(Setup setup) {
        Info wanted = hints();
        wanted.domainAttr().resourceManagement(ResourceManagement.DISABLED);
        try (FabricPair pair = new FabricPair(setup, wanted, 8)) {
            post(pair, 0, 1 << 16, 7);
            for (int i = 0; i < 100; i++) {
                send(pair, 64, i);
            }
            // whoever reads while messages still come may keep up with them
            assertEquals(0, pair.a.endpoint.messages().sendmsg(
                pair.a.memory.address(0), 64, 0, pair.toB, 100, Flags.COMPLETION | setup.strongestLevel()));
            pair.a.await(100);
            // in INVOKER a read takes no more messages than it reads entries, and then nothing overruns
            for (int i = 0; i < 100; i++) {
                pair.b.cq.read(null, 0, 0);
            }
            UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
            int read = 0;
            int result = 1;
            long deadline = System.nanoTime() + DEADLINE_NS;
            while (result == 1 || result == -FabricErrno.EAGAIN) {
                result = pair.b.cq.read(entry, 0, 1);
                read += result == 1 ? 1 : 0;
                assertTrue(System.nanoTime() - deadline < 0, "no overrun");
                Thread.yield();
            }
            assertEquals(-FabricErrno.EOVERRUN, result);
            assertTrue(read >= 8 && read < 100, read + " entries were read");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndABufferInMemoryThatIsNotRegistered(Setup setup) {
        try (FabricPair pair = open(setup)) {
            assertEquals(0, pair.b.endpoint.messages().recvmsg(
                pair.b.memory.address(FabricNode.MEMORY - 8), 64, ANY, 3, Flags.MULTI_RECV));
            assertReleased(pair, 3, FabricErrno.EFAULT);
            pair.b.assertQuiet(10);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldUseTheMemoryOfAClosedRegionUntilTheRelease(Setup setup) {
        try (FabricPair pair = open(setup)) {
            MemoryRegion region = pair.b.domain.allocate(4096);
            UnsafeBuffer seen = region.buffer();
            long address = region.address();
            assertEquals(0, pair.b.endpoint.messages().recvmsg(address, 4095, ANY, 7, Flags.MULTI_RECV));
            send(pair, 1344, 1);
            pair.b.await(7);
            region.close();
            MemoryRegion next = pair.b.domain.allocate(4096);
            for (int i = 1; i < 3; i++) {
                send(pair, 1344, i + 1);
                assertEquals(address + i * 1344L, pair.b.await(7).buf());
            }
            assertReleased(pair, 7, 0);
            for (int i = 0; i < 3; i++) {
                for (int k = 0; k < 1344; k++) {
                    assertEquals(FabricNode.pattern(i + 1, k), seen.getByte(i * 1344 + k), "byte " + k);
                    assertEquals(0, next.buffer().getByte(i * 1344 + k), "the new region is another one");
                }
            }
            assertEquals(0, pair.b.endpoint.messages().recvmsg(address, 4096, ANY, 8, Flags.MULTI_RECV));
            assertReleased(pair, 8, FabricErrno.EFAULT);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldGiveNoEntriesAndTheSlotsBackWhenTheEndpointIsClosed(Setup setup) {
        try (FabricPair pair = open(setup)) {
            CompletionQueue small = pair.b.domain.openCompletionQueue(
                new CompletionQueueAttr().size(2).format(CompletionFormat.TAGGED));
            UnsafeBuffer entries = new UnsafeBuffer(new byte[64 * 48]);
            for (int round = 0; round < 4; round++) {
                Endpoint endpoint = pair.b.domain.openEndpoint(pair.b.info);
                endpoint.bind(small, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(pair.b.av);
                endpoint.enable();
                long to = pair.a.av.insert(endpoint.name());
                for (int i = 0; i < 2; i++) {
                    assertEquals(0, endpoint.messages().recvmsg(
                        pair.b.memory.address(RECEIVE + i * 8192), 8192, ANY, i, Flags.MULTI_RECV));
                }
                assertEquals(-FabricErrno.EAGAIN, endpoint.messages().recvmsg(
                    pair.b.memory.address(RECEIVE), 8192, ANY, 9, Flags.MULTI_RECV));
                // more than the driver's share: the last ones are held back
                for (int i = 0; i < 30; i++) {
                    assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(0), 8, to, i));
                    pair.a.await(i);
                }
                pair.b.assertQuiet(5);
                endpoint.close();
                int read = 0;
                int result;
                while ((result = small.read(entries, 0, 64)) > 0) {
                    for (int i = 0; i < result; i++) {
                        assertEquals(RECEIVED, entries.getLong(i * 48 + 8), "an entry of no message");
                    }
                    read += result;
                }
                assertTrue(read <= 30, read + " entries");
            }
        }
    }

    /** The driver's share holds 16 entries of such a queue: a reader that waits for 30 gets those. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldNotWaitForMoreEntriesThanThereAreSlots(Setup setup) {
        try (FabricPair pair = open(setup)) {
            CompletionQueue waiting = pair.b.domain.openCompletionQueue(new CompletionQueueAttr().size(8)
                .format(CompletionFormat.TAGGED).waitObject(WaitObject.UNSPEC).waitCondition(WaitCondition.THRESHOLD));
            Endpoint endpoint = pair.b.domain.openEndpoint(pair.b.info);
            endpoint.bind(waiting, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.b.av);
            endpoint.enable();
            long to = pair.a.av.insert(endpoint.name());
            assertEquals(0, endpoint.messages().recvmsg(
                pair.b.memory.address(RECEIVE), 8192, ANY, 7, Flags.MULTI_RECV));
            for (int i = 0; i < 40; i++) {
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(0), 8, to, i));
                pair.a.await(i);
            }
            UnsafeBuffer entries = new UnsafeBuffer(new byte[32 * 48]);
            int result = waiting.sread(entries, 0, 32, 30, -1);
            assertTrue(result > 0 && result <= 16, () -> "sread answered " + result);
            for (int read = result; read < 40;) {
                int more = waiting.read(entries, 0, 32);
                assertTrue(more > 0 || more == -FabricErrno.EAGAIN, () -> "read answered " + more);
                read += Math.max(0, more);
                Thread.yield();
            }
            endpoint.close();
        }
    }
}
