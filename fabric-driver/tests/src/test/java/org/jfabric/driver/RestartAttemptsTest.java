package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.OwnThreads;
import org.jfabric.test.TestDirectory;
import org.jfabric.tool.ToolRun;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A client that cannot come back at first, because the next driver lacks the link of one of its endpoints. */
@Tag("slow") // runs daemons
class RestartAttemptsTest {
    private final Path directory = TestDirectory.create().resolve("restarted");
    private DriverProcess driver;

    private static final class Events implements FabricListener {
        private volatile boolean isBack;
        private volatile FabricException gone;

        @Override
        public void onReconnected() {
            isBack = true;
        }

        @Override
        public void onDriverGone(FabricException why) {
            gone = why;
        }

        @Override
        public String toString() {
            return "back " + isBack + ", gone " + gone;
        }
    }

    @AfterEach
    void close() {
        driver.close();
    }

    private void start() {
        driver = DriverProcess.start(directory, "-XX:TieredStopAtLevel=1");
    }

    private FabricConfig config(FabricListener listener, long timeoutNs) {
        return new FabricConfig().directory(directory).listener(listener).reconnectTimeoutNs(timeoutNs);
    }

    @Test
    void shouldLeaveNothingBehindOfAttemptsThatFail() {
        OwnThreads.run(this::leaveNothingBehind);
    }

    private void leaveNothingBehind(OwnThreads threads) {
        start();
        Events client = new Events();
        try (Fabric fabric = Fabric.connect(config(client, Deadline.ns(20)))) {
            EventQueue events = fabric.openEventQueue(new EventQueueAttr());
            Endpoint first = endpoint(domain(fabric, "loopback"), events);
            Endpoint second = endpoint(domain(fabric, "shm"), events);
            driver.kill();
            // one that lacks the link of the second endpoint
            driver = DriverProcess.start(directory, "-XX:TieredStopAtLevel=1", "jfabric.link.enabled=loopback");
            Deadline.awaitParked(() -> "attempts have failed: " + record(), () -> count(record(), "client-left") >= 3
                || record().contains("client-died"));
            assertEquals(0, count(record(), "client-died"), this::record);
            // that of an attempt that is being made
            assertTrue(clients(threads).size() <= 1, () -> "threads of attempts: " + clients(threads));
            driver.close();
            start();
            Deadline.awaitParked(() -> "it is back: " + client, () -> client.isBack);
            assertEquals(1, clients(threads).size(), () -> clients(threads).toString());
            for (long data : new long[] {FabricErrno.ENODEV, 0}) {
                assertEquals(Set.of(first, second), Set.of(notified(events, data), notified(events, data)));
            }
        }
    }

    @Test
    void shouldNotifyAlsoEndpointsThatCouldNotBeOpenedAgainWhenItGivesUp() {
        start();
        Events client = new Events();
        try (Fabric fabric = Fabric.connect(config(client, Deadline.ns(2)))) {
            EventQueue events = fabric.openEventQueue(new EventQueueAttr());
            Endpoint first = endpoint(domain(fabric, "loopback"), events);
            Endpoint second = endpoint(domain(fabric, "shm"), events);
            driver.kill();
            driver = DriverProcess.start(directory, "-XX:TieredStopAtLevel=1", "jfabric.link.enabled=loopback");
            Deadline.awaitParked(() -> "it gives up: " + client, () -> client.gone != null);
            assertEquals(Set.of(first, second),
                Set.of(notified(events, FabricErrno.ENODEV), notified(events, FabricErrno.ENODEV)));
            Set<Object> failed = new HashSet<>();
            EventError error = new EventError();
            Deadline.awaitParked(() -> "both have ended: " + failed, () -> {
                if (events.readErr(error, 0) == 1) {
                    failed.add(error.fid());
                }
                return failed.containsAll(Set.of(first, second));
            });
        }
    }

    /** With two progress threads a queue cannot be bound to endpoints of both. */
    @Test
    void shouldWaitForADriverThatCanServeItWhenTheNextOneCannot() {
        start();
        Events client = new Events();
        try (Fabric fabric = Fabric.connect(config(client, Deadline.ns(20)))) {
            Info info = fabric.info(new Info().caps(Flags.TAGGED).linkName("loopback")).best();
            Domain domain = fabric.domain(info);
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            CompletionQueue first = domain.openCompletionQueue(new CompletionQueueAttr());
            CompletionQueue second = domain.openCompletionQueue(new CompletionQueueAttr());
            for (int i = 0; i < 3; i++) {
                Endpoint endpoint = domain.openEndpoint(info);
                endpoint.bind(i == 1 ? second : first, Flags.TRANSMIT);
                endpoint.bind(i == 0 ? first : second, Flags.RECV);
                endpoint.bind(vector);
                endpoint.enable();
            }
            driver.kill();
            driver = DriverProcess.start(directory, "-XX:TieredStopAtLevel=1", "jfabric.threading.mode=DEDICATED",
                "jfabric.threading.progressThreads=2");
            Deadline.awaitParked(() -> client + " attempts have failed: " + record(),
                () -> count(record(), "client-left") + count(record(), "client-died") >= 2 || client.gone != null);
            assertNull(client.gone, () -> String.valueOf(client.gone));
            driver.close();
            start();
            Deadline.awaitParked(() -> "it is back: " + client, () -> client.isBack);
        }
    }

    private String record() {
        return ToolRun.of("record", "--dir", directory.toString()).out();
    }

    private static int count(String text, String word) {
        return text.split(word, -1).length - 1;
    }

    private static List<String> clients(OwnThreads threads) {
        return threads.named("jfabric-client-");
    }

    static Domain domain(Fabric fabric, String link) {
        return fabric.domain(fabric.info(new Info().caps(Flags.TAGGED).linkName(link)).best());
    }

    private static Endpoint endpoint(Domain domain, EventQueue events) {
        return endpoint(domain, domain.openCompletionQueue(new CompletionQueueAttr()),
            domain.openAddressVector(new AddressVectorAttr()), events);
    }

    static Endpoint endpoint(Domain domain, CompletionQueue queue, AddressVector vector, EventQueue events) {
        Endpoint endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.bind(events, 0);
        endpoint.enable();
        return endpoint;
    }

    static Endpoint notified(EventQueue events, long data) {
        EventEntry entry = new EventEntry();
        Deadline.awaitParked(() -> "an event with data " + data, () -> events.read(entry, 0) == 1);
        assertEquals("NOTIFY " + data, EventType.of(entry.event()) + " " + entry.data());
        return (Endpoint) entry.fid();
    }
}
