package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.conformance.memory.DiskDirectory;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Applications and drivers that are killed at random moments while records are committed to a file of theirs: each
 * record whose success was read is whole in the file, which the next ones continue.
 * {@code -Dtest.jvm.args=-Djfabric.test.persistentKills=5000} is for a long run.
 */
@Tag("hostile")
@Timeout(36_000)
class PersistentKilledTest {
    private static final int KILLS = Integer.getInteger("jfabric.test.persistentKills", Effort.rounds(3, 6));
    private static final int RECORD = CommittedRecord.LENGTH;
    /** Records of one round at most; each round has slots of its own. */
    private static final int ROUND = 2048;
    private static final int SLOTS = 16 * ROUND;
    private static final int WINDOW = 16;

    private final long seed = Long.getLong("jfabric.test.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Path base = TestDirectory.create();
    private final DiskDirectory disk = new DiskDirectory();
    private final Path file = disk.file("records");
    private final RemoteRequest request = new RemoteRequest();
    /** Number of the record in each slot whose success was read, 0 for none. */
    private final long[] committed = new long[SLOTS];
    private long records;

    @AfterEach
    void delete() {
        disk.close();
        TestDirectory.delete(base);
    }

    @ParameterizedTest
    @ValueSource(strings = {"loopback", "shm"})
    @Requirement("CL-023")
    void shouldHaveEachCommittedRecordInTheFile(String link) throws IOException {
        System.out.println("seed " + seed);
        boolean isShm = link.equals("shm");
        DriverProcess alpha = DriverProcess.start(base.resolve("alpha"));
        DriverProcess owners = isShm ? DriverProcess.start(base.resolve("beta")) : alpha;
        FabricNode writer = writer(link, alpha);
        try {
            for (int round = 0; round < KILLS; round++) {
                boolean killsDriver = random.nextInt(3) == 0;
                try (TestProcess owner = ChildMain.start(
                    "persist", owners.directory(), link, file.toString(), Long.toString((long) SLOTS * RECORD))) {
                    long to = writer.av.insert(owner.awaitLine("ready ").substring(6));
                    commitUntilKilled(writer, to, round, killsDriver ? owners.process() : owner.process());
                    owner.kill();
                }
                assertRecords();
                if (killsDriver && isShm) {
                    owners = DriverProcess.start(base.resolve("beta"));
                } else if (killsDriver) {
                    alpha = DriverProcess.start(base.resolve("alpha"));
                    owners = alpha;
                    writer = writer(link, alpha);
                }
            }
            assertTrue(records > 0);
        } finally {
            writer.close();
            alpha.kill();
            owners.kill();
        }
    }

    private static FabricNode writer(String link, DriverProcess driver) {
        return new FabricNode(Fabric.connect(new FabricConfig().directory(driver.directory())), link,
            new Info().caps(Flags.RMA | Flags.RMA_PMEM | Flags.MSG | Flags.TAGGED), 64, 0, () -> { });
    }

    /** Commits records one behind the other, and kills the process in the middle of them. */
    private void commitUntilKilled(FabricNode writer, long to, int round, Process victim) {
        int first = round * ROUND % SLOTS;
        Arrays.fill(committed, first, first + ROUND, 0);
        int killAt = random.nextInt(400);
        int posted = 0;
        int ended = 0;
        boolean isKilled = false;
        boolean isOver = false;
        Deadline deadline = Deadline.usual();
        while (!isOver || ended < posted) {
            deadline.check("the end of the commits", () -> "seed " + seed);
            if (!isOver && posted < ROUND && posted - ended < WINDOW) {
                int slot = first + posted;
                long number = (long) round * ROUND + posted + 1;
                CommittedRecord.put(writer.memory.buffer(), posted % WINDOW * RECORD, number);
                request.clear().memory(writer.memory.address((long) posted % WINDOW * RECORD), RECORD).destAddr(to)
                    .remote((long) slot * RECORD, 5).opContext(slot)
                    .flags(Flags.COMPLETION | Flags.COMMIT_COMPLETE);
                int result = writer.endpoint.remoteMemory().writemsg(request);
                isOver = result != 0 && result != -FabricErrno.EAGAIN;
                posted += result == 0 ? 1 : 0;
            }
            if (!isKilled && (ended >= killAt || ended >= ROUND / 2)) {
                LockSupport.parkNanos(random.nextLong(2_000_000));
                victim.destroyForcibly();
                isKilled = true;
            }
            int slot = poll(writer);
            if (slot == LOST) {
                return;
            }
            if (slot != NONE) {
                ended++;
                if (slot >= 0) {
                    committed[slot] = (long) round * ROUND + slot - first + 1;
                    records++;
                } else {
                    isOver = true;
                }
            }
            isOver |= isKilled && posted == ROUND;
        }
    }

    private static final int NONE = -1;
    private static final int FAILED = -2;
    private static final int LOST = -3;

    /** The slot of a record that was committed; or that nothing has ended, or failed, or that the driver is gone. */
    private int poll(FabricNode writer) {
        try {
            FabricNode.Entry entry = writer.poll();
            return entry == null ? NONE : entry.err() == 0 ? (int) entry.context() : FAILED;
        } catch (AssertionError gone) {
            // its own driver was killed: entries that were written before could be read, others do not come
            assertTrue(gone.getMessage().contains("ENODEV"), gone::getMessage);
            return LOST;
        }
    }

    private void assertRecords() throws IOException {
        UnsafeBuffer bytes = new UnsafeBuffer(Files.readAllBytes(file));
        assertEquals(SLOTS * RECORD, bytes.capacity());
        for (int slot = 0; slot < SLOTS; slot++) {
            int at = slot;
            assertTrue(committed[slot] == 0 || CommittedRecord.isWhole(bytes, slot * RECORD, committed[slot]),
                () -> "record " + at + ", seed " + seed);
        }
    }
}
