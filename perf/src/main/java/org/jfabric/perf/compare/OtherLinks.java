package org.jfabric.perf.compare;

import org.jfabric.driver.ThreadingMode;
import org.jfabric.tool.PingPongFabric;
import org.jfabric.tool.PingPongLoop;
import org.jfabric.tool.ToolException;

/**
 * Messages over the links that are not measured, in the same process: calls that the compiler knew one target of have
 * two afterwards. What they use stays open, but has no more traffic.
 */
final class OtherLinks implements AutoCloseable {
    private static final String LINK = "loopback";
    private static final String NAME = "other-link";
    /** Enough for the compiler to have seen them before the first timed pass. */
    private static final int MESSAGES = 50_000;

    private final PingPongFabric fabric;

    /** Sends messages to itself. */
    OtherLinks(SideSettings settings) {
        String directory = NAME + '-' + settings.role().text();
        fabric = PingPongFabric.application(settings.directory().resolve(directory), ThreadingMode.INVOKER, LINK,
            settings.sizeBytes(), NAME);
        PingPongLoop loop = new PingPongLoop(fabric.endpoint(), fabric.queue(), fabric.peer(directory, NAME),
            fabric.receiveRegion().address(0), fabric.sendRegion().address(0), settings.sizeBytes(),
            settings.spinning());
        for (int i = 0; i < MESSAGES; i++) {
            if (loop.arm() != 0 || loop.postSend() != 0 || loop.await() != 0) {
                throw new ToolException("A message over the link " + LINK + " failed.");
            }
        }
    }

    @Override
    public void close() {
        fabric.close();
    }
}
