package org.jfabric.driver.stream.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.Table;
import org.jfabric.TableReader;
import org.jfabric.TableWriter;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Writing and reading of a table allocate nothing, with new keys and removals, and neither does waiting. */
@Tag("compiled")
@Tag("conformance")
@Timeout(120)
class TableAllocationTest {
    private static final int KEYS = 300;
    private static final int ROUNDS = 50;

    private final UnsafeBuffer direct = new UnsafeBuffer(ByteBuffer.allocateDirect(512));
    private final UnsafeBuffer heap = new UnsafeBuffer(new byte[512]);
    private long first;

    @Test
    void shouldAllocateNothing() {
        Path base = TestDirectory.create();
        DriverConfig config = DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.SHARED).build();
        try (FabricDriver driver = FabricDriver.launch(config);
            Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()))) {
            TableWriter writer = Table.on(fabric, "jfabric://alpha/t").slots(KEYS).valueLength(500).openWriter();
            TableReader reader = Table.on(fabric, "jfabric://alpha/t").openReader();
            run(writer, reader);
            assertEquals(0, AllocatedBytes.least(() -> run(writer, reader)));
        } finally {
            TestDirectory.delete(base);
        }
    }

    private void run(TableWriter writer, TableReader reader) {
        for (int round = 0; round < ROUNDS; round++) {
            first += KEYS;
            for (long key = first; key < first + KEYS; key++) {
                int length = (int) (key * 7 % 500);
                assertTrue(writer.put(key, (key & 1) == 0 ? direct : heap, 0, length) == 0);
            }
            long slot = reader.find(first + 20);
            for (int i = 0; i < KEYS; i++) {
                assertTrue(reader.read(slot, (i & 1) == 0 ? direct : heap, 0) >= 0 && reader.slot(i) >= 0);
            }
            assertTrue(reader.await(reader.version() - 1, -1) == 0);
            assertTrue(reader.await(reader.version(), 100_000) == -FabricErrno.ETIMEDOUT);
            for (long key = first; key < first + KEYS; key++) {
                assertTrue(writer.remove(key) == 0);
            }
        }
    }
}
