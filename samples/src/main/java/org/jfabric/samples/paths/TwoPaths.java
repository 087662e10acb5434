package org.jfabric.samples.paths;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;

/**
 * Quotes over two paths, of which one is cut in the middle. Here both drivers are in one process; between hosts the
 * paths would be two networks.
 */
public final class TwoPaths implements StreamListener {
    private static final int QUOTES = 1000;
    private static final int QUOTE_BYTES = 40;
    private static final int ON_THE_WAY = 16;
    private static final long DEADLINE_NS = 30_000_000_000L;

    private long inOrder;
    private long lost;

    private TwoPaths() {
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        if (buffer.getLong(offset) == inOrder) {
            inOrder++;
        }
    }

    @Override
    public void onGap(long first, long last) {
        lost += last - first + 1;
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) throws IOException {
        String pid = "-" + ProcessHandle.current().pid();
        int portA = freePort();
        String b = "127.0.0.1:" + freePort();
        TwoPaths quotes = new TwoPaths();
        try (FabricDriver alpha = driver("paths-a" + pid); FabricDriver beta = driver("paths-b" + pid);
            Fabric writing = alpha.fabric(); Fabric reading = beta.fabric(); FailingPath path = new FailingPath(portA);
            Publication publication = Publication.on(writing, "jfabric://" + writing.driverName() + "/quotes")
                .onNetwork("127.0.0.1:" + portA + ';' + b).open();
            Subscription subscription = Subscription.on(
                reading, "stream://127.0.0.1:" + path.port() + ';' + b + "/quotes").open()) {
            UnsafeBuffer quote = new UnsafeBuffer(new byte[QUOTE_BYTES]);
            long startNs = System.nanoTime();
            while (quotes.inOrder < QUOTES) {
                long position = publication.position();
                // the first half is not over before the first path has carried some
                boolean mayCut = position < QUOTES / 2 || path.carried() > 0;
                if (position < QUOTES && mayCut && position < quotes.inOrder + ON_THE_WAY) {
                    quote.putLong(0, position);
                    publication.offer(quote, 0, QUOTE_BYTES);
                }
                if (position < QUOTES / 2 || !mayCut) {
                    path.carry();
                }
                subscription.poll(quotes, 16);
                if (System.nanoTime() - startNs > DEADLINE_NS) {
                    throw new IllegalStateException(quotes.inOrder + " of " + QUOTES + " quotes have arrived");
                }
            }
        }
        System.out.println(quotes.inOrder + " quotes in order, " + quotes.lost + " lost; the first path was cut after "
            + QUOTES / 2);
    }

    private static FabricDriver driver(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder().set("jfabric.dir.name", name)
            .threadingMode(ThreadingMode.SHARED).set("jfabric.link.enabled", "shm,udp").build());
    }

    private static int freePort() throws IOException {
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
