package org.jfabric.perf.compare;

/**
 * Measures the hand-over of a cache line between two rounds, in processes of their own that are stopped otherwise. The
 * result is the median of a few short blocks, so that an interruption of one of them does not count. Owner: the rig's
 * thread.
 */
final class HandOverProbe implements AutoCloseable {
    private static final String NAME = "hand-over-probe";
    private static final int BLOCKS = 5;
    private static final long FIRST_BLOCK = 64;
    /** Until the compiler is done. */
    private static final long WARM_NS = 60_000_000;
    /** Messages of one exchange. */
    private static final double RETURNS = 2;

    private final RigSettings settings;
    private Loop loop;
    private Loop bare;

    HandOverProbe(RigSettings settings) {
        this.settings = settings;
    }

    /** Measures both loops; not numbers if two threads cannot spin at once here. */
    HandOvers.HandOver read() throws InterruptedException {
        if (!settings.spinning()) {
            return new HandOvers.HandOver(Double.NaN, Double.NaN);
        }
        if (loop == null) {
            loop = new Loop(SideKind.HAND_OVER);
            bare = new Loop(SideKind.BARE_HAND_OVER);
            loop.warmUp();
            bare.warmUp();
        }
        return new HandOvers.HandOver(loop.read(), bare.read());
    }

    @Override
    public void close() {
        if (loop != null) {
            loop.side.close();
            bare.side.close();
        }
    }

    /** A process with two threads. */
    private final class Loop {
        private final SideClient side;
        private long block = FIRST_BLOCK;

        Loop(SideKind kind) {
            side = new SideClient(NAME, SideRole.PING, kind, settings, Launch.USUAL);
        }

        void warmUp() throws InterruptedException {
            side.awaitReady();
            side.call("open " + Pass.EXCHANGE + ' ' + Targets.SIZE + " 0 " + settings.directory(), "opened");
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < WARM_NS) {
                block();
            }
            side.stop();
        }

        double read() throws InterruptedException {
            side.resume();
            double[] blocks = new double[BLOCKS];
            for (int i = 0; i < BLOCKS; i++) {
                blocks[i] = block();
            }
            side.stop();
            return Statistics.median(blocks);
        }

        /** Runs a block, and plans the next one by its speed; returns nanoseconds of one hand-over. */
        private double block() throws InterruptedException {
            double found = SideReport.parse(side.call("run " + Pass.EXCHANGE + ' ' + block, "done")).result()
                / (RETURNS * block);
            block = Math.max(1, (long) (settings.handOverNs() / (BLOCKS * RETURNS * found)));
            return found;
        }
    }
}
