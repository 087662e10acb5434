package org.jfabric.driver.link.udp.packet;

import java.util.concurrent.atomic.AtomicInteger;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.ResourceTask;

/**
 * Closes packet sockets. For each the system waits until no processor can be delivering to it (packet_release in
 * net/packet/af_packet.c of Linux), which takes ten milliseconds and more: no duty cycle closes one.
 */
final class PacketClosing extends ResourceTask {
    /** Of the process. With more of them under way a caller waits itself: sockets must not be opened faster. */
    private static final int MOST = 64;
    private static final AtomicInteger UNDER_WAY = new AtomicInteger();

    private final Runnable close;
    private final LinkServices services;

    /**
     * Has something closed.
     *
     * @param close run on the thread that closes, or here.
     */
    static void submit(Runnable close, LinkServices services) {
        if (UNDER_WAY.get() >= MOST) {
            close.run();
            return;
        }
        UNDER_WAY.incrementAndGet();
        services.submit(new PacketClosing(close, services));
    }

    private PacketClosing(Runnable close, LinkServices services) {
        this.close = close;
        this.services = services;
    }

    @Override
    protected boolean isClosing() {
        return true;
    }

    @Override
    protected void execute() {
        try {
            close.run();
        } finally {
            UNDER_WAY.decrementAndGet();
        }
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
