package org.jfabric.simulation.soak;

import java.util.List;
import java.util.Random;

/** Cancels of receives and sends that may have begun or ended, and of contexts that were never used. */
final class CancelKind implements Kind {
    @Override
    public int weight(Random random) {
        return random.nextInt(8);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        Random random = world.random;
        SoakEndpoint at = world.anyEndpoint();
        int dice = random.nextInt(8);
        if (dice == 0) {
            at.endpoint.cancel(random.nextBoolean() ? 0 : world.nextId++);
        } else if (dice < 5 && !at.receives.isEmpty()) {
            cancel(world, at, any(random, at.receives));
        } else if (!at.sends.isEmpty()) {
            SoakMessage message = any(random, at.sends);
            if (!message.cancelRequested && at.endpoint.cancel(message.id) == 0) {
                // an inject has the endpoint's context
                message.cancelRequested = !message.inject;
                world.accepted("cancel of #" + message.id);
            }
        }
    }

    /** Cancels a receive if that was not done before; false if the call was refused. */
    static boolean cancel(SoakWorld world, SoakEndpoint at, SoakReceive receive) {
        if (receive.cancelRequested || receive.isPeek()) {
            return true;
        }
        // the entry may be there when the call returns
        receive.cancelStep = world.step;
        if (at.endpoint.cancel(receive.context) != 0) {
            return false;
        }
        receive.cancelRequested = true;
        at.cancels.add(receive);
        world.accepted("cancel of #" + receive.context);
        return true;
    }

    /** Prefers younger ones, which are more likely to be open. */
    private static <T> T any(Random random, List<T> operations) {
        int age = random.nextInt(4) == 0 ? random.nextInt(operations.size())
            : Math.min(random.nextInt(6), operations.size() - 1);
        return operations.get(operations.size() - 1 - age);
    }
}
