package org.jfabric.simulation.soak;

import java.util.Random;

/** Reads some entries of a queue whose reader does not pause. */
final class ReadKind implements Kind {
    @Override
    public int weight(Random random) {
        return 5 + random.nextInt(30);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        SoakEndpoint endpoint = world.anyEndpoint();
        SoakQueue queue = world.random.nextBoolean() ? endpoint.tx : endpoint.rx;
        int way = world.random.nextInt(6);
        int limit = 1 + world.random.nextInt(16);
        if (!queue.paused) {
            int sleep = world.random.nextInt(64);
            // one thread that does everything repeats exactly, but not the end of a sleep
            boolean waits = sleep == 0 && !world.drivers.isInvoker;
            queue.read(sleep < 8 ? waits ? 5 : 4 : way >= 4 ? 6 : queue.holds ? way : way & 1, limit);
        }
        if (world.random.nextInt(4) == 0) {
            world.drivers.pump();
        }
    }
}
