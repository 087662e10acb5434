package org.jfabric.driver.conformance.transmit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.Order;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** Attributes of the transmit side, as discovery returns them and endpoints keep them. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class TransmitAttributesTest {
    private static final long ANY = -1L;
    /** The list of TX-004. */
    private static final long APPLICABLE = Flags.MSG | Flags.RMA | Flags.TAGGED | Flags.ATOMIC | Flags.READ
        | Flags.WRITE | Flags.SEND | Flags.HMEM | Flags.TRIGGER | Flags.FENCE | Flags.MULTICAST | Flags.RMA_PMEM
        | Flags.NAMED_RX_CTX | Flags.COLLECTIVE | Flags.XPU;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TX-002")
    void shouldRefuseCapabilitiesThatTheEndpointIsNotAskedFor(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long[][] tooMuch = {
                {Flags.TAGGED, Flags.MSG}, {Flags.TAGGED, Flags.TAGGED | Flags.ATOMIC},
                {Flags.MSG, Flags.MSG | Flags.RMA},
                {Flags.TAGGED | Flags.RECV, Flags.TAGGED | Flags.SEND}, {Flags.TAGGED, Flags.TAGGED | Flags.RECV}};
            for (long[] caps : tooMuch) {
                Info hints = new Info().caps(caps[0]);
                hints.txAttr().caps(caps[1]);
                assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(hints).best()), hints::toString);
                String why = pair.a.fabric.info(hints).explain();
                assertTrue(why.contains("tx_attr.caps"), why);
            }
            Info subset = new Info().caps(Flags.TAGGED | Flags.MSG);
            subset.txAttr().caps(Flags.TAGGED | Flags.SEND);
            long offered = pair.a.fabric.info(subset).best().txAttr().caps();
            assertEquals(Flags.TAGGED | Flags.SEND, offered & (Flags.TAGGED | Flags.MSG | Flags.SEND));

            Info edited = pair.a.info.copy();
            edited.txAttr().caps(edited.txAttr().caps() | Flags.ATOMIC);
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openEndpoint(edited)));
            edited.caps(Flags.MSG).txAttr().caps(Flags.TAGGED);
            edited.rxAttr().caps(0);
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openEndpoint(edited)));
            edited.txAttr().caps(Flags.MSG);
            pair.a.domain.openEndpoint(edited).close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"TX-003", "TX-004"})
    void shouldTakeOverTheCapabilitiesThatApply(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long caps : new long[] {
                0, Flags.MSG, Flags.TAGGED, Flags.TAGGED | Flags.SEND, Flags.TAGGED | Flags.RECV,
                Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV | Flags.FENCE | Flags.LOCAL_COMM}) {
                List<Info> offers = pair.a.fabric.info(new Info().caps(caps)).matches();
                assertFalse(offers.isEmpty());
                for (Info offer : offers) {
                    assertEquals(offer.caps() & APPLICABLE, offer.txAttr().caps(), offer::toString);
                    assertEquals(caps, offer.caps() & caps);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"TX-006", "TX-007", "TX-008"})
    void shouldHaveNoModeThatTheEndpointHasNot(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long[] modes = {0, Mode.CONTEXT, Mode.CONTEXT | Mode.RX_CQ_DATA, Mode.BUFFERED_RECV, -1L & ~(1L << 63)};
            for (long mode : modes) {
                // 0 of the context is ignored: the endpoint's mode says what the application is able to do
                Info hints = new Info().caps(Flags.TAGGED).mode(mode);
                List<Info> offers = pair.a.fabric.info(hints).matches();
                assertFalse(offers.isEmpty());
                for (Info offer : offers) {
                    assertEquals(0, offer.txAttr().mode() & ~offer.mode());
                    assertEquals(0, offer.txAttr().mode() & (Mode.RX_CQ_DATA | Mode.BUFFERED_RECV),
                        "they concern receives");
                    assertEquals(0, offer.mode() & ~mode, "no more than the application can do");
                }
            }
            Info more = new Info().caps(Flags.TAGGED).mode(Mode.CONTEXT);
            more.txAttr().mode(Mode.CONTEXT | Mode.ASYNC_IOV);
            assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(more).best()));
            assertTrue(pair.a.fabric.info(more).explain().contains("tx_attr.mode"));
            Info edited = pair.a.info.copy();
            edited.txAttr().mode(Mode.ASYNC_IOV);
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openEndpoint(edited)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TX-009")
    void shouldGiveSendsWithoutFlagsTheFlagsOfTheContext(Setup setup) {
        setup.assumeMatchLevel();
        try (FabricPair pair = new FabricPair(setup)) {
            Info hints = pair.a.info.copy();
            hints.txAttr().opFlags(Flags.MATCH_COMPLETE);
            Info match = pair.a.fabric.info(hints).best();
            assertEquals(Flags.MATCH_COMPLETE, match.txAttr().opFlags() & Flags.MATCH_COMPLETE);
            try (Endpoint endpoint = pair.open(match)) {
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 64, pair.toB, 1));
                pair.a.await(1);
                assertEquals(0, endpoint.send(pair.a.memory.address(), 64, pair.toB, 2));
                assertEquals(0, endpoint.tsend(pair.a.memory.address(), 64, pair.toB, 9, 3));
                pair.a.assertQuiet(100);
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 9, 0, 13));
                pair.b.await(13);
                pair.a.await(3);
                pair.a.assertQuiet(100);
                assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 64, ANY, 11));
                assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 64, ANY, 12));
                pair.a.await(2);
                pair.b.await(11);
                pair.b.await(12);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TX-009")
    void shouldCopyAtOnceWhereTheFlagsOfTheContextSaySo(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info info = pair.a.info.copy();
            info.txAttr().opFlags(Flags.INJECT);
            try (Endpoint endpoint = pair.open(pair.a.fabric.info(info).best())) {
                pair.a.fill(0, 64, 1);
                assertEquals(0, endpoint.tsend(pair.a.memory.address(), 64, pair.toB, 1, 1));
                pair.a.fill(0, 64, 2);
                assertEquals(-FabricErrno.EINVAL,
                    endpoint.tsend(pair.a.memory.address(), endpoint.injectSize() + 1L, pair.toB, 1, 2));
                pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 3);
                pair.b.await(3);
                pair.b.assertFilled(0, 64, 1);
                pair.a.await(1);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TX-040")
    void shouldInjectUpToTheSizeReturnedAndNotMore(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int size = pair.a.endpoint.injectSize();
            assertTrue(size > 0);
            assertEquals(size, pair.a.info.txAttr().injectSize());
            for (long asked : new long[] {0, 1, size - 1, size}) {
                Info hints = new Info().caps(Flags.TAGGED);
                hints.txAttr().injectSize(asked);
                assertTrue(pair.a.fabric.info(hints).best().txAttr().injectSize() >= asked);
            }
            for (long asked : new long[] {(1 << 16) + 1L, 1L << 31, -1L}) {
                Info hints = new Info().caps(Flags.TAGGED);
                hints.txAttr().injectSize(asked);
                assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(hints).best()));
            }
            assertInjects(pair, size);
        }
    }

    private static void assertInjects(FabricPair pair, int size) {
        UnsafeBuffer payload = new UnsafeBuffer(new byte[size + 1]);
        long left = pair.a.endpoint.txSizeLeft();
        assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.inject(payload, 0, size + 1, pair.toB));
        assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.tinject(payload, 0, size + 1, pair.toB, 1));
        long buf = pair.a.memory.address();
        assertEquals(-FabricErrno.EINVAL,
            pair.a.endpoint.messages().tsendmsg(buf, size + 1L, 0, pair.toB, 1, 1, Flags.INJECT));
        assertEquals(-FabricErrno.EINVAL,
            pair.a.endpoint.messages().sendmsg(buf, size + 1L, 0, pair.toB, 1, Flags.INJECT));
        assertEquals(left, pair.a.endpoint.txSizeLeft());
        pair.b.endpoint.trecv(pair.b.memory.address(), size + 1, ANY, 1, 0, 1);
        pair.b.endpoint.recv(pair.b.memory.address(size + 1L), size + 1, ANY, 2);
        for (int i = 0; i < size; i++) {
            payload.putByte(i, FabricNode.pattern(3, i));
        }
        assertEquals(0, pair.a.endpoint.tinject(payload, 0, size, pair.toB, 1));
        assertEquals(0, pair.a.endpoint.inject(payload, 0, size, pair.toB));
        payload.setMemory(0, size, (byte) 0);
        assertEquals(size, pair.b.await(1).len());
        assertEquals(size, pair.b.await(2).len());
        pair.b.assertFilled(0, size, 3);
        pair.b.assertFilled(size + 1L, size, 3);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-001")
    void shouldGiveMoreThanIsUsualWhereThatIsAskedFor(Setup setup) {
        Info hints = FabricPair.usualHints();
        hints.txAttr().size(600).injectSize(1000);
        hints.rxAttr().size(2500);
        try (FabricPair pair = new FabricPair(setup, hints, 4096)) {
            assertEquals(600, pair.a.endpoint.txSizeLeft());
            assertEquals(2500, pair.a.endpoint.rxSizeLeft());
            assertEquals(1000, pair.a.endpoint.injectSize());
            assertInjects(pair, 1000);
            for (int i = 0; i < 2500; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(8L * i), 8, ANY, i, 0, i));
            }
            for (int i = 0; i < 2500; i++) {
                UnsafeBuffer word = pair.a.memory.buffer();
                word.putLong(8 * i, i);
                int number = i;
                Deadline.await("room for a send", () -> {
                    int result = pair.a.endpoint.tsend(pair.a.memory.address(8L * number), 8, pair.toB, number, 9);
                    if (result == -FabricErrno.EAGAIN) {
                        pair.a.await(9);
                    }
                    return result == 0;
                }, () -> pair.look(pair.a));
            }
            for (int i = 0; i < 2500; i++) {
                pair.b.await(i);
                assertEquals(i, pair.b.memory.buffer().getLong(8 * i));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TX-015")
    void shouldReturnTheOrderThatTheLinkKeepsWhenNoneIsAskedFor(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info hints = new Info().caps(Flags.TAGGED);
            hints.txAttr().msgOrder(Order.NONE);
            hints.rxAttr().msgOrder(Order.NONE);
            for (Info offer : pair.a.fabric.info(hints).matches()) {
                assertEquals(Order.SAS, offer.txAttr().msgOrder());
                assertEquals(Order.SAS, offer.rxAttr().msgOrder());
            }
            // what no link keeps is refused by name, for either direction
            for (int bit = 0; bit < 40; bit++) {
                long order = 1L << bit;
                for (boolean transmit : new boolean[] {true, false}) {
                    Info asked = new Info().caps(Flags.TAGGED);
                    if (transmit) {
                        asked.txAttr().msgOrder(order);
                    } else {
                        asked.rxAttr().msgOrder(order);
                    }
                    assertEquals(order == Order.SAS, !pair.a.fabric.info(asked).matches().isEmpty(), asked::toString);
                }
            }
        }
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
