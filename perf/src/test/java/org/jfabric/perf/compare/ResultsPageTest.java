package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParseException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;
import picocli.CommandLine;

/** The page of results and its chart, from a run that was saved; and the ones of this repository. */
class ResultsPageTest {
    private static final String FIGURES = "<!-- figures of the last run -->\n";
    private static final String END = "<!-- end of figures -->";

    @TempDir
    private Path folder;

    private static Path saved() throws Exception {
        return Path.of(ResultsPageTest.class.getResource("saved-run.json").toURI());
    }

    private static String figures(String page) {
        int begin = page.indexOf(FIGURES);
        assertTrue(begin >= 0, page);
        return page.substring(begin + FIGURES.length(), page.indexOf(END, begin));
    }

    private static Element xml(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(
            new InputSource(new StringReader(svg))).getDocumentElement();
    }

    @Test
    void shouldPublishASavedRunWithoutMeasuring() throws Exception {
        Path readme = Files.writeString(folder.resolve("README.md"), "a\n" + FIGURES + "old\n" + END + "\nb\n");
        Path output = folder.resolve("made/performance");
        assertEquals(0, new CommandLine(new CompareCommand()).execute("--from", saved().toString(),
            "--publish", output.toString(), "--figures-in", readme.toString()));
        String page = Files.readString(output.resolve("results.md"));
        assertTrue(page.contains("""
            | Half round trip or rate | ns, 64 bytes | ns, 1 KiB | ns, 4 KiB | messages/s, 64 bytes |
            |---|---|---|---|---|
            | JFabric, tagged message | 110 | 150 | 240 | 9.5 M |
            """), page);
        assertTrue(page.contains("| libfabric shm 1.17.0 | 420 | 470 | 700 | – |\n"), page);
        assertEquals("a\n" + FIGURES + figures(page) + END + "\nb\n", Files.readString(readme));
        Element chart = xml(Files.readString(output.resolve("latency-and-rate.svg")));
        String text = chart.getTextContent();
        for (String expected : List.of("2026-11-30, commit 0123456789ab, 2 cores of AMD EPYC in a virtual machine",
            "UCX 1.22.0", "25.1 M", "420", "prefers-color-scheme: dark", "Dashed: fewer than 15 valid rounds.")) {
            assertTrue(text.contains(expected), () -> expected + " in " + text);
        }
        // six systems with three latencies, four of them with a rate
        assertEquals(6 * 3 + 4 + 1, chart.getElementsByTagName("rect").getLength());
    }

    @Test
    void shouldShowATargetWithTooFewValidRoundsAsNotJudged() throws Exception {
        String page = ResultsPage.write(SavedRun.read(saved()));
        int open = page.indexOf("## Targets not judged");
        int none = page.indexOf("## Targets not measured");
        String judged = page.substring(page.indexOf("## Targets met, missed or shown"), open);
        assertTrue(judged.contains("| half round trip of 64 bytes against Aeron IPC | 0.88 (0.85 to 0.91, 20) |"
            + " 110 against 125 ns | 1.15 | 1.00 | goal met |\n"), judged);
        assertTrue(judged.contains("| 1.98 (1.90 to 2.05, 20) |  | 1.80 | 1.50 | missed by 10 % |\n"), judged);
        assertFalse(judged.contains("message rate"), judged);
        String unjudged = page.substring(open, none);
        assertTrue(unjudged.contains("| message rate of 64 bytes against UCX, at least | 1.30 (1.20 to 1.40, 14) |"
            + " 9,500,000 against 7,300,000 messages/s | 0.95 | 1.20 | 15 valid rounds are needed |\n"), unjudged);
        assertTrue(page.substring(none).contains("- half round trip of 8 bytes against UCX\n"), page);
        assertTrue(figures(page).contains(
            "Of 6 targets 2 met, 1 missed, 1 shown, 1 not judged, 1 not measured."), page);
        assertTrue(judged.contains("against the steady state | 667 (667 to 667, 1) |  | shown | 3.00 | shown |\n"),
            judged);
        assertTrue(figures(page).contains(
            "valid rounds of 64 bytes: 18, 1 KiB: 18, 4 KiB: 18, rate of 64 bytes: 14 (too few for a verdict)."), page);
    }

    /** Folders of the machine are nobody's business, and say nothing about the figures. */
    @Test
    void shouldNameNoFoldersAndNoVendorOfTheMachine() throws Exception {
        String page = ResultsPage.write(SavedRun.read(saved()));
        assertTrue(page.contains("| ucx | 1.22.0, revision abcdef0 |\n"), page);
        assertFalse(page.contains("/opt"), page);
        assertTrue(page.contains("| kernel | Linux 6.18.44 amd64 |\n"), page);
    }

    @Test
    void shouldReadWhatARunWrites() {
        SavedRun run = SavedRun.parse(ResultJson.write(Runs.comparison(), false));
        SavedRun.Group group = run.sideBySide().getFirst();
        assertEquals(64, group.sizeBytes());
        assertEquals(3, group.validRounds());
        assertEquals(new SavedRun.Value(UcxTool.POSIX.id(), 190, 185, 195), group.of(UcxTool.POSIX.id()));
        assertEquals(List.of(Contenders.INVOKER, UcxTool.POSIX.id()), run.systems());
        assertThrows(JsonParseException.class, () -> SavedRun.parse("{\"environment\":{}}"));
    }

    /** Who publishes a run does so for README.md, too. */
    @Test
    void shouldHaveTheSameFiguresInReadmePageAndChart() throws Exception {
        Path root = Path.of("..");
        String page = Files.readString(root.resolve("docs/performance/results.md"));
        assertEquals(figures(page), figures(Files.readString(root.resolve("README.md"))));
        String chart = xml(Files.readString(root.resolve("docs/performance/latency-and-rate.svg"))).getTextContent();
        Matcher cells = Pattern.compile("(?m)^\\| (?!Half|-)(.*) \\|$").matcher(figures(page));
        int rows = 0;
        for (; cells.find(); rows++) {
            for (String cell : cells.group(1).split(" \\| ")) {
                assertTrue(cell.equals("–") || chart.contains(cell), () -> cell + " in " + chart);
            }
        }
        assertTrue(rows > 3, page);
        String origin =
            figures(page).lines().skip(rows + 3).findFirst().orElseThrow().replaceFirst("\\. Medians.*", "");
        assertTrue(chart.contains(origin), () -> origin + " in " + chart);
    }
}
