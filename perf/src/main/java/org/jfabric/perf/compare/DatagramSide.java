package org.jfabric.perf.compare;

import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.ToolException;

/**
 * One of two processes that exchange datagrams. A message that was lost would end the pass: on the loopback interface
 * with one message under way none is.
 */
final class DatagramSide implements Side {
    private final SideSettings settings;
    private final DatagramPort port;
    private final PortLoops loops;
    private long awaited;

    /**
     * Starts the driver.
     *
     * @param settings of the cell.
     * @param link     udp or packet.
     */
    DatagramSide(SideSettings settings, String link) {
        this.settings = settings;
        port = new DatagramPort(link, settings.ownDirectory(), settings.role().text(), settings.sizeBytes());
        loops = new PortLoops(port);
    }

    @Override
    public void connect() {
        port.connect(settings.other().text(), settings.other().text());
    }

    @Override
    public void cycle() {
        port.poll();
    }

    @Override
    public long run(Pass pass, long count) {
        boolean begins = settings.role() == SideRole.PING;
        return switch (pass) {
            case EXCHANGE -> {
                if (begins) {
                    yield loops.exchangePing(count);
                }
                loops.exchangePong(count);
                yield 0;
            }
            case VERIFY -> begins ? verifyPing(count) : verifyPong(count);
            default -> throw new IllegalArgumentException(pass.name());
        };
    }

    private long verifyPing(long count) {
        for (long i = 0; i < count; i++) {
            send(2 * i);
            compare(2 * i + 1);
        }
        return count;
    }

    private long verifyPong(long count) {
        for (long i = 0; i < count; i++) {
            compare(2 * i);
            send(2 * i + 1);
        }
        return count;
    }

    private void send(long message) {
        PingPongContents.fill(port.sendRegion().segment(), settings.sizeBytes(), message);
        while (!port.trySend()) {
            port.poll();
        }
    }

    private void compare(long message) {
        awaited++;
        while (port.received() < awaited) {
            port.poll();
        }
        long position = port.lastLength() != settings.sizeBytes() ? port.lastLength()
            : PingPongContents.mismatch(port.receiveRegion().segment(), settings.sizeBytes(), message);
        if (position >= 0) {
            throw new ToolException("Datagram " + message + " arrived with " + port.lastLength()
                + " bytes and differs from what was sent at " + position
                + "; this is a defect of JFabric, please report it.");
        }
    }

    @Override
    public void close() {
        port.close();
    }
}
