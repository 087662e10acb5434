package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.IbUdName;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Endpoints for datagrams in one thread, over devices in memory that check every work request. */
@Timeout(60)
class VerbsUdLinkTest {
    private static final long AWAITED = Flags.MSG | Flags.TRANSMIT_COMPLETE;
    private static final long INJECTED = Flags.MSG | Flags.INJECT_COMPLETE;
    private static final SocketName GROUP = SocketName.parse("fi_sockaddr_in://239.1.1.1:0");

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private UdNode a;
    private UdNode b;
    /** What a is told of b, and b of a. */
    private UdTold toB;
    private UdTold toA;

    private void nodes(String... options) {
        a = new UdNode(network, "10.0.0.1", options);
        b = new UdNode(network, "10.0.0.2", options);
    }

    private void connect(String... options) {
        nodes(options);
        toB = a.insert(b.address());
        toA = b.insert(a.address());
        a.step();
        b.step();
    }

    @AfterEach
    void shouldLeaveNothing() {
        for (UdNode node : new UdNode[] {a, b}) {
            if (node != null) {
                node.close();
                node.holdsTasks = false;
                node.runTasks();
                assertEquals(List.of(), node.verbs.left());
                assertEquals(List.of(), node.verbs.leftDatagrams());
                assertEquals(0, node.verbs.dataPath.queues());
                assertEquals(-1, node.watchedFd);
            }
        }
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not reached; errors " + a.errors + b.errors);
            if (a.step() + b.step() == 0) {
                Thread.yield();
            }
        }
    }

    @Test
    void shouldNameAQueuePairByItsGid() {
        nodes();
        IbUdName name = IbUdName.parse(a.address());
        assertTrue(a.address().startsWith("fi_addr_ib_ud://::ffff:10.0.0.1:"), a.address());
        assertTrue(a.address().endsWith("/0/ffff/0"), a.address());
        assertNotEquals(name.queuePair(), IbUdName.parse(b.address()).queuePair());
    }

    @Test
    void shouldCarryDatagramsOfAllLengthsWithoutTheirRoute() {
        connect();
        int[] lengths = {0, 1, 64, 256, 257, 4096};
        for (int i = 0; i < lengths.length; i++) {
            assertEquals(Channel.PENDING, toB.channel.send(a.operation(AWAITED, lengths[i], i), 0));
        }
        await(() -> toA.messages.size() == lengths.length && toB.sent.size() == lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            assertArrayEquals(UdNode.payload(lengths[i], i), toA.messages.get(i));
            assertEquals(i, toB.sent.get(i));
        }
        assertEquals(List.of(0, 0, 0, 0, 0, 0), toB.errnos);
        assertTrue((a.verbs.dataPath.sendFlags.get(3) & VerbsConstants.SEND_INLINE) != 0);
        assertEquals(0, a.verbs.dataPath.sendFlags.get(4) & VerbsConstants.SEND_INLINE);
    }

    @Test
    void shouldRefuseWhatIsLongerThanAPacket() {
        connect();
        assertEquals(-FabricErrno.EMSGSIZE, toB.channel.send(a.operation(AWAITED, 4097, 1), 0));
        assertEquals(4096, toB.channel.limits().maxMessageBytes());
    }

    @Test
    void shouldRefuseWhatADatagramCannotCarry() {
        connect();
        assertEquals(-FabricErrno.EOPNOTSUPP, toB.channel.send(a.operation(Flags.TAGGED, 1, 1), 0));
        assertEquals(-FabricErrno.EOPNOTSUPP,
            toB.channel.send(a.operation(AWAITED | Flags.DELIVERY_COMPLETE, 1, 1), 0));
        assertEquals(-FabricErrno.EINVAL, toB.channel.send(a.operation(AWAITED | Flags.MULTICAST, 1, 1), 0));
    }

    @Test
    void shouldCarry32BitsOfDataBesides() {
        connect();
        TransmitOperation operation = a.operation(AWAITED | Flags.REMOTE_CQ_DATA, 8, 1);
        operation.data = 0xfedc_ba98L;
        toB.channel.send(operation, 0);
        toB.channel.send(a.operation(AWAITED, 8, 2), 0);
        await(() -> toA.messages.size() == 2);
        assertEquals(List.of(0xfedc_ba98L, -1L), toA.data);
    }

    @Test
    void shouldKnowItsSendersByRouteAndQueuePair() {
        connect();
        try (UdNode sibling = new UdNode(network, "10.0.0.1")) {
            UdTold toBToo = sibling.insert(b.address());
            sibling.step();
            toBToo.channel.send(sibling.operation(AWAITED, 8, 3), 0);
            toB.channel.send(a.operation(AWAITED, 8, 1), 0);
            await(() -> b.strangers().messages.size() == 1 && toA.messages.size() == 1);
            assertArrayEquals(UdNode.payload(8, 3), b.strangers().messages.getFirst());
            assertArrayEquals(UdNode.payload(8, 1), toA.messages.getFirst());
            UdTold known = b.insert(sibling.address());
            sibling.step();
            toBToo.channel.send(sibling.operation(AWAITED, 8, 4), 0);
            await(() -> known.messages.size() == 1);
            known.channel.close(0);
            sibling.step();
            toBToo.channel.send(sibling.operation(AWAITED, 8, 5), 0);
            await(() -> b.strangers().messages.size() == 2);
        }
    }

    @Test
    void shouldEndAnInjectedSendAtOnceUnlessOthersEndBeforeIt() {
        connect();
        assertEquals(Channel.DONE, toB.channel.send(a.operation(INJECTED, 8, 1), 0));
        a.verbs.dataPath.holdsSends = true;
        assertEquals(Channel.PENDING, toB.channel.send(a.operation(AWAITED, 8, 2), 0));
        assertEquals(Channel.PENDING, toB.channel.send(a.operation(INJECTED, 8, 3), 0));
        a.steps();
        assertEquals(List.of(), toB.sent, "the card has sent nothing yet");
        a.verbs.dataPath.release();
        await(() -> toB.sent.size() == 2 && toA.messages.size() == 3);
        assertEquals(List.of(1L, 2L), toB.sent);
    }

    @Test
    void shouldKeepWhatComesUntilReceivesArePosted() {
        connect();
        b.posted = 0;
        for (int i = 0; i < 5; i++) {
            toB.channel.send(a.operation(AWAITED, 8, i), 0);
        }
        await(() -> toB.sent.size() == 5);
        b.steps();
        assertEquals(0, toA.messages.size());
        b.posted = 3;
        b.steps();
        assertEquals(3, toA.messages.size());
        assertEquals(0, b.posted);
        b.posted = 9;
        b.steps();
        assertEquals(5, toA.messages.size());
        assertEquals(0, b.lost());
    }

    @Test
    void shouldCountWhatIsLostForWantOfReceives() {
        connect("jfabric.verbs.datagramReceives", "8");
        b.posted = 0;
        for (int i = 0; i < 20; i++) {
            toB.channel.send(a.operation(AWAITED, 8, i), 0);
            a.step();
            b.steps();
        }
        assertEquals(20, toB.sent.size());
        assertEquals(14, b.lost(), "six of eight receives keep datagrams");
        assertEquals(0, a.verbs.lostDatagrams(), "the card had a receive for each");
        b.posted = 100;
        b.steps();
        assertEquals(6, toA.messages.size());
        assertArrayEquals(UdNode.payload(8, 0), toA.messages.getFirst());
        toB.channel.send(a.operation(AWAITED, 8, 99), 0);
        await(() -> toA.messages.size() == 7);
        assertArrayEquals(UdNode.payload(8, 99), toA.messages.getLast());
    }

    @Test
    void shouldLoseWhatTheCardHasNoReceiveForAndGoOn() {
        connect("jfabric.verbs.datagramReceives", "8");
        for (int i = 0; i < 20; i++) {
            toB.channel.send(a.operation(AWAITED, 8, i), 0);
        }
        await(() -> toB.sent.size() == 20);
        assertEquals(12, a.verbs.lostDatagrams());
        b.steps();
        toB.channel.send(a.operation(AWAITED, 8, 50), 0);
        await(() -> Arrays.equals(UdNode.payload(8, 50), toA.messages.getLast()));
    }

    @Test
    void shouldNeverOverrunTheSendQueue() {
        connect("jfabric.verbs.sends", "16", "jfabric.verbs.signalEvery", "8");
        a.verbs.dataPath.holdsSends = true;
        List<Long> wanted = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            TransmitOperation operation = a.operation(AWAITED, 8, i);
            wanted.add(operation.id());
            assertEquals(Channel.PENDING, toB.channel.send(operation, 0));
        }
        a.steps();
        assertEquals(List.of(), toB.sent);
        a.verbs.dataPath.release();
        await(() -> toB.sent.size() == 100 && toA.messages.size() == 100);
        assertEquals(wanted, toB.sent);
        assertTrue(a.verbs.dataPath.signaled.size() < 60, () -> "asked for " + a.verbs.dataPath.signaled);
        assertTrue(a.verbs.dataPath.sendBatches.stream().anyMatch(batch -> batch > 4),
            a.verbs.dataPath.sendBatches::toString);
    }

    @Test
    void shouldFailSendsToWhereThereIsNoWayInTheirTurn() {
        nodes();
        toB = a.insert(b.address());
        a.step();
        a.verbs.addressHandleErrno = FabricErrno.ENETUNREACH;
        String elsewhere = IbUdName.of(VerbsUdPlace.mapped(new byte[] {10, 9, 9, 9}), 7, 0, (short) -1, 0).toString();
        UdTold nowhere = a.insert(elsewhere);
        a.verbs.dataPath.holdsSends = true;
        toB.channel.send(a.operation(AWAITED, 8, 1), 0);
        nowhere.channel.send(a.operation(AWAITED, 8, 2), 0);
        toB.channel.send(a.operation(AWAITED, 8, 3), 0);
        a.steps();
        assertEquals(List.of(), a.ended);
        a.verbs.dataPath.release();
        await(() -> a.ended.size() == 3);
        assertEquals(List.of(0L, 1L, 2L), a.ended);
        assertEquals(List.of(FabricErrno.ENETUNREACH), nowhere.errnos);
        assertEquals(List.of(0, 0), toB.errnos);
        assertTrue(a.errors.getFirst().getMessage().contains(elsewhere), a.errors::toString);
        a.verbs.addressHandleErrno = 0;
        nowhere.channel.send(a.operation(AWAITED, 8, 4), 0);
        await(() -> nowhere.errnos.size() == 2);
        assertEquals(0, nowhere.errnos.getLast(), "it is tried again");
    }

    @Test
    void shouldSendInOrderWhileTheWayIsLookedFor() {
        nodes();
        a.holdsTasks = true;
        toB = a.insert(b.address());
        toA = b.insert(a.address());
        for (int i = 0; i < 3; i++) {
            assertEquals(Channel.PENDING, toB.channel.send(a.operation(INJECTED, 8, i), 0));
        }
        a.step();
        assertFalse(a.link.arm());
        a.holdsTasks = false;
        await(() -> toA.messages.size() == 3 && toB.sent.size() == 3);
        assertEquals(List.of(0L, 1L, 2L), toB.sent);
        assertEquals(1, a.verbs.handlesMade);
    }

    @Test
    void shouldShareTheWayToOneHostAndGiveUpTheOldestBeyondTheLimit() {
        nodes("jfabric.verbs.addressHandles", "2");
        List<UdTold> peers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            peers.add(a.insert(IbUdName.of(
                VerbsUdPlace.mapped(new byte[] {10, 9, 9, (byte) (i / 2)}), 7 + i, 0, (short) -1, 0).toString()));
        }
        a.step();
        assertEquals(2, a.verbs.handlesMade, "two queue pairs of each host, two hosts prepared");
        for (UdTold peer : peers) {
            peer.channel.send(a.operation(AWAITED, 8, 1), 0);
            await(() -> peer.sent.size() == 1);
        }
        assertEquals(3, a.verbs.handlesMade);
        assertEquals(2, a.verbs.leftDatagrams().stream().filter("address handle"::equals).count());
        peers.getFirst().channel.send(a.operation(AWAITED, 8, 1), 0);
        await(() -> peers.getFirst().sent.size() == 2);
        assertEquals(4, a.verbs.handlesMade, "the one that was given up is made again");
        assertEquals(List.of(0, 0), peers.getFirst().errnos);
    }

    @Test
    void shouldResumeAfterAFailedSend() {
        connect();
        a.verbs.dataPath.holdsSends = true;
        for (int i = 0; i < 4; i++) {
            toB.channel.send(a.operation(AWAITED, 8, i), 0);
        }
        a.steps();
        a.verbs.dataPath.nextStatus = VerbsConstants.WC_LOC_LEN_ERR;
        a.verbs.dataPath.nextVendorError = 0x55;
        a.verbs.dataPath.release();
        await(() -> toB.sent.size() == 4);
        assertEquals(List.of(FabricErrno.EMSGSIZE, FabricErrno.ECANCELED, FabricErrno.ECANCELED, FabricErrno.ECANCELED),
            toB.errnos);
        assertTrue(a.errors.getFirst().getMessage().contains("0x55"), a.errors::toString);
        a.steps();
        toB.channel.send(a.operation(AWAITED, 8, 9), 0);
        await(() -> toA.messages.size() == 1);
        assertEquals(0, toB.errnos.getLast());
    }

    @Test
    void shouldFailWhatIsSentWhenTheCardTakesNoRequest() {
        connect();
        a.verbs.dataPath.nextPostErrno = FabricErrno.ENOMEM;
        toB.channel.send(a.operation(AWAITED, 8, 1), 0);
        await(() -> toB.sent.size() == 1);
        assertEquals(List.of(FabricErrno.EIO), toB.errnos);
        assertEquals(-FabricErrno.EIO, toB.channel.send(a.operation(AWAITED, 8, 2), 0));
    }

    @Test
    void shouldFailSendsWhenTheQueuePairIsInError() {
        connect();
        a.verbs.dataPath.holdsSends = true;
        toB.channel.send(a.operation(AWAITED, 8, 1), 0);
        a.verbs.dataPath.failDatagrams();
        await(() -> toB.sent.size() == 1);
        assertEquals(List.of(FabricErrno.EIO), toB.errnos);
        assertTrue(a.errors.getFirst().getMessage().contains("gave back its receives"), a.errors::toString);
    }

    @Test
    void shouldTellOfALostQueueAndOfALostDevice() {
        connect();
        a.verbs.happen(VerbsConstants.EVENT_CQ_ERR, 0);
        b.verbs.happen(VerbsConstants.EVENT_DEVICE_FATAL, 0);
        await(() -> !a.errors.isEmpty() && !b.errors.isEmpty());
        assertEquals(-FabricErrno.EIO, toB.channel.send(a.operation(AWAITED, 8, 1), 0));
        assertEquals(-FabricErrno.ENODEV, toA.channel.send(b.operation(AWAITED, 8, 1), 0));
    }

    @Test
    void shouldReportAPortThatGoesDownAndGoOn() {
        connect();
        a.verbs.happen(VerbsConstants.EVENT_PORT_ERR, 1);
        await(() -> !a.errors.isEmpty());
        assertTrue(a.errors.getFirst().getMessage().contains("port 1 of fake0"), a.errors::toString);
        toB.channel.send(a.operation(AWAITED, 8, 1), 0);
        await(() -> toA.messages.size() == 1);
    }

    @Test
    void shouldSleepUntilADatagramComes() {
        connect();
        b.steps();
        while (!b.link.arm()) {
            b.step();
        }
        assertTrue(b.watchedFd >= 0);
        toB.channel.send(a.operation(AWAITED, 8, 1), 0);
        assertFalse(b.link.arm(), "a datagram is there");
        await(() -> toA.messages.size() == 1);
    }

    @Test
    void shouldReceiveWhatIsSentToAGroup() {
        connect();
        join(a);
        join(b);
        UdTold group = a.insert(GROUP.toString());
        a.step();
        assertEquals(Channel.PENDING, group.channel.send(a.operation(AWAITED | Flags.MULTICAST, 100, 5), 0));
        await(() -> toA.messages.size() == 1 && group.sent.size() == 1);
        assertArrayEquals(UdNode.payload(100, 5), toA.messages.getFirst());
        assertTrue((toA.flags.getFirst() & Flags.MULTICAST) != 0, "it came by the group");
        assertEquals(1, a.strangers().messages.size(), "a member receives its own, and has not inserted itself");
        toB.channel.send(a.operation(AWAITED, 8, 6), 0);
        await(() -> toA.messages.size() == 2);
        assertEquals(0, toA.flags.getLast() & Flags.MULTICAST);
        b.link.leave(b.endpoint, GROUP.toString());
        b.runTasks();
        group.channel.send(a.operation(AWAITED | Flags.MULTICAST, 100, 7), 0);
        await(() -> a.strangers().messages.size() == 2);
        b.steps();
        assertEquals(2, toA.messages.size(), "it has left");
    }

    private static void join(UdNode node) {
        BoundAddress group = node.port.join(GROUP);
        assertEquals(GROUP.toString(), group.address());
        node.link.join(node.endpoint, group);
    }

    @Test
    void shouldSendToAGroupWithoutReceivingFromIt() {
        connect();
        join(b);
        UdTold group = a.insert(GROUP.toString());
        a.step();
        group.channel.send(a.operation(INJECTED, 100, 5), 0);
        await(() -> toA.messages.size() == 1);
        assertEquals(0, a.strangers().messages.size());
    }

    @Test
    void shouldSayWhyAGroupCannotBeJoined() {
        nodes();
        a.verbs.joinStatus = -FabricErrno.EHOSTUNREACH;
        FabricException refused = assertThrows(FabricException.class, () -> a.port.join(GROUP));
        assertEquals(FabricErrno.EHOSTUNREACH, refused.errno());
        UdTold group = a.insert(GROUP.toString());
        group.channel.send(a.operation(AWAITED, 8, 5), 0);
        await(() -> group.sent.size() == 1);
        assertEquals(List.of(FabricErrno.EHOSTUNREACH), group.errnos);
    }

    @Test
    void shouldGiveEverythingBackWhenAnEndpointIsDetached() {
        connect();
        join(a);
        a.holdsTasks = true;
        a.insert(GROUP.toString());
        a.link.detach(a.endpoint);
        a.holdsTasks = false;
        a.runTasks();
        assertEquals(List.of(), a.verbs.leftDatagrams());
        assertEquals(List.of(), a.verbs.left());
    }

    @Test
    void shouldRefuseAnEndpointThatNoCompletionQueueHasRoomFor() {
        nodes();
        FakeVerbs small = new FakeVerbs(network, "10.0.0.3");
        small.maxCompletions = 100;
        VerbsUdLinkProvider provider = new VerbsUdLinkProvider(small::libraries);
        FabricException refused = assertThrows(FabricException.class, () -> provider.bind(
            new Info(), DriverConfig.builder().build()));
        assertEquals(FabricErrno.ENOSPC, refused.errno());
        assertEquals(List.of(), small.leftDatagrams());
    }
}
