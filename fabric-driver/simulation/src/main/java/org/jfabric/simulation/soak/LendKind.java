package org.jfabric.simulation.soak;

import java.util.Random;

/**
 * Short plain messages to an endpoint whose queue is empty, and a read directly afterwards: in mode INVOKER it delivers
 * them in the ring.
 */
final class LendKind implements Kind {
    private static final int MOST = 4;

    @Override
    public int weight(Random random) {
        return random.nextInt(12);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        Random random = world.random;
        SoakEndpoint to = world.anyEndpoint();
        if (to.buffered == null || to.rx.paused) {
            return;
        }
        to.rx.readAll();
        for (int i = 1 + random.nextInt(MOST); i > 0; i--) {
            SoakMessage message = SendKind.draw(world, window, "inject");
            message.to = to.index;
            InjectKind.post(world, message, random.nextInt(65), random.nextInt(8));
        }
        to.rx.read(SoakQueue.Read.MESSAGES, 1 + random.nextInt(2 * MOST));
    }
}
