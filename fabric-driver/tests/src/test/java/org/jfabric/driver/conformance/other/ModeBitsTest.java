package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Mode bits say what an application can put up with; no link asks anything of it. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class ModeBitsTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final long LENGTH = 64;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"REF-001", "REF-007", "EP-133"})
    void shouldClearTheModesThatAreNotNeeded(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long every = Mode.CONTEXT | Mode.CONTEXT2 | Mode.MSG_PREFIX | Mode.RX_CQ_DATA | Mode.NOTIFY_FLAGS_ONLY
                | Mode.ASYNC_IOV | Mode.RESTRICTED_COMP;
            for (long mode : new long[] {0, Mode.NOTIFY_FLAGS_ONLY, every}) {
                Info hints = new Info().caps(Flags.TAGGED).mode(mode);
                hints.txAttr().mode(mode);
                hints.rxAttr().mode(mode);
                List<Info> matches = pair.a.fabric.info(hints).matches();
                assertFalse(matches.isEmpty());
                for (Info match : matches) {
                    assertEquals(0, match.mode());
                    assertEquals(0, match.txAttr().mode());
                    assertEquals(0, match.rxAttr().mode());
                    assertEquals(0, match.epAttr().msgPrefixSize());
                }
                assertEquals(mode, hints.mode(), "the hints were written to");
                if ((mode & Mode.MSG_PREFIX) != 0) {
                    for (long length : new long[] {8, 16, 40, 4, 12, 17}) {
                        Info prefixed = new Info().caps(Flags.TAGGED).mode(Mode.MSG_PREFIX);
                        prefixed.epAttr().msgPrefixSize(length);
                        List<Info> offers = pair.a.fabric.info(prefixed).matches();
                        assertEquals(length % 8 != 0, offers.isEmpty(), "a multiple of 8, asked for is " + length);
                        offers.forEach(offer -> assertEquals(length, offer.epAttr().msgPrefixSize()));
                    }
                }
                hints.fabricAttr().provName("no such provider");
                assertEquals(FabricErrno.ENODATA, assertThrows(
                    FabricException.class, () -> pair.a.fabric.info(hints).best()).errno());
            }
        }
    }

    /** The one mode that an application wishes for: it changes what receives are. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldHaveBufferedReceivesOnlyWhereTheyAreAskedFor(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info hints = new Info().caps(Flags.TAGGED).mode(Mode.BUFFERED_RECV | Mode.CONTEXT);
            for (long receive : new long[] {0, Mode.BUFFERED_RECV, Mode.CONTEXT}) {
                hints.rxAttr().mode(receive);
                long expected = receive == Mode.CONTEXT ? 0 : Mode.BUFFERED_RECV;
                for (Info match : pair.a.fabric.info(hints).matches()) {
                    assertEquals(expected, match.mode());
                    assertEquals(expected, match.rxAttr().mode());
                    assertEquals(0, match.txAttr().mode());
                }
            }
            hints.rxAttr().mode(0);
            for (long excluded : new long[] {Flags.MULTI_RECV, Flags.SOURCE | Flags.SOURCE_ERR}) {
                hints.caps(Flags.MSG | excluded);
                assertEquals(FabricErrno.ENODATA, assertThrows(
                    FabricException.class, () -> pair.a.fabric.info(hints).best()).errno());
            }
            hints.caps(Flags.TAGGED | Flags.SEND);
            assertEquals(0, pair.a.fabric.info(hints).best().mode());
            // nothing named: what does not go with the mode is left out
            hints.caps(0);
            assertEquals(0, pair.a.fabric.info(hints).best().caps() & Flags.MULTI_RECV);
        }
    }

    /** The mode allows flags to be left out; they are complete all the same. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("CQ-143")
    void shouldKeepEveryFlagWhenAnApplicationCouldDoWithout(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info info = pair.b.info.copy().mode(Mode.NOTIFY_FLAGS_ONLY);
            info.txAttr().mode(Mode.NOTIFY_FLAGS_ONLY);
            info.rxAttr().mode(Mode.NOTIFY_FLAGS_ONLY);
            Endpoint endpoint = pair.b.domain.openEndpoint(info);
            endpoint.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.b.av);
            endpoint.enable();
            assertEquals(Mode.NOTIFY_FLAGS_ONLY, endpoint.info().mode());
            long to = pair.a.av.insert(endpoint.name());
            endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 11);
            endpoint.recv(pair.b.memory.address(LENGTH), LENGTH, ANY, 12);
            endpoint.trecv(pair.b.memory.address(2 * LENGTH), LENGTH - 1, ANY, 2, 0, 13);
            pair.a.endpoint.messages().tsenddata(pair.a.memory.address(), LENGTH, 0xDA, to, 1, 1);
            pair.a.await(1);
            assertEquals(Flags.RECV | Flags.TAGGED | Flags.REMOTE_CQ_DATA, pair.b.await(11).flags());
            pair.a.endpoint.send(pair.a.memory.address(), LENGTH, to, 2);
            pair.a.await(2);
            assertEquals(Flags.RECV | Flags.MSG, pair.b.await(12).flags());
            pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH, to, 2, 3);
            pair.a.await(3);
            FabricNode.Entry error = pair.b.await();
            assertEquals(FabricErrno.ETRUNC, error.err());
            assertEquals(Flags.RECV | Flags.TAGGED, error.flags());
            pair.a.endpoint.trecv(pair.a.memory.address(), LENGTH, ANY, 3, 0, 4);
            endpoint.tsend(pair.b.memory.address(), LENGTH, pair.toA, 3, 14);
            pair.a.await(4);
            assertEquals(Flags.SEND | Flags.TAGGED, pair.b.await(14).flags());
            pair.a.endpoint.trecv(pair.a.memory.address(), LENGTH, ANY, 3, 0, 5);
            assertEquals(0, endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, pair.toA, 3));
            pair.a.await(5);
        }
    }
}
