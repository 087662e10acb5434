package org.jfabric.driver.soak;

import org.jfabric.Flags;

import java.util.Random;

/** Changes the flags of calls without flags of their own. */
final class DefaultFlagsKind implements Kind {
    @Override
    public int weight(Random random) {
        return random.nextInt(2);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        SoakEndpoint endpoint = world.anyEndpoint();
        long flags = SendKind.flags(world.random) & ~(Flags.FENCE | Flags.MORE | Flags.REMOTE_CQ_DATA);
        if (world.random.nextBoolean()) {
            endpoint.endpoint.setOpFlags(Flags.TRANSMIT | flags);
            endpoint.sendDefault = flags;
        } else {
            endpoint.endpoint.setOpFlags(Flags.RECV | flags & Flags.COMPLETION);
            endpoint.receiveDefault = flags & Flags.COMPLETION;
        }
    }
}
