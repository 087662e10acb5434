package org.jfabric.driver.conformance.transmit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.TrafficClass;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** Traffic classes are hints that travel: to discovery and back, and with a domain to its endpoints. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class TrafficClassTest {
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"TX-047", "TX-048"})
    void shouldTakeOverTheClassOfTheDomain(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int standard = TrafficClass.BEST_EFFORT.code();
            assertEquals(0x200, standard);
            assertEquals(standard, pair.a.info.domainAttr().tclass(), "the default where nothing is configured");
            assertEquals(standard, pair.a.info.txAttr().tclass());
            Info hints = new Info().caps(Flags.TAGGED);
            hints.domainAttr().tclass(TrafficClass.SCAVENGER.code());
            Info match = pair.a.fabric.info(hints).best();
            assertEquals(TrafficClass.SCAVENGER.code(), match.domainAttr().tclass());
            assertEquals(TrafficClass.SCAVENGER.code(), match.txAttr().tclass());
            try (Domain domain = pair.a.fabric.domain(match)) {
                Info unset = pair.a.info.copy();
                unset.txAttr().tclass(TrafficClass.UNSPEC.code());
                try (Endpoint endpoint = domain.openEndpoint(unset)) {
                    assertEquals(TrafficClass.SCAVENGER.code(), endpoint.info().txAttr().tclass());
                }
                unset.txAttr().tclass(TrafficClass.LOW_LATENCY.code());
                try (Endpoint endpoint = domain.openEndpoint(unset)) {
                    assertEquals(TrafficClass.LOW_LATENCY.code(), endpoint.info().txAttr().tclass());
                }
            }
        }
    }

    /** Management traffic needs no privilege here: no link gives it any. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"TX-049", "TX-050", "TX-051", "TX-052", "TX-053", "TX-054"})
    void shouldKeepEveryLabelAndTransferWithIt(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (TrafficClass label : TrafficClass.values()) {
                if (label.code() >= TrafficClass.LABEL) {
                    assertKept(pair, label.code());
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"TX-047", "TX-054", "TX-055"})
    void shouldKeepCodePoints(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int dscp : new int[] {0, 1, 10, 46, 63, 255}) {
                int tclass = TrafficClass.dscpSet(dscp);
                assertKept(pair, tclass);
                Info hints = new Info().caps(Flags.TAGGED);
                hints.txAttr().tclass(tclass);
                assertEquals(dscp, TrafficClass.dscpGet(pair.a.fabric.info(hints).best().txAttr().tclass()));
            }
            for (TrafficClass label : TrafficClass.values()) {
                if (label != TrafficClass.DSCP) {
                    assertEquals(0, TrafficClass.dscpGet(label.code()), label::toString);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseClassesThatNoLinkHas(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int tclass : new int[] {1, 46, 0xff, 0x206, 0x300, 0x400, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
                Info hints = new Info();
                hints.txAttr().tclass(tclass);
                assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(hints).best()));
                assertTrue(pair.a.fabric.info(hints).explain().contains("tx_attr.tclass"));
                hints.txAttr().tclass(0);
                hints.domainAttr().tclass(tclass);
                assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(hints).best()));
                Info edited = pair.a.info.copy();
                edited.txAttr().tclass(tclass);
                assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openEndpoint(edited)));
            }
        }
    }

    private static void assertKept(FabricPair pair, int tclass) {
        Info hints = pair.a.info.copy();
        hints.txAttr().tclass(tclass);
        List<Info> matches = pair.a.fabric.info(hints).matches();
        assertFalse(matches.isEmpty(), () -> pair.a.fabric.info(hints).explain());
        for (Info match : matches) {
            assertEquals(tclass, match.txAttr().tclass());
        }
        try (Endpoint endpoint = pair.open(matches.getFirst())) {
            assertEquals(tclass, endpoint.info().txAttr().tclass());
            pair.b.endpoint.trecv(pair.b.memory.address(), 64, -1L, tclass, 0, 1);
            pair.a.fill(0, 64, tclass);
            assertEquals(0, endpoint.tsend(pair.a.memory.address(), 64, pair.toB, tclass, 2));
            pair.b.await(1);
            pair.a.await(2);
            pair.b.assertFilled(0, 64, tclass);
        }
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
