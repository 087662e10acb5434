package org.jfabric.perf.compare;

import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.tool.PingPongFabric;
import org.jfabric.tool.PingPongPasses;
import org.jfabric.tool.PingPongPhase;

/** One of two processes with a driver each in mode INVOKER. */
final class JFabricSide implements Side {
    /** As many tags and as many receives posted. */
    private static final int MANY = 100_000;

    private final SideSettings settings;
    private final int tags;
    private final int receives;
    private final OtherLinks others;
    private final PingPongFabric fabric;
    private PingPongPasses exchange;
    private JFabricPort port;
    private PortLoops loops;
    private Histogram distribution;

    /**
     * Starts the driver.
     *
     * @param allLinks true to send over the other links first.
     * @param many     true if the receiver of a stream has {@link #MANY} receives posted, each for a tag of its own.
     */
    JFabricSide(SideSettings settings, String link, boolean allLinks, boolean many) {
        this.settings = settings;
        tags = many ? MANY : 1;
        receives = many && settings.role() == SideRole.PONG ? MANY : JFabricPort.RECEIVES;
        others = allLinks ? new OtherLinks(settings) : null;
        fabric = switch (settings.pass()) {
            case STREAM, VERIFY_STREAM -> PingPongFabric.streaming(settings.ownDirectory(), ThreadingMode.INVOKER, link,
                settings.sizeBytes(), settings.role().text(), receives, comparing() ? receives : 1);
            case EXCHANGE, VERIFY, PACED, FRESH -> PingPongFabric.application(settings.ownDirectory(),
                ThreadingMode.INVOKER, link, settings.sizeBytes(), settings.role().text());
            default -> throw new IllegalArgumentException(settings.pass().name());
        };
    }

    /** Then sends need no entries. */
    private boolean oneAtATime() {
        return settings.pass() == Pass.PACED || settings.pass() == Pass.FRESH;
    }

    /** The sender of a stream posts only the receive of one answer, which is not compared. */
    private boolean comparing() {
        return settings.pass() == Pass.VERIFY_STREAM && settings.role() == SideRole.PONG;
    }

    @Override
    public void connect() {
        long peer = fabric.peer(settings.other().text(), settings.other().text());
        if (settings.pass() == Pass.EXCHANGE || settings.pass() == Pass.VERIFY) {
            exchange = new PingPongPasses(
                fabric, peer, settings.sizeBytes(), settings.spinning(), new AtomicLong());
        } else {
            port = new JFabricPort(fabric, peer, settings.sizeBytes(), !oneAtATime(),
                comparing(), receives, tags);
            loops = new PortLoops(port);
        }
    }

    @Override
    public void cycle() {
        if (exchange != null) {
            exchange.cycle();
        } else if (port != null) {
            port.poll();
        }
    }

    @Override
    public void arm(Pass pass) {
        if (exchange != null) {
            exchange.arm();
        }
    }

    @Override
    public long run(Pass pass, long count) {
        return settings.role() == SideRole.PING ? ping(pass, count) : pong(pass, count);
    }

    private long ping(Pass pass, long count) {
        return switch (pass) {
            case EXCHANGE -> Long.parseLong(exchange.ping(PingPongPhase.TIMED, count));
            case VERIFY -> Long.parseLong(exchange.ping(PingPongPhase.VERIFY, count));
            case STREAM -> loops.streamPing(count);
            case PACED -> {
                distribution = loops.pacedPing(count, SideSettings.INTERVAL_NS, 0);
                yield loops.pacedNs();
            }
            case FRESH -> {
                distribution = loops.pacedPing(count, SideSettings.FRESH_INTERVAL_NS, SideSettings.FRESH_FIRST);
                yield loops.pacedNs();
            }
            case VERIFY_STREAM -> {
                for (long i = 0; i < count; i++) {
                    port.sendFilled(i);
                }
                yield count;
            }
            default -> throw new IllegalArgumentException(pass.name());
        };
    }

    private long pong(Pass pass, long count) {
        switch (pass) {
            case EXCHANGE -> exchange.pong(PingPongPhase.TIMED, count);
            case VERIFY -> {
                return Long.parseLong(exchange.pong(PingPongPhase.VERIFY, count));
            }
            case STREAM -> loops.streamPong(count);
            case PACED, FRESH -> loops.pacedPong(count);
            case VERIFY_STREAM -> {
                while (port.received() < count) {
                    port.poll();
                }
                return port.received();
            }
            default -> throw new IllegalArgumentException(pass.name());
        }
        return 0;
    }

    @Override
    public Histogram distribution() {
        return distribution;
    }

    @Override
    public void close() {
        try {
            fabric.close();
        } finally {
            if (others != null) {
                others.close();
            }
        }
    }
}
