package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A page says for whom it is before it says anything else, and is not longer than one reads at a time. */
class PageShapeTest {
    private static final Path ROOT = Path.of("..");
    private static final int MOST_LINES = 250;
    private static final int FIRST_LINES = 4;
    private static final String LESSON = "a lesson, taken in order";
    private static final String LOOKED_UP = "looked up, not read: a table for each kind";
    /** Why a page may be longer. */
    private static final Map<String, String> LONG = new TreeMap<>(Map.ofEntries(
        Map.entry("docs/tutorial.md", LESSON),
        Map.entry("docs/tutorial-streams.md", LESSON),
        Map.entry("docs/simulation.md", LESSON),
        Map.entry("docs/talk-to-c.md", "two thirds are one program in C, which is copied as a whole"),
        Map.entry("docs/connections.md", "one life of a connection, in its order"),
        Map.entry("docs/operations.md", LOOKED_UP),
        Map.entry("docs/metrics.md", LOOKED_UP),
        Map.entry("docs/options.md", "generated: all options"),
        Map.entry("docs/what-can-go-wrong.md", LOOKED_UP),
        Map.entry("docs/embedding.md", "all that an embedder asks, in one place"),
        Map.entry("docs/performance/compare.md", LOOKED_UP),
        Map.entry("docs/architecture.md", "for contributors: the whole structure on one page"),
        Map.entry("docs/internals/links.md", "for contributors: a section for each link"),
        Map.entry("docs/internals/messages.md", "for contributors: one message's way through all classes")));

    /** The tables of requirements are data, the changes are a list, README is for all. */
    private static TreeMap<String, List<String>> pages() throws IOException {
        TreeMap<String, List<String>> pages = new TreeMap<>();
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            for (Path file : Stream.concat(docs, Stream.of("CONTRIBUTING.md", "SECURITY.md").map(ROOT::resolve))
                .filter(each -> each.toString().endsWith(".md")).toList()) {
                String name = ROOT.relativize(file).toString();
                if (!name.startsWith("docs/requirements/") || name.endsWith("README.md")) {
                    pages.put(name, Files.readAllLines(file));
                }
            }
        }
        assertTrue(pages.size() > 50, pages.keySet()::toString);
        return pages;
    }

    @Test
    void shouldSayForWhomEachPageIsInItsFirstLines() throws IOException {
        TreeSet<String> silent = new TreeSet<>();
        pages().forEach((name, lines) -> {
            if (lines.stream().limit(FIRST_LINES).noneMatch(line -> line.startsWith("For "))) {
                silent.add(name);
            }
        });
        assertEquals(new TreeSet<>(), silent);
    }

    @Test
    void shouldHaveNoLongPagesWithoutAReason() throws IOException {
        TreeMap<String, Integer> tooLong = new TreeMap<>();
        pages().forEach((name, lines) -> {
            if (lines.size() > MOST_LINES && !LONG.containsKey(name)) {
                tooLong.put(name, lines.size());
            }
        });
        assertEquals(new TreeMap<>(), tooLong);
    }
}
