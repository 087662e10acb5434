package org.jfabric.driver.kit;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.AnnotationBasedArgumentsProvider;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;

/** The test is repeated for each {@link Setup} that this run is for; in a run for one link there are few of them. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(SetupSource.Setups.class)
public @interface SetupSource {
    /** Whether the test is about what calls take and answer: those of several links are those of each of them. */
    boolean calls() default false;

    /** Whether the test is among those that are repeated over TLS in each run. */
    boolean encrypted() default false;

    /** The setups that the annotation asks for. */
    final class Setups extends AnnotationBasedArgumentsProvider<SetupSource> {
        @Override
        protected Stream<? extends Arguments> provideArguments(
            ParameterDeclarations parameters, ExtensionContext context, SetupSource source) {
            boolean isForSeveral = !source.calls()
                && context.getRequiredTestClass().isAnnotationPresent(SeveralLinks.class);
            return Stream.of(
                Setup.wanted(),
                source.encrypted() ? Setup.encrypted() : Stream.<Setup>empty(),
                isForSeveral ? Setup.several() : Stream.<Setup>empty()).flatMap(each -> each)
                .map(Arguments::of);
        }
    }
}
