package org.jfabric.driver.conformance.other;

import java.util.Arrays;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;

/** Connections that have ended leave nothing behind. */
@Isolated("measures the heap")
@Tag("conformance")
@Tag("link")
@Timeout(180)
class ConnectionLeakTest {
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldMakeVeryManyConnectionsWithoutKeepingThem(Setup setup) {
        // a daemon makes files for each endpoint, so that there they are fewer
        int rounds = setup.daemon ? Effort.rounds(150, 500) : Effort.rounds(1_000, 10_000);
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            long[] used = new long[3];
            for (int i = 0; i < used.length; i++) {
                for (int round = i == 0 ? rounds / 5 : rounds * 2 / 5; round > 0; round--) {
                    ConnectionRaceTest.assertWorks(pair, a, b, passive);
                }
                used[i] = usedBytes();
            }
            // the heap varies by some ten kilobytes, with daemons by a hundred: of a thousand, 655 bytes each are seen
            long most = (1 << 18) + Effort.rounds(0, rounds * 512);
            Deadline deadline = Deadline.usual();
            // what else lives in this JVM may grow once, a leak grows with each connection
            while (Math.min(used[1] - used[0], used[2] - used[1]) >= most) {
                // other threads unmap what the last connections had, and a leak does not go away
                deadline.check("less memory in use", () -> rounds * 2 / 5 + " connections left more than " + most
                    + " bytes behind, in use were " + Arrays.toString(used));
                pair.pump();
                used[2] = usedBytes();
            }
        }
    }

    private static long usedBytes() {
        Runtime runtime = Runtime.getRuntime();
        long used = Long.MAX_VALUE;
        // the serial collector compacts wholly in each fourth of its collections; in others it leaves up to 5 % of the
        // heap where it lies, and that counts as used
        for (int i = 0; i < 4; i++) {
            System.gc();
            used = Math.min(used, runtime.totalMemory() - runtime.freeMemory());
        }
        return used;
    }
}
