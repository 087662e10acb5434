package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A driver that dies: its clients are told once and keep what they have, its successor and its peers go on. */
@Tag("hostile")
@Timeout(120)
class KilledDriverTest {
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private Path base;

    @BeforeEach
    void makeBase() {
        base = TestDirectory.create();
    }

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        TestDirectory.delete(base);
    }

    private <T extends AutoCloseable> T opened(T resource) {
        opened.push(resource);
        return resource;
    }

    private DriverProcess driver(String name, String... properties) {
        return opened(DriverProcess.start(base.resolve(name), properties));
    }

    private FabricNode node(String link, DriverProcess driver, List<FabricException> told) {
        return opened(Bystanders.node(link, new FabricConfig().directory(driver.directory())
            .listener(new FabricListener() {
                @Override
                public void onDriverGone(FabricException why) {
                    told.add(why);
                }
            })));
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHARED", "DEDICATED"})
    void shouldTellClientsOnceAndKeepWhatWasWritten(String mode) throws IOException {
        DriverProcess driver = driver("alpha", "jfabric.threading.mode=" + mode);
        List<FabricException> told = new CopyOnWriteArrayList<>();
        FabricNode node = node("loopback", driver, told);
        long self = node.av.insert(node.endpoint.name());
        // ten messages arrive, their entries are not read yet; one receive and one send stay outstanding
        for (int i = 0; i < 10; i++) {
            node.fill(i * 1000, 100, i);
            node.endpoint.trecv(node.memory.address((1 << 20) + i * 1000), 100, -1L, i, 0, 100 + i);
            node.endpoint.tsend(node.memory.address(i * 1000), 100, self, i, 200 + i);
        }
        node.endpoint.trecv(node.memory.address(0), 100, -1L, 50, 0, 1);
        node.endpoint.tsend(node.memory.address(0), 1 << 20, self, 51, 2);
        // garbage, so that there is an error to keep
        try (ControlClient bad = new ControlClient(driver.directory(), () -> { })) {
            bad.command(200, new UnsafeBuffer(new byte[64]), 64);
            Deadline.awaitParked("the end of the bad client", bad::isEnded);
        }
        // the driver has worked off everything: it parks, or has taken the requests
        try (DriverView view = new DriverView(driver.directory())) {
            WatchedDriver.assertLogged(view, "command ring is corrupt");
        }
        Deadline.awaitParked("messages", () -> {
            for (int i = 0; i < 10; i++) {
                if (node.memory.buffer().getByte((1 << 20) + i * 1000 + 99) != FabricNode.pattern(i, 99)) {
                    return false;
                }
            }
            return true;
        });
        driver.kill();
        Deadline.awaitParked("being told", () -> !told.isEmpty());
        for (int i = 0; i < 20; i++) {
            FabricNode.Entry entry = Deadline.awaitValue("an entry that was written", node::poll);
            assertEquals(0, entry.err(), entry.toString());
        }
        for (int i = 0; i < 10; i++) {
            node.assertFilled((1 << 20) + i * 1000, 100, i);
        }
        UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
        for (int i = 0; i < 3; i++) {
            assertEquals(-FabricErrno.ENODEV, node.cq.read(entry, 0, 1));
            assertEquals(-FabricErrno.EOPBADSTATE, node.endpoint.tsend(node.memory.address(0), 8, self, 1, 1));
            assertEquals(-FabricErrno.EOPBADSTATE, node.endpoint.trecv(node.memory.address(0), 8, -1L, 1, 0, 1));
        }
        FabricException refused = assertThrows(FabricException.class, () -> node.domain.allocate(4096));
        assertTrue(refused.getMessage().contains("connect again"), refused.getMessage());
        successor(mode);
        assertEquals(1, told.size(), told.toString());
        assertTrue(told.get(0).getMessage().contains("alpha"), told.toString());
    }

    /** Its time-out is far away: it must be the end of the driver that ends the wait. */
    @ParameterizedTest
    @ValueSource(strings = {"SHARED", "DEDICATED"})
    void shouldReturnFromCloseWithTheUnfinishedSendsWhenTheDriverDiesMeanwhile(String mode) {
        DriverProcess driver = driver("alpha", "jfabric.threading.mode=" + mode);
        FabricNode node = node("loopback", driver, new CopyOnWriteArrayList<>());
        long self = node.av.insert(node.endpoint.name());
        // one that ends and three that nobody takes
        node.endpoint.trecv(node.memory.address(0), 64, -1L, 1, 0, 1);
        node.endpoint.tsend(node.memory.address(64), 64, self, 1, 2);
        Deadline.awaitValue("an entry", node::poll);
        Deadline.awaitValue("an entry", node::poll);
        assertEquals(node.info.txAttr().size(), node.endpoint.txSizeLeft());
        for (int i = 0; i < 3; i++) {
            assertEquals(0, node.endpoint.tsend(node.memory.address(0), 1 << 20, self, 50 + i, 3 + i));
        }
        AtomicInteger unfinished = new AtomicInteger(-1);
        Thread closing = new Thread(() -> unfinished.set(node.fabric.close(TimeUnit.HOURS.toNanos(1))), "closing");
        closing.setDaemon(true);
        closing.start();
        Deadline.awaitParked("the wait for the sends", () ->
            closing.getState() != Thread.State.NEW && closing.getState() != Thread.State.RUNNABLE);
        assertEquals(-1, unfinished.get());
        assertTrue(node.fabric.isOpen());
        driver.kill();
        Deadline.awaitParked(() -> "the return from close, it is in " + List.of(closing.getStackTrace()),
            () -> unfinished.get() >= 0);
        assertEquals(3, unfinished.get());
        assertEquals(0, node.fabric.close(1));
        assertEquals(-FabricErrno.EOPBADSTATE, node.endpoint.tsend(node.memory.address(0), 8, self, 1, 1));
    }

    /** Cleans up what the killed one left, but not its error log. */
    private void successor(String mode) throws IOException {
        DriverProcess again = driver("alpha", "jfabric.threading.mode=" + mode);
        try (var files = Files.list(again.directory())) {
            List<Path> logs = files.filter(file -> file.getFileName().toString().startsWith("errors-")).toList();
            assertEquals(1, logs.size(), logs.toString());
            assertTrue(Files.readString(logs.get(0)).contains("command ring is corrupt"));
        }
        try (var files = Files.list(again.directory())) {
            assertEquals(0, files.filter(file -> file.toString().matches(".*\\.(tq|rq|cq|mr|ctl)")).count());
        }
        FabricNode node = node("loopback", again, new CopyOnWriteArrayList<>());
        long self = node.av.insert(node.endpoint.name());
        node.endpoint.trecv(node.memory.address(0), 8, -1L, 1, 0, 1);
        node.endpoint.tsend(node.memory.address(64), 8, self, 1, 2);
        Deadline.awaitValue("an entry", node::poll);
        Deadline.awaitValue("an entry", node::poll);
    }

    @Test
    void shouldGiveErrorEntriesToPeersOfAKilledDriverAndReachItsSuccessor() {
        DriverProcess alpha = driver("alpha");
        DriverProcess beta = driver("beta");
        FabricNode here = node("shm", alpha, new CopyOnWriteArrayList<>());
        FabricNode there = node("shm", beta, new CopyOnWriteArrayList<>());
        Bystanders local = opened(new Bystanders("loopback", alpha.directory(), alpha.directory()));
        String address = there.endpoint.name();
        there.endpoint.publish("there");
        long toThere = here.av.insertService("beta", "there");
        there.endpoint.trecv(there.memory.address(0), 64, -1L, 1, 0, 1);
        here.endpoint.tsend(here.memory.address(0), 64, toThere, 1, 1);
        assertEquals(0, Deadline.awaitValue("the first message", here::poll).err());
        assertEquals(0, Deadline.awaitValue("the first message", there::poll).err());
        // a large one that nobody takes, and a receive that only the other can end
        here.endpoint.tsend(here.memory.address(0), 1 << 20, toThere, 2, 2);
        here.endpoint.trecv(here.memory.address(0), 64, toThere, 3, 0, 3);
        FabricNode.awaitStep(here.domain);
        beta.kill();
        int seen = 0;
        for (int i = 0; i < 2; i++) {
            FabricNode.Entry entry = Deadline.awaitValue("an error entry", here::poll);
            assertTrue(entry.err() != 0, entry.toString());
            seen |= 1 << (int) entry.context();
        }
        assertEquals(0b1100, seen);
        local.assertGoOn(10);
        // nobody is there
        here.endpoint.tsend(here.memory.address(0), 64, toThere, 1, 4);
        assertTrue(Deadline.awaitValue("an error entry", here::poll).err() != 0);
        try (DriverView view = new DriverView(alpha.directory())) {
            WatchedDriver.assertLogged(view, "beta");
            WatchedDriver.assertExplained(view);
        }
        DriverProcess successor = driver("beta");
        FabricNode next = node("shm", successor, new CopyOnWriteArrayList<>());
        next.endpoint.publish("there");
        long toNext = here.av.insertService("beta", "there");
        next.endpoint.trecv(next.memory.address(0), 64, -1L, 1, 0, 1);
        here.fill(0, 64, 5);
        here.endpoint.tsend(here.memory.address(0), 64, toNext, 1, 6);
        assertEquals(0, Deadline.awaitValue("the message to the successor", here::poll).err(), address);
        assertEquals(0, Deadline.awaitValue("the message to the successor", next::poll).err());
        next.assertFilled(0, 64, 5);
        local.assertGoOn(10);
    }
}
