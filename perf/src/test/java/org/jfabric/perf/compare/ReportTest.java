package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.jfabric.tool.JsonText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class ReportTest {
    private final Comparison run = Runs.comparison();

    private static Document parse(String page) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(
            new InputSource(new StringReader(page)));
    }

    /** The page is written so that it is XML as well, which can be checked strictly. */
    @Test
    void shouldBeWellFormedWithAPlotForEachQuestion() throws Exception {
        Document page = parse(ReportPage.write(run));
        assertEquals("html", page.getDocumentElement().getTagName());
        assertEquals(4, page.getElementsByTagName("svg").getLength());
        assertEquals(5, page.getElementsByTagName("table").getLength());
        String text = page.getDocumentElement().getTextContent();
        assertTrue(text.contains("A \"fast\" <CPU> & more"), text);
        assertTrue(text.contains("ping lost its core 50 times a second"), text);
        assertTrue(text.contains("ucx_perftest is not installed"), text);
    }

    @Test
    void shouldNeedNothingFromElsewhere() {
        String page = ReportPage.write(run).toLowerCase(Locale.ROOT);
        for (String reference : List.of("http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link",
            "<iframe", "//")) {
            assertFalse(page.contains(reference), reference);
        }
    }

    @Test
    void shouldStandWithoutAnyMeasurement() throws Exception {
        Comparison empty = new Comparison(Map.of(), Map.of(), new Results(1), List.of(), List.of(), 0, 0, 0,
            List.of());
        String page = ReportPage.write(empty);
        assertNotNull(parse(page));
        assertTrue(page.contains("Not measured."), page);
        assertTrue(ResultText.write(empty).contains("not measured"));
    }

    @Test
    void shouldPrintEnvironmentAndResultsByTheirNames() {
        Map<String, Object> json = JsonText.object(ResultJson.write(run, false));
        assertEquals(List.of("environment", "results", "targets", "profiles", "garbageCollections",
            "messagesCompared", "missing", "notes"), List.copyOf(json.keySet()));
        assertEquals("A \"fast\" <CPU> & more", ((Map<?, ?>) json.get("environment")).get("cpu"));
        List<?> results = (List<?>) json.get("results");
        Map<?, ?> first = (Map<?, ?>) results.getFirst();
        assertEquals(Set.of("system", "metric", "sizeBytes", "median", "min", "max", "unit",
            "medianInHandOvers", "validRounds", "byState", "disturbedRounds"), first.keySet());
        assertEquals("jfabric-invoker", first.get("system"));
        assertEquals("halfRoundTrip", first.get("metric"));
        assertEquals(64.0, first.get("sizeBytes"));
        assertEquals(100.0, first.get("median"));
        assertEquals(90.0, first.get("min"));
        assertEquals(110.0, first.get("max"));
        assertEquals("ns", first.get("unit"));
        for (String metric : List.of("halfRoundTrip", "messageRate", "bandwidth")) {
            assertTrue(results.stream().anyMatch(each -> metric.equals(((Map<?, ?>) each).get("metric"))), metric);
        }
        assertEquals(Targets.all().size(), ((List<?>) json.get("targets")).size());
    }

    @Test
    void shouldSayWhyATargetIsMissedAndNothingOfOthers() throws Exception {
        Results results = new Results(1);
        Runs.add(results, Runs.OWN, Metric.HALF_ROUND_TRIP, 100, 100, 100, 100, 100, 100, 100);
        Runs.add(results, Runs.UCX, Metric.HALF_ROUND_TRIP, 50, 50, 50, 50, 50, 50, 50);
        Runs.add(results, new Cell(Contenders.HAND_OVER, Pass.EXCHANGE, 64), Metric.HALF_ROUND_TRIP, 47);
        Comparison missed = new Comparison(
            Map.of(), Map.of(UcxTool.POSIX.id(), "UCX posix"), results, List.of(), List.of(), 0,
            0, 0, run.profiles());
        Target.Verdict verdict = new Target("x", Runs.OWN, Metric.HALF_ROUND_TRIP, Runs.UCX, 0.9, 0.75)
            .judge(results);
        assertEquals("100 against 50 ns of UCX posix.", Reason.values(missed, verdict));
        assertEquals("A bare hand-over of one cache line takes 47 ns here, the target"
            + " allows 45: no fabric can meet it in this run. jfabric-invoker exchange 64, who begins: send: client"
            + " 75 %, poll: matching 25 %.", Reason.of(missed, verdict));
        assertTrue(ResultText.write(missed).contains("no fabric can meet it"));
        assertTrue(parse(ReportPage.write(missed)).getDocumentElement().getTextContent()
            .contains("no fabric can meet it"));
        assertEquals("100 ns.", Reason.values(missed, Target.ofValue(
            "x", Runs.OWN, Metric.HALF_ROUND_TRIP_IN_HAND_OVERS, 1.9, 1.5).judge(results)));
        Target.Verdict met = new Target("x", Runs.OWN, Metric.HALF_ROUND_TRIP, Runs.UCX, 2, 2).judge(results);
        assertEquals("", Reason.of(missed, met));
    }

    @Test
    void shouldMarkDisturbedRoundsInAllForms() {
        List<?> results = (List<?>) JsonText.object(ResultJson.write(run, true)).get("results");
        Map<?, ?> paced = (Map<?, ?>) results.getLast();
        assertEquals(1.0, paced.get("disturbedRounds"));
        assertEquals(List.of("", "ping lost its core 50 times a second", ""), paced.get("disturbances"));
        assertEquals(List.of(400.0, 400.0, 400.0), paced.get("values"));
        assertTrue(ResultText.write(run).contains("(1 of 3 rounds disturbed)"));
    }

    @Test
    void shouldWriteThePageTheObjectsAndTheHistograms(@TempDir Path folder) throws Exception {
        Path page = new ReportFolder(folder.resolve("report")).write(run);
        assertEquals(ReportPage.write(run), Files.readString(page));
        assertNotNull(JsonText.object(Files.readString(page.resolveSibling("compare.json"))));
        assertNotNull(JsonText.object(Files.readString(page.resolveSibling("readings.json"))));
        assertTrue(Files.readString(page.resolveSibling("jfabric-invoker-64.hgrm")).contains("Percentile"));
        try (HistogramLogReader reader =
            new HistogramLogReader(page.resolveSibling("jfabric-invoker-64.hlog").toFile())) {
            Histogram histogram = (Histogram) reader.nextIntervalHistogram();
            assertEquals(30_000, histogram.getTotalCount());
        }
    }
}
