package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LivenessConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** What one client does, or leaves behind, has no effect on other clients and on other files of the process. */
@Isolated("counts the descriptors of the process")
@Timeout(60)
class ClientIsolationTest {
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final long LARGE = 32L << 20;

    @TempDir
    Path temporary;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final UnsafeBuffer bytes = new UnsafeBuffer(ByteBuffer.allocateDirect(64));

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    private DriverConfig.Builder config(String name) {
        return DriverConfig.builder().directory(temporary.resolve("base").resolve(name))
            .threadingMode(ThreadingMode.INVOKER);
    }

    private DriverWiring launch(DriverConfig config) {
        DriverWiring wiring = new DriverWiring(config, System.err, LinkProviders.enabled(config), false,
            Environment.SYSTEM);
        opened.push(wiring);
        wiring.resource().start();
        return wiring;
    }

    private ControlClient client(DriverWiring driver, Runnable idle) {
        ControlClient client = new ControlClient(driver.directory().path(), idle);
        opened.push(client);
        return client;
    }

    private static void await(DriverWiring driver, String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            driver.cycle();
            assertTrue(System.nanoTime() - deadline < 0, () -> "waited in vain for " + what + ": "
                + driver.counters().value(SystemCounter.CLIENTS) + " clients, "
                + driver.counters().value(SystemCounter.MAPPED_BYTES) + " bytes mapped");
            Thread.yield();
        }
    }

    /** Numbers of this process's sockets, as links to their inodes. */
    private static Set<String> sockets() {
        Set<String> sockets = new HashSet<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors.toList()) {
                String target = target(descriptor);
                if (target.startsWith("socket:")) {
                    sockets.add(descriptor.getFileName() + " " + target);
                }
            }
        } catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
        return sockets;
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException ex) {
            // closed meanwhile
            return "";
        }
    }

    /** Reserving the memory of one client is stopped at a gate, which shows who waits for it. */
    private CountDownLatch occupyLongTasks(DriverWiring driver) {
        CountDownLatch gate = new CountDownLatch(1);
        opened.push(gate::countDown);
        driver.resource().submit(new ResourceTask() {
            @Override
            protected long sizeBytes() {
                return Long.MAX_VALUE;
            }

            @Override
            protected void execute() throws InterruptedException {
                gate.await();
            }

            @Override
            protected void onDone() {
                // nothing waits for it
            }

            @Override
            protected void onFailed(Throwable cause) {
                throw new AssertionError(cause);
            }
        }, driver.conductorInbox());
        return gate;
    }

    @Test
    void shouldServeOthersWhileMuchMemoryIsReservedAndKeepTheSocketOfAClientThatEndsMeanwhile() {
        DriverWiring driver = launch(config("alpha").build());
        ControlClient other = client(driver, driver::cycle);
        long mapped = driver.counters().value(SystemCounter.MAPPED_BYTES);
        CountDownLatch gate = occupyLongTasks(driver);
        ControlClient greedy = client(driver, driver::cycle);
        greedy.register(LARGE, 0);

        other.open("other", "");
        long otherMapped = driver.counters().value(SystemCounter.MAPPED_BYTES) - mapped;
        other.register(8192);
        assertNull(greedy.pollEvent(), "its memory is not reserved yet");

        Set<String> before = sockets();
        UnixSocket.shutdown(greedy.fd, UnixSocket.SHUT_RDWR);
        await(driver, "the driver to see the end",
            () -> driver.counters().value(SystemCounter.CLIENTS_DIED) == 1);
        assertEquals(before, sockets(), "its number is not free while a command of the client runs");

        gate.countDown();
        await(driver, "the end of the client", () -> driver.counters().value(SystemCounter.CLIENTS) == 1);
        assertEquals(before.size() - 1, sockets().size(), () -> before + " before, now " + sockets());
        await(driver, "the memory to be given back",
            () -> driver.counters().value(SystemCounter.MAPPED_BYTES) < mapped + otherMapped + LARGE);
        assertEquals(1, driver.counters().value(SystemCounter.REGIONS));
    }

    @Test
    void shouldWelcomeClientsWhileAProcessConnectsWithoutEnd() {
        int limit = 8;
        DriverWiring driver = launch(config("alpha").set(LivenessConfig.SILENT_LIMIT, limit).build());
        Path socket = driver.directory().path().resolve(DriverDirectory.SOCKET_NAME);
        Deque<Integer> own = new ArrayDeque<>();
        opened.push(() -> own.forEach(Libc::close));
        int[] connected = {0};
        Runnable flood = () -> {
            int fd = UnixSocket.connect(socket, UnixSocket.SOCK_NONBLOCK);
            if (fd >= 0) {
                own.addLast(fd);
                connected[0]++;
                // some begin a message of 8 KiB
                bytes.putInt(0, 8192);
                UnixSocket.send(fd, bytes.addressOffset(), connected[0] % 64, UnixSocket.MSG_DONTWAIT);
            }
            driver.cycle();
            if (own.size() > 4 * limit) {
                Libc.close(own.removeFirst());
            }
        };
        int before = sockets().size();
        int clients = 0;
        while (connected[0] < 2000) {
            for (int i = 0; i < 200; i++) {
                flood.run();
            }
            ControlClient client = client(driver, () -> {
                flood.run();
                flood.run();
            });
            client.open("client-" + clients, "");
            clients++;
        }
        await(driver, "all to be accepted", () -> sockets().size() <= before + 4 * limit + 1 + limit + 2 * 10);
        int all = clients;
        await(driver, "the clients", () -> driver.counters().value(SystemCounter.CLIENTS) == all);
        assertTrue(driver.counters().value(SystemCounter.CONNECTIONS_REFUSED) > 0);
    }

    /** Both drivers number their endpoints alike. */
    @Test
    void shouldNotReachAnotherEndpointUnderAnAddressOfTheDriverBefore() {
        FabricDriver sending = FabricDriver.launchEmbedded(config("beta").build());
        opened.push(sending);
        FabricDriver first = FabricDriver.launchEmbedded(config("alpha").build());
        String stale;
        try (FabricNode node = node(first, first::cycle)) {
            stale = node.endpoint.name();
        }
        first.close();
        FabricDriver second = FabricDriver.launchEmbedded(config("alpha").build());
        opened.push(second);
        Runnable cycles = () -> {
            sending.cycle();
            second.cycle();
        };
        try (FabricNode receiver = node(second, cycles); FabricNode sender = node(sending, cycles)) {
            assertNotEquals(stale, receiver.endpoint.name());
            assertEquals(0, receiver.endpoint.trecv(receiver.memory.address(), 64, -1L, 7, 0, 1));
            assertEquals(0, sender.endpoint.tsend(sender.memory.address(), 64, sender.av.insert(stale), 7, 2));
            FabricNode.Entry entry = sender.await();
            assertEquals(2, entry.context());
            assertEquals(FabricErrno.ECONNREFUSED, entry.err(), () -> FabricErrno.name(entry.err()));
            assertNull(receiver.poll());
            assertEquals(0, sender.endpoint.tsend(
                sender.memory.address(), 64, sender.av.insert(receiver.endpoint.name()), 7, 3));
            receiver.await(1);
        }
    }

    private static FabricNode node(FabricDriver driver, Runnable pump) {
        return new FabricNode(driver.fabric(), "shm",
            new Info().caps(Flags.TAGGED | Flags.MSG), 64, 1, pump);
    }
}
