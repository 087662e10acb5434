package org.jfabric.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that gets what its parameters ask for, or a class of such tests.
 *
 * <pre>{@code
 * @FabricTest
 * void shouldSend(Messenger desk, Messenger feed) {
 *     desk.endpoint().trecv(desk.memory().slice(0, 64), 7, 0, 1);
 *     feed.endpoint().tsend(feed.memory().slice(0, 5), feed.peer(desk.address()), 7, 2);
 *     desk.await(1, 1_000_000_000L, entry -> assertEquals(5, entry.len()));
 * }
 * }</pre>
 *
 * <table>
 * <caption>Types of parameters</caption>
 * <tr><th>Type</th><th>Value</th></tr>
 * <tr><td>{@code FabricDriver}</td><td>the test's embedded driver, with the name {@code test}</td></tr>
 * <tr><td>{@code Fabric}</td><td>the test's fabric on that driver</td></tr>
 * <tr><td>{@code Messenger}</td><td>one of its own for each parameter</td></tr>
 * <tr><td>{@code Simulation}</td><td>the test's simulation, without nodes. If the test fails, the seed stands beside
 * the failure</td></tr>
 * </table>
 *
 * <p>The driver is in mode INVOKER and in a new directory, in {@code /dev/shm} where there is one. All of it is closed
 * after the test, and the directory above that of the driver is removed with everything in it, so a second driver goes
 * into {@code driver.directory().resolveSibling("other")}. Parameters of a constructor or of a {@code @BeforeAll} live
 * as long as the class, and the tests of the class share these objects; options and a seed of such a test are refused.
 *
 * <p>On a class, the tests are marked as usual, by {@code @Test} or {@code @RepeatedTest} for example.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@ExtendWith(FabricExtension.class)
@Test
public @interface FabricTest {
    /** The system property with the seed of simulations; tests that name one have their own. */
    String SEED_PROPERTY = "jfabric.test.seed";

    /**
     * Options of the driver.
     *
     * @return each {@code name=value}, such as {@code jfabric.threading.mode=SHARED}.
     */
    String[] options() default {};

    /**
     * The seed of the simulation.
     *
     * @return 0, the default, for that of the property {@value #SEED_PROPERTY}, or another one in each run.
     */
    long seed() default 0;
}
