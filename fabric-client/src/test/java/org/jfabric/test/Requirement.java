package org.jfabric.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The numbered requirements that a test shows by a real assertion, for example
 * {@code @Requirement({"CQ-060", "CQ-061"})}. On a class it holds for each of its tests.
 *
 * <p>A test that runs over several links names the link in its display name, or in that of a container around it:
 * {@code @ParameterizedTest(name = "link={0}")} or {@code @DisplayName("link=shm")}.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Requirement {

    /**
     * Ids of requirement rows.
     *
     * @return ids such as {@code TAG-012}; an id that does not exist fails the build.
     */
    String[] value() default {};

    /**
     * Ids of further rows, which the test shows by a refusal that is documented: what the row describes is not there.
     *
     * @return ids; the report tells a row that nothing but refusals has shown from one that was seen to work.
     */
    String[] refused() default {};
}
