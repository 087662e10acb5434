package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.ffi.Libc;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A driver and a default client fit a small tmpfs, and what start-up says about them is what they take. */
@Tag("conformance")
@Timeout(60)
class SharedMemorySizeTest {
    private static final long SMALL_TMPFS_BYTES = 64L << 20;
    private static final long PAGE_BYTES = Libc.pageBytes();

    /** A client as {@link Sizing#DEFAULT_CLIENT} says: every size is left to its default. */
    private static final class DefaultClient implements AutoCloseable {
        private final Fabric fabric;
        private final AddressVector addresses;
        private final Endpoint endpoint;

        DefaultClient(FabricDriver driver) {
            fabric = Fabric.connect(new FabricConfig().directory(driver.directory()));
            Info info = fabric.info(new Info().caps(Flags.TAGGED).linkName("shm")).best();
            Domain domain = fabric.domain(info);
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
            addresses = domain.openAddressVector(new AddressVectorAttr());
            domain.allocate(Sizing.DEFAULT_CLIENT.regionBytes());
            endpoint = domain.openEndpoint(info);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(addresses);
            endpoint.enable();
        }

        @Override
        public void close() {
            fabric.close();
        }
    }

    @Test
    void shouldTakeWhatSizingSaysAndFit64MiB() throws IOException {
        Path base = TestDirectory.create();
        try (FabricDriver one = launch(base.resolve("one"));
            FabricDriver two = launch(base.resolve("two"));
            DefaultClient left = new DefaultClient(one);
            DefaultClient right = new DefaultClient(two)) {
            // the rings are made when a peer driver is first named
            left.addresses.insert(right.endpoint.name());
            assertEquals(0, left.endpoint.tinject(
                new UnsafeBuffer(new byte[8]), 0, 8, 0, 7));
            awaitFile(one.directory(), "ring");
            Sizing.Need need = Sizing.forDriver(one.config()).plus(Sizing.forDefaultClients(one.config(), 1));
            Map<String, Long> expected = new TreeMap<>();
            for (Sizing.Part part : need.parts()) {
                expected.merge(part.name().substring(0, part.name().indexOf(':')), part.bytes(), Long::sum);
            }
            Map<String, Long> actual = files(one.directory());
            assertEquals(expected.keySet(), actual.keySet());
            long sum = 0;
            for (Map.Entry<String, Long> file : actual.entrySet()) {
                long difference = file.getValue() - expected.get(file.getKey());
                assertTrue(Math.abs(difference) <= PAGE_BYTES, file + ", said " + expected.get(file.getKey()));
                sum += file.getValue();
            }
            assertTrue(sum < SMALL_TMPFS_BYTES && need.totalBytes() < SMALL_TMPFS_BYTES, "bytes: " + sum);
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static FabricDriver launch(Path directory) {
        return FabricDriver.launch(
            DriverConfig.builder().directory(directory).threadingMode(ThreadingMode.SHARED).build());
    }

    /** Until the file is there with its blocks, which are reserved a moment after it was made. */
    private static void awaitFile(Path directory, String kind) throws IOException {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (files(directory).getOrDefault(kind, 0L) == 0) {
            assertTrue(System.nanoTime() - deadline < 0, "no file of kind " + kind + " in " + files(directory));
            Thread.onSpinWait();
        }
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    /** Bytes by kind of file; lock and socket take none. */
    private static Map<String, Long> files(Path directory) throws IOException {
        Map<String, Long> lengths = new TreeMap<>();
        for (String name : names(directory)) {
            long length = Files.size(directory.resolve(name));
            if (!name.startsWith("driver.") || length > PAGE_BYTES) {
                lengths.merge(name.substring(name.lastIndexOf('.') + 1), length, Long::sum);
            }
        }
        return lengths;
    }
}
