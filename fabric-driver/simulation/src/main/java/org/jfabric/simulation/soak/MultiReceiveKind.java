package org.jfabric.simulation.soak;

import java.util.Random;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/**
 * Multi-receive buffers of all lengths, for one source or any, with and without entries for their messages, posted by a
 * flag of the call or of the endpoint; sometimes changes the least free room.
 */
final class MultiReceiveKind implements Kind {
    private static final int[] MIN_FREE = {0, 1, 64, 64, 200, 2000};

    @Override
    public int weight(Random random) {
        return random.nextInt(40);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        Random random = world.random;
        SoakEndpoint any = world.anyEndpoint();
        SoakEndpoint at = any.usesMultiReceive ? any : world.endpoints.get((any.index + 1) % world.endpoints.size());
        int dice = random.nextInt(12);
        int minFree = MIN_FREE[random.nextInt(MIN_FREE.length)];
        if (!at.usesMultiReceive) {
            return;
        }
        if (dice == 0) {
            at.endpoint.setopt(EndpointOption.MIN_MULTI_RECV, minFree);
            at.minFree = minFree;
        }
        SoakReceive buffer = new SoakReceive();
        buffer.at = at.index;
        buffer.isBuffer = true;
        boolean byDefault = random.nextBoolean() && at.postsBuffersByDefault();
        buffer.call = byDefault ? "recv" : "recvmsg(multi)";
        int source = random.nextInt(3) == 0 ? random.nextInt(world.endpoints.size()) : Receive.ANY_SOURCE;
        buffer.source = at.client.directed ? source : Receive.ANY_SOURCE;
        buffer.length = Math.min(dice < 3 ? window.length() : dice < 6 ? random.nextInt(300)
            : 300 + random.nextInt(8000) + window.length(), SoakMemory.ROOM[2]);
        buffer.minFree = at.minFree;
        boolean asked = byDefault ? (at.receiveDefault & Flags.COMPLETION) != 0 : random.nextInt(3) != 0;
        buffer.wantsEntry = !at.selectiveReceives || asked;
        if (!buffer.wantsEntry && !world.untaggedSilent) {
            buffer.call = "recvmsg(multi)";
            buffer.wantsEntry = true;
        }
        ReceiveKind.post(world, buffer, random.nextInt(8),
            source < 0 ? FabricAddress.ADDR_UNSPEC : at.addresses[source]);
    }
}
