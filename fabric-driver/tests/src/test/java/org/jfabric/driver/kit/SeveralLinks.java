package org.jfabric.driver.kit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The tests of this class with {@link SetupSource} are repeated in each run with endpoints that have several links
 * under one address, unless they are about calls alone.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface SeveralLinks {
}
