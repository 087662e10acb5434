package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.loopback.LoopbackLinkProvider;
import org.jfabric.driver.resource.Environment;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Verdict;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An endpoint that one of its links does not take: it is nowhere afterwards, on the links that had taken it either. */
@Timeout(60)
class FailedEnableTest {
    private static final String NAME = "wanted";

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final Path base = TestDirectory.create();
    private final RefusingProvider refusing = new RefusingProvider();

    /** Comes after loopback and offers the same; its link takes endpoints only while it is told to. */
    private static final class RefusingProvider extends LinkProvider {
        private final LoopbackLinkProvider model = new LoopbackLinkProvider();
        private final List<LocalEndpoint> attached = new ArrayList<>();
        private volatile RuntimeException refusal;

        @Override
        public String name() {
            return "refusing";
        }

        @Override
        public Verdict verdict(Info hints, String driverName, DriverConfig config) {
            return model.verdict(hints, driverName, config);
        }

        @Override
        public Info info(Info hints, String driverName, DriverConfig config) {
            return model.info(hints, driverName, config);
        }

        @Override
        public Link open(LinkServices services, DriverConfig config) {
            return new RefusingLink(this);
        }
    }

    private static final class RefusingLink extends Link {
        private final RefusingProvider provider;

        RefusingLink(RefusingProvider provider) {
            this.provider = provider;
        }

        @Override
        public String name() {
            return provider.name();
        }

        @Override
        public boolean reaches(String remoteAddress) {
            return false;
        }

        @Override
        public void attach(LocalEndpoint endpoint) {
            if (provider.refusal != null) {
                throw provider.refusal;
            }
            provider.attached.add(endpoint);
        }

        @Override
        public void detach(LocalEndpoint endpoint) {
            provider.attached.remove(endpoint);
        }

        @Override
        public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
            throw new AssertionError("it reaches nobody");
        }

        @Override
        public int poll(int limit) {
            return 0;
        }

        @Override
        public boolean arm() {
            return true;
        }

        @Override
        public void close() {
            provider.attached.clear();
        }
    }

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        TestDirectory.delete(base);
    }

    private Path directory() {
        return base.resolve("driver");
    }

    private Fabric launch(ThreadingMode mode) {
        DriverWiring wiring = new DriverWiring(
            DriverConfig.builder().directory(directory()).threadingMode(mode).build(), System.err,
            List.of(new LoopbackLinkProvider(), refusing), false, Environment.SYSTEM);
        opened.push(wiring);
        Fabric fabric;
        if (mode == ThreadingMode.INVOKER) {
            wiring.resource().start();
            fabric = new InvokedDriver(wiring).connect(Fabric::connect);
        } else {
            AgentRunner runner = new AgentRunner(
                YieldingIdleStrategy.INSTANCE, wiring.log(), null, new SharedAgent(wiring));
            AgentRunner.startOnThread(runner);
            opened.push(runner);
            fabric = Fabric.connect(new FabricConfig().directory(directory()));
        }
        opened.push(fabric);
        return fabric;
    }

    private static Endpoint endpoint(Domain domain, Info info, CompletionQueue cq, AddressVector av) {
        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(cq, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(av);
        return endpoint;
    }

    @ParameterizedTest
    @EnumSource(value = ThreadingMode.class, names = {"INVOKER", "SHARED"})
    void shouldLeaveNothingOfAnEndpointThatALinkRefuses(ThreadingMode mode) throws IOException {
        Fabric fabric = launch(mode);
        Info hints = new Info().caps(Flags.TAGGED | Flags.SOURCE);
        try (FabricNode other = new FabricNode(fabric, LoopbackLinkProvider.NAME, hints, 64, 0, () -> { });
            DriverView view = new DriverView(directory())) {
            Domain domain = other.domain;
            String address = other.endpoint.name().replaceAll("[^/]*$", NAME);
            Info info = other.info.copy().linkName(null).srcAddr(address);
            CompletionQueue cq = domain.openCompletionQueue(
                new CompletionQueueAttr().size(64).format(CompletionFormat.TAGGED));
            AddressVector av = domain.openAddressVector(new AddressVectorAttr());
            long files = files();
            for (int round = 0; round < 20; round++) {
                refusing.refusal = round % 2 == 0
                    ? new FabricException(FabricErrno.ENOSPC, "the link is full", "Make room.")
                    : new IllegalStateException("a mistake in the link");
                Endpoint refused = endpoint(domain, info, cq, av);
                FabricException failure = assertThrows(FabricException.class, refused::enable);
                assertEquals(round % 2 == 0 ? FabricErrno.ENOSPC : FabricErrno.EIO, failure.errno());
                assertTrue(failure.getMessage().contains(refusing.refusal.getMessage().substring(0, 8)),
                    failure.getMessage());
                refused.close();
                assertEquals(List.of(), refusing.attached);
                assertEquals(1, view.counter("endpoints"));
            }
            // nobody is there, on the link that had taken it either
            long toWanted = other.av.insert(address);
            assertEquals(0, other.endpoint.tsend(other.memory.address(), 8, toWanted, 1, 5));
            assertEquals(FabricErrno.ECONNREFUSED, other.await().err());
            awaitFiles(other, files);
            refusing.refusal = null;
            Endpoint taken = endpoint(domain, info, cq, av);
            taken.enable();
            assertEquals(address, taken.name());
            assertEquals(0, taken.trecv(other.memory.address(64), 8, -1L, 1, 0, 6));
            other.fill(0, 8, 3);
            assertEquals(0, other.endpoint.tsend(other.memory.address(), 8, toWanted, 1, 7));
            other.await(7);
            other.assertFilled(64, 8, 3);
            assertEquals(1, refusing.attached.size());
            taken.close();
            assertEquals(List.of(), refusing.attached);
            // no refused endpoint is bound to them any more
            cq.close();
            av.close();
            awaitFiles(other, files - 1);
        }
    }

    private long files() throws IOException {
        try (var names = Files.list(directory())) {
            return names.filter(name -> name.toString().matches(".*\\.(tq|rq|cq)")).count();
        }
    }

    private void awaitFiles(FabricNode node, long expected) throws IOException {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (files() != expected) {
            assertTrue(System.nanoTime() - deadline < 0, () -> {
                try {
                    return files() + " queue files, expected " + expected;
                } catch (IOException e) {
                    return e.toString();
                }
            });
            node.assertQuiet(1);
        }
    }
}
