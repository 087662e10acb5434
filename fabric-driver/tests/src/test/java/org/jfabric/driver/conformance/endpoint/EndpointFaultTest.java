package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The one critical error of an endpoint, the end of the driver that works for it. All others concern one peer. */
@Tag("conformance")
@Timeout(120)
class EndpointFaultTest {
    private static final long ANY = -1L;

    @ParameterizedTest(name = "link={0} mode={1}")
    @CsvSource({"loopback,embedded", "loopback,daemon", "shm,embedded", "shm,daemon"})
    @Requirement({"EP-016", "EP-017", "EP-018", "EP-062"})
    void shouldDisableTheEndpointAndTellItsEventQueueWhenTheDriverEnds(String link, String mode) {
        Path base = TestDirectory.create();
        boolean daemon = mode.equals("daemon");
        // a daemon is found dead, an embedded driver says that it is closed
        int why = daemon ? FabricErrno.ENODEV : FabricErrno.ESHUTDOWN;
        DriverProcess process = daemon ? DriverProcess.start(base.resolve("alpha")) : null;
        FabricDriver embedded = daemon ? null : FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(base.resolve("alpha")).threadingMode(ThreadingMode.INVOKER).build());
        try (Fabric fabric = daemon ? Fabric.connect(new FabricConfig().directory(process.directory()))
            : embedded.fabric()) {
            Info info = fabric.info(new Info().caps(Flags.TAGGED).linkName(link)).best();
            Domain domain = fabric.domain(info);
            MemoryRegion memory = domain.allocate(4096);
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
            EventQueue events = fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.UNSPEC));
            Endpoint endpoint = enabled(domain, info, queue, events);
            for (int i = 0; i < 10; i++) {
                assertEquals(0, endpoint.trecv(memory.address(), 64, ANY, i, 0, 1 + i));
                // to itself, where nothing takes it
                assertEquals(0, endpoint.messages().tsendmsg(
                    memory.address(), 64, 0, 0, 99, 101 + i, Flags.COMPLETION | Flags.MATCH_COMPLETE));
            }
            if (daemon) {
                process.kill();
            } else {
                embedded.close();
            }
            EventEntry event = new EventEntry();
            EventError error = new EventError();
            assertEquals(-FabricErrno.EAVAIL, events.sread(event, -1, 0));
            assertEquals(1, events.readErr(error, 0));
            assertSame(endpoint, error.fid());
            assertEquals(why, error.err());
            assertEquals(0xE9, error.context());
            assertEquals(-FabricErrno.ENODEV, events.sread(event, -1, 0), "once, and nothing behind it");
            assertDisabled(endpoint, memory);
            // whether it can be enabled again depends on the error: not after this one, and both say so
            assertEquals(why, assertThrows(FabricException.class, endpoint::enable).errno());
            assertDisabled(endpoint, memory);
            // what was pending is dropped without a word (AMB-65)
            assertEquals(-FabricErrno.ENODEV, queue.read(new UnsafeBuffer(new byte[64]), 0, 1));
            endpoint.close();
        } finally {
            if (daemon) {
                process.close();
            }
            TestDirectory.delete(base);
        }
    }

    private static Endpoint enabled(Domain domain, Info info, CompletionQueue queue, EventQueue events) {
        AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
        Endpoint endpoint = domain.openEndpoint(info, 0xE9);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.bind(events, 0);
        endpoint.enable();
        assertEquals(0, vector.insert(endpoint.name()));
        return endpoint;
    }

    private static void assertDisabled(Endpoint endpoint, MemoryRegion memory) {
        assertEquals(-FabricErrno.EOPBADSTATE, endpoint.trecv(memory.address(), 64, ANY, 1, 0, 1));
        assertEquals(-FabricErrno.EOPBADSTATE, endpoint.recv(memory.address(), 64, ANY, 1));
        assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tsend(memory.address(), 64, 0, 1, 1));
        assertEquals(-FabricErrno.EOPBADSTATE, endpoint.messages().tsendmsg(memory.address(), 64, 0, 0, 1, 1, -1L));
        assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, 0, 1));
        assertEquals(-FabricErrno.EOPBADSTATE, endpoint.cancel(1));
        assertEquals(-FabricErrno.EOPBADSTATE, endpoint.txSizeLeft());
    }
}
