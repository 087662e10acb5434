package org.jfabric.driver.engine;

import org.jfabric.driver.soak.SoakOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The part of the soak that goes over the scripted link; see docs/soak.md. */
@Tag("slow")
class EngineSoakTest {
    @Test
    void shouldAgreeWithTheNaiveModelOverTheScriptedLink() {
        assumeTrue(SoakOptions.wantsScripted(), "another setup was asked for");
        long wanted = SoakOptions.operations() / 1000 * SoakOptions.SCRIPTED_SHARE;
        // the first ones are the unit test's
        long seed = SoakOptions.seed() + 1_000;
        long done = 0;
        EngineModel.Events[] events = EngineModel.Events.values();
        while (done < wanted) {
            for (EngineModel.Events each : events) {
                EngineModelTest.Run run = new EngineModelTest.Run(seed, each);
                run.run();
                done += run.operations();
            }
            for (MultiReceiveModelTest.Mode each : MultiReceiveModelTest.Mode.values()) {
                MultiReceiveModelTest.Run run = new MultiReceiveModelTest.Run(seed, each);
                run.run();
                done += run.operations;
            }
            for (BufferedReceiveModelTest.Mode each : BufferedReceiveModelTest.Mode.values()) {
                BufferedReceiveModelTest.Run run = new BufferedReceiveModelTest.Run(seed, each);
                run.run();
                done += run.operations;
            }
            seed++;
        }
        System.out.printf("soak scripted link: seeds %d to %d, %,d operations%n",
            SoakOptions.seed() + 1_000, seed - 1, done);
    }
}
