package org.jfabric.perf.compare;

import java.util.Arrays;

/**
 * Reads the bare hand-over of a cache line between two cells, from a process of its own that sleeps meanwhile: the
 * median of a few short blocks, so that a thread that was interrupted in one of them does not count. Owner: the rig's
 * thread.
 */
final class HandOverProbe implements AutoCloseable {
    private static final String NAME = "hand-over-probe";
    private static final int BLOCKS = 5;
    private static final long FIRST_BLOCK = 64;
    /** A reading that takes so many times as long as planned ends with the blocks that it has: the machine is busy. */
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
        double spentNs = 0;
        for (int i = 0; i < BLOCKS && spentNs < LONGEST * settings.handOverNs(); i++) {
            blocks[i] = block();
            spentNs += blocks[i] * RETURNS * block;
        }
        side.call("close", "closed");
        double found = Statistics.median(blocks);
        plan(found);
        return found;
    }

    /** Blocks that grow, so that few are enough where two threads seldom run at once. */
    private void warmUp() throws InterruptedException {
        double spentNs = 0;
        double last = 0;
        while (spentNs < WARM_NS) {
            last = block();
            spentNs += last * RETURNS * block;
            block *= 2;
        }
        plan(last);
    }

    private void plan(double handOverNs) {
        block = Math.max(1, (long) (settings.handOverNs() / (BLOCKS * RETURNS * handOverNs)));
    }

    /** Runs a block; nanoseconds of one hand-over. */
    private double block() throws InterruptedException {
        return SideReport.parse(side.call("run " + Pass.EXCHANGE + ' ' + block, "done")).result() / (RETURNS * block);
    }

    @Override
    public void close() {
        if (side != null) {
            side.close();
            side = null;
        }
    }
}
