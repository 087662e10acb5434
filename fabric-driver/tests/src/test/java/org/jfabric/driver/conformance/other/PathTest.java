package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.PeerPath;
import org.jfabric.info.Verdict;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How a peer is reached, and why that way. */
@Tag("conformance")
@Tag("link")
class PathTest {
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldNameLinkAddressesAndState(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            PeerPath before = pair.a.endpoint.path(pair.toB);
            assertEquals(PeerPath.State.DOWN, before.state(), "nothing was sent yet");
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, -1L, 7, 0, 1));
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 7, 2));
            pair.a.await(2);
            pair.b.await(1);

            PeerPath path = pair.a.endpoint.path(pair.toB);

            assertEquals(setup.reachingLink(), path.linkName(), path::explain);
            assertEquals(pair.a.endpoint.name(), path.localAddress());
            assertEquals(pair.b.endpoint.name(), path.remoteAddress());
            assertEquals(PeerPath.State.UP, path.state());
            List<Verdict> chosen = path.verdicts().stream().filter(Verdict::chosen).toList();
            assertEquals(List.of(setup.reachingLink()), chosen.stream().map(Verdict::linkName).toList(), path::explain);
            assertTrue(path.verdicts().size() > 1, path::explain);
            for (Verdict verdict : path.verdicts()) {
                assertFalse(verdict.reasons().isEmpty(), path::explain);
            }
            assertEquals(before.verdicts(), path.verdicts());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseUnknownPeersAndClosedEndpoints(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(FabricErrno.EINVAL,
                assertThrows(FabricException.class, () -> pair.a.endpoint.path(77)).errno());
            FabricNode other = pair.sibling(pair.a, pair.a.info, 0);
            other.endpoint.close();
            assertEquals(FabricErrno.EOPBADSTATE,
                assertThrows(FabricException.class, () -> other.endpoint.path(0)).errno());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldExplainThatDatagramsGoByUdp(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup)) {
            PeerPath path = pair.a.endpoint.path(pair.toB);

            assertEquals(setup.link, path.linkName(), path::explain);
            assertEquals(PeerPath.State.UP, path.state(), "there is nothing to connect");
            assertEquals(pair.b.endpoint.name(), path.remoteAddress());
            String shm = path.verdicts().stream().filter(each -> each.linkName().equals("shm")).findFirst()
                .orElseThrow().toString();
            assertTrue(shm.contains("links of the endpoint: seen " + setup.link + ", needed shm"), shm);
        }
    }
}
