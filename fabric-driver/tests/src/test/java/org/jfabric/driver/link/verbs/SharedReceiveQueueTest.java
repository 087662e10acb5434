package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Receives that all connections of a device share. */
@Timeout(120)
class SharedReceiveQueueTest {
    private static final int SHARED = 16;
    private static final int CLIENTS = 3;

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private final List<RxmNode> nodes = new ArrayList<>();
    private final List<RxmTold> clients = new ArrayList<>();
    private RxmNode server;

    /** Clients with receives of their own, and a server with shared ones. */
    private void open(String... options) {
        String[] all = new String[options.length + 2];
        System.arraycopy(options, 0, all, 2, options.length);
        all[0] = "jfabric.verbs.sharedReceives";
        all[1] = Integer.toString(SHARED);
        server = new RxmNode(network, "10.0.0.1", all);
        nodes.add(server);
        for (int i = 0; i < CLIENTS; i++) {
            RxmNode client = new RxmNode(network, "10.0.0." + (i + 2));
            nodes.add(client);
            clients.add(client.connect(server.address));
        }
        await("connections", () -> clients.stream().allMatch(RxmTold::isUp) && server.peers.size() == CLIENTS
            && server.peers.values().stream().allMatch(RxmTold::isUp));
    }

    /** The server's side of a client. */
    private RxmTold side(int client) {
        return server.peers.get(nodes.get(client + 1).address);
    }

    @AfterEach
    void close() {
        nodes.forEach(RxmNode::close);
        for (RxmNode node : nodes) {
            List<String> left = node.node.verbs.left();
            assertFalse(left.contains("registration") || left.contains("shared receive queue"), left::toString);
            assertEquals(0, node.node.verbs.dataPath.queuePairs());
        }
    }

    private void step() {
        int work = 0;
        for (RxmNode node : nodes) {
            work += node.step(true);
        }
        if (work == 0) {
            Thread.yield();
        }
    }

