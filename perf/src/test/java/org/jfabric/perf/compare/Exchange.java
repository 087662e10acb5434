package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** Both sides of a system in this process, the one that answers in a thread of its own. */
final class Exchange {
    private static final int COUNT = 130;
    private static final int PASSES = 2;

    private Exchange() {
    }

    static SideSettings settings(SideRole role, int sizeBytes, Path cell) {
        return settings(role, Pass.EXCHANGE, sizeBytes, cell);
    }

    static SideSettings settings(SideRole role, Pass pass, int sizeBytes, Path cell) {
        return new SideSettings(role, pass, sizeBytes, cell, 0, 0, 0, true);
    }

    /** Two passes, as a timed one follows a warm-up. */
    static void run(SideKind kind, int sizeBytes, Path cell) throws Exception {
        try (Side pong = kind.open(settings(SideRole.PONG, sizeBytes, cell));
            Side ping = kind.open(settings(SideRole.PING, sizeBytes, cell))) {
            pong.connect();
            ping.connect();
            for (int pass = 0; pass < PASSES; pass++) {
                CountDownLatch armed = new CountDownLatch(1);
                CompletableFuture<Void> answered = CompletableFuture.runAsync(() -> {
                    try {
                        pong.arm(Pass.EXCHANGE);
                    } finally {
                        armed.countDown();
                    }
                    pong.run(Pass.EXCHANGE, COUNT);
                });
                armed.await();
                assertTrue(ping.run(Pass.EXCHANGE, COUNT) > 0);
                assertEquals(null, answered.get());
            }
        }
    }
}
