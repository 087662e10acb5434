package org.jfabric.driver.kit;

import org.junit.jupiter.params.provider.MethodSource;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The test is repeated for each {@link Setup} that this run is for; in a run for one link there are few of them. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@MethodSource("org.jfabric.driver.kit.Setup#wanted")
public @interface SetupSource {
}
