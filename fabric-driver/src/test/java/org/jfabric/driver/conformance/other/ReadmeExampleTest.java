package org.jfabric.driver.conformance.other;

import org.jfabric.AddressVector;
import org.jfabric.AddressVectorAttr;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.CompletionQueueAttr;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricAddress;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.ThreadingMode;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** The code of README.md between two drivers: it compiles, it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(60)
class ReadmeExampleTest {
    // example: between two drivers
    static String exchange(Path base) {
        try (FabricDriver quotes = embed(base.resolve("quotes")); Fabric publisher = quotes.fabric();
            FabricDriver desk = embed(base.resolve("desk")); Fabric subscriber = desk.fabric()) {
            Side from = Side.open(publisher);
            Side to = Side.open(subscriber);
            // the other process has to be given this text: jfabric://desk/ep-...
            String address = to.endpoint().name();

            to.endpoint().trecv(to.memory().address(), 64, FabricAddress.ADDR_UNSPEC, 7, 0, 1);
            int length = from.memory().buffer().putStringUtf8(0, "EURUSD 1.0834");
            from.endpoint().tsend(from.memory().address(), length, from.peers().insert(address), 7, 2);
            for (int seen = 0; seen < 2;) {
                // a driver in mode INVOKER works inside of its application's calls
                seen += from.ended() + to.ended();
            }
            return to.memory().buffer().getStringUtf8(0);
        }
    }

    static FabricDriver embed(Path directory) {
        return FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(directory).threadingMode(ThreadingMode.INVOKER).build());
    }

    record Side(Endpoint endpoint, CompletionQueue queue, AddressVector peers, MemoryRegion memory) {
        static Side open(Fabric fabric) {
            Domain domain = fabric.domain(fabric.info(new Info().caps(Flags.TAGGED)).best());
            Side side = new Side(
                domain.openEndpoint(domain.info()), domain.openCompletionQueue(new CompletionQueueAttr()),
                domain.openAddressVector(new AddressVectorAttr()), domain.allocate(4096));
            side.endpoint.bind(side.queue, Flags.TRANSMIT | Flags.RECV);
            side.endpoint.bind(side.peers);
            side.endpoint.enable();
            return side;
        }

        /** How many entries were there; a failure ends the program. */
        int ended() {
            int count = queue.poll(entry -> { }, 1);
            if (count < 0 && count != -FabricErrno.EAGAIN) {
                CompletionError error = new CompletionError();
                throw new IllegalStateException(
                    queue.readErr(error, 0) == 1 ? queue.strerror(error.provErrno()) : FabricErrno.describe(count));
            }
            return Math.max(0, count);
        }
    }
    // end of example

    @Test
    void shouldRunAsShown() {
        Path base = TestDirectory.create();
        try {
            assertEquals("EURUSD 1.0834", exchange(base));
        } finally {
            TestDirectory.delete(base);
        }
    }

    @Test
    void shouldEndWithTheTextOfAnErrorEntry() {
        Path base = TestDirectory.create();
        try (FabricDriver driver = embed(base.resolve("desk")); Fabric fabric = driver.fabric()) {
            Side side = Side.open(fabric);
            side.endpoint().trecv(side.memory().address(), 64, FabricAddress.ADDR_UNSPEC, 7, 0, 1);
            side.endpoint().cancel(1);
            int[] calls = {0};
            IllegalStateException failed = assertThrows(IllegalStateException.class, () -> {
                while (calls[0]++ < 1000) {
                    side.ended();
                }
            }, "no failure in 1000 cycles of the driver");
            assertEquals(side.queue().strerror(FabricErrno.ECANCELED), failed.getMessage());
        } finally {
            TestDirectory.delete(base);
        }
    }

    @Test
    void shouldStandInTheReadmeAsItIsHere() throws IOException {
        ExamplePage.assertShows("README.md", ReadmeExampleTest.class, 1);
    }
}
