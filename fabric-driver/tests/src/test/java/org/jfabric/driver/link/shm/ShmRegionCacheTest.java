package org.jfabric.driver.link.shm;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.ffi.MappedFile;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The bound of the mappings of a peer's regions, counted by the kernel after every step of the slow work. */
class ShmRegionCacheTest {
    private static final int BOUND = 4;
    private static final int REGIONS = 12;
    private static final int LENGTH = 8192;

    @TempDir
    Path base;
    private TestLinkServices services;
    private ShmRegionCache cache;
    private final RemotePayload payload = new RemotePayload();
    private final long[] foundAt = new long[1];

    @BeforeEach
    void start() throws IOException {
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
        services = new TestLinkServices(base, "peer");
        for (int number = 1; number <= REGIONS; number++) {
            make(number, 1000 + number);
        }
        cache = new ShmRegionCache(services, services.directoryFd(), services.ownerId(), BOUND);
    }

    @AfterEach
    void stop() {
        cache.close();
        work();
        assertEquals(0, mapped(), "everything goes at the end");
        services.close();
    }

    private void make(long number, long generation) {
        try (MappedFile file = MappedFile.create(services.directoryFd(), FileType.MEMORY_REGION.fileName(number),
            MemoryRegionDescriptor.DATA_OFFSET + (long) LENGTH)) {
            UnsafeBuffer all = file.buffer();
            FileHeaderDescriptor.write(file.buffer(0, FileHeaderDescriptor.HEADER_LENGTH), FileType.MEMORY_REGION,
                0, services.ownerId(), generation, LENGTH);
            for (int i = 0; i < LENGTH; i += 8) {
                all.putLong(MemoryRegionDescriptor.DATA_OFFSET + i, generation * LENGTH + i);
            }
        }
    }

    /** Asks for a region as a message does: 0 means in segments; else what is there must be the region's own. */
    private boolean find(int number, long generation) {
        payload.set(1, LENGTH, number, generation, 0);
        long address = cache.find(payload, LENGTH, foundAt) ? foundAt[0] : 0;
        for (int i = 0; address != 0 && i < LENGTH; i += 8) {
            assertEquals(generation * LENGTH + i, UnsafeApi.getLong(address + i), "region " + number);
        }
        return address != 0;
    }

    private boolean find(int number) {
        return find(number, 1000 + number);
    }

    /** All slow halves first, as when the other thread is busy meanwhile; then their results in the same order. */
    private void work() {
        while (!services.tasks.isEmpty()) {
            List<ResourceTask> run = new ArrayList<>();
            while (!services.tasks.isEmpty()) {
                ResourceTask task = services.tasks.removeFirst();
                task.run();
                run.add(task);
                assertTrue(mapped() <= BOUND, () -> mapped() + " regions are mapped, at most " + BOUND + " may be");
            }
            run.forEach(ResourceTask::complete);
        }
    }

    private int mapped() {
        String begin = base.resolve("peer") + "/";
        int count = 0;
        try {
            // read often, and long
            String maps = Files.readString(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1);
            for (int at = maps.indexOf(begin); at >= 0; at = maps.indexOf(begin, at + 1)) {
                count += maps.substring(at, maps.indexOf('\n', at)).contains(".mr") ? 1 : 0;
            }
            return count;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldStayWithinTheBoundWhenManyRegionsAreUsedAtOnce() {
        for (int number = 1; number <= REGIONS; number++) {
            assertTrue(!find(number));
        }
        work();
        assertEquals(BOUND, mapped());
        assertEquals(List.of(), services.errors);
    }

    @Test
    void shouldMapTheOneUsedLongestAgoAgainAfterItWent() {
        for (int round = 0; round < 3; round++) {
            for (int number = 1; number <= REGIONS; number++) {
                find(number);
                work();
                assertTrue(find(number), "mapped when it is used again");
            }
            for (int number = REGIONS - BOUND + 1; number <= REGIONS; number++) {
                assertTrue(find(number), "the latest ones are still there");
            }
            assertEquals(BOUND, mapped());
        }
    }

    @Test
    void shouldStayWithinTheBoundInAnyOrderOfUseAndWork() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int found = 0;
        for (int i = 0; i < Effort.rounds(400, 2000); i++) {
            found += find(1 + random.nextInt(random.nextInt(REGIONS) + 1)) ? 1 : 0;
            if (random.nextInt(3) == 0) {
                work();
            }
        }
        assertNotEquals(0, found, "seed " + seed);
        assertEquals(List.of(), services.errors, "seed " + seed);
    }

    @Test
    void shouldNotTakeANewRegionForOneOfAnotherGeneration() throws IOException {
        find(1);
        work();
        assertTrue(find(1));
        assertTrue(!find(1, 7), "another generation under the same number");
        Files.delete(base.resolve("peer").resolve(FileType.MEMORY_REGION.fileName(1)));
        // the next region to be mapped shows that the first one has gone
        find(2);
        work();
        assertEquals(1, mapped());
        make(1, 7);
        assertTrue(!find(1), "the closed one");
        work();
        assertTrue(!find(1), "the new file is not the region that the message names");
        assertTrue(!find(1, 7), "it was not mapped for this generation yet");
        work();
        assertTrue(find(1, 7), "the region that has the number now");
        assertEquals(2, mapped());
    }

    @Test
    void shouldMapANumberAgainWhoseGenerationWasWrong() {
        assertTrue(!find(1, 7));
        work();
        assertTrue(!find(1, 7), "there is no such region");
        assertTrue(!find(1));
        work();
        assertTrue(find(1));
    }

    @Test
    void shouldComplainOfAReplacedRegionButNotOfOneThatWasClosedBeforeItWasMapped() throws IOException {
        Path first = base.resolve("peer").resolve(FileType.MEMORY_REGION.fileName(1));
        Path second = base.resolve("peer").resolve(FileType.MEMORY_REGION.fileName(2));
        find(1);
        Files.delete(first);
        work();
        assertTrue(!find(1));
        assertEquals(List.of(), services.errors);

        find(2);
        Files.delete(second);
        Files.createSymbolicLink(second, base.resolve("peer").resolve(FileType.MEMORY_REGION.fileName(3)));
        work();
        assertTrue(!find(2));
        assertEquals(1, services.errors.size(), services.errors::toString);
    }
}
