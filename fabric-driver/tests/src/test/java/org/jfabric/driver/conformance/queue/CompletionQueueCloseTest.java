package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fid;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** The order in which objects can be closed, and what is left of them. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class CompletionQueueCloseTest {
    private static final long ANY = -1L;

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[8 * 48]);

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-046", "CQ-047"})
    void shouldGiveTheFileBackAndLoseWhatWasNotRead(Setup setup) throws IOException {
        try (FabricPair pair = new FabricPair(setup)) {
            Path directory = pair.directory(setup.hasTwoDrivers() ? "beta" : "alpha");
            long files = queueFiles(directory);
            CompletionQueue queue = pair.b.domain.openCompletionQueue(attr());
            assertEquals(files + 1, queueFiles(directory));
            Endpoint endpoint = endpoint(pair.b, queue);
            long dest = pair.a.av.insert(endpoint.name());
            for (int i = 0; i < 3; i++) {
                assertEquals(0, endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 7));
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, dest, 1, 8));
                pair.a.await(8);
            }
            awaitReadable(pair, queue);
            endpoint.close();
            queue.close();
            assertFalse(queue.isOpen());
            assertEquals(files, queueFiles(directory));
            assertEquals(-FabricErrno.EOPBADSTATE, queue.read(entries, 0, 8));
            assertEquals(-FabricErrno.EOPBADSTATE, queue.poll(entry -> { }, 8));
            assertEquals(-FabricErrno.EOPBADSTATE, queue.readErr(new CompletionError(), 0));
            queue.close();

            CompletionQueue next = pair.b.domain.openCompletionQueue(attr());
            Endpoint other = endpoint(pair.b, next);
            for (int i = 0; i < 100; i++) {
                assertEquals(-FabricErrno.EAGAIN, next.read(entries, 0, 8));
                pair.a.poll();
            }
            other.close();
            next.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-048", "CQ-049", "ERR-008"})
    void shouldStayUsableWhenItIsBoundAndCloseAfterItsEndpoints(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue queue = pair.b.domain.openCompletionQueue(attr());
            for (long direction : new long[] {Flags.RECV, Flags.TRANSMIT}) {
                Endpoint bound = pair.b.domain.openEndpoint(pair.b.info);
                bound.bind(queue, direction);
                assertEquals(FabricErrno.EBUSY, errno(queue::close), "an endpoint that is not enabled yet");
                bound.close();
            }
            Endpoint first = endpoint(pair.b, queue);
            Endpoint second = endpoint(pair.b, queue);
            long dest = pair.a.av.insert(first.name());
            for (int i = 0; i < 3; i++) {
                assertEquals(FabricErrno.EBUSY, errno(queue::close));
                assertTrue(queue.isOpen());
                assertEquals(0, first.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 40 + i));
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, dest, 1, 8));
                pair.a.await(8);
                awaitReadable(pair, queue);
                assertEquals(1, queue.read(entries, 0, 8));
                assertEquals(40 + i, entries.getLong(0));
            }
            first.close();
            assertEquals(FabricErrno.EBUSY, errno(queue::close));
            second.close();
            queue.close();
            assertFalse(queue.isOpen());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-010", "REF-022", "ERR-013"})
    void shouldKeepDomainsAndVectorsOpenWhileTheyAreUsedAndApart(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Domain domain = pair.b.fabric.domain(pair.b.info);
            CompletionQueue queue = domain.openCompletionQueue(attr());
            assertEquals(FabricErrno.EBUSY, errno(domain::close));
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            Endpoint first = endpoint(domain, pair, queue, vector);
            Endpoint second = endpoint(domain, pair, queue, vector);
            assertEquals(FabricErrno.EBUSY, errno(vector::close));
            first.close();
            assertEquals(FabricErrno.EBUSY, errno(vector::close), "the vector has two endpoints");
            long toA = vector.insert(pair.a.endpoint.name());
            assertEquals(0, pair.a.endpoint.trecv(pair.a.memory.address(), 64, ANY, 1, 0, 1));
            assertEquals(0, second.tinject(new UnsafeBuffer(new byte[8]), 0, 8, toA, 1));
            pair.a.await(1);

            Endpoint stranger = pair.b.domain.openEndpoint(pair.b.info);
            for (Supplier<Fid> open : List.<Supplier<Fid>>of(() -> domain.openCounter(new CounterAttr()),
                () -> domain.openSharedTransmitContext(new TxAttr(), 0),
                () -> domain.openSharedReceiveContext(new RxAttr(), 0))) {
                Fid object = open.get();
                long flags = object.fidClass() == FidClass.CNTR ? Flags.SEND : 0;
                assertEquals(FabricErrno.EDOMAIN, errno(() -> stranger.bind(object, flags)), object::toString);
                object.close();
            }
            assertEquals(FabricErrno.EDOMAIN, errno(() -> stranger.bind(queue, Flags.TRANSMIT)));
            assertEquals(FabricErrno.EDOMAIN, errno(() -> stranger.bind(vector)));
            second.close();
            vector.close();
            queue.close();
            // whatever is open in it
            for (Supplier<Fid> open : List.<Supplier<Fid>>of(() -> domain.allocate(64),
                () -> domain.openAddressVector(new AddressVectorAttr()), () -> domain.openCounter(new CounterAttr()),
                () -> domain.openPollSet(0), () -> domain.openEndpoint(pair.b.info),
                () -> domain.openSharedTransmitContext(new TxAttr(), 0),
                () -> domain.openSharedReceiveContext(new RxAttr(), 0))) {
                Fid object = open.get();
                assertEquals(FabricErrno.EBUSY, errno(domain::close), object::toString);
                object.close();
            }
            domain.close();
            assertFalse(domain.isOpen());
        }
    }

    /** Waits for an entry without taking it. */
    private void awaitReadable(FabricPair pair, CompletionQueue queue) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (queue.read(null, 0, 0) != 0) {
            assertTrue(System.nanoTime() - deadline < 0, "nothing to read");
            pair.a.poll();
            Thread.yield();
        }
    }

    private static CompletionQueueAttr attr() {
        return new CompletionQueueAttr().size(16).format(CompletionFormat.CONTEXT);
    }

    private static Endpoint endpoint(FabricNode node, CompletionQueue queue) {
        Endpoint endpoint = node.domain.openEndpoint(node.info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(node.av);
        endpoint.enable();
        return endpoint;
    }

    private static Endpoint endpoint(Domain domain, FabricPair pair, CompletionQueue queue, AddressVector vector) {
        Endpoint endpoint = domain.openEndpoint(pair.b.info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();
        return endpoint;
    }

    private static long queueFiles(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".cq")).count();
        }
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
