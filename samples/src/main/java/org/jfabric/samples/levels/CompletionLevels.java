package org.jfabric.samples.levels;

import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/**
 * The sender chooses the level of its completions. The first two orders complete when the peer's endpoint has them.
 * The third asks for a match, with a fence: its completion means that the peer has received all three.
 */
public final class CompletionLevels {
    private static final int LENGTH = 64;

    private CompletionLevels() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder().set("jfabric.dir.name", "levels-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Messenger own = fabric.messenger().open();
            long self = own.peers().insert(own.endpoint().name());

            send(own, self, 1, Flags.TRANSMIT_COMPLETE);
            send(own, self, 2, Flags.DELIVERY_COMPLETE);
            send(own, self, 3, Flags.MATCH_COMPLETE | Flags.FENCE);
            own.await(2, entry -> System.out.println("order " + entry.opContext() + " is at the peer"));

            // in any order: the fenced one is not the last that is received
            receive(own, 3);
            receive(own, 1);
            own.await(2, entry -> System.out.println("received " + entry.opContext()));
            receive(own, 2);
            own.await(2, entry -> System.out.println(
                (entry.flags() & Flags.RECV) != 0 ? "received " + entry.opContext() : "all orders are received"));
        }
    }

    private static void send(Messenger own, long to, long number, long flags) {
        own.endpoint().messages().tsendmsg(own.memory().address(0), LENGTH, 0, to, number, number, flags);
    }

    private static void receive(Messenger own, long number) {
        own.endpoint().trecv(
            own.memory().address(number * LENGTH), LENGTH, FabricAddress.ADDR_UNSPEC, number, 0, number);
    }
}
