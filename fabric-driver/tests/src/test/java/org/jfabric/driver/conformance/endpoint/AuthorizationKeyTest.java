package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Only endpoints with the same authorization key communicate. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class AuthorizationKeyTest {
    private static final long ANY = -1L;
    private static final int LENGTH = 64;
    private static final byte[] RED = {1, 2, 3, 4};
    private static final byte[] BLUE = {1, 2, 3, 5};
    private static final byte[] LONGER = {1, 2, 3, 4, 0};
    private static final byte[] NONE = {};

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-156")
    void shouldLetMessagesCrossOnlyBetweenEqualKeys(Setup setup) {
        setup.assumeKeys();
        try (FabricPair pair = new FabricPair(setup)) {
            byte[][] keys = {NONE, RED, BLUE, LONGER, new byte[128]};
            for (byte[] sender : keys) {
                for (byte[] receiver : keys) {
                    try (Side from = side(pair.a, pair.a.domain, sender);
                        Side to = side(pair.b, pair.b.domain, receiver)) {
                        assertArrayEquals(sender, from.endpoint.info().epAttr().authKey());
                        exchange(pair, from, to, sender == receiver);
                    }
                }
            }
            pair.assertTransfers(pair.a.endpoint);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-157")
    void shouldUseTheKeyOfTheDomainWhereTheEndpointHasNone(Setup setup) {
        setup.assumeKeys();
        try (FabricPair pair = new FabricPair(setup)) {
            Info keyed = pair.a.info.copy();
            keyed.domainAttr().authKey(RED);
            Domain domain = pair.a.fabric.domain(pair.a.fabric.info(keyed).best());
            try (Side byDomain = side(pair.a, domain, NONE);
                Side own = side(pair.a, domain, BLUE);
                Side red = side(pair.b, pair.b.domain, RED);
                Side blue = side(pair.b, pair.b.domain, BLUE);
                Side none = side(pair.b, pair.b.domain, NONE)) {
                exchange(pair, byDomain, red, true);
                exchange(pair, byDomain, blue, false);
                exchange(pair, byDomain, none, false);
                exchange(pair, own, blue, true);
                exchange(pair, own, red, false);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldKeepAKeyThroughDiscoveryAndRefuseOneThatIsTooLong(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info hints = pair.a.info.copy();
            hints.epAttr().authKey(RED);
            if (setup.isForeign()) {
                assertRefused(pair, hints);
                return;
            }
            assertArrayEquals(RED, pair.a.fabric.info(hints).best().epAttr().authKey());
            hints.epAttr().authKey(new byte[129]);
            assertRefused(pair, hints);
        }
    }

    private static void assertRefused(FabricPair pair, Info hints) {
        assertEquals(FabricErrno.ENODATA,
            assertThrows(FabricException.class, () -> pair.a.fabric.info(hints).best()).errno());
        assertTrue(pair.a.fabric.info(hints).explain().contains("auth_key_size"));
        Endpoint endpoint = pair.a.domain.openEndpoint(hints);
        endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(pair.a.av);
        assertEquals(FabricErrno.EINVAL, assertThrows(FabricException.class, endpoint::enable).errno());
        endpoint.close();
    }

    /** An endpoint with a queue and a vector of its own. */
    private record Side(Endpoint endpoint, CompletionQueue queue, AddressVector vector) implements AutoCloseable {
        static Side open(Domain domain, Info info) {
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(16));
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            Endpoint endpoint = domain.openEndpoint(info);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(vector);
            endpoint.enable();
            return new Side(endpoint, queue, vector);
        }

        @Override
        public void close() {
            endpoint.close();
            queue.close();
            vector.close();
        }
    }

    private static Side side(FabricNode node, Domain domain, byte[] key) {
        Info info = node.info.copy();
        info.epAttr().authKey(key);
        return Side.open(domain, info);
    }

    private static void exchange(FabricPair pair, Side from, Side to, boolean crosses) {
        String what = from + " to " + to;
        assertEquals(0, to.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 0, -1L, 1));
        long destination = from.vector.insert(to.endpoint.name());
        assertEquals(0, from.endpoint.tsend(pair.a.memory.address(), LENGTH, destination, 9, 2), what);
        if (crosses) {
            assertEquals(2, await(pair, from.queue), what);
            assertEquals(1, await(pair, to.queue), what);
            return;
        }
        assertEquals(-FabricErrno.EKEYREJECTED, await(pair, from.queue), what);
        pair.a.assertQuiet(50);
        assertEquals(-FabricErrno.EAGAIN, to.queue.read(null, 0, 0), "a message crossed: " + what);
        assertEquals(0, to.endpoint.cancel(1));
        assertEquals(-FabricErrno.ECANCELED, await(pair, to.queue), what);
    }

    /** The context of the next entry, or its negative errno. */
    private static long await(FabricPair pair, CompletionQueue queue) {
        UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
        CompletionError error = new CompletionError();
        long deadline = System.nanoTime() + Deadline.ns(20);
        int result;
        while ((result = queue.read(entry, 0, 1)) == -FabricErrno.EAGAIN) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "nothing in " + queue);
            pair.a.assertQuiet(1);
            pair.b.assertQuiet(1);
        }
        if (result == 1) {
            return entry.getLong(0);
        }
        assertEquals(-FabricErrno.EAVAIL, result);
        assertEquals(1, queue.readErr(error, 0));
        return -error.err();
    }
}
