package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** What comes into an event queue from a driver, and what may be bound to one. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class EventQueueConformanceTest {
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final int EAGAIN = -FabricErrno.EAGAIN;
    private static final long ANY = -1L;

    private final EventEntry entry = new EventEntry();
    private final EventError error = new EventError();

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-024")
    void shouldNameTheEndpointThatLosesAPeer(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            EventQueue queue = pair.a.fabric.openEventQueue(new EventQueueAttr());
            Endpoint endpoint = endpoint(pair.a, pair.a.cq, 0xE9, queue);
            String lost = pair.b.endpoint.name();
            pair.b.endpoint.trecv(pair.b.memory.address(0), 64, ANY, 1, 0, 1);
            assertEquals(0, endpoint.tsend(pair.a.memory.address(0), 64, pair.toB, 1, 2));
            pair.b.await(1);
            pair.a.await(2);
            assertEquals(0, endpoint.messages().tsendmsg(
                pair.a.memory.address(0), setup.heldLength(), 0, pair.toB, 3, 3, setup.heldFlags()));
            pair.a.awaitStep();
            pair.a.assertQuiet(50);
            assertEquals(EAGAIN, queue.read(entry, 0));
            pair.b.endpoint.close();
            assertEquals(-FabricErrno.EAVAIL, await(pair, queue));
            assertEquals(1, queue.readErr(error, 0));
            assertSame(endpoint, error.fid());
            // tcp cannot tell an end in order from a death
            int reason = setup.isForeign() ? FabricErrno.ECONNRESET : FabricErrno.ESHUTDOWN;
            assertEquals(reason, error.err());
            assertEquals(0xE9, error.context());
            assertEquals(pair.toB, error.data());
            assertEquals(lost, error.errData().getStringWithoutLengthAscii(0, error.errDataSize()));
            assertTrue(queue.strerror(error.provErrno()).contains(FabricErrno.name(reason)));
            assertEquals(EAGAIN, queue.read(entry, 0));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-024")
    void shouldNameTheCompletionQueueThatOverranOnce(Setup setup) throws IOException {
        try (FabricPair pair = new FabricPair(setup)) {
            EventQueue queue = pair.a.fabric.openEventQueue(new EventQueueAttr());
            Set<Path> before = files(pair, ".cq");
            CompletionQueue cq = pair.a.domain.openCompletionQueue(new CompletionQueueAttr().size(8), 0xC9);
            Set<Path> added = files(pair, ".cq");
            added.removeAll(before);
            assertEquals(1, added.size(), added.toString());
            Endpoint endpoint = endpoint(pair.a, cq, 1, queue);
            endpoint(pair.a, cq, 2, queue);
            int result = EAGAIN;
            CompletionError failed = new CompletionError();
            try (FileChannel file = FileChannel.open(added.iterator().next(), StandardOpenOption.WRITE)) {
                long deadline = System.nanoTime() + DEADLINE_NS;
                while (result == EAGAIN) {
                    // a client that cheats: the driver cannot tell any more what was read
                    file.write(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(0, 1L << 40),
                        CompletionQueueDescriptor.READ_POSITION_OFFSET);
                    assertEquals(0, endpoint.tsend(pair.a.memory.address(0), 8, 12345, 1, 1));
                    do {
                        assertTrue(System.nanoTime() - deadline < 0, "no overrun: " + cq);
                        result = queue.read(entry, 0);
                        Thread.yield();
                        // the queue itself may tell first, and then goes on telling
                    } while (result == EAGAIN
                        && (cq.readErr(failed, 0) != 1 || failed.err() == FabricErrno.EOVERRUN));
                }
            }
            assertEquals(-FabricErrno.EAVAIL, result);
            assertEquals(1, queue.readErr(error, 0));
            assertSame(cq, error.fid());
            assertEquals(FabricErrno.EOVERRUN, error.err());
            assertEquals(0xC9, error.context());
            awaitOverrun(cq);
            pair.a.assertQuiet(50);
            assertEquals(EAGAIN, queue.read(entry, 0), "told once, though two endpoints report there");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-018", "REF-023"})
    void shouldTellOfAnInsertionWithOneBadAddressAmongThree(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            EventQueue queue = pair.a.fabric.openEventQueue(
                new EventQueueAttr().waitObject(WaitObject.UNSPEC));
            String[] names = {pair.b.endpoint.name(), "nonsense", pair.a.endpoint.name()};
            long[] fiAddrs = {-7, -7, -7};
            AddressVector plain = pair.a.domain.openAddressVector(new AddressVectorAttr());
            assertEquals(2, plain.insert(names, fiAddrs, 0, 0));
            assertInserted(plain, names, fiAddrs);
            assertEquals(FabricErrno.EINVAL, errno(() -> plain.insert(names, new long[2], 0, 0)), "too few places");
            assertEquals(2, plain.size());

            AddressVector vector = pair.a.domain.openAddressVector(new AddressVectorAttr().flags(Flags.EVENT));
            assertEquals(FabricErrno.ENOEQ, errno(() -> vector.insert(names, fiAddrs, 42, 0)));
            vector.bind(queue, 0);
            Arrays.fill(fiAddrs, -7);
            assertEquals(0, vector.insert(names, fiAddrs, 42, Flags.MORE));
            assertEquals(-FabricErrno.EAVAIL, queue.sread(entry, Deadline.ns(20), 0));
            assertEquals(1, queue.readErr(error, 0));
            assertSame(vector, error.fid());
            assertEquals(FabricErrno.EINVAL, error.err());
            assertEquals(42, error.context());
            assertEquals(1, error.data(), "index of the bad one");
            assertEquals("nonsense", error.errData().getStringWithoutLengthAscii(0, error.errDataSize()));
            assertEquals(1, queue.sread(entry, Deadline.ns(20), 0));
            assertEquals(EventType.AV_COMPLETE, entry.type());
            assertSame(vector, entry.fid());
            assertEquals(42, entry.context());
            assertEquals(2, entry.data(), "how many were inserted");
            assertInserted(vector, names, fiAddrs);
            assertEquals(2, vector.size());

            assertEquals(0, vector.insert(new String[0], null, 43, 0));
            assertEquals(1, queue.sread(entry, Deadline.ns(20), 0));
            assertEquals(0, entry.data());
            assertEquals(43, entry.context());
            // an endpoint uses it as any other
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(vector);
            endpoint.enable();
            pair.b.endpoint.trecv(pair.b.memory.address(0), 64, ANY, 1, 0, 1);
            assertEquals(0, endpoint.tsend(pair.a.memory.address(0), 64, fiAddrs[0], 1, 2));
            pair.b.await(1);
            pair.a.await(2);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndAnInsertionOfWhatIsNoAddressAtAll(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            EventQueue queue = pair.a.fabric.openEventQueue(new EventQueueAttr());
            AddressVector vector = pair.a.domain.openAddressVector(new AddressVectorAttr().flags(Flags.EVENT));
            vector.bind(queue, 0);
            String[] names = {
                "", "x".repeat(300), "x".repeat(100_000), "jfabric://d/\u00fc", "jfabric://", "\0", "jfabric:///x"};
            long[] fiAddrs = new long[names.length];
            assertEquals(0, vector.insert(names, fiAddrs, 9, 0));
            boolean[] failed = new boolean[names.length];
            for (int i = 0; i < names.length; i++) {
                assertEquals(-FabricErrno.EAVAIL, await(pair, queue));
                assertEquals(1, queue.readErr(error, 0));
                int index = (int) error.data();
                assertFalse(failed[index], "told twice: " + index);
                failed[index] = true;
                assertEquals(FabricErrno.EINVAL, error.err(), () -> index + ": " + error);
                assertEquals(Math.min(names[index].length(), EventError.MAX_ERR_DATA_LENGTH), error.errDataSize());
                assertEquals(FabricAddress.ADDR_NOTAVAIL, fiAddrs[index]);
            }
            assertEquals(1, await(pair, queue));
            assertEquals(EventType.AV_COMPLETE, entry.type());
            assertEquals(0, entry.data());
            assertEquals(0, vector.size());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldTellOfEachOfManyInsertionsErrorsFirst(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int calls = 40;
            int each = 5;
            EventQueue queue = pair.a.fabric.openEventQueue(new EventQueueAttr().size(1024));
            AddressVector vector = pair.a.domain.openAddressVector(new AddressVectorAttr().flags(Flags.EVENT));
            vector.bind(queue, 0);
            for (int call = 0; call < calls; call++) {
                String[] names = new String[each];
                for (int i = 0; i < each; i++) {
                    names[i] = i < call % each ? "bad" : pair.neighbour(pair.b, call * each + i);
                }
                assertEquals(0, vector.insert(names, null, call, 0));
            }
            int[] errors = new int[calls];
            boolean[] ended = new boolean[calls];
            for (int left = calls; left > 0;) {
                int result = await(pair, queue);
                if (result == -FabricErrno.EAVAIL) {
                    assertEquals(1, queue.readErr(error, 0));
                    int call = (int) error.context();
                    assertFalse(ended[call], "an error after the end of call " + call);
                    errors[call]++;
                } else {
                    assertEquals(1, result);
                    int call = (int) entry.context();
                    assertEquals(call % each, errors[call]);
                    assertEquals(each - call % each, entry.data());
                    assertFalse(ended[call]);
                    ended[call] = true;
                    left--;
                }
            }
            assertEquals(EAGAIN, queue.read(entry, 0));
        }
    }

    /** The call waits where the ring has no room, and loses none. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldInsertMoreAddressesThanTheCommandRingHolds(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            EventQueue queue = pair.a.fabric.openEventQueue(new EventQueueAttr());
            AddressVector vector = pair.a.domain.openAddressVector(new AddressVectorAttr().flags(Flags.EVENT));
            vector.bind(queue, 0);
            String[] names = new String[3000];
            Arrays.setAll(names, i -> pair.neighbour(pair.b, i));
            long[] fiAddrs = new long[names.length];

            assertEquals(0, vector.insert(names, fiAddrs, 7, 0));

            assertEquals(1, await(pair, queue));
            assertEquals(EventType.AV_COMPLETE, entry.type());
            assertEquals(names.length, entry.data());
            assertEquals(names.length, Arrays.stream(fiAddrs).distinct().count());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-023", "EP-036"})
    void shouldRefuseWhatCannotBeBoundOrClosed(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); FabricPair other = new FabricPair(setup)) {
            EventQueue queue = pair.a.fabric.openEventQueue(new EventQueueAttr());
            EventQueue second = pair.a.fabric.openEventQueue(new EventQueueAttr());
            EventQueue foreign = other.a.fabric.openEventQueue(new EventQueueAttr());
            EventQueue closed = pair.a.fabric.openEventQueue(new EventQueueAttr());
            closed.close();
            closed.close();
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            assertEquals(FabricErrno.EBADFLAGS, errno(() -> endpoint.bind(queue, Flags.TRANSMIT)));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind(foreign, 0)));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind((EventQueue) null, 0)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.bind(closed, 0)));
            endpoint.bind(queue, 0);
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind(second, 0)));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind(queue, 0)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> pair.a.endpoint.bind(queue, 0)), "it is enabled");
            assertEquals(FabricErrno.EBUSY, errno(queue::close));
            assertEquals(EAGAIN, queue.read(entry, 0), "the refusal changed nothing");
            endpoint.close();
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.bind(second, 0)));
            queue.close();
            assertEquals(-FabricErrno.EOPBADSTATE, queue.read(entry, 0));

            AddressVector vector = pair.a.domain.openAddressVector(new AddressVectorAttr().flags(Flags.EVENT));
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.av.bind(second, 0)), "opened without EVENT");
            assertEquals(FabricErrno.EBADFLAGS, errno(() -> vector.bind(second, 1)));
            assertEquals(FabricErrno.EINVAL, errno(() -> vector.bind(foreign, 0)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> vector.bind(queue, 0)));
            vector.bind(second, 0);
            assertEquals(FabricErrno.EINVAL, errno(() -> vector.bind(second, 0)));
            String[] names = {"x"};
            assertEquals(FabricErrno.EOPNOTSUPP, errno(() -> vector.insert("x")));
            assertEquals(FabricErrno.EBADFLAGS, errno(() -> vector.insert(names, null, 0, Flags.SYNC_ERR)));
            assertEquals(FabricErrno.EINVAL, errno(() -> vector.insert(names, new long[0], 0, 0)));
            assertEquals(FabricErrno.EINVAL, errno(() -> vector.insert(new String[1], null, 0, 0)));
            assertEquals(EAGAIN, second.read(entry, 0), "what was refused has no events");
            assertEquals(FabricErrno.EBUSY, errno(second::close));
            vector.close();
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> vector.insert(names, null, 0, 0)));
            second.close();
            assertEquals(FabricErrno.EBADFLAGS,
                errno(() -> pair.a.domain.openAddressVector(new AddressVectorAttr().flags(Flags.SYMMETRIC))));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndWithItsFabric(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            EventQueue queue = pair.a.fabric.openEventQueue(
                new EventQueueAttr().waitObject(WaitObject.UNSPEC).flags(Flags.WRITE), 5);
            Endpoint endpoint = endpoint(pair.a, pair.a.cq, 1, queue);
            assertTrue(endpoint.isOpen());
            assertEquals(1, queue.write(EventType.NOTIFY.code(), endpoint, 3, 2, 0));
            assertEquals(1, queue.sread(entry, -1, 0));
            assertSame(endpoint, entry.fid());
            pair.a.fabric.close(0);
            assertFalse(queue.isOpen());
            assertEquals(-FabricErrno.EOPBADSTATE, queue.sread(entry, -1, 0));
            assertEquals(-FabricErrno.EOPBADSTATE, queue.write(1, null, 0, 0, 0));
            queue.close();
            assertEquals(FabricErrno.EOPBADSTATE,
                errno(() -> pair.a.fabric.openEventQueue(new EventQueueAttr())));
        }
    }

    private static Endpoint endpoint(FabricNode node, CompletionQueue cq, long context, EventQueue queue) {
        Endpoint endpoint = node.domain.openEndpoint(node.info, context);
        endpoint.bind(cq, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(node.av);
        endpoint.bind(queue, 0);
        endpoint.enable();
        return endpoint;
    }

    /** Reads until there is something; an embedded peer goes on meanwhile. */
    private int await(FabricPair pair, EventQueue queue) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        int result;
        while ((result = queue.read(entry, 0)) == EAGAIN) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "nothing came: " + queue);
            if (pair.b.cq.isOpen() && pair.setup == Setup.SHM_EMBEDDED) {
                pair.b.cq.read(null, 0, 0);
            }
            Thread.yield();
        }
        return result;
    }

    private static void awaitOverrun(CompletionQueue cq) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
        int result;
        while ((result = cq.read(buffer, 0, 1)) != -FabricErrno.EOVERRUN) {
            assertTrue(result == EAGAIN || result == -FabricErrno.EAVAIL, FabricErrno.name(result));
            if (result == -FabricErrno.EAVAIL) {
                cq.readErr(new CompletionError(), 0);
            }
            assertTrue(System.nanoTime() - deadline < 0, () -> "no overrun: " + cq);
        }
    }

    private static void assertInserted(AddressVector vector, String[] names, long[] fiAddrs) {
        assertEquals(names[0], vector.lookup(fiAddrs[0]));
        assertEquals(FabricAddress.ADDR_NOTAVAIL, fiAddrs[1]);
        assertEquals(names[2], vector.lookup(fiAddrs[2]));
    }

    private static Set<Path> files(FabricPair pair, String suffix) throws IOException {
        try (var files = Files.list(pair.directory("alpha"))) {
            return files.filter(file -> file.toString().endsWith(suffix)).collect(Collectors.toSet());
        }
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
