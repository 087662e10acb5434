package org.jfabric.simulation.soak;

import java.util.List;
import java.util.Random;

/**
 * One kind of random operation. A new one is a class with what it does and the checks of its answer, added to
 * {@link #ALL}; what it posts it gives to the world as {@link SoakMessage} or {@link SoakReceive}, so that barrier and
 * judge account for it. Accesses to memory are {@link SoakAccess}.
 */
interface Kind {
    List<Kind> ALL = List.of(new SendKind(), new InjectKind(), new ClaimSendKind(), new ReceiveKind(),
        new MultiReceiveKind(), new BufferedUseKind(), new LendKind(), new LookKind(), new CancelKind(), new ReadKind(),
        new DefaultFlagsKind(), new ImpossibleKind(), new AccessKind());

    /** How often it is chosen in one phase of a window, against the others. */
    int weight(Random random);

    /** Does it once. */
    void run(SoakWorld world, Window window);
}
