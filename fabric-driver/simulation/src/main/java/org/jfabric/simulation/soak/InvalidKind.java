package org.jfabric.simulation.soak;

import java.util.Random;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** Well-formed operations on memory or addresses that do not exist: each must fail with its errno. */
final class InvalidKind implements Kind {
    private static final long NO_ADDRESS = 1000;

    @Override
    public int weight(Random random) {
        return random.nextInt(3);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        Random random = world.random;
        boolean memory = random.nextBoolean();
        if (random.nextBoolean()) {
            SoakMessage message = SendKind.draw(world, window, random.nextBoolean() ? "tsendmsg" : "send");
            SoakEndpoint from = world.endpoints.get(message.from);
            if (!from.maySend()) {
                return;
            }
            message.length = 64;
            message.flags = Flags.FENCE;
            message.mustFailWith = memory ? FabricErrno.EFAULT : FabricErrno.EINVAL;
            world.post(message, memory ? SoakMemory.LENGTH - 63 : 0, memory ? from.addresses[message.to] : NO_ADDRESS);
            return;
        }
        SoakReceive receive = new SoakReceive();
        receive.at = random.nextInt(world.endpoints.size());
        SoakEndpoint at = world.endpoints.get(receive.at);
        if (at.buffered != null) {
            // its receives need no memory
            return;
        }
        receive.isBuffer = at.usesMultiReceive && random.nextInt(4) == 0;
        receive.tagged = random.nextBoolean() && !receive.isBuffer;
        receive.call = receive.isBuffer ? "recvmsg(multi)" : receive.tagged ? "trecvmsg"
            : at.postsBuffersByDefault() ? "recvmsg" : "recv";
        receive.length = 64;
        receive.context = world.nextId++;
        receive.source = Receive.ANY_SOURCE;
        if (memory) {
            receive.mustFailWith = FabricErrno.EFAULT;
            world.post(receive, at.memory.at(SoakMemory.LENGTH - 63), -1L);
        } else if (at.client.directed) {
            receive.mustFailWith = FabricErrno.EINVAL;
            world.post(receive, at.memory.at(0), NO_ADDRESS);
        }
    }
}
