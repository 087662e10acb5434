package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.driver.kit.BestNodes;
import org.jfabric.driver.kit.BestPeerMain;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints with several links whose peers are other processes, in other file systems, or restarted drivers. */
@Tag("slow") // starts processes
@Timeout(120)
class BestPathProcessTest {
    /** The same path is another folder where the peer has mounted a file system of its own. */
    @ParameterizedTest(name = "own shared memory: {0}")
    @ValueSource(booleans = {false, true})
    void shouldUseShmOnlyWhereBothSeeTheSameFolder(boolean isOwn) {
        try (BestNodes nodes = new BestNodes()) {
            FabricNode a = nodes.node(nodes.launch("alpha"));
            Path folder = nodes.folder();
            List<String> command = new ArrayList<>();
            if (isOwn) {
                assumeTrue(TestProcess.run("unshare", "--mount", "mount", "-t", "tmpfs", "none", folder.toString())
                    .status() == 0, "only root mounts file systems");
                command.addAll(List.of("unshare", "--mount", "sh", "-c",
                    "mount -t tmpfs -o mode=0700 none \"$0\" && exec \"$@\"", folder.toString()));
            }
            command.addAll(TestJvm.command(List.of(), BestPeerMain.class, folder.resolve("beta").toString()));
            try (TestProcess peer = TestProcess.start(command)) {
                long toPeer = a.av.insert(peer.hear("name"));
                peer.say(a.endpoint.name());
                a.fill(0, BestPeerMain.LENGTH, 5);
                assertEquals(0, a.endpoint.trecv(a.memory.address(1024), BestPeerMain.LENGTH, toPeer, 8, 0, 1));
                assertEquals(0, a.endpoint.tsend(a.memory.address(), BestPeerMain.LENGTH, toPeer, 7, 2));
                a.await(2);
                a.await(1);
                a.assertFilled(1024, BestPeerMain.LENGTH, 5);
                String link = isOwn ? "tcp" : "shm";
                assertEquals(link, a.endpoint.path(toPeer).linkName(), a.endpoint.path(toPeer)::explain);
                assertEquals(link, peer.hear("path"));
                assertEquals(0, a.endpoint.tsend(a.memory.address(), BestPeerMain.LENGTH, toPeer, 9, 3));
                a.await(3);
                peer.ended().succeeded();
            }
        }
    }

    /** With the next driver the endpoint has the same name and port, and the same peers. */
    @Test
    void shouldOutliveItsDriver() {
        Path base = TestDirectory.create();
        AtomicInteger back = new AtomicInteger();
        FabricListener listener = new FabricListener() {
            @Override
            public void onReconnected() {
                back.incrementAndGet();
            }
        };
        Path own = base.resolve("own");
        DriverProcess driver = DriverProcess.start(own, "jfabric.tcp.interface=lo");
        try (DriverProcess other = DriverProcess.start(
                base.resolve("other"), "jfabric.tcp.interface=lo", "jfabric.link.enabled=loopback,tcp");
            FabricNode node = node(own, listener); FabricNode peer = node(other.directory(), null)) {
            String name = node.endpoint.name();
            long toPeer = node.av.insert(peer.endpoint.name());
            long toNode = peer.av.insert(name);
            exchange(node, peer, toPeer, toNode);
            driver.kill();
            driver = DriverProcess.start(own, "jfabric.tcp.interface=lo");
            Deadline.awaitParked(() -> "it is back", () -> back.get() == 1);
            assertEquals(name, node.endpoint.name());
            exchange(node, peer, toPeer, toNode);
            assertEquals("tcp", node.endpoint.path(toPeer).linkName());
        } finally {
            driver.close();
            TestDirectory.delete(base);
        }
    }

    /** Endpoints of other progress threads are reached by shm or within the driver, whichever thread they are on. */
    @Test
    void shouldReachEndpointsOnEachThread() {
        Path base = TestDirectory.create();
        String[] options = {"jfabric.tcp.interface=lo", "jfabric.threading.mode=DEDICATED",
            "jfabric.threading.progressThreads=2"};
        try (DriverProcess driver = DriverProcess.start(base.resolve("own"), options);
            DriverProcess other = DriverProcess.start(base.resolve("other"), options);
            FabricNode first = node(driver.directory(), null); FabricNode second = node(driver.directory(), null);
            FabricNode third = node(other.directory(), null); FabricNode fourth = node(other.directory(), null)) {
            List<FabricNode> all = List.of(first, second, third, fourth);
            for (FabricNode from : all) {
                for (FabricNode to : all) {
                    long toTo = from.av.insert(to.endpoint.name());
                    if (from != to) {
                        exchange(from, to, toTo, to.av.insert(from.endpoint.name()));
                    }
                    String link = from.fabric.driverName().equals(to.fabric.driverName()) ? "loopback" : "shm";
                    assertEquals(link, from.endpoint.path(toTo).linkName(), from.endpoint.path(toTo)::explain);
                }
            }
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static FabricNode node(Path directory, FabricListener listener) {
        FabricConfig config = new FabricConfig().directory(directory);
        if (listener != null) {
            config.listener(listener).reconnectTimeoutNs(FabricNode.DEADLINE_NS);
        }
        return new FabricNode(Fabric.connect(config), BestNodes.LINK, FabricPair.usualHints(), 64, 0, () -> { });
    }

    private static void exchange(FabricNode node, FabricNode peer, long toPeer, long toNode) {
        assertEquals(0, peer.endpoint.trecv(peer.memory.address(), 64, toNode, 7, 0, 1));
        assertEquals(0, node.endpoint.tsend(node.memory.address(), 64, toPeer, 7, 2));
        peer.await(1);
        node.await(2);
        assertEquals(0, node.endpoint.trecv(node.memory.address(), 64, toPeer, 7, 0, 1));
        assertEquals(0, peer.endpoint.tsend(peer.memory.address(), 64, toNode, 7, 2));
        node.await(1);
        peer.await(2);
    }
}
