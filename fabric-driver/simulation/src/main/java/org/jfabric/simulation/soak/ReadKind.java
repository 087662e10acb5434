package org.jfabric.simulation.soak;

import java.util.Random;

/** Reads some entries of a queue that is not paused. */
final class ReadKind implements Kind {
    @Override
    public int weight(Random random) {
        return 5 + random.nextInt(30);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        SoakEndpoint endpoint = world.anyEndpoint();
        SoakQueue queue = world.random.nextBoolean() ? endpoint.tx : endpoint.rx;
        int dice = world.random.nextInt(6);
        int limit = 1 + world.random.nextInt(16);
        if (!queue.paused) {
            int sleep = world.random.nextInt(64);
            // in mode INVOKER a world repeats exactly, which a timed sleep would prevent
            boolean waits = sleep == 0 && !world.drivers.isInvoker;
            queue.read(sleep < 8 ? waits ? SoakQueue.Read.WAITING : SoakQueue.Read.BLOCKING
                : dice >= 4 ? SoakQueue.Read.MESSAGES
                : SoakQueue.Read.values()[queue.lends ? dice : dice & 1], limit);
        }
        if (world.random.nextInt(4) == 0) {
            world.drivers.pump();
        }
    }
}
