package org.jfabric.test;

import static org.junit.platform.commons.support.AnnotationSupport.isAnnotated;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes down which requirements the tests that passed have shown, one line {@code id, link, test, kind, how} each,
 * separated by tabs, in a file of its own per test JVM below {@code target/conformance}. {@link ConformanceReport}
 * reads them.
 *
 * <p>Found by the JUnit launcher as a service in every module that has this jar on its test class path.
 */
public final class RequirementListener implements TestExecutionListener {

    /** System property: the folder for the files. */
    static final String DIR_PROP_NAME = "jfabric.conformance.dir";
    static final String DIR_DEFAULT = "target/conformance";
    static final String FILE_SUFFIX = ".tsv";
    static final String PARAMETERISED = "parameterised";
    static final String SINGLE = "single";
    static final String WORKS = "works";
    static final String REFUSED = "refused";

    /** JUnit puts arguments that are text in quotation marks. */
    private static final Pattern LINK = Pattern.compile("\\blink=\"?([\\w-]+)");

    private final Path dir;
    private final Set<String> lines = new TreeSet<>();
    private TestPlan plan;

    /** For the service loader. */
    public RequirementListener() {
        this(Path.of(System.getProperty(DIR_PROP_NAME, DIR_DEFAULT)));
    }

    RequirementListener(Path dir) {
        this.dir = dir;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan testPlan) {
        plan = testPlan;
    }

    @Override
    public synchronized void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
        if (!identifier.isTest() || result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
            return;
        }
        MethodSource source = methodSource(identifier);
        if (source == null) {
            return;
        }
        String test = source.getJavaClass().getName() + "#" + source.getMethodName();
        String link = link(identifier);
        String kind = isAnnotated(source.getJavaMethod(), ParameterizedTest.class) ? PARAMETERISED : SINGLE;
        for (Requirement requirement : requirements(source)) {
            for (String id : requirement.value()) {
                lines.add(String.join("\t", id, link, test, kind, WORKS));
            }
            for (String id : requirement.refused()) {
                lines.add(String.join("\t", id, link, test, kind, REFUSED));
            }
        }
    }

    @Override
    public synchronized void testPlanExecutionFinished(TestPlan testPlan) {
        if (lines.isEmpty()) {
            return;
        }
        Path file = dir.resolve("shown-" + ProcessHandle.current().pid() + FILE_SUFFIX);
        try {
            Files.createDirectories(dir);
            Files.write(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file.toAbsolutePath(), e);
        }
        lines.clear();
    }

    /** A parameterised invocation of some engines has no method of its own, but the container around it has. */
    private MethodSource methodSource(TestIdentifier identifier) {
        Optional<TestIdentifier> current = Optional.of(identifier);
        while (current.isPresent()) {
            if (current.get().getSource().orElse(null) instanceof MethodSource source) {
                return source;
            }
            current = plan.getParent(current.get());
        }
        return null;
    }

    private String link(TestIdentifier identifier) {
        Optional<TestIdentifier> current = Optional.of(identifier);
        while (current.isPresent()) {
            Matcher matcher = LINK.matcher(current.get().getDisplayName());
            if (matcher.find()) {
                return matcher.group(1);
            }
            current = plan.getParent(current.get());
        }
        return "";
    }

    private static List<Requirement> requirements(MethodSource source) {
        List<Requirement> found = new ArrayList<>();
        Method method = source.getJavaMethod();
        add(found, method.getAnnotation(Requirement.class));
        for (Class<?> type = source.getJavaClass(); type != null; type = type.getEnclosingClass()) {
            add(found, type.getAnnotation(Requirement.class));
        }
        return found;
    }

    private static void add(List<Requirement> found, Requirement requirement) {
        if (requirement != null) {
            found.add(requirement);
        }
    }
}