    private void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(30);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> what + " was not reached; server " + server.node.errors
                + ", posted " + server.node.verbs.dataPath.shared.posted() + ", received "
                + server.peers.values().stream().map(side -> side.received.size()).toList());
            step();
        }
    }

    private void settle() {
        for (int i = 0; i < 20; i++) {
            step();
        }
    }

    private boolean isAllPosted() {
        return server.node.verbs.dataPath.shared.posted() == SHARED;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldServeAllConnectionsFromOneQueue(long seed) {
        open();
        exchange(seed);
        await("all receives, seed " + seed, this::isAllPosted);
        // registrations for single transfers are given back later
        settle();
        assertEquals(1, server.node.verbs.dataPath.shared.count());
        assertEquals(List.of(), server.node.errors);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldGiveOnlyTheFirstConnectionsReceivesOfTheirOwn(long seed) {
        open("jfabric.verbs.sharedReceives", "0", "jfabric.verbs.ownConnections", "1");
        long packet = RxmNode.EAGER + 64;
        List<String> calls = server.node.verbs.calls;
        assertEquals(1, Collections.frequency(calls, "ibv_reg_mr " + PinnedMemory.pages(256 * packet)));
        assertEquals(2, Collections.frequency(calls, "ibv_reg_mr " + PinnedMemory.pages(32 * packet)));
        assertEquals(1, Collections.frequency(calls, "ibv_create_srq 1024"));
        exchange(seed);
        settle();
        assertEquals(1024, server.node.verbs.dataPath.shared.posted());
        assertEquals(List.of(), server.node.errors);
        // the place of one that has gone is taken by the next
        RxmTold first = clients.getFirst();
        first.channel.close(FabricErrno.ECONNABORTED);
        await("its end", () -> side(0).downErrno != 0);
        settle();
        RxmNode further = new RxmNode(network, "10.0.0.9");
        nodes.add(further);
        RxmTold told = further.connect(server.address);
        await("a connection", told::isUp);
        assertEquals(2, Collections.frequency(calls, "ibv_reg_mr " + PinnedMemory.pages(256 * packet)));
    }

    private void exchange(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 2000; i++) {
            int client = random.nextInt(CLIENTS);
            switch (random.nextInt(8)) {
                case 0, 1 -> clients.get(client).send(random.nextInt(RxmNode.EAGER + 1));
                case 2 -> side(client).send(random.nextInt(RxmNode.SEGMENTED));
                case 3 -> clients.get(client).send(random.nextInt(10) == 0 ? 4 * RxmNode.SEGMENTED : 5);
                case 4 -> side(client).pauses = random.nextBoolean();
                default -> nodes.get(random.nextInt(CLIENTS + 1)).step(random.nextBoolean());
            }
        }
        server.peers.values().forEach(side -> side.pauses = false);
        for (int i = 0; i < CLIENTS; i++) {
            int client = i;
            await("all messages of client " + i + ", seed " + seed, () ->
                side(client).received.size() == clients.get(client).sent()
                    && clients.get(client).received.size() == side(client).sent());
        }
    }

    /** Three that send all they can at once get on alike. */
    @Test
    void shouldLetAllGetOn() {
        open();
        int count = 40 * SHARED;
        for (int i = 0; i < count; i++) {
            clients.forEach(client -> client.send(10));
        }
        int most = 0;
        int least = 0;
        while (least < count) {
            step();
            int[] got = server.peers.values().stream().mapToInt(side -> side.received.size()).sorted().toArray();
            least = got[0];
            most = Math.max(most, got[CLIENTS - 1] - least);
        }
        assertTrue(server.node.verbs.dataPath.notReady > 0, "more than there are receives for");
        assertTrue(most <= 8 * SHARED, "ahead by " + most + " of " + count);
    }

    @Test
    void shouldGoOnWhenASlowOneTakesItsMessages() {
        open();
        side(0).pauses = true;
        for (int i = 0; i < 3 * SHARED; i++) {
            clients.get(0).send(10);
        }
        settle();
        clients.get(1).send(20);
        settle();
        assertEquals(0, side(1).received.size(), "no receive is left");
        side(0).pauses = false;
        await("the other one", () -> side(1).received.size() == 1);
        await("all of the slow one", () -> side(0).received.size() == 3 * SHARED);
        assertEquals(0, side(0).downErrno);
    }

    @Test
    void shouldEndTheOneThatHoldsMostWhenNothingIsLeftForTheOthers() {
        // a busy machine does not reach it by itself
        open("jfabric.verbs.sharedHoldLimitNs", "60000000000");
        side(0).pauses = true;
        side(2).pauses = true;
        clients.get(2).send(10);
        settle();
        for (int i = 0; i < 3 * SHARED; i++) {
            clients.get(0).send(10);
        }
        settle();
        clients.get(1).send(20);
        settle();
        assertEquals(0, side(1).received.size() + side(0).downErrno);
        server.node.aheadNs = 61_000_000_000L;
        await("the other one", () -> side(1).received.size() == 1);
        assertEquals(FabricErrno.ENOBUFS, side(0).downErrno);
        assertEquals(0, side(2).downErrno);
        String errors = server.node.errors.toString();
        assertTrue(errors.contains("jfabric.verbs.sharedReceives"), errors);
        side(2).pauses = false;
        await("the one that held little", () -> side(2).received.size() == 1);
        await("all receives", this::isAllPosted);
    }

    @Test
    void shouldGiveReceivesBackWhenAConnectionEnds() {
        open();
        side(0).pauses = true;
        for (int i = 0; i < SHARED / 2; i++) {
            clients.get(0).send(10);
        }
        settle();
        assertTrue(server.node.verbs.dataPath.shared.posted() < SHARED);
        side(0).channel.close(FabricErrno.ECONNABORTED);
        await("all receives", this::isAllPosted);
        await("its end", () -> clients.get(0).downErrno != 0);
        clients.get(1).send(20);
        await("another one", () -> side(1).received.size() == 1);
        await("its queue pair's end", () -> server.node.verbs.dataPath.queuePairs() == CLIENTS - 1);
    }

    /** What a peer has sent before it ended the connection is kept for the endpoint, but not for ever. */
    @Test
    void shouldNotKeepMessagesOfOneThatIsGoneForEver() {
        open();
        side(0).pauses = true;
        for (int i = 0; i < 3 * SHARED; i++) {
            clients.get(0).send(10);
        }
        settle();
        nodes.get(1).detach();
        settle();
        clients.get(1).send(20);
        settle();
        assertEquals(0, side(1).received.size() + side(0).downErrno);
        server.node.aheadNs = 11_000_000_000L;
        await("the other one", () -> side(1).received.size() == 1);
        assertEquals(FabricErrno.ENOBUFS, side(0).downErrno);
        await("all receives", this::isAllPosted);
    }

    @Test
    void shouldSayWhyThereIsNoSharedQueue() {
        server = new RxmNode(network, "10.0.0.1", "jfabric.verbs.sharedReceives", "16");
        nodes.add(server);
        server.node.verbs.dataPath.shared.errno = FabricErrno.EINVAL;
        RxmNode client = new RxmNode(network, "10.0.0.2");
        nodes.add(client);
        RxmTold told = client.connect(server.address);
        await("its end", () -> told.downErrno != 0 || !server.node.errors.isEmpty());
        assertTrue(server.node.errors.toString().contains("ibv_create_srq of 16"), server.node.errors::toString);
    }
}
