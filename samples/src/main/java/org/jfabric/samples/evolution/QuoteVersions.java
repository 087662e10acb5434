package org.jfabric.samples.evolution;

import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricException;

/** Old and new publishers and readers of quotes: each reader reads what each publisher sends. */
public final class QuoteVersions {
    private static final long TIMEOUT_NS = 10_000_000_000L;

    private QuoteVersions() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder().threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.dir.name", "versions-" + ProcessHandle.current().pid()).build();
        QuoteVersion old = new PlainQuotes();
        QuoteVersion sized = new SizedQuotes();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric();
             Messenger feed = fabric.messenger().open(); Messenger desk = fabric.messenger().open()) {
            System.out.println("old reads new: " + exchange(feed, sized, desk, old));
            System.out.println("new reads old: " + exchange(feed, old, desk, sized));
            System.out.println("new reads new: " + exchange(feed, sized, desk, sized));
        }
    }

    private static String exchange(Messenger feed, QuoteVersion publisher, Messenger desk, QuoteVersion reader) {
        desk.endpoint().trecv(desk.memory().slice(0, 128), QuoteVersion.TAG, 0, 1);
        int result = publisher.publish(feed, feed.peer(desk.address()));
        if (result != 0) {
            throw new FabricException(result, "quote not published", "See docs/what-can-go-wrong.md.");
        }
        desk.await(1, TIMEOUT_NS, entry -> { });
        return reader.read(desk.memory().buffer());
    }
}
