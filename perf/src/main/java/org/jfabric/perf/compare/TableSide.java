package org.jfabric.perf.compare;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.Table;
import org.jfabric.TableReader;
import org.jfabric.TableWriter;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.tool.ToolException;

/** A table of newest values that one thread reads, key by key, while nothing is written. */
final class TableSide implements Side {
    /** Longest value; a table of them is as long as a driver allows. */
    static final int MOST_BYTES = 4096;

    private static final int KEYS = 1024;

    private final SideSettings settings;
    private final FabricDriver driver;
    private final Fabric fabric;
    private final TableReader reader;
    private final long[] slots = new long[KEYS];
    private final UnsafeBuffer value;

    /** Makes the table and writes it. */
    TableSide(SideSettings settings) {
        this.settings = settings;
        value = new UnsafeBuffer(new byte[settings.sizeBytes()]);
        driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(settings.ownDirectory()).threadingMode(ThreadingMode.INVOKER).build());
        fabric = driver.fabric();
        String address = "jfabric://" + fabric.driverName() + "/values";
        TableWriter writer = Table.on(fabric, address).slots(KEYS).valueLength(settings.sizeBytes()).openWriter();
        reader = Table.on(fabric, address).openReader();
        for (int i = 0; i < KEYS; i++) {
            Refusal.unlessAgain(writer.put(i, value, 0, settings.sizeBytes()));
            slots[i] = reader.find(i);
        }
    }

    @Override
    public long run(Pass pass, long count) {
        long begin = System.nanoTime();
        for (long i = 0; i < count; i++) {
            if (reader.read(slots[(int) i & KEYS - 1], value, 0) != settings.sizeBytes()) {
                throw new ToolException("A value of the table could not be read.");
            }
        }
        return System.nanoTime() - begin;
    }

    @Override
    public void close() {
        fabric.close();
        driver.close();
    }
}
