package org.jfabric.samples.feed;

import java.util.Arrays;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.feed.FeedHandler;
import org.jfabric.feed.FeedPath;
import org.jfabric.feed.FeedReceiver;
import org.jfabric.feed.FeedSender;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * Quotes over two paths, shared memory and datagrams. Whichever brings a quote first counts; in the middle one of them
 * ends. Here both drivers are in one process; between hosts the paths would be two networks.
 */
public final class TwoPaths implements FeedHandler {
    private static final int QUOTES = 1000;
    private static final int QUOTE_BYTES = 40;
    private static final long DEADLINE_NS = 10_000_000_000L;

    private long expected;
    private long inOrder;

    private TwoPaths() {
    }

    @Override
    public void onMessage(long sender, long sequence, DirectBuffer buffer, int offset, int length) {
        if (sequence == expected && buffer.getLong(offset) == sequence) {
            inOrder++;
        }
        expected = sequence + 1;
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        String pid = "-" + ProcessHandle.current().pid();
        try (FabricDriver alpha = driver("feed-a" + pid); FabricDriver beta = driver("feed-b" + pid);
            Fabric sending = alpha.fabric(); Fabric receiving = beta.fabric()) {
            Messenger first = messenger(receiving, "shm", EndpointType.RDM);
            Messenger second = messenger(receiving, "udp", EndpointType.DGRAM);
            TwoPaths quotes = new TwoPaths();
            FeedPath byFirst = FeedPath.of(first);
            FeedPath bySecond = FeedPath.of(second);
            FeedReceiver receiver = FeedReceiver.over(quotes, QUOTE_BYTES, byFirst, bySecond);
            FeedSender sender = FeedSender.over(QUOTE_BYTES,
                path(messenger(sending, "shm", EndpointType.RDM), first),
                path(messenger(sending, "udp", EndpointType.DGRAM), second));
            publish(sender, receiver, QUOTES / 2, byFirst, bySecond);
            // the first path ends; the sender need not notice
            first.close();
            publish(sender, receiver, QUOTES, bySecond);
            System.out.println(quotes.inOrder + " quotes in order, " + receiver.lost() + " lost");
            System.out.println("the second path brought " + bySecond.taken() + " of them, the first one "
                + byFirst.taken());
        }
    }

    private static FabricDriver driver(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder().set("jfabric.dir.name", name)
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", "shm,udp")
            .set("jfabric.udp.interface", "lo").build());
    }

    private static Messenger messenger(Fabric fabric, String link, EndpointType type) {
        Info hints = new Info().caps(Flags.MSG).linkName(link);
        hints.epAttr().type(type);
        return fabric.messenger().hints(hints).open();
    }

    private static FeedPath path(Messenger from, Messenger to) {
        return FeedPath.of(from, from.peer(to.address()));
    }

    /** One quote after the other, until so many have arrived by each of these paths. */
    private static void publish(FeedSender sender, FeedReceiver receiver, long end, FeedPath... paths) {
        UnsafeBuffer quote = new UnsafeBuffer(new byte[QUOTE_BYTES]);
        long startNs = System.nanoTime();
        while (Arrays.stream(paths).anyMatch(path -> path.taken() < end)) {
            if (sender.sent() == receiver.delivered() && sender.sent() < end) {
                quote.putLong(0, sender.sent());
                sender.send(quote, 0, QUOTE_BYTES);
            }
            sender.poll(16);
            receiver.poll(16);
            if (System.nanoTime() - startNs > DEADLINE_NS) {
                throw new IllegalStateException(receiver.delivered() + " of " + end + " quotes have arrived");
            }
        }
    }
}
