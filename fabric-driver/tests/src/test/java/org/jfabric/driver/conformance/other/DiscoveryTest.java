package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.DomainAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.MrMode;
import org.jfabric.info.Order;
import org.jfabric.info.Progress;
import org.jfabric.info.Protocol;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.Threading;
import org.jfabric.info.TrafficClass;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** What discovery offers for hints, and that what is opened with an offer keeps to it. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class DiscoveryTest {
    private static final long ANY = -1L;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"EP-124", "EP-130", "EP-163"})
    void shouldOfferConcreteValuesThatMeetTheHints(Setup setup) {
        setup.assumeNoDevice();
        try (FabricPair pair = new FabricPair(setup)) {
            assertFalse(pair.a.fabric.info(null).matches().isEmpty());
            Info hints = new Info().caps(Flags.TAGGED | Flags.SEND).mode(-1L);
            hints.txAttr().msgOrder(Order.SAS).injectSize(8);
            hints.epAttr().maxMsgSize(1 << 20);
            List<Info> offers = pair.a.fabric.info(hints).matches();
            assertFalse(offers.isEmpty());
            for (Info offer : offers) {
                assertEquals(hints.caps(), offer.caps() & hints.caps(), offer::toString);
                assertEquals(Order.SAS, offer.txAttr().msgOrder() & Order.SAS);
                assertTrue(offer.txAttr().injectSize() >= 8);
                assertTrue(offer.epAttr().maxMsgSize() >= 1 << 20);
                assertNotEquals(EndpointType.UNSPEC, offer.epAttr().type());
                assertNotEquals(Protocol.UNSPEC, offer.epAttr().protocol());
                assertTrue(offer.epAttr().protocol().isProviderSpecific() || setup.isForeign()
                    || Set.of("tcp", "tls").contains(offer.linkName()), offer::toString);
            }
            Info impossible = new Info();
            impossible.txAttr().injectSize(1 << 30);
            assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(impossible).best()));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"REF-002", "EP-164"})
    void shouldOpenWithAnEditedCopyAndLeaveTheOriginalAlone(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            String before = pair.a.info.toString();
            Info copy = pair.a.info.copy();
            assertEquals(before, copy.toString());
            copy.caps(Flags.TAGGED | Flags.SEND | Flags.RECV);
            copy.txAttr().caps(0).size(4);
            copy.rxAttr().caps(0).size(4);
            copy.fabricAttr().name("edited");
            copy.domainAttr().tclass(TrafficClass.SCAVENGER.code());
            copy.epAttr().maxMsgSize(4096);
            assertEquals(before, pair.a.info.toString());
            Endpoint endpoint = pair.a.domain.openEndpoint(copy);
            copy.caps(0);
            endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.a.av);
            endpoint.enable();
            assertEquals(4, endpoint.rxSizeLeft());
            assertEquals(Flags.TAGGED | Flags.SEND | Flags.RECV, endpoint.info().caps());
            endpoint.info().caps(0);
            assertEquals(Flags.TAGGED | Flags.SEND | Flags.RECV, endpoint.info().caps(), "each time another copy");
            assertEquals(0, new Info().caps());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-004")
    void shouldMeanBothDirectionsUnlessOneIsNamed(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long both = Flags.SEND | Flags.RECV;
            for (Info offer : pair.a.fabric.info(new Info().caps(Flags.MSG)).matches()) {
                assertEquals(both, offer.caps() & both);
                assertEquals(Flags.MSG, offer.caps() & (Flags.MSG | Flags.TAGGED), "only what was asked for");
            }
            for (Info offer : pair.a.fabric.info(new Info().caps(Flags.MSG | Flags.SEND)).matches()) {
                assertEquals(Flags.SEND, offer.caps() & both);
            }
            if (setup.hasAllOfOwn()) {
                long accesses = Flags.READ | Flags.WRITE | Flags.REMOTE_READ | Flags.REMOTE_WRITE;
                for (long named : new long[] {Flags.READ, Flags.WRITE | Flags.REMOTE_READ, Flags.REMOTE_WRITE}) {
                    Info hints = new Info().caps(Flags.RMA | named).linkName(setup.link);
                    assertEquals(named, pair.a.fabric.info(hints).best().caps() & (accesses | both));
                }
                assertEquals(accesses, pair.a.fabric.info(new Info().caps(Flags.RMA).linkName(setup.link)).best().caps()
                    & (accesses | both));
            }
            CompletionQueue queue = pair.a.domain.openCompletionQueue(new CompletionQueueAttr().size(16));
            Info sends = pair.a.info.copy().caps(Flags.MSG | Flags.SEND);
            sends.txAttr().caps(0);
            sends.rxAttr().caps(0);
            Endpoint sender = pair.a.domain.openEndpoint(sends);
            sender.bind(queue, Flags.TRANSMIT);
            sender.bind(pair.a.av);
            sender.enable();
            assertEquals(-FabricErrno.EOPNOTSUPP, sender.recv(pair.a.memory.address(), 8, ANY, 1));
            pair.b.endpoint.recv(pair.b.memory.address(), 64, ANY, 2);
            assertEquals(0, sender.inject(new UnsafeBuffer(new byte[8]), 0, 8, pair.toB));
            pair.b.await(2);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement(value = "REF-006", refused = {"REF-045", "REF-053"})
    void shouldNotOfferWhatIsNotThere(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long caps : new long[] {Flags.COLLECTIVE, Flags.VARIABLE_MSG}) {
                assertNotOffered(pair, new Info().caps(caps), "caps");
                assertNotOffered(pair, new Info().caps(Flags.TAGGED | caps), "caps");
            }
            for (long caps : new long[] {Flags.RMA_EVENT, Flags.TAGGED | Flags.RMA_EVENT,
                Flags.RMA | Flags.READ | Flags.WRITE | Flags.RMA_EVENT}) {
                assertNotOffered(pair, new Info().caps(caps), "caps");
            }
            if (setup.isForeign()) {
                long notHere = setup.isStream() ? Flags.RMA | Flags.ATOMIC : Flags.RMA | Flags.RMA_EVENT;
                assertNotOffered(pair, new Info().caps(notHere).linkName(setup.link), "caps");
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement(value = "REF-056", refused = {"REF-054", "REF-055"})
    void shouldOfferNoMemoryOfDevicesAndPersistentMemoryOnlyInFiles(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertNotOffered(pair, new Info().caps(Flags.HMEM), "caps");
            InfoResult persistent = pair.a.fabric.info(new Info().caps(Flags.RMA_PMEM).linkName(setup.link));
            assertEquals(!setup.offersCommits(), persistent.matches().isEmpty(), persistent::explain);
            assertEquals(FabricErrno.EBADFLAGS, assertThrows(FabricException.class, () -> pair.a.domain.allocate(
                4096, new MemoryRegionAttr().flags(Flags.RMA_PMEM))).errno());
            assertNotOffered(pair, new Info().caps(Flags.XPU), "caps");
            assertNotOffered(pair, new Info().caps(Flags.TRIGGER | Flags.XPU), "caps");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement(value = "SOCK-016", refused = {"EP-127", "EP-129"})
    void shouldNotOfferProtocolsOfCardsAndSocketEndpointsOnlyOnTheirLinks(Setup setup) {
        setup.assumeNoDevice();
        try (FabricPair pair = new FabricPair(setup)) {
            for (Protocol protocol : Protocol.values()) {
                // that of the tcp link, which every driver has
                boolean isOffered = protocol.isProviderSpecific() || protocol == Protocol.XNET
                    || protocol == Protocol.RXM && setup.confirmsMatches();
                if (protocol != Protocol.UNSPEC && !isOffered) {
                    Info hints = new Info();
                    hints.epAttr().protocol(protocol);
                    assertNotOffered(pair, hints, "protocol");
                }
            }
            for (EndpointType type : new EndpointType[] {EndpointType.SOCK_STREAM, EndpointType.SOCK_DGRAM}) {
                Info hints = new Info().linkName(setup.link);
                hints.epAttr().type(type);
                if (type == EndpointType.SOCK_STREAM && setup.link.equals("tcp")) {
                    assertEquals(type, pair.a.fabric.info(hints).best().epAttr().type());
                } else {
                    assertNotOffered(pair, hints, "type");
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-011")
    void shouldTellLimitsOfTheDomainThatHold(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            DomainAttr domain = pair.a.info.domainAttr();
            assertEquals(pair.a.fabric.driverName(), domain.name());
            assertNotEquals(Threading.UNSPEC, domain.threading());
            assertEquals(setup.daemon ? Progress.AUTO : Progress.MANUAL, domain.dataProgress());
            assertEquals(domain.dataProgress(), domain.controlProgress());
            assertEquals(ResourceManagement.ENABLED, domain.resourceManagement());
            assertEquals(MrMode.LOCAL, domain.mrMode());
            assertEquals(AddressVectorType.UNSPEC, domain.avType());
            assertEquals(TrafficClass.BEST_EFFORT.code(), domain.tclass());
            for (long count : new long[] {domain.cqCnt(), domain.epCnt(), domain.cntrCnt(), domain.mrCnt()}) {
                assertTrue(count >= 1024, domain::toString);
            }
            assertTrue(domain.txCtxCnt() >= domain.maxEpTxCtx() && domain.rxCtxCnt() >= domain.maxEpRxCtx());
            assertTrue(domain.cqDataSize() == 0 || domain.cqDataSize() >= 4);
            long data = domain.cqDataSize() == 8 ? 0x8877_6655_4433_2211L : 0x4433_2211L;
            pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 1);
            pair.a.endpoint.messages().tsenddata(pair.a.memory.address(), 8, data, pair.toB, 1, 2);
            assertEquals(data, pair.b.await(1).data());
            long contexts = setup.isForeign() ? 1 : 64;
            assertEquals(contexts, domain.maxEpTxCtx());
            assertEquals(contexts, domain.maxEpRxCtx());
            assertTrue(domain.maxEpStxCtx() > 1);
            assertTrue(domain.maxEpSrxCtx() > 1);
            Info hints = new Info();
            hints.epAttr().txCtxCnt(65);
            assertNotOffered(pair, hints, "tx_ctx_cnt");
            hints.epAttr().txCtxCnt(0).rxCtxCnt(65);
            assertNotOffered(pair, hints, "rx_ctx_cnt");
            assertTrue(domain.maxErrDataSize() > 0);
            assertEquals(0, domain.authKeySize());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-017")
    void shouldNumberAddressesAndTellThemAgain(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (AddressVectorType type : AddressVectorType.values()) {
                AddressVector vector = pair.a.domain.openAddressVector(new AddressVectorAttr().type(type));
                assertEquals(type, vector.type());
                for (int i = 0; i < 3; i++) {
                    long number = vector.insert(pair.neighbour(pair.b, i));
                    assertTrue(type != AddressVectorType.TABLE || number == i, type + " gave " + number);
                    assertEquals(pair.neighbour(pair.b, i), vector.lookup(number));
                    assertEquals(pair.neighbour(pair.b, i), vector.straddr(number));
                }
                assertEquals(3, vector.size());
                long second = vector.insert(pair.neighbour(pair.b, 1));
                vector.remove(second);
                assertEquals(FabricErrno.EINVAL, errno(() -> vector.lookup(second)));
                assertEquals(2, vector.size());
                vector.close();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldTakeThePlaceForTheSourceIfTheFlagSaysSo(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = new FabricPair(setup)) {
            String driver = pair.a.fabric.driverName();
            String address = "jfabric://" + driver + "/chosen";
            for (String node : new String[] {driver, null}) {
                Info match = pair.a.fabric.info(pair.a.info, node, "chosen", Flags.SOURCE).best();
                assertEquals(address, match.srcAddr());
                try (Endpoint endpoint = pair.a.domain.openEndpoint(match)) {
                    endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
                    endpoint.bind(pair.a.av);
                    endpoint.enable();
                    assertEquals(address, endpoint.name());
                }
            }
            assertNull(pair.a.fabric.info(null, driver, null, Flags.SOURCE).best().srcAddr());
            InfoResult elsewhere = pair.a.fabric.info(null, "nowhere", "chosen", Flags.SOURCE);
            assertEquals(List.of(), elsewhere.matches());
            assertTrue(elsewhere.explain().contains("jfabric://nowhere/chosen"), elsewhere::explain);
            // without the flag it is the destination
            assertNull(pair.a.fabric.info(null, driver, "chosen", Flags.NUMERICHOST).best().srcAddr());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldTellOnlyWhoIsThereIfTheFlagSaysSo(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info impossible = new Info().caps(Flags.COLLECTIVE);
            List<Info> found = pair.a.fabric.info(impossible, null, null, Flags.PROV_ATTR_ONLY).matches();
            assertTrue(found.stream().anyMatch(info -> setup.link.equals(info.fabricAttr().provName())),
                found::toString);
            for (Info info : found) {
                assertEquals(1, info.fabricAttr().provVersion());
                info.fabricAttr().name(null).provName(null).provVersion(0).apiVersion(0);
                assertEquals(new Info().toString(), info.toString());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseFlagsThatAreNoneOfDiscovery(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long flags : new long[] {1, Flags.SEND, Flags.SOURCE | Flags.EVENT, Long.MIN_VALUE}) {
                assertEquals(FabricErrno.EBADFLAGS, errno(() -> pair.a.fabric.info(null, null, null, flags)));
            }
        }
    }

    private static void assertNotOffered(FabricPair pair, Info hints, String reason) {
        assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(hints).best()), hints::toString);
        assertTrue(pair.a.fabric.info(hints).explain().contains(reason), () -> pair.a.fabric.info(hints).explain());
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
