package org.jfabric.driver.soak;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.kit.Daemons;
import org.jfabric.driver.kit.Effort;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The soak of shared receive contexts and of scalable endpoints, with senders that are killed; docs/soak.md. */
@Tag("slow")
@Timeout(36_000)
class ContextSoakTest {
    /** Thousandths of the operations of the other setups that each kind does besides. */
    private static final int SHARE = 2;
    private static final int SENDERS = 2;
    /** Messages of a sender in a short run, and in a longer one. */
    private static final int FEW = 120;
    private static final int MANY = 2000;

    private static Daemons daemons;

    /** What receives, and over which link. */
    enum Kind {
        SHARED_LOOPBACK(true, "loopback", true),
        SHARED_SHM(true, "shm", true),
        SHARED_TCP(true, "tcp", false),
        SCALABLE_LOOPBACK(false, "loopback", false),
        SCALABLE_SHM(false, "shm", true);

        private final boolean isShared;
        private final String link;
        private final boolean isOfEveryRun;

        Kind(boolean isShared, String link, boolean isOfEveryRun) {
            this.isShared = isShared;
            this.link = link;
            this.isOfEveryRun = isOfEveryRun;
        }
    }

    @BeforeAll
    static void start() {
        daemons = Daemons.own();
        daemons.start(List.of("alpha", "beta"));
    }

    @AfterAll
    static void stop() {
        daemons.close();
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(Kind.class)
    void shouldAgreeWithTheNaiveModelWhileSendersAreKilled(Kind kind) {
        boolean isShort = SoakOptions.operations() <= SoakOptions.SHORT_RUN && !Effort.ALL;
        assumeTrue(SoakOptions.wants(kind.name()) && (kind.isOfEveryRun || !isShort), "not of this run");
        long wanted = SoakOptions.operations() / 1000 * SHARE;
        long seed = SoakOptions.seed();
        long beginNs = System.nanoTime();
        long messages = 0;
        long cancelled = 0;
        long lost = 0;
        long kills = 0;
        Path senders = daemons.directory(kind.link.equals("loopback") ? "alpha" : "beta");
        while (messages < wanted) {
            try (ContextWorld world = new ContextWorld(kind.isShared, kind.link, daemons.directory("alpha"), senders,
                seed++, isShort ? FEW : MANY)) {
                world.run(SENDERS, isShort ? 1 : 3);
                messages += world.messages;
                cancelled += world.cancelled;
                lost += world.lost;
                kills += world.kills;
            }
        }
        System.out.printf("soak %s: seeds %d to %d, %,d messages, %,d lost in the middle, %,d receives without one, "
            + "%,d kills, %,d ms%n", kind, SoakOptions.seed(), seed - 1, messages, lost, cancelled, kills,
            TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs));
    }
}
