package org.jfabric.simulation.soak;

import java.util.Random;
import org.jfabric.info.Flags;

/** Changes the default operation flags of an endpoint. */
final class DefaultFlagsKind implements Kind {
    @Override
    public int weight(Random random) {
        return random.nextInt(2);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        SoakEndpoint endpoint = world.anyEndpoint();
        long flags = SendKind.flags(world) & ~(Flags.FENCE | Flags.MORE | Flags.REMOTE_CQ_DATA);
        if (world.random.nextBoolean()) {
            endpoint.endpoint.setOpFlags(Flags.TRANSMIT | flags);
            endpoint.sendDefault = flags;
        } else {
            boolean buffers = endpoint.client.usesMultiReceive && world.random.nextBoolean();
            endpoint.receiveDefault = flags & Flags.COMPLETION | (buffers ? Flags.MULTI_RECV : 0);
            endpoint.endpoint.setOpFlags(Flags.RECV | endpoint.receiveDefault);
        }
    }
}
