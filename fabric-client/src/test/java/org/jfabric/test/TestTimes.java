package org.jfabric.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes down when each test class began and ended, one line {@code class, begin, end} each, separated by tabs, times
 * in milliseconds since 1970, in a file of its own per test JVM below {@code target/test-times}. {@link BuildTimes}
 * reads them.
 *
 * <p>Surefire's own reports have no begin, and a phase whose classes run in several JVMs at once is shorter than their
 * sum.
 */
public final class TestTimes implements TestExecutionListener {

    /** System property: the phase of the build that these tests are run in. */
    static final String PHASE_PROP_NAME = "jfabric.test.phase";
    static final String DIR = "target/test-times";
    static final String FILE_SUFFIX = ".tsv";

    private final Path dir;
    private final Map<String, Long> begins = new ConcurrentHashMap<>();
    private final List<String> lines = new ArrayList<>();
    private TestPlan plan;

    /** For the service loader. */
    public TestTimes() {
        this(Path.of(DIR));
    }

    TestTimes(Path dir) {
        this.dir = dir;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan testPlan) {
        plan = testPlan;
    }

    @Override
    public void executionStarted(TestIdentifier identifier) {
        if (isTopLevelClass(identifier)) {
            begins.put(identifier.getUniqueId(), System.currentTimeMillis());
        }
    }

    @Override
    public synchronized void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
        Long begin = begins.remove(identifier.getUniqueId());
        if (begin != null && identifier.getSource().orElse(null) instanceof ClassSource source) {
            lines.add(source.getClassName() + "\t" + begin + "\t" + System.currentTimeMillis());
        }
    }

    /** Surefire may run a plan for each class. */
    @Override
    public synchronized void testPlanExecutionFinished(TestPlan testPlan) {
        String phase = System.getProperty(PHASE_PROP_NAME);
        if (lines.isEmpty() || phase == null) {
            return;
        }
        Path file = dir.resolve(phase + "-" + ProcessHandle.current().pid() + FILE_SUFFIX);
        try {
            Files.createDirectories(dir);
            Files.write(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file.toAbsolutePath(), e);
        }
        lines.clear();
    }

    private boolean isTopLevelClass(TestIdentifier identifier) {
        return identifier.getSource().orElse(null) instanceof ClassSource
            && plan.getParent(identifier).flatMap(TestIdentifier::getSource).isEmpty();
    }
}
