package org.jfabric.perf.compare;

import org.HdrHistogram.Histogram;
import org.jfabric.info.FabricErrno;
import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.PingPongFabric;
import org.jfabric.tool.PingPongLoop;
import org.jfabric.tool.ToolException;

/**
 * A client of a daemon that sends to itself, one message at a time: the next receive is posted while a message is under
 * way. Of other endpoints it may have some open, which have no traffic, or in the pass {@link Pass#COLD} a message now
 * and then.
 */
final class JFabricSelf implements Side {
    private static final int CHUNK = 64;
    /**
     * Ordinary messages in front of one of a cold endpoint: each takes a cycle of the daemon at least, so that an
     * endpoint cools down long before its next turn, and only few are not cold yet at a time.
     */
    private static final int BETWEEN = 2 * CHUNK;
    private static final long HIGHEST_NS = 100_000_000_000L;
    private static final int DIGITS = 3;
    private static final String LINK = "loopback";
    private static final String SERVICE = "self";

    private final SideSettings settings;
    private final PingPongFabric fabric;
    private final ColdEndpoints others;
    private final DriverCycles cycles;
    private PingPongLoop loop;
    private boolean armed;
    private Histogram distribution;
    private long cyclesTaken;

    /**
     * Attaches to the daemon.
     *
     * @param endpoints open in all, at least 1.
     */
    JFabricSelf(SideSettings settings, int endpoints) {
        this.settings = settings;
        fabric = PingPongFabric.application(
            settings.directory().resolve(SideRole.DRIVER.text()), null, LINK, settings.sizeBytes(), SERVICE);
        others = endpoints > 1 ? new ColdEndpoints(settings, LINK, endpoints - 1) : null;
        cycles = settings.pass() == Pass.COLD
            ? new DriverCycles(settings.directory().resolve(SideRole.DRIVER.text())) : null;
    }

    @Override
    public void connect() {
        long self = fabric.peer(SideRole.DRIVER.text(), SERVICE);
        loop = new PingPongLoop(fabric.endpoint(), fabric.queue(), self, fabric.receiveRegion().address(0),
            fabric.sendRegion().address(0), settings.sizeBytes(), settings.spinning());
        if (settings.pass() == Pass.COLD) {
            others.prepare();
        }
    }

    @Override
    public long run(Pass pass, long count) {
        if (pass == Pass.VERIFY) {
            return verify(count);
        }
        armOnce();
        if (pass == Pass.COLD) {
            return cold(count);
        }
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            chunk((int) Math.min(CHUNK, count - done));
        }
        return System.nanoTime() - begin;
    }

    private long cold(long count) {
        Histogram first = new Histogram(HIGHEST_NS, DIGITS);
        long begin = System.nanoTime();
        long before = cycles.now();
        for (long done = 0; done < count; done++) {
            for (int i = 0; i < BETWEEN; i += CHUNK) {
                chunk(CHUNK);
            }
            first.recordValue(Math.min(HIGHEST_NS, others.firstMessage()));
        }
        // a short pass may be over before the daemon has said its number again
        long after = cycles.now();
        while (after == before) {
            chunk(CHUNK);
            after = cycles.now();
        }
        cyclesTaken = after - before;
        distribution = first;
        return System.nanoTime() - begin;
    }

    @Override
    public Histogram distribution() {
        return distribution;
    }

    @Override
    public long driverCycles() {
        return cyclesTaken;
    }

    /** One receive is always posted, also between passes. */
    private void armOnce() {
        if (!armed) {
            check(loop.arm());
            armed = true;
        }
    }

    private void chunk(int count) {
        for (int i = 0; i < count; i++) {
            int result = loop.postSend();
            if (result == 0) {
                result = loop.arm();
            }
            if (result == 0) {
                result = loop.await();
            }
            check(result);
        }
    }

    private long verify(long count) {
        for (long i = 0; i < count; i++) {
            PingPongContents.fill(fabric.sendRegion().segment(), settings.sizeBytes(), i);
            armOnce();
            check(loop.postSend());
            check(loop.await());
            armed = false;
            long position = PingPongContents.mismatch(fabric.receiveRegion().segment(), settings.sizeBytes(), i);
            if (loop.lastLength() != settings.sizeBytes() || position >= 0) {
                throw new ToolException("Message " + i + " to oneself is not as sent (" + loop.lastLength()
                    + " bytes, first difference at " + position + "); this is a defect of JFabric, please report it.");
            }
        }
        return count;
    }

    private void check(int result) {
        if (result != 0) {
            throw new ToolException(result == -FabricErrno.EAVAIL ? fabric.failure()
                : "A transfer was refused with " + FabricErrno.name(-result) + " ("
                + FabricErrno.describe(-result) + ").");
        }
    }

    @Override
    public void close() {
        try {
            if (cycles != null) {
                cycles.close();
            }
            if (others != null) {
                others.close();
            }
        } finally {
            fabric.close();
        }
    }
}
