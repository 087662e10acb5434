package org.jfabric.driver.conformance.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Listening with nothing but a port: at every address of the host, as in C. */
@Tag("conformance")
@Timeout(60)
class WildcardListenTest {
    private static final long DEADLINE_NS = Deadline.ns(20);

    @Test
    void shouldListenAtEveryAddressIfOnlyThePortIsNamed() {
        Path base = TestDirectory.create();
        // the option must not matter where an address is asked for
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("one"))
                .set("jfabric.tcp.interface", "127.0.0.1").threadingMode(ThreadingMode.INVOKER).build());
            Fabric fabric = driver.fabric()) {
            Info hints = new Info().linkName("tcp");
            hints.epAttr().type(EndpointType.MSG);
            Info info = fabric.info(hints, null, "0", Flags.SOURCE).best();
            assertEquals("fi_sockaddr_in://0.0.0.0:0", info.srcAddr());
            EventQueue events = fabric.openEventQueue(new EventQueueAttr());
            PassiveEndpoint passive = fabric.openPassiveEndpoint(info);
            passive.bind(events, 0);
            passive.listen();
            SocketName name = SocketName.parse(passive.name());
            assertTrue(name.inetAddress().isAnyLocalAddress() && !name.isIn6() && name.port() != 0, name::toString);

            for (String host : new String[] {"127.0.0.1", "127.0.0.2"}) {
                Domain domain = fabric.domain(info);
                Endpoint endpoint = domain.openEndpoint(fabric.info(hints).best());
                endpoint.bind(domain.openCompletionQueue(new CompletionQueueAttr()), Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(events, 0);
                endpoint.connect("fi_sockaddr_in://" + host + ':' + name.port());
                EventEntry entry = new EventEntry();
                long deadline = System.nanoTime() + DEADLINE_NS;
                int read;
                while ((read = events.read(entry, 0)) == -FabricErrno.EAGAIN) {
                    assertTrue(System.nanoTime() - deadline < 0, () -> "no request by way of " + host);
                }
                assertEquals(1, read, () -> host + " is not listened at");
                assertEquals(EventType.CONNREQ, entry.type(), host);
            }

            hints.addrFormat(AddressFormat.SOCKADDR_IN6);
            assertEquals("fi_sockaddr_in6://[::]:9", fabric.info(hints, null, "9", Flags.SOURCE).best().srcAddr());
        } finally {
            TestDirectory.delete(base);
        }
    }
}
