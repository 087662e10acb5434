package org.jfabric.driver.conformance.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** Attributes of the receive side, as discovery returns them. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class ReceiveAttributesTest {
    /** The list of RX-004, without multicast (AMB-58). */
    private static final long APPLICABLE = Flags.MSG | Flags.RMA | Flags.TAGGED | Flags.ATOMIC | Flags.REMOTE_READ
        | Flags.REMOTE_WRITE | Flags.RECV | Flags.HMEM | Flags.TRIGGER | Flags.RMA_PMEM | Flags.DIRECTED_RECV
        | Flags.VARIABLE_MSG | Flags.MULTI_RECV | Flags.SOURCE | Flags.RMA_EVENT | Flags.SOURCE_ERR | Flags.COLLECTIVE
        | Flags.XPU;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("RX-002")
    void shouldRefuseCapabilitiesThatTheEndpointIsNotAskedFor(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long[][] tooMuch = {
                {Flags.TAGGED, Flags.MSG}, {Flags.TAGGED, Flags.TAGGED | Flags.SOURCE},
                {Flags.TAGGED | Flags.SEND, Flags.TAGGED | Flags.RECV}, {Flags.TAGGED, Flags.TAGGED | Flags.SEND}};
            for (long[] caps : tooMuch) {
                Info hints = new Info().caps(caps[0]);
                hints.rxAttr().caps(caps[1]);
                assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(hints).best()), hints::toString);
                String why = pair.a.fabric.info(hints).explain();
                assertTrue(why.contains("rx_attr.caps"), why);
            }
            Info subset = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE);
            subset.rxAttr().caps(Flags.TAGGED | Flags.RECV);
            assertEquals(Flags.TAGGED | Flags.RECV, pair.a.fabric.info(subset).best().rxAttr().caps());

            Info edited = pair.a.info.copy().caps(Flags.TAGGED);
            edited.txAttr().caps(0);
            edited.rxAttr().caps(Flags.TAGGED | Flags.SOURCE);
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openEndpoint(edited)));
            edited.rxAttr().caps(Flags.TAGGED | Flags.RECV);
            pair.a.domain.openEndpoint(edited).close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"RX-003", "RX-004"})
    void shouldTakeOverTheCapabilitiesThatApply(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long caps : new long[] {
                0, Flags.MSG, Flags.TAGGED, Flags.TAGGED | Flags.SEND, Flags.TAGGED | Flags.RECV,
                Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.SOURCE_ERR | Flags.DIRECTED_RECV | Flags.LOCAL_COMM}) {
                List<Info> offers = pair.a.fabric.info(new Info().caps(caps)).matches();
                assertFalse(offers.isEmpty());
                for (Info offer : offers) {
                    assertEquals(offer.caps() & APPLICABLE, offer.rxAttr().caps(), offer::toString);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("RX-006")
    void shouldHaveNoModeThatTheEndpointHasNot(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long mode : new long[] {0, Mode.CONTEXT, Mode.RX_CQ_DATA | Mode.ASYNC_IOV}) {
                // 0 of the context is ignored: the endpoint's mode says what the application is able to do
                List<Info> offers = pair.a.fabric.info(new Info().caps(Flags.TAGGED).mode(mode)).matches();
                assertFalse(offers.isEmpty());
                for (Info offer : offers) {
                    assertEquals(0, offer.rxAttr().mode() & ~offer.mode());
                    assertEquals(0, offer.rxAttr().mode() & Mode.ASYNC_IOV, "it concerns sends");
                    assertEquals(0, offer.mode() & ~mode, "no more than the application can do");
                }
            }
            Info more = new Info().caps(Flags.TAGGED).mode(Mode.CONTEXT);
            more.rxAttr().mode(Mode.CONTEXT | Mode.RX_CQ_DATA);
            assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(more).best()));
            assertTrue(pair.a.fabric.info(more).explain().contains("rx_attr.mode"));
            Info edited = pair.a.info.copy();
            edited.rxAttr().mode(Mode.RX_CQ_DATA);
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openEndpoint(edited)));
        }
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
