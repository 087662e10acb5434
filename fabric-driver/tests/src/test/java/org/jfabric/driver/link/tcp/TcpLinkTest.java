package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two links in one thread: reliable datagrams. */
@Isolated("counts the descriptors of the process")
@Timeout(60)
class TcpLinkTest {
    private static final long DEADLINE_NS = Deadline.ns(20);

    private final List<TcpNode> nodes = new ArrayList<>();
    private final TcpNode a = add(new TcpNode());
    private final TcpNode b = add(new TcpNode());

    private TcpNode add(TcpNode node) {
        nodes.add(node);
        return node;
    }

    @AfterEach
    void close() {
        nodes.forEach(TcpNode::close);
        nodes.forEach(node -> assertEquals(List.of(), node.errors));
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not reached; errors " + a.errors + b.errors);
            int work = 0;
            for (TcpNode node : nodes) {
                work += node.step();
            }
            if (work == 0) {
                Thread.yield();
            }
        }
    }

    private Recorder up(TcpNode from, TcpNode to) {
        Recorder handler = from.connect(to.address());
        await(() -> handler.ups == 1 && to.handler(from.address()).ups == 1);
        return handler;
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldCarryMessagesOfEveryLengthInBothDirections(String host) {
        TcpNode left = add(new TcpNode(host));
        TcpNode right = add(new TcpNode(host));
        Recorder here = up(left, right);
        Recorder there = right.handler(left.address());
        int[] lengths = {0, 1, 64, 4096, 4097, 16_384, 20_000, 65_536, 1_000_003};
        for (int i = 0; i < lengths.length; i++) {
            int count = i + 1;
            assertTrue(left.send(here.channel, i, lengths[i], i) >= 0);
            assertTrue(right.send(there.channel, i, lengths[i], 100 + i) >= 0);
            await(() -> there.messages.size() == count && here.messages.size() == count);
            assertArrayEquals(TcpNode.payload(lengths[i], i), there.messages.get(i));
            assertArrayEquals(TcpNode.payload(lengths[i], 100 + i), here.messages.get(i));
            assertEquals(i, there.tags.get(i));
        }
    }

    @Test
    void shouldKeepOneConnectionWhenBothSidesBegin() {
        Random random = new Random(7);
        for (int round = 0; round < 200; round++) {
            TcpNode left = new TcpNode();
            TcpNode right = new TcpNode();
            nodes.add(left);
            nodes.add(right);
            Recorder here = left.connect(right.address());
            Recorder there = right.connect(left.address());
            // in every order of steps
            long deadline = System.nanoTime() + DEADLINE_NS;
            while (here.ups == 0 || there.ups == 0) {
                (random.nextBoolean() ? left : right).link.poll(random.nextInt(1, 4));
                assertTrue(System.nanoTime() - deadline < 0, "round " + round);
            }
            left.send(here.channel, 1, 100, round);
            right.send(there.channel, 2, 10_000, round);
            await(() -> there.messages.size() == 1 && here.messages.size() == 1);
            assertArrayEquals(TcpNode.payload(100, round), there.messages.getFirst());
            assertEquals(1, here.ups + here.downs, "round " + round);
            assertEquals(1, there.ups + there.downs, "round " + round);
            nodes.remove(left);
            nodes.remove(right);
            left.close();
            right.close();
            assertEquals(List.of(), left.errors);
            assertEquals(List.of(), right.errors);
        }
    }

    @Test
    void shouldWriteManyShortMessagesOfOneCycleByTwoCalls() {
        Recorder here = up(a, b);
        Recorder there = b.handler(a.address());
        a.step();
        long before = a.writes();
        for (int i = 0; i < 100; i++) {
            assertEquals(Channel.DONE, a.send(here.channel, i, 64, i));
        }
        // the first one must not wait for the others, nor these for an answer
        assertEquals(before + 1, a.writes());
        await(() -> there.messages.size() == 100);
        assertEquals(before + 2, a.writes());
        for (int i = 0; i < 100; i++) {
            assertArrayEquals(TcpNode.payload(64, i), there.messages.get(i));
        }
    }

    @Test
    void shouldWriteAMessageOfWhichMoreFollowWithTheNextOne() {
        Recorder here = up(a, b);
        Recorder there = b.handler(a.address());
        a.step();
        long before = a.writes();
        here.channel.send(a.operation(Flags.TAGGED | Flags.MORE, 1, 64, 1), 0);
        assertEquals(before, a.writes());
        a.send(here.channel, 2, 64, 2);
        assertEquals(before + 1, a.writes());
        await(() -> there.messages.size() == 2);
        assertEquals(before + 1, a.writes());
    }

    @Test
    void shouldReachItself() {
        Recorder self = a.connect(a.address());
        await(() -> self.ups == 1);
        TransmitOperation awaited = a.operation(Flags.TAGGED | Flags.TRANSMIT_COMPLETE, 3, 64, 1);
        assertEquals(Channel.PENDING, self.channel.send(awaited, 0));
        a.send(self.channel, 4, 100_000, 2);
        await(() -> self.messages.size() == 2 && self.sent.contains(awaited.id()));
        assertArrayEquals(TcpNode.payload(64, 1), self.messages.get(0));
        assertArrayEquals(TcpNode.payload(100_000, 2), self.messages.get(1));
    }

    @Test
    void shouldAcknowledgeInOrderAndOnlyWhatAsksForIt() {
        Recorder here = up(a, b);
        Recorder there = b.handler(a.address());
        TransmitOperation plain = a.operation(Flags.TAGGED, 1, 64, 1);
        TransmitOperation transmit = a.operation(Flags.TAGGED | Flags.TRANSMIT_COMPLETE, 2, 64, 2);
        TransmitOperation deliver = a.operation(Flags.TAGGED | Flags.DELIVERY_COMPLETE, 3, 64, 3);
        deliver.awaited = TransmitOperation.LINK | Flags.DELIVERY_COMPLETE;
        TransmitOperation both = a.operation(
            Flags.TAGGED | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE, 4, 64, 4);
        both.awaited = TransmitOperation.LINK | Flags.DELIVERY_COMPLETE;
        there.pauses = true;
        assertEquals(Channel.DONE, here.channel.send(plain, 0));
        assertEquals(Channel.PENDING, here.channel.send(transmit, 0));
        assertEquals(Channel.DONE, here.channel.send(deliver, 0), "the link has it; the level comes by itself");
        assertEquals(Channel.DONE, here.channel.send(both, 0), "the stronger level counts");
        assertTrue(here.channel.awaitsPeer());
        for (int i = 0; i < 100; i++) {
            a.step();
            b.step();
        }
        assertEquals(List.of(), here.sent);
        there.pauses = false;
        await(() -> here.acknowledged.size() == 2);
        assertEquals(List.of(transmit.id()), here.sent);
        assertEquals(List.of(deliver.id(), both.id()), here.acknowledged);
        assertEquals(4, there.messages.size());
        assertFalse(here.channel.awaitsPeer());
    }

    @Test
    void shouldStopReadingOnlyThePausedConnection() {
        TcpNode c = add(new TcpNode());
        Recorder here = up(a, b);
        Recorder other = up(c, b);
        Recorder there = b.handler(a.address());
        there.pauses = true;
        for (int i = 0; i < 10; i++) {
            assertTrue(a.send(here.channel, i, 3000, i) >= 0);
            c.send(other.channel, i, 3000, i);
        }
        await(() -> b.handler(c.address()).messages.size() == 10);
        assertEquals(0, there.messages.size());
        assertTrue(there.placeCalls > 0);
        // a slow reader holds back its sender, which gets an event when there is room
        int accepted = 10;
        int result;
        while ((result = a.send(here.channel, accepted, 1_000_000, accepted)) >= 0) {
            accepted++;
            a.step();
        }
        assertEquals(-FabricErrno.EAGAIN, result);
        assertTrue(accepted < 100, "the peer does not read");
        assertEquals(0, here.writables);
        // and it is idle meanwhile: nothing to do for either side but to ask for a place
        for (int i = 0; i < 50; i++) {
            a.step();
            b.step();
        }
        assertEquals(0, a.step());
        there.pauses = false;
        int all = accepted;
        await(() -> there.messages.size() == all);
        assertEquals(1, Math.min(1, here.writables));
        for (int i = 0; i < all; i++) {
            assertArrayEquals(TcpNode.payload(i < 10 ? 3000 : 1_000_000, i), there.messages.get(i));
        }
    }

    @Test
    void shouldTellTheEndAndConnectAgain() {
        Recorder here = up(a, b);
        b.handler(a.address()).channel.close(FabricErrno.ECONNRESET);
        await(() -> here.downs == 1);
        assertEquals(FabricErrno.ECONNRESET, here.downErrno);
        assertEquals(0, b.handler(a.address()).downs, "the closing side gets no event");
        a.connect(b.address());
        await(() -> here.ups == 2 && b.handler(a.address()).ups == 2);
        assertNotNull(here.channel);
    }

    @Test
    void shouldDeliverWhatWasSentBeforeTheClose() {
        Recorder here = up(a, b);
        Recorder there = b.handler(a.address());
        for (int i = 0; i < 500; i++) {
            assertEquals(Channel.DONE, a.send(here.channel, i, 100, i));
        }
        here.channel.close(FabricErrno.ECONNRESET);
        await(() -> there.downs == 1);
        assertEquals(500, there.messages.size());
    }

    @Test
    void shouldRefuseIfNoEndpointListens() {
        TcpNode gone = new TcpNode();
        String address = gone.address();
        gone.close();
        Recorder here = a.connect(address);
        assertEquals(0, here.downs, "not from inside of the call");
        await(() -> here.downs == 1);
        assertEquals(FabricErrno.ECONNREFUSED, here.downErrno);
        Recorder otherFamily = a.connect("fi_sockaddr_in6://[::1]:5");
        await(() -> otherFamily.downs == 1);
        assertEquals(FabricErrno.EADDRNOTAVAIL, otherFamily.downErrno);
    }

    /** A peer that ended without our notice and came back under its name has another process id. */
    @Test
    void shouldBelieveAPeerThatBeganAnew() {
        TcpNode first = new TcpNode();
        Recorder here = a.connect(first.address());
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (here.ups == 0) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not up; errors " + a.errors + first.errors);
            a.step();
            first.step();
        }
        int port = first.name().port();
        first.close();
        TcpNode second = new TcpNode("127.0.0.1");
        nodes.add(second);
        assertNotEquals(port, second.name().port());
        Recorder there = second.connect(a.address());
        await(() -> there.ups == 1 && a.handler(second.address()).ups == 1 && here.downs == 1);
    }

    @Test
    void shouldHoldNoMemoryForConnectionsThatAreIdle() {
        Recorder here = up(a, b);
        for (int i = 0; i < 100; i++) {
            assertEquals(Channel.DONE, a.send(here.channel, i, 300, i));
        }
        await(() -> b.handler(a.address()).messages.size() == 100);
        // until both are left to the epoll
        await(() -> a.link.readPool().taken() + a.link.writePool().taken() == 0
            && b.link.readPool().taken() + b.link.writePool().taken() == 0);
        a.send(here.channel, 100, 1000, 100);
        await(() -> b.handler(a.address()).messages.size() == 101);
    }

    @Test
    void shouldConnectAndEndAThousandTimesWithoutALeak() {
        long before = openFiles();
        Recorder here = a.handler(b.address());
        for (int i = 1; i <= 1000; i++) {
            int round = i;
            a.connect(b.address());
            await(() -> here.ups == round && b.handler(a.address()).ups == round);
            a.send(here.channel, 1, 64, i);
            here.channel.close(FabricErrno.ECONNRESET);
            await(() -> b.handler(a.address()).downs == round);
        }
        assertEquals(1000, b.handler(a.address()).messages.size());
        assertTrue(openFiles() <= before, "descriptors");
        assertEquals(0, b.link.readPool().taken());
    }

    static long openFiles() {
        return new java.io.File("/proc/self/fd").list().length;
    }
}
