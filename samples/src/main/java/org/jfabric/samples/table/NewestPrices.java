package org.jfabric.samples.table;

import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.Table;
import org.jfabric.TableReader;
import org.jfabric.TableWriter;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;

/**
 * A reader of prices that comes late and is slow: it sees the newest price of each instrument, and the writer does not
 * know that it is there. Here both are in one process; a reader in another one opens the table in the same way.
 */
public final class NewestPrices {
    private static final int INSTRUMENTS = 3;
    private static final int CHANGES = 10_000;

    private NewestPrices() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder()
            .set("jfabric.dir.name", "prices-" + ProcessHandle.current().pid()).build();
        try (FabricDriver driver = FabricDriver.launch(config);
            Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()))) {
            String address = "jfabric://" + fabric.driverName() + "/prices";
            TableWriter writer = Table.on(fabric, address).slots(1000).valueLength(Long.BYTES).openWriter();
            UnsafeBuffer price = new UnsafeBuffer(ByteBuffer.allocateDirect(Long.BYTES));
            for (int i = 0; i < CHANGES; i++) {
                price.putLong(0, 100_000 + i);
                require(writer.put(i % INSTRUMENTS, price, 0, Long.BYTES) == 0);
            }
            TableReader reader = Table.on(fabric, address).openReader();
            for (int instrument = 0; instrument < INSTRUMENTS; instrument++) {
                long slot = reader.find(instrument);
                require(reader.read(slot, price, 0) == Long.BYTES);
                System.out.println("instrument " + instrument + ": " + price.getLong(0) + ", change "
                    + reader.readVersion() + " of " + reader.version());
            }
            // from another thread or process, while this one sleeps
            Thread.startVirtualThread(() -> writer.remove(2));
            require(reader.await(CHANGES, -1) == 0);
            System.out.println("instrument 2 is gone: " + (reader.find(2) < 0));
        }
    }

    private static void require(boolean succeeded) {
        if (!succeeded) {
            throw new IllegalStateException("a call of the table was refused");
        }
    }
}
