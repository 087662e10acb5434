package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jfabric.Endpoint;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a listener is notified of when a peer ends: a close in order is not a death. */
@Tag("slow")
@Timeout(60)
class PeerEndTest {
    private final Path base = TestDirectory.create();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final List<String> ends = new ArrayList<>();
    private FabricDriver alpha;
    private FabricDriver beta;
    private FabricNode a;
    private FabricNode b;

    @Test
    void shouldSayThatAPeerHasClosedItsEndpoint() {
        connect("shm");
        b.endpoint.close();
        assertEnded("FI_ESHUTDOWN");
    }

    @Test
    void shouldSayThatAPeerHasClosedItsFabric() {
        connect("shm");
        b.close();
        assertEnded("FI_ESHUTDOWN");
    }

    @Test
    void shouldSayThatAPeerHasClosedItsDriver() {
        connect("shm");
        beta.close();
        assertEnded("FI_ESHUTDOWN");
    }

    @Test
    void shouldSayThatAPeerOfTheSameDriverHasClosed() {
        connect("loopback");
        b.endpoint.close();
        assertEnded("FI_ESHUTDOWN");
    }

    @Test
    void shouldSayThatAPeerHasDied() {
        connect("shm");
        beta.abandon();
        assertEnded("FI_ECONNRESET");
    }

    /** The system ends the connections of a killed process in the same way. */
    @Test
    void shouldNotCallAnyEndOrderlyOverTcp() {
        connect("tcp");
        b.endpoint.close();
        assertEnded("FI_ECONNRESET");
    }

    /** No message of theirs is known to have arrived. */
    @Test
    void shouldEndOperationsOfAPeerThatHasClosedAsThoseOfOneThatDied() {
        connect("shm");
        assertEquals(0, a.endpoint.trecv(a.memory.address(), 8, a.av.insert(b.endpoint.name()), 5, 0, 77));
        b.endpoint.close();
        FabricNode.Entry ended = a.await();
        assertEquals(77, ended.context());
        assertEquals(FabricErrno.ECONNRESET, ended.err());
        assertEnded("FI_ESHUTDOWN");
    }

    private void connect(String link) {
        alpha = launch("alpha");
        beta = link.equals("loopback") ? alpha : launch("beta");
        FabricListener listener = new FabricListener() {
            @Override
            public void onPeerDown(Endpoint endpoint, long fiAddr, int errno, String address) {
                ends.add(FabricErrno.name(errno));
            }
        };
        a = node(alpha, link, new FabricConfig().listener(listener));
        b = node(beta, link, new FabricConfig());
        assertEquals(0, b.endpoint.trecv(b.memory.address(), 8, -1L, 1, 0, 1));
        assertEquals(0, a.endpoint.tsend(a.memory.address(), 8, a.av.insert(b.endpoint.name()), 1, 2));
        b.await(1);
        a.await(2);
    }

    private void pump() {
        alpha.cycle();
        if (beta != alpha && beta.isRunning()) {
            beta.cycle();
        }
    }

    private void assertEnded(String expected) {
        Deadline deadline = Deadline.usual();
        while (ends.isEmpty()) {
            deadline.check("an event", () -> "none");
            a.poll();
            pump();
        }
        assertEquals(List.of(expected), ends);
    }

    private FabricNode node(FabricDriver driver, String link, FabricConfig config) {
        FabricNode node = new FabricNode(driver.fabric(config), link, FabricPair.usualHints(), 64, 0, this::pump);
        open.push(node);
        return node;
    }

    private FabricDriver launch(String name) {
        FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve(name))
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.tcp.interface", "lo").build());
        open.push(driver);
        return driver;
    }

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
        TestDirectory.delete(base);
    }
}
