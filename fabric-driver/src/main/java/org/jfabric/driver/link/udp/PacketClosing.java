package org.jfabric.driver.link.udp;

import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.ResourceAgent;
import org.jfabric.driver.resource.ResourceTask;

/**
 * Closes packet sockets. For each the system waits until no processor can be delivering to it (packet_release in
 * net/packet/af_packet.c of Linux), which takes ten milliseconds and more: no duty cycle closes one.
 */
final class PacketClosing extends ResourceTask {
    private final Runnable close;
    private final LinkServices services;

    /**
     * A task.
     *
     * @param close run on the resource thread.
     */
    PacketClosing(Runnable close, LinkServices services) {
        this.close = close;
        this.services = services;
    }

    /** As of much memory, because it takes as long: no task that a client waits for is behind it. */
    @Override
    protected long sizeBytes() {
        return ResourceAgent.LONG_TASK_BYTES + 1;
    }

    @Override
    protected void execute() {
        close.run();
    }

    @Override
    protected void onDone() {
        // nothing waits for it
    }

    @Override
    protected void onFailed(Throwable cause) {
        services.onError(cause);
    }
}
