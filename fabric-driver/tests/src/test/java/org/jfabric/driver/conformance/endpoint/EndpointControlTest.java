package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jfabric.Endpoint;
import org.jfabric.PortedCalls;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Defaults of an endpoint that change while it is used. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class EndpointControlTest {
    private static final long ANY = -1L;

    /** Calls on an endpoint exclude each other; here by handing over from thread to thread. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-077")
    void shouldFollowDefaultsThatAnotherThreadChangesBetweenCalls(Setup setup) throws Exception {
        setup.assumeDeliveryBeforeMatch();
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        ExecutorService controller = Executors.newSingleThreadExecutor();
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            for (int i = 0; i < 200; i++) {
                long level = random.nextBoolean() ? setup.strongestLevel() : Flags.TRANSMIT_COMPLETE;
                controller.submit(() -> endpoint.setOpFlags(Flags.TRANSMIT | level))
                    .get(Deadline.s(20), TimeUnit.SECONDS);
                assertEquals(level, endpoint.getOpFlags(Flags.TRANSMIT));
                assertEquals(0, endpoint.tsend(pair.a.memory.address(), 64, pair.toB, i, i));
                if (level == Flags.MATCH_COMPLETE) {
                    pair.a.assertQuiet(10);
                } else {
                    pair.a.await(i);
                }
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, i, 0, i));
                pair.b.await(i);
                if (level == Flags.MATCH_COMPLETE) {
                    pair.a.await(i);
                }
            }
            assertEquals(-FabricErrno.ENOSYS, PortedCalls.control(endpoint, 4711, null), "AMB-72, AMB-74");
            endpoint.close();
            assertEquals(-FabricErrno.EOPBADSTATE, PortedCalls.control(endpoint, 4711, null));
        } finally {
            controller.shutdownNow();
        }
    }
}
