package org.jfabric.perf.compare;

import java.util.Arrays;

/**
 * Measures the bare hand-over of a cache line between two cells, in a process of its own that sleeps otherwise. The
 * result is the median of a few short blocks, so that an interruption of one of them does not count. Owner: the rig's
 * thread.
 */
final class HandOverProbe implements AutoCloseable {
    private static final String NAME = "hand-over-probe";
    private static final int BLOCKS = 5;
    private static final long FIRST_BLOCK = 64;
    /**
     * A measurement that takes this many times as long as planned ends with the blocks that it has: the machine is
     * busy.
     */
    private static final int LONGEST = 5;
    /** Until the compiler is done. */
    private static final long WARM_NS = 60_000_000;
    /** Messages of one exchange. */
    private static final double RETURNS = 2;

    private final RigSettings settings;
    private SideClient side;
    private long block = FIRST_BLOCK;

    HandOverProbe(RigSettings settings) {
        this.settings = settings;
    }

    /**
     * Reads it.
     *
     * @return nanoseconds of one hand-over; not a number if two threads cannot spin at once here.
     */
    double read() throws InterruptedException {
        if (!settings.spinning()) {
            return Double.NaN;
        }
        boolean first = side == null;
        if (first) {
            side = new SideClient(NAME, SideRole.PING, SideKind.HAND_OVER, settings, Launch.USUAL);
            side.awaitReady();
        }
        side.call("open " + Pass.EXCHANGE + ' ' + Targets.SIZE + " 0 " + settings.directory(), "opened");
        if (first) {
            warmUp();
        }
        double[] blocks = new double[BLOCKS];
        Arrays.fill(blocks, Double.NaN);
        long begin = System.nanoTime();
        for (int i = 0; i < BLOCKS && System.nanoTime() - begin < LONGEST * settings.handOverNs(); i++) {
            blocks[i] = block();
        }
        side.call("close", "closed");
        return Statistics.median(blocks);
    }

    private void warmUp() throws InterruptedException {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < WARM_NS) {
            block();
        }
    }

    /** Runs a block, and plans the next one by its speed; returns nanoseconds of one hand-over. */
    private double block() throws InterruptedException {
        double found = SideReport.parse(side.call("run " + Pass.EXCHANGE + ' ' + block, "done")).result()
            / (RETURNS * block);
        block = Math.max(1, (long) (settings.handOverNs() / (BLOCKS * RETURNS * found)));
        return found;
    }

    @Override
    public void close() {
        if (side != null) {
            side.close();
            side = null;
        }
    }
}
