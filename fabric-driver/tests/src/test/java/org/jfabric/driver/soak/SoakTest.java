package org.jfabric.driver.soak;

import org.jfabric.simulation.soak.SoakWorld;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Random operations through the public API against the naive model; how to run it for long is in docs/soak.md. */
@Tag("slow")
class SoakTest {
    /** After so many operations the next seed begins, with other drivers, clients and sizes; sooner in a short run. */
    private static final long WORLD = Math.min(100_000, SoakOptions.operations() / 10);

    @ParameterizedTest(name = "{0}")
    @EnumSource(SoakSetup.class)
    void shouldAgreeWithTheNaiveModelEntryForEntry(SoakSetup setup) {
        assumeTrue(SoakOptions.wants(setup), "another setup was asked for");
        long wanted = SoakOptions.operations() / 1000 * setup.share();
        long seed = SoakOptions.seed();
        long beginNs = System.nanoTime();
        long done = 0;
        long refused = 0;
        long found = 0;
        long accessed = 0;
        long packed = 0;
        long inSlabs = 0;
        long lent = 0;
        long windows = 0;
        while (done < wanted) {
            try (SoakWorld world = open(setup, seed++)) {
                world.run(Math.min(WORLD, wanted - done));
                done += world.operations;
                refused += world.refused;
                found += world.found;
                accessed += world.accessed;
                packed += world.packed;
                inSlabs += world.inSlabs;
                lent += world.lent;
                windows += world.windows;
            }
        }
        System.out.printf(
            "soak %s: seeds %d to %d, %,d operations and %,d refused, %,d peeks that found, %,d accesses, %,d packed, "
                + "%,d in slabs, %,d lent, %,d barriers, %,d ms%n",
            setup, SoakOptions.seed(), seed - 1, done, refused, found, accessed, packed, inSlabs, lent, windows,
            TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs));
    }

    @Test
    void shouldShareOutAllOperations() {
        int shares = SoakOptions.SCRIPTED_SHARE;
        for (SoakSetup setup : SoakSetup.values()) {
            shares += setup.share();
        }
        assertEquals(1000, shares);
    }

    private static SoakWorld open(SoakSetup setup, long seed) {
        return new SoakWorld(seed, random -> new SetupDrivers(setup, random));
    }
}
