package org.jfabric.simulation.soak;

import java.util.Random;

/** Releases messages that were kept in a slab, claims them into memory, or discards them. */
final class BufferedUseKind implements Kind {
    @Override
    public int weight(Random random) {
        return random.nextInt(12);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        SoakEndpoint any = world.anyEndpoint();
        SoakEndpoint at = any.buffered != null ? any
            : world.endpoints.get((any.index + 1) % world.endpoints.size());
        if (at.buffered != null) {
            at.buffered.endOne();
        }
    }
}
