package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.jfabric.tool.JsonText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class ReportTest {
    private final Comparison run = Runs.comparison();

    private static Document parse(String page) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(
            new InputSource(new StringReader(page)));
    }

    private static Map<String, Object> plots(Document page) {
        Element data = (Element) page.getElementsByTagName("script").item(0);
        assertEquals("plot-data", data.getAttribute("id"));
        return JsonText.object(data.getTextContent());
    }

    /** The page is written so that it is XML as well, which can be checked strictly. */
    @Test
    void shouldBeWellFormedWithVerdictsAndPlotsBeforeOtherTables() throws Exception {
        String page = ReportPage.write(run);
        Document parsed = parse(page);
        assertEquals("html", parsed.getDocumentElement().getTagName());
        NodeList tables = parsed.getElementsByTagName("table");
        assertEquals(6, tables.getLength());
        assertEquals("verdicts", ((Element) tables.item(0)).getAttribute("class"));
        int plots = page.indexOf("id=\"plots\"");
        assertEquals(plots, Math.clamp(plots, page.indexOf("<table"), page.lastIndexOf("<table")));
        assertEquals(1, page.substring(0, plots).split("<table", -1).length - 1);
        String text = parsed.getDocumentElement().getTextContent();
        assertTrue(text.contains("A \"fast\" <CPU> & more"), text);
        assertTrue(text.contains("ucx_perftest is not installed"), text);
    }

    @Test
    void shouldShowVerdictsOnlyOfWhatWasMeasured() throws Exception {
        Element verdicts = (Element) parse(ReportPage.write(run)).getElementsByTagName("table").item(0);
        long measured = run.verdicts().stream().filter(Target.Verdict::measured).count();
        assertEquals(1 + measured, verdicts.getElementsByTagName("tr").getLength());
        assertTrue(verdicts.getTextContent().contains("≤ 1.80≤ 1.501.667not judged"), verdicts.getTextContent());
        assertFalse(verdicts.getTextContent().contains("not measured"), verdicts.getTextContent());
    }

    @Test
    void shouldShowByHowMuchATargetIsMissedAndInWhichRounds() throws Exception {
        Results results = new Results();
        for (int round = 0; round < 15; round++) {
            Runs.add(results, Runs.OWN, CellMetric.HALF_ROUND_TRIP, 240);
        }
        results.add(Runs.around(60, 150),
            Map.of(Runs.OWN, new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, 300.0), null)));
        Document page = parse(ReportPage.write(new Comparison(Map.of(), Map.of(), results, List.of(), List.of(), 0, 0,
            0, List.of())));
        NodeList tables = page.getElementsByTagName("table");
        assertTrue(tables.item(0).getTextContent().contains("≤ 1.80≤ 1.504.000missed by 122\u00a0%"),
            tables.item(0).getTextContent());
        assertTrue(tables.item(1).getTextContent().contains("4.000 to 4.000, 15 of 16 rounds valid"),
            tables.item(1).getTextContent());
        assertTrue(page.getDocumentElement().getTextContent().contains("15 of them are valid"));
    }

    @Test
    void shouldHaveThePlotsWithTheirValues() throws Exception {
        Map<String, Object> data = plots(parse(ReportPage.write(run)));
        List<?> systems = (List<?>) data.get("systems");
        assertEquals(List.of(Map.of("id", Contenders.INVOKER, "kind", "own"),
            Map.of("id", UcxTool.POSIX.id(), "kind", "peer"), Map.of("id", Contenders.COPY, "kind", "baseline")),
            systems);
        Map<String, Map<?, ?>> byTitle = new LinkedHashMap<>();
        for (Object plot : (List<?>) data.get("plots")) {
            byTitle.put((String) ((Map<?, ?>) plot).get("title"), (Map<?, ?>) plot);
        }
        assertEquals(List.of("Half round trip of 64 bytes by round", "Half round trip by size",
            "Message rate by size", "Round trip at 100,000 messages/s by percentile",
            "Message rate of 64 bytes by round"), List.copyOf(byTitle.keySet()));
        List<?> rows = (List<?>) byTitle.get("Half round trip of 64 bytes by round").get("rows");
        assertEquals(Map.of("system", 1.0, "inHandOvers", 3.1667, "box", List.of(180.0, 185.0, 190.0, 195.0, 200.0),
            "rounds", Stream.of(200.0, 190.0, 180.0).map(value -> Map.of("value", value, "valid", true)).toList()),
            rows.get(1));
        Map<?, ?> bySize = byTitle.get("Half round trip by size");
        assertEquals(List.of(Map.of("at", 6.0, "text", "64"), Map.of("at", 10.0, "text", "1 KiB")),
            bySize.get("ticks"));
        assertEquals(Map.of("system", 0.0, "name", Contenders.INVOKER,
            "points", List.of(List.of(6.0, 100.0), List.of(10.0, 100.0))), ((List<?>) bySize.get("curves")).getFirst());
        Map<?, ?> percentiles = byTitle.get("Round trip at 100,000 messages/s by percentile");
        List<?> points = (List<?>) ((Map<?, ?>) ((List<?>) percentiles.get("curves")).getFirst()).get("points");
        assertEquals(List.of(0.0, 1.0), points.getFirst());
        assertEquals(List.of(4.4771, 10_007.0), points.getLast());
    }

    @Test
    void shouldPutWhatIsMuchSlowerIntoAPlotOfItsOwn() {
        Results results = new Results();
        Runs.add(results, Runs.OWN, CellMetric.HALF_ROUND_TRIP, 100, 110);
        Runs.add(results, new Cell(Contenders.TCP, Pass.EXCHANGE, 64), CellMetric.HALF_ROUND_TRIP, 5_000, 5_000);
        String json = ReportPlots.write(results);
        List<?> plots = (List<?>) JsonText.object(json).get("plots");
        assertEquals(List.of("Half round trip of 64 bytes by round",
            "Half round trip of 64 bytes by round, slower systems"),
            plots.stream().map(plot -> ((Map<?, ?>) plot).get("title")).toList());
    }

    @Test
    void shouldDrawTheBoxAroundTheValidRounds() {
        Results results = new Results();
        Runs.add(results, Runs.OWN, CellMetric.HALF_ROUND_TRIP, 100, 110);
        results.add(Runs.around(60, 150),
            Map.of(Runs.OWN, new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, 300.0), null)));
        String json = ReportPlots.write(results);
        assertTrue(json.contains("\"box\":[100.0000,102.5000,105.0000,107.5000,110.0000]"), json);
        assertTrue(json.contains("{\"value\":300.0000,\"valid\":false}"), json);
    }

    /** A name may have the end of a script in it. */
    @Test
    void shouldKeepTheDataInItsScript() throws Exception {
        Results results = new Results();
        String name = "</script><script>alert(1)</script> ]]> &amp;";
        Runs.add(results, new Cell(name, Pass.EXCHANGE, 64), CellMetric.HALF_ROUND_TRIP, 100);
        String page = ReportPage.write(new Comparison(Map.of(), Map.of(), results, List.of(), List.of(), 0, 0, 0,
            List.of()));
        Map<String, Object> data = plots(parse(page));
        assertEquals(name, ((Map<?, ?>) ((List<?>) data.get("systems")).getFirst()).get("id"));
        assertFalse(page.contains("<script>alert"), page);
    }

    /** Only the comment of the library about its origin may contain an address. */
    @Test
    void shouldNeedNothingFromElsewhere() throws Exception {
        String page = ReportPage.write(run);
        Document parsed = parse(page);
        assertEquals(Set.of("https://github.com/leeoniya/uPlot"), Pattern.compile("\\b[a-z]+://[^\\s\"')]+")
            .matcher(page).results().map(MatchResult::group).collect(Collectors.toSet()));
        NodeList elements = parsed.getElementsByTagName("*");
        for (int i = 0; i < elements.getLength(); i++) {
            Element element = (Element) elements.item(i);
            assertFalse(element.hasAttribute("src") || element.hasAttribute("href"), element.getTagName());
            assertFalse(Set.of("link", "iframe", "img", "object", "base").contains(element.getTagName()),
                element.getTagName());
        }
        for (String reference : List.of("url(", "@import", "fetch(", "XMLHttpRequest", "importScripts")) {
            assertFalse(page.contains(reference), reference);
        }
        assertTrue(page.contains("content=\"default-src 'none'; "), "a browser would load what a mistake names");
        assertTrue(page.contains("The MIT License"), "the library's license belongs to each copy");
    }

    @Test
    void shouldStandWithoutAnyMeasurement() throws Exception {
        Comparison empty = new Comparison(Map.of(), Map.of(), new Results(), List.of(), List.of(), 0, 0, 0,
            List.of());
        String page = ReportPage.write(empty);
        assertNotNull(parse(page));
        assertTrue(page.contains("No target was measured."), page);
        assertTrue(ResultText.write(empty).contains("not measured"));
    }

    @Test
    void shouldPrintEnvironmentAndResultsByTheirNames() {
        Map<String, Object> json = JsonText.object(ResultJson.write(run, false));
        assertEquals(List.of("environment", "results", "sideBySide", "targets", "profiles", "garbageCollections",
            "messagesCompared", "missing", "notes"), List.copyOf(json.keySet()));
        assertEquals("A \"fast\" <CPU> & more", ((Map<?, ?>) json.get("environment")).get("cpu"));
        List<?> results = (List<?>) json.get("results");
        Map<?, ?> first = (Map<?, ?>) results.getFirst();
        assertEquals(Set.of("system", "metric", "sizeBytes", "median", "firstQuartile", "thirdQuartile", "unit",
            "medianInHandOvers", "rounds", "validRounds"), first.keySet());
        assertEquals("jfabric-invoker", first.get("system"));
        assertEquals("halfRoundTrip", first.get("metric"));
        assertEquals(64.0, first.get("sizeBytes"));
        assertEquals(100.0, first.get("median"));
        assertEquals(95.0, first.get("firstQuartile"));
        assertEquals(105.0, first.get("thirdQuartile"));
        assertEquals("ns", first.get("unit"));
        for (String metric : List.of("halfRoundTrip", "messageRate", "bandwidth")) {
            assertTrue(results.stream().anyMatch(each -> metric.equals(((Map<?, ?>) each).get("metric"))), metric);
        }
        assertEquals(Targets.all(Map.of()).size(), ((List<?>) json.get("targets")).size());
    }

    @Test
    void shouldSayWhyATargetIsMissedAndNothingOfOthers() throws Exception {
        Results results = new Results();
        for (int round = 0; round < 15; round++) {
            Runs.pairs(results, CellMetric.HALF_ROUND_TRIP, Runs.OWN, new double[] {100}, Runs.UCX, new double[] {50});
        }
        Runs.add(results, new Cell(Contenders.BARE_HAND_OVER, Pass.EXCHANGE, 64), CellMetric.HALF_ROUND_TRIP, 56);
        Comparison missed = new Comparison(
            Map.of(), Map.of(UcxTool.POSIX.id(), "UCX posix"), results, List.of(), List.of(), 0,
            0, 0, run.profiles());
        Target.Verdict verdict = new Target("x", Runs.OWN, CellMetric.HALF_ROUND_TRIP, Runs.UCX, 0.9, 0.75)
            .judge(results);
        assertEquals("100 against 50 ns of UCX posix.", MissReason.values(missed, verdict));
        assertEquals("A bare hand-over of one cache line takes 56 ns here, the target"
            + " allows 45: no fabric can meet it in this run. jfabric-invoker exchange 64, who begins: send: client"
            + " 75 %, poll: matching 25 %.", MissReason.of(missed, verdict));
        assertTrue(ResultText.write(missed).contains("no fabric can meet it"));
        assertTrue(parse(ReportPage.write(missed)).getDocumentElement().getTextContent()
            .contains("no fabric can meet it"));
        assertEquals("100 ns.", MissReason.values(missed, Target.ofValue(
            "x", Runs.OWN, CellMetric.HALF_ROUND_TRIP_IN_HAND_OVERS, 1.9, 1.5).judge(results)));
        Target.Verdict met = new Target("x", Runs.OWN, CellMetric.HALF_ROUND_TRIP, Runs.UCX, 2, 2).judge(results);
        assertEquals("", MissReason.of(missed, met));
    }

    @Test
    void shouldAddTheReadingsOfEachRoundIfTheyAreWanted() {
        List<?> results = (List<?>) JsonText.object(ResultJson.write(run, true)).get("results");
        Map<?, ?> paced = (Map<?, ?>) results.getLast();
        assertEquals(Collections.nCopies(3, Map.of("value", 400.0, "valid", true, "leastHandOverNs", 60.0,
            "mostHandOverNs", 60.0, "waited", 0.0)), paced.get("readings"));
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
