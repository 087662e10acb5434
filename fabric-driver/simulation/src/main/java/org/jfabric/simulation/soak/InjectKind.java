package org.jfabric.simulation.soak;

import java.util.Random;

/** Injects: the payload is overwritten as soon as the call returns. */
final class InjectKind implements Kind {
    @Override
    public int weight(Random random) {
        return random.nextInt(15);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        Random random = world.random;
        SoakMessage message = SendKind.draw(world, window, random.nextInt(3) != 0 ? "tinject" : "inject");
        SoakEndpoint from = world.endpoints.get(message.from);
        int length = random.nextInt(3) == 0 ? from.endpoint.injectSize() - random.nextInt(2) : random.nextInt(65);
        post(world, message, length, random.nextInt(8));
    }

    /** Injects a message, or does nothing if its sender has no room. */
    static void post(SoakWorld world, SoakMessage message, int length, int shift) {
        SoakEndpoint from = world.endpoints.get(message.from);
        if (!from.maySend()) {
            return;
        }
        message.inject = true;
        message.length = Math.max(length, SendKind.leastLength(world, message));
        SoakMemory.Slot slot = from.memory.acquire(true, message.length);
        if (slot == null) {
            return;
        }
        from.memory.fill(slot.begin(shift), message.length, message.id);
        world.post(message, slot.begin(shift), from.addresses[message.to]);
        from.memory.restore(slot.begin(shift), message.length);
        from.memory.free(slot);
    }
}
