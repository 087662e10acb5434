package org.jfabric.perf.compare;

import org.HdrHistogram.Histogram;

/** One of two processes that exchange messages over a {@link Port}. */
final class PortSide implements Side {
    private final boolean begins;
    private final Port port;
    private final PortLoops loops;
    private Histogram distribution;

    PortSide(SideSettings settings, Port port) {
        this.begins = settings.role() == SideRole.PING;
        this.port = port;
        loops = new PortLoops(port);
    }

    @Override
    public void connect() {
        port.connect();
    }

    @Override
    public void cycle() {
        port.cycle();
    }

    @Override
    public void arm(Pass pass) {
        port.arm();
    }

    @Override
    public long run(Pass pass, long count) {
        port.begin(pass);
        long elapsedNs = 0;
        switch (pass) {
            case EXCHANGE, VERIFY -> {
                if (begins) {
                    elapsedNs = loops.exchangePing(count);
                } else {
                    loops.exchangePong(count);
                }
            }
            case STREAM, VERIFY_STREAM -> {
                if (begins) {
                    elapsedNs = port.sendsBursts() ? loops.burstPing(count) : loops.streamPing(count);
                } else if (port.sendsBursts()) {
                    loops.burstPong(count);
                } else {
                    loops.streamPong(count);
                }
            }
            case PACED -> {
                if (begins) {
                    distribution = loops.pacedPing(count, SideSettings.INTERVAL_NS, 0);
                    elapsedNs = loops.pacedNs();
                } else {
                    loops.pacedPong(count);
                }
            }
            case BURST -> {
                if (begins) {
                    distribution = loops.writePing(count);
                    elapsedNs = loops.pacedNs();
                } else {
                    loops.writePong(count);
                }
            }
            case WRITE -> {
                if (begins) {
                    distribution = loops.pacedWrites(count, SideSettings.INTERVAL_NS);
                    elapsedNs = loops.pacedNs();
                } else {
                    loops.streamPong(count);
                }
            }
            default -> throw new IllegalArgumentException(pass.name());
        }
        port.end();
        return pass == Pass.VERIFY || pass == Pass.VERIFY_STREAM ? count : elapsedNs;
    }

    @Override
    public Histogram distribution() {
        return distribution;
    }

    @Override
    public void close() {
        port.close();
    }
}
