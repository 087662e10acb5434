package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** The code of docs/event-queues.md: it compiles, it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class EventQueueExampleTest {
    private final List<String> said = new ArrayList<>();

    private Endpoint open(Fabric fabric, Domain domain, Info info, CompletionQueue completions, String[] peers) {
        // example: open
        EventQueue events = fabric.openEventQueue(
            new EventQueueAttr().flags(Flags.WRITE).waitObject(WaitObject.UNSPEC));

        AddressVector vector = domain.openAddressVector(new AddressVectorAttr().flags(Flags.EVENT));
        vector.bind(events, 0);
        long[] fiAddrs = new long[peers.length];
        vector.insert(peers, fiAddrs, 1, 0);

        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(completions, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.bind(events, 0);
        endpoint.enable();
        // end of example
        Thread stopper = new Thread(() -> stop(events));
        stopper.start();
        // the thread of the application: with an embedded driver it is the one that runs the cycles
        while (said.size() < 2) {
            serve(events, 100_000_000);
        }
        join(stopper);
        return endpoint;
    }

    private void stop(EventQueue events) {
        // example: write
        events.write(EventType.NOTIFY.code(), "stop", 0, 0, 0);
        // end of example
    }

    // example: read
    private final EventEntry entry = new EventEntry();
    private final EventError error = new EventError();

    private void serve(EventQueue events, long timeoutNs) {
        int result = events.sread(entry, timeoutNs, 0);
        if (result == 1) {
            switch (entry.type()) {
                case AV_COMPLETE -> say(entry.data() + " addresses inserted by call " + entry.context());
                case NOTIFY -> say("asked to " + entry.fid());
                default -> say("not awaited: " + entry);
            }
        } else if (result == -FabricErrno.EAVAIL && events.readErr(error, 0) == 1) {
            say(error.fid() + ": " + events.strerror(error.provErrno()));
        } else if (result != -FabricErrno.EAGAIN) {
            say("no more events: " + FabricErrno.name(result));
        }
    }
    // end of example

    private int select(EventQueue events, Selector selector) throws IOException {
        // example: select
        events.channel().register(selector, SelectionKey.OP_READ);
        int result = events.read(entry, 0);
        while (result == -FabricErrno.EAGAIN) {
            if (events.tryWait() == 0) {
                selector.select();
                selector.selectedKeys().clear();
            }
            result = events.read(entry, 0);
        }
        // end of example
        return result;
    }

    private void say(String text) {
        said.add(text);
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRunAsThePageSays(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            String[] peers = {pair.b.endpoint.name(), pair.a.endpoint.name()};
            Endpoint endpoint = open(pair.a.fabric, pair.a.domain, pair.a.info, pair.a.cq, peers);
            assertTrue(endpoint.isOpen());
            said.sort(null);
            assertEquals(List.of("2 addresses inserted by call 1", "asked to stop"), said);
        }
    }

    @Test
    void shouldSelectAsThePageSays() throws IOException {
        try (FabricPair pair = new FabricPair(Setup.LOOPBACK_DAEMON);
            Selector selector = Selector.open();
            EventQueue events = pair.a.fabric.openEventQueue(
                new EventQueueAttr().flags(Flags.WRITE).waitObject(WaitObject.FD))) {
            Thread writer = new Thread(() -> stop(events));
            writer.start();
            assertEquals(1, select(events, selector));
            assertEquals("stop", entry.fid());
            join(writer);
            events.channel().close();
        }
    }

    @Test
    void shouldBeShownOnThePageAsItIsHere() throws IOException {
        ExamplePage.assertShows("docs/event-queues.md", EventQueueExampleTest.class, 4);
    }

    private static void join(Thread thread) {
        try {
            thread.join(Deadline.ms(20));
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
        assertTrue(!thread.isAlive());
    }
}
