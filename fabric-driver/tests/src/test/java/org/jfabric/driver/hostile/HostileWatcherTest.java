package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jfabric.client.ClientConductor;
import org.jfabric.client.ClientThreads;
import org.jfabric.client.DriverConnection;
import org.jfabric.client.DriverState;
import org.jfabric.client.DriverUser;
import org.jfabric.client.QueueSnapshot;
import org.jfabric.client.QueueWatch;
import org.jfabric.codec.control.OpenView;
import org.jfabric.codec.control.ViewReady;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.NoEvents;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileType;
import org.jfabric.layout.ViewDescriptor;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever looks at queues may do what it likes with its view: the driver and the others do not notice. */
@Tag("hostile")
@Timeout(120)
class HostileWatcherTest {
    private static final long TIMEOUT_NS = Deadline.ns(10);

    private final Path base = TestDirectory.create();
    private final Path directory = base.resolve("alpha");

    @AfterEach
    void delete() {
        TestDirectory.delete(base);
    }

    /** A client that asks for views and keeps them. */
    private static final class Watcher extends NoEvents implements AutoCloseable {
        private final List<FabricException> gone = new CopyOnWriteArrayList<>();
        private final ClientConductor conductor;

        Watcher(Path directory) {
            conductor = new ClientConductor(
                DriverConnection.connect(
                    directory, DriverUser.own(), TIMEOUT_NS, "hostile", ClientThreads.SYSTEM), new DriverState(), this,
                TIMEOUT_NS, Long.MAX_VALUE);
            conductor.start();
        }

        @Override
        public void onDriverGone(FabricException why) {
            gone.add(why);
        }

        @Override
        public void close() {
            conductor.close();
        }
    }

    private DriverProcess start(String mode) {
        return DriverProcess.start(directory, "jfabric.threading.mode=" + mode, "-XX:+UseSerialGC");
    }

    private void awaitNoViews() {
        Deadline.awaitParked("the files of views are gone", () -> {
            try (var files = Files.list(directory)) {
                return files.noneMatch(file -> file.toString().endsWith(".view"));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    private void assertCanBeWatched() {
        try (QueueWatch watch = QueueWatch.connect(directory, TIMEOUT_NS)) {
            QueueSnapshot first = watch.next(0);
            QueueSnapshot second = watch.next(first.endpointId());
            assertTrue(second.endpointId() > first.endpointId());
            assertEquals(null, watch.next(second.endpointId()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHARED", "DEDICATED"})
    void shouldEndOnlyTheWatcherWhoseViewIsCut(String mode) throws IOException {
        try (DriverProcess driver = start(mode);
            Bystanders bystanders = new Bystanders("loopback", directory, directory);
            Watcher watcher = new Watcher(directory)) {
            ViewReady view = openView(watcher, 0);
            Path file = directory.resolve(FileType.VIEW.fileName(view.fileNumber()));
            try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
                cut.setLength(0);
            }
            Deadline.awaitParked(() -> "the watcher was ended, " + driver.output(), () -> !watcher.gone.isEmpty());
            String reason = watcher.gone.getFirst().getMessage();
            assertTrue(reason.contains(file.getFileName().toString()) && reason.contains("cut"), reason);
            bystanders.assertGoOn(200);
            assertCanBeWatched();
            awaitNoViews();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHARED", "DEDICATED"})
    void shouldNotReadWhatAWatcherWrites(String mode) throws IOException {
        try (DriverProcess driver = start(mode);
            Bystanders bystanders = new Bystanders("loopback", directory, directory);
            Watcher watcher = new Watcher(directory)) {
            ViewReady view = openView(watcher, Long.MIN_VALUE);
            byte[] garbage = new byte[ViewDescriptor.FILE_LENGTH];
            Arrays.fill(garbage, (byte) 0xFF);
            try (RandomAccessFile file = new RandomAccessFile(
                directory.resolve(FileType.VIEW.fileName(view.fileNumber())).toFile(), "rw")) {
                long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
                while (System.nanoTime() - until < 0) {
                    file.seek(0);
                    file.write(garbage);
                }
            }
            bystanders.assertGoOn(200);
            assertEquals(List.of(), watcher.gone);
            assertTrue(driver.process().isAlive(), driver::output);
            assertCanBeWatched();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHARED", "DEDICATED"})
    void shouldTakeBackTheViewsOfAWatcherThatGoes(String mode) {
        try (DriverProcess driver = start(mode);
            Bystanders bystanders = new Bystanders("loopback", directory, directory)) {
            try (Watcher watcher = new Watcher(directory)) {
                for (int i = 0; i < 200; i++) {
                    assertTrue(openView(watcher, 0).viewId() != 0);
                }
                bystanders.assertGoOn(200);
                assertCanBeWatched();
            }
            awaitNoViews();
            bystanders.assertGoOn(100);
            assertTrue(driver.process().isAlive(), driver::output);
        }
    }

    private static ViewReady openView(Watcher watcher, long after) {
        return watcher.conductor.commands().call("a snapshot of queues", new OpenView(after));
    }
}
