package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.BiConsumer;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Protocol and sizes of endpoints. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class EndpointAttributesTest {
    private static final long ANY = -1L;

    /** An endpoint of the loopback protocol in one driver, one of the shm protocol in another. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"SHM_EMBEDDED", "SHM_DAEMON"})
    @Requirement("EP-125")
    void shouldNotExchangeDataAcrossProtocols(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.assertTransfers(pair.a.endpoint);
            Info other = new Info().caps(Flags.TAGGED | Flags.MSG).linkName("loopback");
            Info local = pair.a.fabric.info(other).best();
            assertNotEquals(pair.b.info.epAttr().protocol(), local.epAttr().protocol());
            try (Endpoint endpoint = pair.open(local)) {
                assertEquals(0, endpoint.trecv(pair.a.memory.address(), 64, ANY, 0, -1L, 1));
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 0, -1L, 2));
                assertEquals(0, endpoint.tsend(pair.a.memory.address(), 64, pair.toB, 1, 3));
                FabricNode.Entry outward = pair.a.await();
                assertEquals(3, outward.context());
                assertTrue(outward.err() > 0, outward::toString);
                long to = pair.b.av.insert(endpoint.name());
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), 64, to, 1, 4));
                FabricNode.Entry inward = pair.b.await();
                assertEquals(4, inward.context());
                assertTrue(inward.err() > 0, inward::toString);
                pair.a.assertQuiet(100);
                pair.b.assertQuiet(100);
                assertEquals(0, pair.b.endpoint.cancel(2));
                assertEquals(FabricErrno.ECANCELED, pair.b.await().err());
            }
            pair.assertTransfers(pair.a.endpoint);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"EP-128", "SOCK-002"})
    void shouldKnowProtocolsAndTypesThatItsLinkLacks(Setup setup) {
        setup.assumeNoDevice();
        assertEquals(5, Protocol.UDP.code());
        assertEquals(6, Protocol.SOCK_TCP.code());
        assertEquals(11, Protocol.RXM.code());
        assertEquals(12, Protocol.RXD.code());
        assertEquals(4, EndpointType.SOCK_STREAM.code());
        assertEquals(5, EndpointType.SOCK_DGRAM.code());
        try (FabricPair pair = new FabricPair(setup)) {
            for (Protocol protocol : new Protocol[] {
                Protocol.UDP, Protocol.SOCK_TCP, Protocol.RXM, Protocol.RXD}) {
                Info hints = new Info();
                hints.epAttr().protocol(protocol);
                if (protocol != Protocol.RXM || !setup.confirmsMatches()) {
                    assertNotOffered(pair, hints, "ep_attr.protocol");
                }
            }
            for (EndpointType type : new EndpointType[] {EndpointType.SOCK_STREAM, EndpointType.SOCK_DGRAM}) {
                Info hints = new Info().linkName(setup.link);
                hints.epAttr().type(type);
                if (type == EndpointType.SOCK_STREAM && setup.link.equals("tcp")) {
                    assertEquals(type, pair.a.fabric.info(hints).best().epAttr().type());
                } else {
                    assertNotOffered(pair, hints, "ep_attr.type");
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-131")
    void shouldOfferItsVersionOfTheProtocolAndNoNewerOne(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int version = pair.a.info.epAttr().protocolVersion();
            // libfabric's tcp provider has never counted
            assertEquals(setup.hasSocketNames() ? 0 : 1, version);
            for (int asked : new int[] {0, version}) {
                Info hints = pair.a.info.copy();
                hints.epAttr().protocolVersion(asked);
                Info match = pair.a.fabric.info(hints).best();
                assertEquals(version, match.epAttr().protocolVersion());
                try (Endpoint endpoint = pair.open(match)) {
                    pair.assertTransfers(endpoint);
                }
            }
            for (int asked : new int[] {2, Integer.MAX_VALUE, -1}) {
                Info hints = new Info();
                hints.epAttr().protocolVersion(asked);
                assertNotOffered(pair, hints, "ep_attr.protocol_version");
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-132")
    void shouldSendUpToTheLongestMessageAndNothingLonger(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long offered = pair.a.info.epAttr().maxMsgSize();
            assertTrue(offered >= 1L << 30, () -> offered + " bytes");
            assertEquals(offered, pair.a.endpoint.maxMsgSize());
            assertEquals(-FabricErrno.EINVAL,
                pair.a.endpoint.tsend(pair.a.memory.address(), offered + 1, pair.toB, 1, 1));
            Info more = new Info();
            more.epAttr().maxMsgSize(offered + 1);
            assertNotOffered(pair, more, "ep_attr.max_msg_size");
            for (int limit : new int[] {1, 64, 8192, 100_000, FabricNode.MEMORY / 2}) {
                Info info = pair.a.info.copy();
                info.epAttr().maxMsgSize(limit);
                try (Endpoint endpoint = pair.open(info)) {
                    assertEquals(limit, endpoint.maxMsgSize());
                    assertEquals(0, pair.b.endpoint.trecv(
                        pair.b.memory.address(), FabricNode.MEMORY / 2, ANY, limit, 0, 1));
                    pair.a.fill(0, limit, limit);
                    long left = endpoint.txSizeLeft();
                    assertEquals(-FabricErrno.EINVAL,
                        endpoint.tsend(pair.a.memory.address(), limit + 1, pair.toB, limit, 2));
                    assertEquals(-FabricErrno.EINVAL,
                        endpoint.send(pair.a.memory.address(), limit + 1, pair.toB, 2));
                    assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendv(
                        new IoVec().add(pair.a.memory.address(), limit)
                        .add(pair.a.memory.address(), 1), pair.toB, limit, 2));
                    assertEquals(left, endpoint.txSizeLeft());
                    assertEquals(0, endpoint.tsend(pair.a.memory.address(), limit, pair.toB, limit, 3));
                    assertEquals(limit, pair.b.await(1).len());
                    pair.a.await(3);
                    pair.b.assertFilled(0, limit, limit);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-142")
    void shouldPromiseNoDataOrderAndUnderstandUnlimitedAsMore(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(-1L, FabricAddress.ORDER_SIZE_UNLIMITED);
            EndpointAttr offered = pair.a.info.epAttr();
            assertEquals(0, offered.maxOrderRawSize() | offered.maxOrderWarSize() | offered.maxOrderWawSize());
            BiConsumer<EndpointAttr, Long> raw = EndpointAttr::maxOrderRawSize;
            BiConsumer<EndpointAttr, Long> war = EndpointAttr::maxOrderWarSize;
            BiConsumer<EndpointAttr, Long> waw = EndpointAttr::maxOrderWawSize;
            for (long size : new long[] {1, Long.MAX_VALUE, Long.MIN_VALUE, FabricAddress.ORDER_SIZE_UNLIMITED}) {
                assertSizeNotOffered(pair, raw, size, "ep_attr.max_order_raw_size");
                assertSizeNotOffered(pair, war, size, "ep_attr.max_order_war_size");
                assertSizeNotOffered(pair, waw, size, "ep_attr.max_order_waw_size");
            }
        }
    }

    private static void assertSizeNotOffered(
        FabricPair pair, BiConsumer<EndpointAttr, Long> member, long size, String name) {
        Info hints = new Info().caps(Flags.TAGGED);
        member.accept(hints.epAttr(), size);
        assertNotOffered(pair, hints, name);
        String why = pair.a.fabric.info(hints).explain();
        assertTrue(why.contains(Long.toUnsignedString(size)), why);
    }

    private static void assertNotOffered(FabricPair pair, Info hints, String reason) {
        assertEquals(FabricErrno.ENODATA,
            assertThrows(FabricException.class, () -> pair.a.fabric.info(hints).best()).errno(), hints::toString);
        String why = pair.a.fabric.info(hints).explain();
        assertTrue(why.contains(reason), why);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"EP-114", "EP-117"})
    void shouldTellHowManyOperationsFitAndTakeAtLeastThose(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info)) {
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.txSizeLeft(), "AMB-95");
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.rxSizeLeft());
            endpoint.bind(pair.a.domain.openCompletionQueue(new CompletionQueueAttr().size(100)),
                Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.a.av);
            endpoint.enable();
            long fits = endpoint.rxSizeLeft();
            assertTrue(fits > 0 && fits <= pair.a.info.rxAttr().size());
            int posted = 0;
            int result;
            while ((result = endpoint.trecv(pair.a.memory.address(), 64, ANY, 1, 0, posted)) == 0) {
                posted++;
                assertTrue(posted <= pair.a.info.rxAttr().size(), "no end");
            }
            assertEquals(-FabricErrno.EAGAIN, result);
            assertTrue(posted >= fits, posted + " of " + fits);
            assertEquals(0, endpoint.rxSizeLeft());
        }
    }

    /** As many as are said to be left can be posted, of every kind, also where entries and slots are scarce. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-115")
    void shouldTakeAsManyReceivesAsItSaysAreLeft(Setup setup) {
        for (int cqSize : new int[] {16, 512, 4096}) {
            try (FabricPair pair = new FabricPair(setup, new Info().caps(Flags.TAGGED | Flags.MSG), cqSize)) {
                Endpoint endpoint = pair.b.endpoint;
                for (int taken = 0; taken < 5; taken++) {
                    assertEquals(0, endpoint.trecv(pair.b.memory.address(), 8, ANY, 1, 0, taken));
                    // entries that are not read take slots of the same queue
                    assertEquals(0, endpoint.tsend(pair.b.memory.address(), 8, pair.toA, 1, 100 + taken));
                }
                long left = endpoint.rxSizeLeft();
                assertTrue(left > 0 && left <= pair.b.info.rxAttr().size() - 5, left + " left");
                for (long i = 0; i < left; i++) {
                    assertTrue(endpoint.rxSizeLeft() >= left - i, i + " posted of " + left);
                    assertEquals(0, receive(pair, i), i + " posted of " + left);
                }
                for (int i = 0; i < 5; i++) {
                    pair.b.await(100 + i);
                }
                for (int i = 0; i < 5; i++) {
                    assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, i));
                    pair.a.await(i);
                    assertEquals(1, pair.b.await().tag());
                }
                // what has ended makes room, as soon as it says so
                long deadlineNs = System.nanoTime() + FabricNode.DEADLINE_NS;
                while (endpoint.rxSizeLeft() == 0) {
                    assertTrue(System.nanoTime() - deadlineNs < 0, "no room after entries were read");
                    pair.b.assertQuiet(1);
                }
                left = endpoint.rxSizeLeft();
                for (long i = 0; i < left; i++) {
                    assertEquals(0, receive(pair, i), i + " posted again of " + left);
                }
            }
        }
    }

    /** A receive of one piece. */
    private static int receive(FabricPair pair, long number) {
        Endpoint endpoint = pair.b.endpoint;
        long buf = pair.b.memory.address(64);
        return switch ((int) number % 4) {
            case 0 -> endpoint.trecv(buf, 8, ANY, 2, 0, number);
            case 1 -> endpoint.recv(buf, 8, ANY, number);
            case 2 -> endpoint.messages().trecvv(new IoVec().add(buf, 8), ANY, 2, 0, number);
            default -> endpoint.messages().recvv(new IoVec().add(buf, 8), ANY, number);
        };
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-116")
    void shouldTakeAsManySendsAsItSaysAreLeft(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long sends = pair.a.endpoint.txSizeLeft();
            assertTrue(sends > 0);
            for (long i = 0; i < sends; i++) {
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, i, 1));
            }
        }
    }
}
