package org.jfabric.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.simulation.Simulation;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.platform.commons.support.AnnotationSupport;

/** What {@link FabricTest} gives. JUnit closes what is in the store, the newest first. */
final class FabricExtension implements ParameterResolver, BeforeEachCallback, TestExecutionExceptionHandler,
    LifecycleMethodExecutionExceptionHandler {
    private static final ExtensionContext.Namespace PLACE = ExtensionContext.Namespace.create(FabricExtension.class);
    private static final List<Class<?>> TYPES =
        List.of(FabricDriver.class, Fabric.class, Messenger.class, Simulation.class);
    private static final Path MEMORY = Path.of("/dev/shm");

    /** The folder above that of the driver. */
    private record Folder(Path path) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            try (Stream<Path> files = Files.walk(path)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    FabricExtension() {
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return TYPES.contains(parameter.getParameter().getType());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        if (type == FabricDriver.class) {
            return driver(context);
        }
        if (type == Fabric.class) {
            return fabric(context);
        }
        if (type == Simulation.class) {
            return shared(context, Simulation.class, () -> new Simulation(seed(context)));
        }
        Messenger messenger = fabric(context).messenger().open();
        context.getStore(PLACE).put(messenger, messenger);
        return messenger;
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        Simulation simulation = context.getStore(PLACE).get(Simulation.class, Simulation.class);
        if (simulation != null) {
            failure.addSuppressed(new AssertionError("the simulation had the seed " + simulation.seed()
                + ": -D" + FabricTest.SEED_PROPERTY + "=" + simulation.seed() + " repeats it"));
        }
        throw failure;
    }

    @Override
    public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        handleTestExecutionException(context, failure);
    }

    @Override
    public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        handleTestExecutionException(context, failure);
    }

    @Override
    public void handleAfterEachMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        handleTestExecutionException(context, failure);
    }

    @Override
    public void handleAfterAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        handleTestExecutionException(context, failure);
    }

    /** Refuses options and a seed for which it is too late: the class, or one around it, has the object already. */
    @Override
    public void beforeEach(ExtensionContext context) {
        Optional<FabricTest> own = AnnotationSupport.findAnnotation(context.getElement(), FabricTest.class);
        ExtensionContext around = context.getParent().orElse(null);
        if (around == null) {
            return;
        }
        if (own.isEmpty()) {
            beforeEach(around);
        } else if (own.get().options().length > 0 && around.getStore(PLACE).get(FabricDriver.class) != null) {
            throw tooLate(context, around, "options", "driver");
        } else if (own.get().seed() != 0 && around.getStore(PLACE).get(Simulation.class) != null) {
            throw tooLate(context, around, "a seed", "simulation");
        }
    }

    private static ExtensionConfigurationException tooLate(
        ExtensionContext context, ExtensionContext around, String what, String known) {
        return new ExtensionConfigurationException("@FabricTest of " + context.getDisplayName() + " has " + what
            + ", but " + around.getDisplayName() + " has a " + known + " that all its tests share: give " + what
            + " to that class, or the " + known + " to the tests alone");
    }

    private static Fabric fabric(ExtensionContext context) {
        FabricDriver driver = driver(context);
        return shared(context, Fabric.class, driver::fabric);
    }

    private static FabricDriver driver(ExtensionContext context) {
        Folder folder = shared(context, Folder.class, FabricExtension::makeFolder);
        return shared(context, FabricDriver.class, () -> launch(context, folder.path().resolve("test")));
    }

    private static FabricDriver launch(ExtensionContext context, Path directory) {
        DriverConfig.Builder config =
            DriverConfig.builder().threadingMode(ThreadingMode.INVOKER).directory(directory);
        for (String option : annotation(context).map(FabricTest::options).orElse(new String[0])) {
            int end = option.indexOf('=');
            if (end < 0) {
                throw new ExtensionConfigurationException("\"" + option + "\" is no name=value of @FabricTest");
            }
            config.set(option.substring(0, end), option.substring(end + 1));
        }
        return FabricDriver.launchEmbedded(config.build());
    }

    private static Folder makeFolder() {
        try {
            String begin = "jfabric-test-";
            return new Folder(Files.isWritable(MEMORY)
                ? Files.createTempDirectory(MEMORY, begin) : Files.createTempDirectory(begin));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static long seed(ExtensionContext context) {
        long own = annotation(context).map(FabricTest::seed).orElse(0L);
        return own != 0 ? own : Long.getLong(FabricTest.SEED_PROPERTY, ThreadLocalRandom.current().nextInt(1, 1 << 30));
    }

    /** Of the method, or else of its class or one around that. */
    private static Optional<FabricTest> annotation(ExtensionContext context) {
        Optional<FabricTest> own = AnnotationSupport.findAnnotation(context.getElement(), FabricTest.class);
        return own.isPresent() ? own : context.getParent().flatMap(FabricExtension::annotation);
    }

    /** What this test or its class has already, or a new one, closed with the test. */
    private static <T> T shared(ExtensionContext context, Class<T> type, Supplier<T> maker) {
        T known = context.getStore(PLACE).get(type, type);
        if (known != null) {
            return known;
        }
        T made = maker.get();
        context.getStore(PLACE).put(type, made);
        return made;
    }
}
