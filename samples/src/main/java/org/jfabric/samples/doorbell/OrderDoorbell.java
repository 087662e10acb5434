package org.jfabric.samples.doorbell;

import org.jfabric.Completion;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * A desk writes orders into slots of an exchange's memory. Each write carries data, the number of its slot, which is a
 * doorbell: the exchange polls its completion queue, and the entry says which slot to read. No receive is posted.
 */
public final class OrderDoorbell {
    private static final int ORDERS = 5;
    private static final int SLOT_LENGTH = 64;
    /** Both sides know it; the sample {@code book} sends the key in a message. */
    private static final long KEY = 42;
    private static final long DEADLINE_NS = 10_000_000_000L;

    private OrderDoorbell() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     * @throws InterruptedException if the thread is interrupted while the exchange ends.
     */
    public static void main(String[] args) throws InterruptedException {
        DriverConfig config = DriverConfig.builder()
            .set("jfabric.dir.name", "doorbell-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.SHARED).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Info hints = new Info().caps(Flags.RMA);
            Messenger exchange = fabric.messenger().hints(hints).open();
            MemoryRegion slots = exchange.domain().allocate(
                ORDERS * SLOT_LENGTH, new MemoryRegionAttr().access(Flags.REMOTE_WRITE).requestedKey(KEY));
            Thread consumer = new Thread(
                () -> exchange.await(ORDERS, DEADLINE_NS, entry -> onEntry(slots, entry)), "exchange");
            consumer.start();

            Messenger desk = fabric.messenger().hints(hints).open();
            long to = desk.peer(exchange.address()).number();
            for (int slot = 0; slot < ORDERS; slot++) {
                long offset = slot * SLOT_LENGTH;
                int length = desk.memory().buffer().putStringUtf8((int) offset, "buy " + 100 * (slot + 1));
                int result = desk.endpoint().remoteMemory().writedata(
                    desk.memory().address(offset), length, slot, to, offset, KEY, slot);
                if (result != 0) {
                    throw new IllegalStateException(FabricErrno.describe(-result));
                }
            }
            // each of these entries says that the order is in the exchange's memory
            desk.await(ORDERS, DEADLINE_NS, entry -> { });
            consumer.join();
        }
    }

    private static void onEntry(MemoryRegion slots, Completion entry) {
        if ((entry.flags() & Flags.REMOTE_CQ_DATA) != 0) {
            int slot = (int) entry.data();
            System.out.println("slot " + slot + ", " + entry.len() + " bytes: "
                + slots.buffer().getStringUtf8(slot * SLOT_LENGTH));
        }
    }
}
