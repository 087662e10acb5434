package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.MulticastGroup;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Groups of receivers, on the loopback interface. */
@Tag("conformance")
@Timeout(120)
class MulticastTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;

    /** Of the range that is meant for one site; each test its own, because others may run at the same time. */
    private static String group() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return "fi_sockaddr_in://239.255." + random.nextInt(256) + '.' + random.nextInt(256) + ':'
            + random.nextInt(20_000, 30_000);
    }

    private static Info hints() {
        Info hints = DatagramPair.hints();
        return hints.caps(hints.caps() | Flags.MULTICAST);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, mode = EnumSource.Mode.MATCH_NONE, names = {".*_IPV6", "DTLS_.*"})
    @Requirement({"REF-028", "CQ-130", "REF-016"})
    void shouldReachTwoMembersAndMarkTheMessages(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup, hints())) {
            String name = group();
            FabricNode third = pair.sibling(pair.b, hints());
            MulticastGroup first = pair.b.endpoint.join(name, 0x1, 0);
            MulticastGroup second = third.endpoint.join(name, 0x2, Flags.RECV);
            MulticastGroup sender = pair.a.endpoint.join(name, 0x3, Flags.SEND);
            assertEquals(name, first.address());
            assertEquals(FidClass.MC, second.fidClass());
            assertEquals(0x3, sender.context());
            assertSame(pair.a.endpoint, sender.endpoint());
            long thirdKnowsA = third.av.insert(pair.a.endpoint.name());
            for (int i = 0; i < 20; i++) {
                assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, i));
                assertEquals(0, third.endpoint.recv(third.memory.address(), 4096, ANY, i));
                pair.a.fill(0, 100 + i, i);
                assertEquals(0, pair.a.endpoint.messages().sendmsg(
                    pair.a.memory.address(), 100 + i, 0, sender.fiAddr(), i, Flags.MULTICAST | Flags.COMPLETION));
                assertEquals(Flags.SEND | Flags.MSG | Flags.MULTICAST, pair.a.await(i).flags());
                received(pair.b, i, pair.toA);
                received(third, i, thirdKnowsA);
            }
            // who only sends is no member
            assertEquals(0, pair.a.endpoint.recv(pair.a.memory.address(), 4096, ANY, 99));
            pair.a.assertQuiet(50);
        }
    }

    private static void received(FabricNode node, int i, long source) {
        FabricNode.Entry entry = node.await(i);
        assertEquals(Flags.RECV | Flags.MSG | Flags.MULTICAST, entry.flags());
        assertEquals(100 + i, entry.len());
        assertEquals(source, entry.source());
        node.assertFilled(0, 100 + i, i);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, mode = EnumSource.Mode.MATCH_NONE, names = {".*_IPV6", "DTLS_.*"})
    @Requirement("OPF-010")
    void shouldTakeEveryDestinationAsAGroupByDefault(DatagramSetup setup) {
        Info byDefault = hints();
        byDefault.txAttr().opFlags(Flags.MULTICAST);
        try (DatagramPair pair = new DatagramPair(setup, byDefault)) {
            MulticastGroup member = pair.b.endpoint.join(group(), 0, 0);
            MulticastGroup sender = pair.a.endpoint.join(member.address(), 0, Flags.SEND);
            assertTrue((pair.a.endpoint.getOpFlags(Flags.TRANSMIT) & Flags.MULTICAST) != 0);
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 7));
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 10, sender.fiAddr(), 1));
            assertEquals(Flags.SEND | Flags.MSG | Flags.MULTICAST, pair.a.await(1).flags());
            assertEquals(Flags.RECV | Flags.MSG | Flags.MULTICAST, pair.b.await(7).flags());

            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 10, pair.toB, 2));
            FabricNode.Entry misused = pair.a.await();
            assertEquals(FabricErrno.EINVAL, misused.err());
            assertEquals(2, misused.context());

            pair.a.endpoint.setOpFlags(Flags.TRANSMIT);
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 8));
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 11, pair.toB, 3));
            assertEquals(Flags.SEND | Flags.MSG, pair.a.await(3).flags());
            assertEquals(11, pair.b.await(8).len());
        }
    }

    @Requirement({"REF-028", "REF-023"})
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, mode = EnumSource.Mode.MATCH_NONE, names = {".*_IPV6", "DTLS_.*"})
    void shouldTellTheEndOfJoiningByAnEvent(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup, hints())) {
            EventQueue events = pair.a.fabric.openEventQueue(new EventQueueAttr());
            var endpoint = pair.a.domain.openEndpoint(pair.a.info);
            endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.a.av);
            endpoint.bind(events, 0);
            assertEquals(FabricErrno.EOPBADSTATE,
                assertThrows(FabricException.class, () -> endpoint.join(group(), 1, 0)).errno());
            endpoint.enable();
            MulticastGroup group = endpoint.join(group(), 0x77, 0);
            EventEntry event = new EventEntry();
            assertTrue(events.read(event, 0) > 0);
            assertEquals(EventType.JOIN_COMPLETE, event.type());
            assertSame(group, event.fid());
            assertEquals(0x77, event.context());
            endpoint.close();
            assertFalse(group.isOpen());
            group.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, mode = EnumSource.Mode.MATCH_NONE, names = {".*_IPV6", "DTLS_.*"})
    void shouldHearNothingOfAGroupThatItLeft(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup, hints())) {
            MulticastGroup member = pair.b.endpoint.join(group(), 0, 0);
            long group = pair.a.av.insert(member.address());
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
            send(pair.a, group);
            pair.b.await(1);
            member.close();
            member.close();
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 2));
            send(pair.a, group);
            pair.b.assertQuiet(100);
            MulticastGroup again = pair.b.endpoint.join(member.address(), 0, 0);
            assertEquals(member.fiAddr(), again.fiAddr());
            send(pair.a, group);
            pair.b.await(2);
        }
    }

    private static void send(FabricNode node, long group) {
        assertEquals(0, node.endpoint.inject(new UnsafeBuffer(new byte[8]), 0, 8, group));
        // an inject has no entry; the cycle of an embedded driver sends it
        node.assertQuiet(2);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, mode = EnumSource.Mode.MATCH_NONE, names = {".*_IPV6", "DTLS_.*"})
    void shouldUseItsOwnPortWithoutOneOfTheGroup(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup, hints())) {
            String host = group().replaceAll(":\\d+$", ":0");
            MulticastGroup group = pair.b.endpoint.join(host, 0, 0);
            assertEquals(SocketName.parse(pair.b.endpoint.name()).port(), SocketName.parse(group.address()).port());
            assertEquals(group.address(), pair.b.av.lookup(group.fiAddr()));
            assertNotEquals(pair.toA, group.fiAddr());
            // a member hears what it sends itself
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
            assertEquals(0, pair.b.endpoint.inject(new UnsafeBuffer(new byte[8]), 0, 8, group.fiAddr()));
            pair.b.await(1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, mode = EnumSource.Mode.MATCH_NONE, names = "DTLS_.*")
    void shouldRefuseWhatIsNoGroup(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup, hints()); DatagramPair plain = new DatagramPair(setup)) {
            for (String wrong : List.of(pair.b.endpoint.name(), "jfabric://a/b", "239.1.1.1")) {
                assertEquals(FabricErrno.EINVAL, errno(pair.a, wrong, 0), wrong);
            }
            assertEquals(FabricErrno.EBADFLAGS, errno(pair.a, group(), Flags.MORE));
            assertEquals(FabricErrno.EOPNOTSUPP, errno(plain.a, group(), 0));
            if (setup.host.contains(":")) {
                assertEquals(FabricErrno.EOPNOTSUPP, errno(pair.a, "fi_sockaddr_in6://[ff02::1234]:5", 0));
            }
            // nothing of it stays behind: the endpoint goes on
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 10, pair.toB, 1));
            pair.a.await(1);
            assertEquals(-FabricErrno.EBADFLAGS, plain.a.endpoint.messages().sendmsg(
                plain.a.memory.address(), 10, 0, plain.toB, 1, Flags.MULTICAST));
        }
    }

    private static int errno(FabricNode node, String group, long flags) {
        return assertThrows(FabricException.class, () -> node.endpoint.join(group, 0, flags)).errno();
    }
}
