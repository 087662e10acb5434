package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;

/** Who is named as source of a message, to whom, and what happens to messages of strangers. */
@Tag("conformance")
@Tag("link")
@SeveralLinks
class SourceReportTest {
    private static final long ANY = -1L;
    private static final long NOTAVAIL = FabricAddress.ADDR_NOTAVAIL;
    private static final long PLAIN = Flags.TAGGED | Flags.MSG;
    private static final long STRICT = PLAIN | Flags.SOURCE | Flags.SOURCE_ERR;
    private static final long PAYLOAD = 4096;
    private static final long BUFFER = 1 << 20;
    private static final int LENGTH = 200;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-066", "CQ-067"})
    void shouldTellSourcesOnlyToEndpointsThatAskedForThem(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (boolean asked : new boolean[] {false, true}) {
                Receiver receiver = new Receiver(pair, PLAIN | (asked ? Flags.SOURCE : 0), AddressVectorType.TABLE);
                long known = receiver.vector.insert(pair.a.endpoint.name());
                long expected = asked ? known : NOTAVAIL;
                receiver.post(LENGTH, 1);
                receiver.send(5);
                assertEquals(1, receiver.awaitEntry());
                assertEquals(expected, receiver.source[0]);

                receiver.post(LENGTH, 2);
                receiver.send(5);
                long[] seen = {7, 7};
                receiver.poll(completion -> {
                    seen[0] = completion.opContext();
                    seen[1] = completion.srcAddr();
                });
                assertEquals(2, seen[0]);
                assertEquals(expected, seen[1]);

                receiver.post(LENGTH - 1, 3);
                receiver.send(5);
                assertEquals(-FabricErrno.EAVAIL, receiver.awaitEntry());
                assertEquals(1, receiver.queue.readErr(receiver.error, 0));
                assertEquals(FabricErrno.ETRUNC, receiver.error.err());
                assertEquals(expected, receiver.error.srcAddr());

                // entries that are no receives have no source, asked or not
                assertEquals(0, receiver.endpoint.trecv(pair.b.memory.address(BUFFER), LENGTH, ANY, 6, 0, 4));
                long self = receiver.vector.insert(receiver.endpoint.name());
                assertEquals(0, receiver.endpoint.tsend(pair.b.memory.address(PAYLOAD), LENGTH, self, 6, 5));
                for (int i = 0; i < 2; i++) {
                    assertEquals(1, receiver.awaitEntry());
                    boolean send = receiver.entry.getLong(0) == 5;
                    assertEquals(send || !asked ? NOTAVAIL : self, receiver.source[0]);
                }
                receiver.close();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-069", "CQ-071", "CQ-072"})
    void shouldCompleteTheMessageOfAStrangerWithoutASource(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Receiver receiver = new Receiver(pair, PLAIN | Flags.SOURCE, AddressVectorType.TABLE);
            receiver.post(LENGTH, 1);
            receiver.send(5);
            assertEquals(1, receiver.awaitEntry());
            assertEquals(1, receiver.entry.getLong(0));
            assertEquals(NOTAVAIL, receiver.source[0]);
            assertEquals(0, receiver.vector.size());
            long known = receiver.vector.insert(pair.a.endpoint.name());
            receiver.post(LENGTH, 2);
            receiver.send(5);
            assertEquals(1, receiver.awaitEntry());
            assertEquals(known, receiver.source[0]);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-070")
    void shouldNotMakeUpAnAddressForAStrangerInAMap(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Receiver receiver = new Receiver(pair, PLAIN | Flags.SOURCE, AddressVectorType.MAP);
            receiver.post(LENGTH, 1);
            receiver.send(5);
            assertEquals(1, receiver.awaitEntry());
            assertEquals(NOTAVAIL, receiver.source[0]);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-073", "CQ-074", "CQ-093", "ERR-006"})
    void shouldReportTheMessageOfAStrangerAsErrorWithEverythingElseInPlace(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Receiver receiver = new Receiver(pair, STRICT, AddressVectorType.TABLE);
            // posted before the message comes, and a message that waits for its receive; eager and fetched
            int context = 1;
            for (int length : new int[] {LENGTH, 300_000}) {
                for (boolean posted : new boolean[] {true, false}) {
                    pair.a.fill(PAYLOAD, length, context);
                    if (posted) {
                        receiver.post(length + 1, context);
                    }
                    assertEquals(0, pair.a.endpoint.messages().tsenddata(
                        pair.a.memory.address(PAYLOAD), length, 0xDA7A, receiver.address, 5, 100));
                    pair.b.assertQuiet(20);
                    if (!posted) {
                        receiver.post(length + 1, context);
                    }
                    assertEquals(-FabricErrno.EAVAIL, receiver.awaitEntry());
                    receiver.poll(-FabricErrno.EAVAIL);
                    assertEquals(1, receiver.queue.readErr(receiver.error, 0));
                    CompletionError error = receiver.error;
                    assertEquals(FabricErrno.EADDRNOTAVAIL, error.err());
                    assertEquals(99, error.err());
                    assertEquals(context, error.opContext());
                    assertEquals(Flags.RECV | Flags.TAGGED | Flags.REMOTE_CQ_DATA, error.flags());
                    assertEquals(length, error.len());
                    assertEquals(5, error.tag());
                    assertEquals(0xDA7A, error.data());
                    assertEquals(0, error.olen());
                    assertEquals(NOTAVAIL, error.srcAddr());
                    pair.b.assertFilled(BUFFER, length, context);
                    pair.a.await(100);
                    context++;
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-075", "CQ-094", "CQ-095", "REF-019"})
    void shouldTellTheStrangersAddressSoThatItCanBeInserted(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Receiver receiver = new Receiver(pair, STRICT, AddressVectorType.MAP);
            // in both cases the data is the text, which an address vector takes
            assertEquals(setup.hasSocketNames() ? AddressFormat.SOCKADDR_IN : AddressFormat.ADDR_STR,
                pair.b.info.addrFormat());
            for (int i = 0; i < 3; i++) {
                receiver.post(LENGTH, i);
                receiver.send(5);
                assertEquals(-FabricErrno.EAVAIL, receiver.awaitEntry());
                assertEquals(1, receiver.queue.readErr(receiver.error, 0));
            }
            byte[] raw = new byte[receiver.error.errDataSize()];
            receiver.error.errData().getBytes(0, raw);
            assertEquals(setup.seen(pair.a.endpoint), new String(raw, StandardCharsets.US_ASCII));
            long known = receiver.vector.insert(receiver.error.errData());
            assertEquals(setup.seen(pair.a.endpoint), receiver.vector.lookup(known));
            receiver.post(LENGTH, 8);
            receiver.send(5);
            assertEquals(1, receiver.awaitEntry());
            assertEquals(known, receiver.source[0]);
            assertEquals(8, receiver.entry.getLong(0));
            // and it is a destination
            pair.a.endpoint.trecv(pair.a.memory.address(BUFFER), LENGTH, ANY, 9, 0, 10);
            assertEquals(0, receiver.endpoint.tsend(pair.b.memory.address(PAYLOAD), LENGTH, known, 9, 11));
            pair.a.await(10);
            // removed, it is a stranger again
            receiver.vector.remove(known);
            assertEquals(1, receiver.awaitEntry());
            receiver.post(LENGTH, 12);
            receiver.send(5);
            assertEquals(-FabricErrno.EAVAIL, receiver.awaitEntry());
            assertEquals(1, receiver.queue.readErr(receiver.error, 0));
            assertEquals(12, receiver.error.opContext());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-005")
    void shouldRefuseErrorsOfSourcesThatAreNotReported(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info hints = new Info().caps(PLAIN | Flags.SOURCE_ERR);
            assertEquals(FabricErrno.ENODATA, errno(() -> pair.b.fabric.info(hints).best()));
            String why = pair.b.fabric.info(hints).explain();
            assertTrue(why.contains("SOURCE_ERR without SOURCE"), why);
            FabricException refused = assertThrows(FabricException.class,
                () -> new Receiver(pair, hints.caps(), AddressVectorType.TABLE));
            assertEquals(FabricErrno.EOPNOTSUPP, refused.errno());
            assertEquals(STRICT, pair.b.fabric.info(new Info().caps(STRICT)).best().caps() & STRICT);
            assertEquals(0, pair.b.fabric.info(new Info().caps(PLAIN)).best().caps() & STRICT & ~PLAIN);
            assertEquals(0, pair.b.fabric.info(null).best().caps() & Flags.SOURCE_ERR);
            // of a connection there is one source
            for (long caps : new long[] {Flags.SOURCE, Flags.SOURCE | Flags.SOURCE_ERR}) {
                Info connected = new Info().caps(Flags.MSG | caps);
                connected.epAttr().type(EndpointType.MSG);
                assertEquals(FabricErrno.ENODATA, errno(() -> pair.b.fabric.info(connected).best()));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-094")
    void shouldNotGiveAnEndpointANameThatErrorDataCannotHold(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = new FabricPair(setup)) {
            String stem = "jfabric://" + pair.a.fabric.driverName() + '/';
            int room = Math.min(64, 104 - stem.length());
            Receiver receiver = new Receiver(pair, STRICT, AddressVectorType.TABLE);
            // as long as the error data, as far as the part's own limit lets it be
            Info longest = pair.a.info.copy().srcAddr(stem + "n".repeat(room));
            Endpoint sender = pair.a.domain.openEndpoint(longest);
            sender.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            sender.bind(pair.a.av);
            sender.enable();
            assertEquals(stem.length() + room, sender.name().length());
            receiver.post(LENGTH, 1);
            assertEquals(0, sender.tsend(pair.a.memory.address(PAYLOAD), LENGTH, receiver.address, 5, 2));
            assertEquals(-FabricErrno.EAVAIL, receiver.awaitEntry());
            assertEquals(1, receiver.queue.readErr(receiver.error, 0));
            assertEquals(sender.name().length(), receiver.error.errDataSize());
            assertFalse(receiver.vector.lookup(receiver.vector.insert(receiver.error.errData())).isEmpty());
            assertEquals(FabricErrno.EINVAL, errno(
                () -> pair.a.av.insert("jfabric://" + "d".repeat(64) + '/' + "n".repeat(64))));
        }
    }

    private static int errno(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }

    /** An endpoint at the pair's second application with a queue and a vector of its own; the first one sends to it. */
    private static final class Receiver {
        final FabricPair pair;
        final CompletionQueue queue;
        final AddressVector vector;
        final Endpoint endpoint;
        final long address;
        final CompletionError error = new CompletionError();
        final UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
        final long[] source = new long[1];

        Receiver(FabricPair pair, long caps, AddressVectorType type) {
            this.pair = pair;
            Info info = pair.b.info.copy().caps(caps);
            info.txAttr().caps(0);
            info.rxAttr().caps(0);
            queue = pair.b.domain.openCompletionQueue(
                new CompletionQueueAttr().size(64).format(CompletionFormat.TAGGED));
            vector = pair.b.domain.openAddressVector(new AddressVectorAttr().type(type));
            endpoint = pair.b.domain.openEndpoint(info);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(vector);
            endpoint.enable();
            address = pair.a.av.insert(endpoint.name());
        }

        void post(int length, long context) {
            assertEquals(0, endpoint.trecv(pair.b.memory.address(BUFFER), length, ANY, 5, 0, context));
        }

        void send(long tag) {
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(PAYLOAD), LENGTH, address, tag, 77));
            pair.a.await(77);
        }

        int awaitEntry() {
            long deadline = System.nanoTime() + Deadline.ns(20);
            int result;
            while ((result = queue.readFrom(entry, 0, 1, source)) == -FabricErrno.EAGAIN) {
                assertTrue(System.nanoTime() - deadline < 0, "no entry in " + queue);
                step();
            }
            return result;
        }

        void poll(org.jfabric.CompletionHandler handler) {
            long deadline = System.nanoTime() + Deadline.ns(20);
            int result;
            while ((result = queue.poll(handler, 1)) == -FabricErrno.EAGAIN) {
                assertTrue(System.nanoTime() - deadline < 0, "no entry in " + queue);
                step();
            }
            assertEquals(1, result);
        }

        void poll(int expected) {
            assertEquals(expected, queue.poll(completion -> { }, 1));
        }

        private void step() {
            // an embedded peer goes on only when it is called
            pair.a.cq.read(null, 0, 0);
            Thread.yield();
        }

        void close() {
            endpoint.close();
            vector.close();
            queue.close();
        }
    }
}
