package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connection-oriented and connectionless endpoints, reliable ones and others, beside each other in one driver. */
@Tag("conformance")
@Timeout(120)
class EndpointKindsTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, names = {"EMBEDDED", "DAEMON"})
    @Requirement("EP-003")
    void shouldOfferInterfacesByTheKindOfEndpoint(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup)) {
            for (EndpointType type : List.of(EndpointType.MSG, EndpointType.RDM, EndpointType.DGRAM)) {
                boolean reliable = type != EndpointType.DGRAM;
                Info hints = new Info();
                hints.epAttr().type(type);
                List<Info> offers = pair.a.fabric.info(hints).matches();
                assertFalse(offers.isEmpty(), type.toString());
                for (Info offer : offers) {
                    assertEquals(type, offer.epAttr().type());
                    assertEquals(Flags.MSG, offer.caps() & Flags.MSG, offer.toString());
                    assertEquals(reliable ? Flags.TAGGED : 0, offer.caps() & Flags.TAGGED, offer.toString());
                    // of a connection there is one sender, which need not be told
                    assertEquals(type == EndpointType.MSG ? 0 : Flags.SOURCE, offer.caps() & Flags.SOURCE);
                }
                Info delivered = hints.copy();
                delivered.txAttr().opFlags(Flags.DELIVERY_COMPLETE);
                assertEquals(reliable, !pair.a.fabric.info(delivered).matches().isEmpty(), type.toString());

                Endpoint endpoint = pair.a.domain.openEndpoint(offers.getFirst());
                endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
                int connecting = assertThrows(FabricException.class, () -> endpoint.connect("nowhere")).errno();
                assertEquals(type != EndpointType.MSG, connecting == FabricErrno.ENOSYS, type + ": " + connecting);
                endpoint.close();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, names = {"EMBEDDED", "DAEMON"})
    @Requirement("EP-057")
    void shouldReportToOneQueueFromEndpointsOfSeveralKinds(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup)) {
            Info hints = new Info();
            hints.epAttr().type(EndpointType.MSG);
            Endpoint connected = pair.a.domain.openEndpoint(pair.a.fabric.info(hints).best());
            connected.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            connected.bind(pair.a.fabric.openEventQueue(new org.jfabric.info.EventQueueAttr()), 0);
            connected.enable();
            for (int i = 0; i < 10; i++) {
                assertEquals(0, connected.recv(pair.a.memory.address(), 64, ANY, 100 + i));
                assertEquals(0, pair.a.endpoint.recv(pair.a.memory.address() + 64, 64, ANY, 200 + i));
                assertEquals(0, pair.b.endpoint.send(pair.b.memory.address(), 10 + i, pair.toA, 1));
                pair.b.await(1);
                FabricNode.Entry datagram = pair.a.await(200 + i);
                assertEquals(10 + i, datagram.len());
                assertEquals(pair.toB, datagram.source());
                assertEquals(0, connected.cancel(100 + i));
                FabricNode.Entry cancelled = pair.a.await();
                assertEquals(100 + i, cancelled.context());
                assertEquals(FabricErrno.ECANCELED, cancelled.err());
            }
            connected.close();
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 5, pair.toB, 3));
            pair.a.await(3);
        }
    }
}
