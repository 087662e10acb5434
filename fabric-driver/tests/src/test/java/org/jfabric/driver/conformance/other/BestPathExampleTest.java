package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.kit.BestNodes;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.info.BestName;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.PeerPath;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/best-path.md: it compiles, it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class BestPathExampleTest {
    private static Messenger open(Fabric fabric, String name) {
        // example: open
        Info hints = new Info().caps(Flags.MSG | Flags.TAGGED).linkName("best");
        Messenger own = fabric.messenger().hints(hints).name(name).open();
        // end of example
        return own;
    }

    private static PeerPath explain(Messenger own, String address) {
        // example: path
        long peer = own.peers().insert(address);
        PeerPath path = own.endpoint().path(peer);
        System.out.println(path.linkName());
        System.out.println(path.explain());
        // end of example
        return path;
    }

    private static String ofLink(Messenger own) {
        // example: way
        String forTcpOnly = BestName.parse(own.address()).way("tcp");
        // end of example
        return forTcpOnly;
    }

    @Test
    void shouldExchangeAMessage() {
        try (BestNodes nodes = new BestNodes();
            Fabric first = nodes.launch("alpha").fabric();
            Fabric second = nodes.launch("beta").fabric();
            Messenger a = open(first, "orders"); Messenger b = open(second, "fills")) {
            PeerPath path = explain(a, b.address());
            assertEquals("shm", path.linkName());
            assertEquals("orders", BestName.parse(a.address()).endpoint());
            assertEquals("tcp", explain(a, ofLink(b)).linkName());
            assertEquals(0, b.endpoint().trecv(b.memory().address(), 64, FabricAddress.ADDR_UNSPEC, 7, 0, 1));
            assertEquals(0, a.endpoint().tsend(a.memory().slice(0, 64), a.peer(b.address()), 7, 2));
            long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            int[] count = new int[1];
            while (count[0] < 2 && System.nanoTime() - endNs < 0) {
                nodes.pump();
                a.queue().poll(entry -> count[0]++, 1);
                b.queue().poll(entry -> count[0]++, 1);
            }
            assertEquals(2, count[0]);
        }
    }

    @Test
    void shouldBeOnItsPage() throws IOException {
        ExamplePage.assertShows("docs/best-path.md", BestPathExampleTest.class, 3);
    }
}
