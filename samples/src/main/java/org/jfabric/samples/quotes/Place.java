package org.jfabric.samples.quotes;

import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * Where the program runs: it chooses the driver and the address of the publisher. The publisher and the subscribers do
 * not depend on it.
 */
final class Place implements AutoCloseable {
    private static final String FEED = "quotes";

    private final FabricDriver driver;
    private final Fabric fabric;
    private final String publisher;
    private final Info hints;

    private Place(FabricDriver driver, Fabric fabric, String publisher, Info hints) {
        this.driver = driver;
        this.fabric = fabric;
        this.publisher = publisher;
        this.hints = hints;
    }

    // example: daemon
    static Place daemon() {
        Fabric fabric = Fabric.connect();
        return new Place(null, fabric, "jfabric://" + fabric.driverName() + "/" + FEED, delivered());
    }
    // end

    // example: embedded
    static Place embedded(String role) {
        FabricDriver driver = embed(role, "loopback,shm");
        return new Place(driver, driver.fabric(), "jfabric://feed/" + FEED, delivered());
    }

    private static FabricDriver embed(String role, String links) {
        return FabricDriver.launchEmbedded(DriverConfig.builder()
            .set("jfabric.dir.name", role)
            .set("jfabric.link.enabled", links)
            .threadingMode(ThreadingMode.INVOKER)
            .build());
    }
    // end

    // example: network
    static Place network(String role, String link, String publisher) {
        FabricDriver driver = embed(role, link);
        return new Place(driver, driver.fabric(), "fi_sockaddr_in://" + publisher, delivered().linkName(link));
    }
    // end

    // example: hints
    private static Info delivered() {
        Info hints = new Info().caps(Flags.TAGGED);
        hints.txAttr().opFlags(Flags.DELIVERY_COMPLETE);
        return hints;
    }
    // end

    // example: open
    Messenger openPublisher() {
        return fabric.messenger().hints(hints.copy().srcAddr(publisher)).open();
    }

    Messenger openSubscriber() {
        return fabric.messenger().hints(hints.copy().destAddr(publisher)).open();
    }
    // end

    String publisher() {
        return publisher;
    }

    @Override
    public void close() {
        fabric.close();
        if (driver != null) {
            driver.close();
        }
    }
}
