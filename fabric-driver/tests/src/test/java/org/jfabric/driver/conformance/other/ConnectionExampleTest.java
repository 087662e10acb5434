package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.ConnectionRequest;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** The code of docs/connections.md: it compiles, it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class ConnectionExampleTest {
    private static final long DEADLINE_NS = Deadline.ns(20);

    private final List<String> said = new ArrayList<>();
    private final List<Endpoint> accepted = new ArrayList<>();

    private PassiveEndpoint listen(Fabric fabric, EventQueue events) {
        // example: listen
        Info hints = new Info().caps(Flags.MSG | Flags.TAGGED);
        hints.epAttr().type(EndpointType.MSG);
        // the hints name no link: it listens by loopback and shm
        Info info = fabric.info(hints).best();
        info.srcAddr("jfabric://" + fabric.driverName() + "/quotes");

        PassiveEndpoint passive = fabric.openPassiveEndpoint(info);
        passive.bind(events, 0);
        passive.setBacklog(16);
        passive.listen();
        // end of example
        return passive;
    }

    private PassiveEndpoint listenAtSocket(Fabric fabric, EventQueue events) {
        // example: listen at a socket
        Info hints = new Info().caps(Flags.MSG | Flags.TAGGED).linkName("tcp");
        hints.epAttr().type(EndpointType.MSG);
        PassiveEndpoint passive = fabric.openPassiveEndpoint(fabric.info(hints).best());
        passive.bind(events, 0);
        passive.listen();
        // what peers connect to, for example fi_sockaddr_in://192.0.2.2:45007
        String address = passive.name();
        // end of example
        assertTrue(SocketName.isName(address), address);
        return passive;
    }

    private Endpoint connect(Domain domain, Info info, CompletionQueue queue, EventQueue events, String address) {
        // example: connect
        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(events, 0);
        DirectBuffer who = new UnsafeBuffer("desk 7".getBytes());
        endpoint.connect(address, who, 0, who.capacity());
        // end of example
        return endpoint;
    }

    // example: serve
    private final EventEntry entry = new EventEntry();
    private final EventError error = new EventError();

    private void serve(EventQueue events, Domain domain, CompletionQueue queue) {
        int result = events.read(entry, 0);
        if (result == 1) {
            switch (entry.type()) {
                case CONNREQ -> answer((PassiveEndpoint) entry.fid(), entry.info(), domain, queue, events);
                case CONNECTED -> say("connected to " + ((Endpoint) entry.fid()).peer());
                case SHUTDOWN -> ((Endpoint) entry.fid()).close();
                default -> say("not awaited: " + entry);
            }
        } else if (result == -FabricErrno.EAVAIL && events.readErr(error, 0) == 1) {
            say(error.fid() + ": " + FabricErrno.name(error.err()) + ' '
                + error.errData().getStringWithoutLengthAscii(0, error.errDataSize()));
        }
    }

    private void answer(PassiveEndpoint passive, Info info, Domain domain, CompletionQueue queue, EventQueue events) {
        String who = entry.bytes().getStringWithoutLengthAscii(0, entry.bytes().capacity());
        if (!who.startsWith("desk")) {
            DirectBuffer why = new UnsafeBuffer("desks only".getBytes());
            passive.reject((ConnectionRequest) info.handle(), why, 0, why.capacity());
            return;
        }
        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(events, 0);
        endpoint.accept();
        accepted.add(endpoint);
    }
    // end of example

    private void say(String text) {
        said.add(text);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRunAsShown(Setup setup) {
        setup.assumePlain();
        try (FabricPair pair = new FabricPair(setup)) {
            EventQueue serverEvents = pair.b.fabric.openEventQueue(new EventQueueAttr());
            EventQueue clientEvents = pair.a.fabric.openEventQueue(new EventQueueAttr());
            PassiveEndpoint passive = setup.isForeign()
                ? listenAtSocket(pair.b.fabric, serverEvents) : listen(pair.b.fabric, serverEvents);
            Info info = new ConnectionSide(pair, pair.a).info;
            Endpoint endpoint = connect(pair.a.domain, info, pair.a.cq, clientEvents, passive.name());
            long deadline = System.nanoTime() + DEADLINE_NS;
            while (said.size() < 2) {
                assertTrue(System.nanoTime() - deadline < 0, () -> "said " + said);
                serve(serverEvents, pair.b.domain, pair.b.cq);
                serve(clientEvents, pair.a.domain, pair.a.cq);
                pair.pump();
            }
            assertTrue(said.contains("connected to " + passive.name()), () -> "said " + said);
            Endpoint other = pair.a.domain.openEndpoint(info);
            other.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            other.bind(clientEvents, 0);
            other.connect(passive.name());
            while (said.size() < 3) {
                assertTrue(System.nanoTime() - deadline < 0, () -> "said " + said);
                serve(serverEvents, pair.b.domain, pair.b.cq);
                serve(clientEvents, pair.a.domain, pair.a.cq);
                pair.pump();
            }
            assertTrue(said.get(2).endsWith(": FI_ECONNREFUSED desks only"), () -> "said " + said);
            endpoint.shutdown(0);
            while (accepted.getFirst().isOpen()) {
                assertTrue(System.nanoTime() - deadline < 0, "the peer's end");
                serve(serverEvents, pair.b.domain, pair.b.cq);
                pair.pump();
            }
            assertEquals(1, accepted.size());
        }
    }

    @Test
    void shouldStandInTheDocumentationAsItIsHere() throws IOException {
        ExamplePage.assertShows("docs/connections.md", ConnectionExampleTest.class, 4);
    }
}
