package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The driver's own file is cut under it and its clients: everybody survives, and all goes on as before. */
@Tag("hostile")
@Timeout(120)
class CutCncTest {
    /** One for each kind of cut. */
    private static final int ROUNDS = 3;

    private final Path base = TestDirectory.create();

    @AfterEach
    void clean() {
        TestDirectory.delete(base);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHARED", "DEDICATED"})
    void shouldGoOnWhenTheDriversOwnFileIsCut(String mode) {
        Path directory = base.resolve("alpha");
        try (DriverProcess driver = DriverProcess.start(directory, "jfabric.threading.mode=" + mode);
            DriverProcess other = DriverProcess.start(base.resolve("beta"));
            FabricNode node = Bystanders.node("loopback", directory);
            FabricNode remote = Bystanders.node("shm", base.resolve("beta"));
            FabricNode near = Bystanders.node("shm", directory)) {
            long self = node.av.insert(node.endpoint.name());
            long toRemote = near.av.insert(remote.endpoint.name());
            exchange(node, node, self);
            exchange(near, remote, toRemote);
            // all of it, the header only, and a single page
            for (int round = 0; round < ROUNDS; round++) {
                CutFiles.cut(directory, "cnc", round % 3 == 0 ? 0 : 4096L * (round % 3));
                survive(node, self, driver);
                assertTrue(driver.process().isAlive(), () -> "the driver has ended: " + driver.output());
                exchange(node, node, self);
                exchange(near, remote, toRemote);
                // whoever comes now finds a whole file
                try (ControlClient client = new ControlClient(directory, () -> { })) {
                    client.open("after-" + mode + round, "");
                }
                node.domain.allocate(4096).close();
                try (DriverView view = new DriverView(directory)) {
                    WatchedDriver.assertLogged(view, "own file cnc was cut", "it is whole again");
                    WatchedDriver.assertExplained(view);
                    assertTrue(view.counters().containsKey("clients"), () -> view.counters().toString());
                }
            }
            assertTrue(other.process().isAlive());
        }
    }

    /** Until the driver has noticed: calls answer as documented, or throw what the virtual machine makes of it. */
    private static void survive(FabricNode node, long self, DriverProcess driver) {
        Path directory = driver.directory();
        Deadline.awaitParked("the driver makes its file whole", () -> {
            try {
                int received = node.endpoint.trecv(node.memory.address(64), 8, -1L, 99, 0, 99);
                assertPosted(received, node, driver);
                int sent = node.endpoint.tsend(node.memory.address(0), 8, self, 99, 99);
                assertPosted(sent, node, driver);
                for (FabricNode.Entry entry = node.poll(); entry != null; entry = node.poll()) {
                    assertEquals(99, entry.context(), entry.toString());
                    assertEquals(0, entry.err(), entry.toString());
                }
                node.domain.allocate(4096).close();
            } catch (FabricException | InternalError expected) {
                return isWhole(directory);
            }
            return isWhole(directory);
        });
    }

    private static void assertPosted(int result, FabricNode node, DriverProcess driver) {
        if (result != 0 && result != -FabricErrno.EAGAIN) {
            String reason = assertThrows(FabricException.class, () -> node.fabric.info(null)).getMessage();
            throw new AssertionError(FabricErrno.name(result) + ", " + reason + ", driver: " + driver.output());
        }
    }

    /** The log began anew, so what it says of a cut is of the last one. */
    private static boolean isWhole(Path directory) {
        try (DriverView view = new DriverView(directory)) {
            return view.errors().stream().anyMatch(error -> error.contains("own file cnc was cut"));
        } catch (RuntimeException | InternalError cut) {
            return false;
        }
    }

    private static void exchange(FabricNode from, FabricNode to, long dest) {
        for (int length : new int[] {8, 4000, 200_000}) {
            from.fill(1 << 20, length, length);
            assertEquals(0, to.endpoint.trecv(to.memory.address(2 << 20), length, -1L, length, 0, 60));
            assertEquals(0, from.endpoint.tsend(from.memory.address(1 << 20), length, dest, length, 61));
            long left = 60 + 61;
            while (left != 0) {
                FabricNode.Entry entry = Deadline.awaitValue("an entry", () -> {
                    FabricNode.Entry next = to.poll();
                    return next != null ? next : from.poll();
                });
                assertEquals(0, entry.err(), entry.toString());
                if (entry.context() != 99) {
                    left -= entry.context();
                }
            }
            to.assertFilled(2 << 20, length, length);
        }
    }
}
