package org.jfabric.perf.compare;

import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.ToolException;

/**
 * One of two processes that exchange datagrams, or bursts of datagrams of which each is answered by one. A message that
 * was lost would end the pass: on the loopback interface none is as long as the receiver has room for a burst.
 */
final class DatagramSide implements Side {
    /** Messages of a burst: of 1 KiB they are 64 KiB. */
    private static final int BURST = 64;

    private final SideSettings settings;
    private final DatagramPort port;
    private final PortLoops loops;
    private long awaited;

    /**
     * Starts the driver.
     *
     * @param link     udp or packet.
     */
    DatagramSide(SideSettings settings, String link) {
        this.settings = settings;
        boolean isExchange = settings.pass() == Pass.EXCHANGE || settings.pass() == Pass.VERIFY;
        int receives = isExchange ? DatagramPort.FEW : 2 * BURST;
        port = new DatagramPort(link, settings.ownDirectory(), settings.role().text(), settings.sizeBytes(), receives,
            settings.pass() == Pass.VERIFY_STREAM ? receives : 1);
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
            case STREAM -> {
                long beginNs = System.nanoTime();
                for (long done = 0; done < count; done += BURST) {
                    if (begins) {
                        sendBurst(Math.min(BURST, count - done));
                    } else {
                        takeBurst(Math.min(BURST, count - done));
                    }
                }
                yield System.nanoTime() - beginNs;
            }
            case VERIFY -> begins ? verifyPing(count) : verifyPong(count);
            case VERIFY_STREAM -> {
                for (long done = 0; done < count; done += BURST) {
                    long until = Math.min(count, done + BURST);
                    if (begins) {
                        sendFilledBurst(done, until);
                    } else {
                        compareBurst(done, until);
                    }
                }
                yield count;
            }
            default -> throw new IllegalArgumentException(pass.name());
        };
    }

    private void sendBurst(long count) {
        for (long i = 0; i < count; i++) {
            send();
        }
        await(1);
    }

    private void takeBurst(long count) {
        await(count);
        send();
    }

    private void sendFilledBurst(long from, long until) {
        for (long message = from; message < until; message++) {
            long place = port.placeOf(message);
            PingPongContents.fill(
                port.sendRegion().segment().asSlice(place, settings.sizeBytes()), settings.sizeBytes(), message);
            while (!port.trySend(place)) {
                port.poll();
            }
        }
        await(1);
    }

    private void compareBurst(long from, long until) {
        await(until - from);
        for (long message = from; message < until; message++) {
            compareAt(port.placeOf(message), message);
        }
        send();
    }

    private void send() {
        while (!port.trySend()) {
            port.poll();
        }
    }

    private void await(long count) {
        awaited += count;
        while (port.received() < awaited) {
            port.poll();
        }
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
        send();
    }

    private void compare(long message) {
        await(1);
        compareAt(0, message);
    }

    private void compareAt(long place, long message) {
        long position = port.lastLength() != settings.sizeBytes() ? port.lastLength()
            : PingPongContents.mismatch(port.receiveRegion().segment().asSlice(place, settings.sizeBytes()),
                settings.sizeBytes(), message);
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
