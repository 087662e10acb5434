package org.jfabric.perf.compare;

import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.tool.PingPongFabric;
import org.jfabric.tool.PingPongLoop;
import org.jfabric.tool.ToolException;

import java.util.ArrayList;
import java.util.List;

/**
 * Sends messages over the links that are not measured, in the same process. Call sites that had one target for the
 * compiler have two afterwards. The endpoints stay open, but have no more traffic.
 */
final class OtherLinks implements AutoCloseable {
    private static final List<String> LINKS = List.of("loopback", "tcp");
    private static final String NAME = "other-link";
    /** Enough for the compiler to have seen them before the first timed pass. */
    private static final int MESSAGES = 50_000;

    private final List<PingPongFabric> fabrics = new ArrayList<>();
    private final DatagramPort datagrams;

    /** Sends messages to itself. */
    OtherLinks(SideSettings settings) {
        for (String link : LINKS) {
            String directory = NAME + '-' + link + '-' + settings.role().text();
            PingPongFabric fabric = PingPongFabric.application(settings.directory().resolve(directory),
                ThreadingMode.INVOKER, link, settings.sizeBytes(), NAME);
            fabrics.add(fabric);
            use(fabric, directory, settings, link);
        }
        String directory = NAME + "-udp-" + settings.role().text();
        datagrams = new DatagramPort("udp", settings.directory().resolve(directory), NAME, directory, NAME,
            settings.sizeBytes(), Pass.EXCHANGE);
        datagrams.connect();
        PortLoops loops = new PortLoops(datagrams);
        loops.exchangePing(MESSAGES);
    }

    private static void use(PingPongFabric fabric, String directory, SideSettings settings, String link) {
        PingPongLoop loop = new PingPongLoop(fabric.endpoint(), fabric.queue(), fabric.peer(directory, NAME),
            fabric.receiveRegion().address(0), fabric.sendRegion().address(0), settings.sizeBytes(),
            settings.spinning());
        for (int i = 0; i < MESSAGES; i++) {
            if (loop.arm() != 0 || loop.postSend() != 0 || loop.await() != 0) {
                throw new ToolException("A message over the link " + link + " failed.");
            }
        }
    }

    @Override
    public void close() {
        try {
            datagrams.close();
        } finally {
            fabrics.forEach(PingPongFabric::close);
        }
    }
}
