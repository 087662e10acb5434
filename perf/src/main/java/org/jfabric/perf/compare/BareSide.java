package org.jfabric.perf.compare;

/** One of two processes that exchange messages over a {@link BarePort}. */
final class BareSide implements Side {
    private final SideSettings settings;
    private final BarePort port;
    private final PortLoops loops;

    BareSide(SideSettings settings, BarePort port) {
        this.settings = settings;
        this.port = port;
        loops = new PortLoops(port);
    }

    @Override
    public void connect() {
        port.connect();
    }

    @Override
    public void arm(Pass pass) {
        port.arm();
    }

    @Override
    public long run(Pass pass, long count) {
        boolean begins = settings.role() == SideRole.PING;
        if (pass != Pass.EXCHANGE) {
            throw new IllegalArgumentException(pass.name());
        }
        if (begins) {
            return loops.exchangePing(count);
        }
        loops.exchangePong(count);
        return 0;
    }

    @Override
    public void close() {
        port.close();
    }
}
