package org.jfabric.samples.stream;

// example: first-quote
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;

/** One quote, from a publication to a subscription. */
public final class FirstQuote {
    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder().threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.dir.name", "feed-" + ProcessHandle.current().pid()).build();
        // MediaDriver.launchEmbedded, Aeron.connect, addPublication, addSubscription
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric();
             Publication feed = Publication.on(fabric, "jfabric://" + fabric.driverName() + "/quotes").open();
             Subscription desk = Subscription.on(fabric, "jfabric://" + fabric.driverName() + "/quotes").open()) {
            IdleStrategy idle = new BackoffIdleStrategy();
            UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
            int length = buffer.putStringAscii(0, "EURUSD 1.0834");
            while (feed.offer(buffer, 0, length) == -FabricErrno.EAGAIN) {
                idle.idle();
            }
            while (desk.poll((message, offset, bytes, header) -> System.out.println(
                "position " + header.position() + ": " + message.getStringAscii(offset)), 10) <= 0) {
                idle.idle();
            }
        }
    }

    private FirstQuote() {
    }
}
// end
