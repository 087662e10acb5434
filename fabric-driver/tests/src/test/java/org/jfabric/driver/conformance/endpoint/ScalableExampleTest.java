package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.ScalableEndpoint;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.jfabric.info.Threading;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/scalable-endpoints.md: it compiles, it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class ScalableExampleTest {
    private static void check(int result) {
        assertEquals(0, result);
    }

    @Test
    @Requirement({"SEP-001", "SEP-020"})
    void shouldRunAsThePageSays() {
        var base = TestDirectory.create();
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(base.resolve("alpha")).threadingMode(ThreadingMode.INVOKER).build());
            Fabric fabric = driver.fabric()) {
            run(fabric);
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static void run(Fabric fabric) {
        // example: open
        Info hints = new Info().caps(Flags.TAGGED | Flags.NAMED_RX_CTX);
        hints.epAttr().txCtxCnt(2).rxCtxCnt(3);
        // one thread at a time uses what belongs to a completion queue
        hints.domainAttr().threading(Threading.COMPLETION);
        Domain domain = fabric.domain(fabric.info(hints).best());
        AddressVector peers = domain.openAddressVector(new AddressVectorAttr().rxCtxBits(2));

        ScalableEndpoint service = domain.openScalableEndpoint(domain.info());
        service.bind(peers);
        service.enable();
        // end of example
        contexts(domain, peers, service);
    }

    private static void contexts(Domain domain, AddressVector peers, ScalableEndpoint service) {
        // example: contexts
        CompletionQueue sent = domain.openCompletionQueue(new CompletionQueueAttr());
        Endpoint sender = service.txContext(0);
        sender.bind(sent, Flags.TRANSMIT);
        sender.enable();

        CompletionQueue received = domain.openCompletionQueue(new CompletionQueueAttr());
        Endpoint worker = service.rxContext(2, new RxAttr().size(64), 0);
        worker.bind(received, Flags.RECV);
        worker.enable();
        // end of example
        MemoryRegion memory = domain.allocate(128);
        check(worker.trecv(memory.address(64), 64, FabricAddress.ADDR_UNSPEC, 1, 0, 5));
        send(sender, peers, service.name(), memory);
        Deadline.await("the message", () -> received.poll(entry -> assertEquals(5, entry.opContext()), 1) == 1,
            worker::toString);
    }

    private static void send(Endpoint sender, AddressVector peers, String address, MemoryRegion memory) {
        // example: send
        long service = peers.insert(address);
        long named = FabricAddress.rxAddr(service, 2, 2);
        check(sender.tsend(memory.address(), 64, named, 1, 7));
        // end of example
    }

    @Test
    void shouldBeShownOnThePageAsItIsHere() throws IOException {
        ExamplePage.assertShows("docs/scalable-endpoints.md", ScalableExampleTest.class, 3);
    }
}
