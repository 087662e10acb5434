package org.jfabric.driver.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.layout.MetricLabel;
import org.jfabric.layout.WaitLabel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OpenMetricsTextTest {
    private final CountersManager counters = new CountersManager(
        new UnsafeBuffer(ByteBuffer.allocateDirect(64 * CountersReader.METADATA_LENGTH)),
        new UnsafeBuffer(ByteBuffer.allocateDirect(64 * CountersReader.COUNTER_LENGTH)));
    private final SystemCounters system = new SystemCounters(counters);

    private void counter(int type, long value, String label) {
        counters.setCounterValue(counters.allocate(label, type), value);
    }

    private OpenMetricsPage page() {
        return OpenMetricsPage.parse(OpenMetricsText.of(MetricsSnapshot.of(counters)));
    }

    @Test
    void shouldWriteSystemCountersInBaseUnits() {
        system.add(SystemCounter.CLIENTS, 3);
        system.add(SystemCounter.COMMANDS, 17);
        system.max(SystemCounter.CYCLE_MAX_NS, 1_500_000);
        system.set(SystemCounter.SLOW_CYCLE_TIME_MS, 1_750_000_000_123L);

        OpenMetricsPage page = page();

        assertEquals(Map.of(Map.of(), 3.0), page.samples("jfabric_driver_clients"));
        assertEquals(Map.of(Map.of(), 17.0), page.samples("jfabric_driver_commands_total"));
        assertEquals(Map.of(Map.of(), 0.0015), page.samples("jfabric_driver_cycle_max_seconds"));
        assertEquals(Map.of(Map.of(), 1_750_000_000.123), page.samples("jfabric_driver_slow_cycle_time_seconds"));
    }

    /** Those of the alert rules and of the dashboard. */
    @ParameterizedTest
    @ValueSource(strings = {"prometheus/rules.yaml", "grafana/jfabric.json"})
    void shouldHaveTheMetricsThatAreDeployed(String file) throws IOException {
        Set<String> names = Pattern.compile("\\b(jfabric|process|jvm)_\\w+").matcher(
            Files.readString(Path.of("../deploy").resolve(file))).results().map(MatchResult::group)
            .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(names.size() > 10, names::toString);
        for (String name : names) {
            assertNotNull(OpenMetricsText.help(name.replaceFirst("_(total|bucket|info)$", "")), name);
        }
    }

    /** Grafana shows an empty panel, or none, for what it does not understand, and says nothing. */
    @Test
    void shouldDeployADashboardThatGrafanaCanRead() throws IOException {
        Schema schema;
        try (InputStream text = OpenMetricsTextTest.class.getResourceAsStream("/dashboard.schema.json")) {
            schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(text);
        }
        String dashboard = Files.readString(Path.of("../deploy/grafana/jfabric.json"));

        assertEquals(List.of(), schema.validate(dashboard, InputFormat.JSON));
        // what a schema cannot say
        List<String> ids =
            Pattern.compile("\"id\": *\\d+").matcher(dashboard).results().map(MatchResult::group).toList();
        assertEquals(ids.size(), Set.copyOf(ids).size(), ids::toString);
    }

    @Test
    void shouldEscapeAndReadBackAnyName() {
        for (String name : List.of(
            "desk", "a \"quoted\" one", "back\\slash", "two\nlines", "a=\"b\",c}", "Zürich", "")) {
            String label = MetricLabel.text("jfabric_client", "client", "7", "name", name);
            assertEquals(new MetricLabel("jfabric_client", Map.of("client", "7", "name", name)),
                MetricLabel.parse(label));
            counter(MetricLabel.INFO, 1, label);
            assertEquals(1.0, page().sum("jfabric_client_info", "client", "7", "name", name), label);
        }
    }

    @Test
    void shouldReadNoLabelOfAnotherForm() {
        for (String text : List.of(
            "clients", "x{", "x{a}", "x{a=\"b}", "x{a=\"b\"", "x{a=\"b\",a=\"c\"}", "x{a=\"b\"c=\"d\"}", "{a=\"b\"}")) {
            assertNull(MetricLabel.parse(text), text);
        }
        assertEquals(new MetricLabel("x", Map.of()), MetricLabel.parse(MetricLabel.text("x")));
    }

    @Test
    void shouldCutAValueThatIsTooLongForTheFile() {
        String label = MetricLabel.text("jfabric_peer_unexpected_messages", "client", "1", "id", "2",
            "endpoint", "e".repeat(500), "peer", "p".repeat(500), "link", "shm");
        assertTrue(label.length() <= CountersReader.MAX_LABEL_LENGTH, label);
        assertEquals("shm", MetricLabel.parse(label).labels().get("link"));
    }

    /** Each progress thread has a histogram of its own with the same labels. */
    @Test
    void shouldAddTheHistogramsOfSeveralThreads() {
        for (int thread = 0; thread < 2; thread++) {
            counter(MetricLabel.BUCKET, 5, MetricLabel.text("x_seconds", "of", "y", "le", "0.001"));
            counter(MetricLabel.BUCKET, 2, MetricLabel.text("x_seconds", "of", "y", "le", "+Inf"));
            counter(MetricLabel.SUM, 1_000_000, MetricLabel.text("x_seconds", "of", "y"));
        }
        OpenMetricsPage page = page();
        assertEquals(Map.of(Map.of("of", "y", "le", "0.001"), 10.0, Map.of("of", "y", "le", "+Inf"), 14.0),
            page.samples("x_seconds_bucket"));
        assertEquals(14, page.sum("x_seconds_count"));
        assertEquals(0.002, page.sum("x_seconds_sum"));
        Metric metric = MetricsSnapshot.of(counters).stream()
            .filter(each -> each.name().equals("x_seconds")).findFirst().orElseThrow();
        assertEquals(0.001, metric.quantile(0.7));
        assertEquals(Double.POSITIVE_INFINITY, metric.quantile(0.8));
    }

    @Test
    void shouldWriteAHistogramCumulatively() {
        counter(MetricLabel.BUCKET, 5, MetricLabel.text("x_seconds", "le", "0.001"));
        counter(MetricLabel.BUCKET, 2, MetricLabel.text("x_seconds", "le", "0.002"));
        counter(MetricLabel.BUCKET, 1, MetricLabel.text("x_seconds", "le", "+Inf"));
        counter(MetricLabel.SUM, 9_000_000, MetricLabel.text("x_seconds"));

        OpenMetricsPage page = page();

        assertEquals(5, page.sum("x_seconds_bucket", "le", "0.001"));
        assertEquals(7, page.sum("x_seconds_bucket", "le", "0.002"));
        assertEquals(8, page.sum("x_seconds_bucket", "le", "+Inf"));
        assertEquals(8, page.sum("x_seconds_count"));
        assertEquals(0.009, page.sum("x_seconds_sum"));
    }

    @Test
    void shouldShowTextsForPeopleOnceEach() {
        counter(MetricLabel.OTHER, 4, "writes of \"a\"");
        counter(MetricLabel.OTHER, 5, "writes of \"a\"");

        assertEquals(Map.of(Map.of("label", "writes of \"a\""), 9.0), page().samples("jfabric_other"));
    }

    @Test
    void shouldShowWhoWaitsForWhomAsLabelsAndAsASentence() {
        for (WaitLabel each : WaitLabel.values()) {
            String label = each.text("jfabric://a/\"x\"", "jfabric://b/y");
            counter(MetricLabel.GAUGE, 4, label);
            assertEquals(4, page().sum(WaitLabel.METRIC, WaitLabel.REASON, each.reason(),
                WaitLabel.WHO, "jfabric://a/\"x\"", WaitLabel.WHOM, "jfabric://b/y"));
            assertTrue(WaitLabel.readable(label).matches(
                "[a-z ]+ of jfabric://a/\"x\" [a-z ]+ jfabric://b/y( hold it back)?"), WaitLabel.readable(label));
        }
        assertEquals("clients", WaitLabel.readable("clients"));
    }
}
