package org.jfabric.simulation.soak;

import java.util.Random;
import org.jfabric.info.Flags;

/** Messages that are encoded in the transmit queue ({@code tryClaim}); some are aborted. */
final class ClaimSendKind implements Kind {
    @Override
    public int weight(Random random) {
        return random.nextInt(12);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        Random random = world.random;
        SoakMessage message = SendKind.draw(world, window, "tclaim");
        SoakEndpoint from = world.endpoints.get(message.from);
        int length = random.nextInt(from.endpoint.injectSize() + 1);
        long flags = SendKind.flags(world);
        boolean aborts = random.nextInt(4) == 0;
        if (!from.maySend()) {
            return;
        }
        if (aborts) {
            if (from.claimAndAbort(length)) {
                world.history.add("claim of " + length + " bytes at e" + from.index + " aborted");
            }
            return;
        }
        message.flags = flags;
        message.length = Math.max(length, SendKind.leastLength(world, message));
        message.hasData = (flags & Flags.REMOTE_CQ_DATA) != 0;
        message.wantsEntry = !from.selectiveSends || (flags & Flags.COMPLETION) != 0;
        SoakMemory.Slot slot = from.memory.acquire(true, message.length);
        if (slot == null) {
            return;
        }
        from.memory.fill(slot.begin(0), message.length, message.id);
        world.post(message, slot.begin(0), from.addresses[message.to]);
        from.memory.restore(slot.begin(0), message.length);
        from.memory.free(slot);
    }
}
