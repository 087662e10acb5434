package org.jfabric.simulation.soak;

import java.util.List;
import java.util.Random;

/**
 * One kind of random operation, listed in {@link #ALL}. It posts through the world, as a {@link SoakMessage},
 * {@link SoakReceive} or {@link SoakAccess}, so that the checks at the end of the window include it.
 */
interface Kind {
    List<Kind> ALL = List.of(new SendKind(), new InjectKind(), new ClaimSendKind(), new ReceiveKind(),
        new MultiReceiveKind(), new BufferedUseKind(), new LendKind(), new PeekKind(), new CancelKind(), new ReadKind(),
        new DefaultFlagsKind(), new InvalidKind(), new AccessKind());

    /** Draws its probability in one phase of a window, relative to the other kinds. */
    int weight(Random random);

    void run(SoakWorld world, Window window);
}
