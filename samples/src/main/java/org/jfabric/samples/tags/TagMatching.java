package org.jfabric.samples.tags;

import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;

/**
 * Tags choose: the upper half of these tags is a market, the lower half a kind of message. A receive says which bits it
 * does not care about; of several that would do, the one posted first takes the message.
 */
public final class TagMatching {
    private static final long KIND_BITS = 0xFFFF_FFFFL;
    private static final long FRANKFURT = 1L << 32;
    private static final long LONDON = 2L << 32;
    private static final long TRADE = 1;
    private static final long QUOTE = 2;

    private static final long ANY_LONDON = 10;
    private static final long FRANKFURT_TRADE = 11;
    private static final long ANYTHING = 12;

    private TagMatching() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder().set("jfabric.dir.name", "tags-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Messenger own = fabric.messenger().open();
            long self = own.peers().insert(own.endpoint().name());

            receive(own, LONDON, KIND_BITS, ANY_LONDON);
            receive(own, FRANKFURT | TRADE, 0, FRANKFURT_TRADE);
            receive(own, 0, -1L, ANYTHING);

            send(own, self, FRANKFURT | QUOTE);
            send(own, self, FRANKFURT | TRADE);
            send(own, self, LONDON | QUOTE);

            own.await(3, entry -> System.out.println(
                "receive " + entry.opContext() + " took tag 0x" + Long.toHexString(entry.tag())));
        }
    }

    private static void receive(Messenger own, long tag, long ignore, long opContext) {
        own.endpoint().trecv(own.memory().address(0), 64, FabricAddress.ADDR_UNSPEC, tag, ignore, opContext);
    }

    /** Small messages need neither registered memory nor a completion. */
    private static void send(Messenger own, long to, long tag) {
        own.endpoint().tinject(own.memory().buffer(), 1024, 16, to, tag);
    }
}
