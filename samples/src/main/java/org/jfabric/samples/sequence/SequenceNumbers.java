package org.jfabric.samples.sequence;

import java.util.BitSet;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * Several clients draw sequence numbers from one word of a sequencer's memory. Each draw is a fetch-and-add: the
 * driver adds 1 to the word and brings the old value, which no other client gets. The sequencer's program does nothing
 * meanwhile.
 */
public final class SequenceNumbers {
    static final int DRAWS = 1_000;
    /** All sides know it; the sample {@code book} sends the key in a message. */
    static final long KEY = 43;

    private static final int CLIENTS = 3;

    private SequenceNumbers() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     * @throws InterruptedException if the thread is interrupted while clients end.
     */
    public static void main(String[] args) throws InterruptedException {
        DriverConfig config = DriverConfig.builder()
            .set("jfabric.dir.name", "sequence-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.SHARED).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Info hints = new Info().caps(Flags.ATOMIC);
            Messenger sequencer = fabric.messenger().hints(hints).open();
            MemoryRegion region = sequencer.domain().allocate(Long.BYTES,
                new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(KEY));
            SequenceClient[] clients = new SequenceClient[CLIENTS];
            Thread[] threads = new Thread[CLIENTS];
            for (int i = 0; i < CLIENTS; i++) {
                clients[i] = new SequenceClient(fabric.messenger().hints(hints).open(), sequencer.address());
                threads[i] = new Thread(clients[i], "client " + (i + 1));
            }
            for (Thread thread : threads) {
                thread.start();
            }
            BitSet drawn = new BitSet();
            int duplicates = 0;
            for (int i = 0; i < CLIENTS; i++) {
                threads[i].join();
                for (long number : clients[i].numbers()) {
                    duplicates += drawn.get((int) number) ? 1 : 0;
                    drawn.set((int) number);
                }
                System.out.println("client " + (i + 1) + " drew " + clients[i].numbers().length + " numbers");
            }
            System.out.println("gaps: " + (drawn.length() - drawn.cardinality()) + ", duplicates: " + duplicates
                + ", the next number is " + region.buffer().getLongVolatile(0));
        }
    }
}
