package org.jfabric.simulation.soak;

import java.util.Random;

/** The random distribution of one window: senders, lengths of messages, and kinds of operations. */
final class Window {
    /** Parts of a window with different weights of the kinds. */
    static final int PHASES = 3;

    /** The only sender, or -1 for all. */
    final int onlySender;
    /** 0 small messages only, 1 mostly small, 2 all lengths. */
    final int lengths;
    private final int[][] weights = new int[PHASES][Kind.ALL.size()];
    private final Random random;
    private final int[] limits;

    Window(SoakWorld world) {
        random = world.random;
        onlySender = random.nextInt(3) == 0 ? random.nextInt(world.endpoints.size()) : -1;
        lengths = random.nextInt(3);
        int eager = world.drivers.eagerLimitBytes;
        limits = new int[] {64, 128, eager, eager + 1, SoakMemory.ROOM[1], SoakMemory.ROOM[2]};
        for (int[] phase : weights) {
            for (int i = 0; i < phase.length; i++) {
                phase[i] = Kind.ALL.get(i).weight(random);
            }
        }
    }

    /** The kind of the next operation. */
    Kind kind(int phase) {
        int sum = 0;
        for (int weight : weights[phase]) {
            sum += weight;
        }
        int dice = random.nextInt(sum);
        int i = 0;
        for (; dice >= weights[phase][i]; i++) {
            dice -= weights[phase][i];
        }
        return Kind.ALL.get(i);
    }

    /** Length of a message or a receive, at most 1 MiB. */
    int length() {
        int dice = random.nextInt(100);
        if (dice < 10) {
            return 0;
        }
        if (lengths == 0 || dice < 60) {
            return random.nextInt(65);
        }
        if (lengths == 1 && dice < 95) {
            return random.nextInt(limits[3] + 1);
        }
        if (dice < 80) {
            return Math.max(0, limits[random.nextInt(5)] - random.nextInt(3));
        }
        return dice < 99 ? random.nextInt(limits[4] + 1) : random.nextInt(limits[5] + 1);
    }
}
