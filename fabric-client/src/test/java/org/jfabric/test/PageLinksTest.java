package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Relative links of the Markdown pages lead to files that exist, and to headings of those. */
class PageLinksTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*]\\(([^)\\s]+)\\)");
    private static final Pattern PAGE = Pattern.compile("\\bdocs/[\\w/-]+\\.md\\b");
    private static final Pattern HEADING = Pattern.compile("#{1,6} +(.*?) *#*");
    private static final Pattern INLINE_CODE = Pattern.compile("`[^`\\n]*`");
    private static final Pattern LINK_TEXT = Pattern.compile("\\[([^\\]]*)]\\([^)]*\\)");

    @TempDir
    private Path dir;

    @Test
    void shouldLeadSomewhere() throws IOException {
        List<String> dead = new ArrayList<>();
        int links = check(ROOT, dead);
        assertEquals(List.of(), dead, () -> dead.size() + " links lead nowhere:\n" + String.join("\n", dead) + '\n');
        assertTrue(links > 200, () -> links + " links");
    }

    /** Messages and Javadoc name pages too. */
    @Test
    void shouldNameOnlyPagesThatThereAreInSources() throws IOException {
        List<String> missing = new ArrayList<>();
        int found = 0;
        for (Path folder : MainSources.folders("")) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    Matcher page = PAGE.matcher(Files.readString(file));
                    for (; page.find(); found++) {
                        if (!Files.exists(ROOT.resolve(page.group()))) {
                            missing.add(file + ": " + page.group());
                        }
                    }
                }
            }
        }
        assertEquals(List.of(), missing);
        assertTrue(found > 3, found + " pages");
    }

    @Test
    void shouldNameDeadLinks() throws IOException {
        Files.createDirectories(dir.resolve("docs"));
        Files.writeString(dir.resolve("docs/a.md"), """
            # A page: `x.y`, and more
            [top](#a-page-xy-and-more) [b](b.md) [section](b.md#two-words-1) [README](../README.md) [out](https://a.b/)
            `[code](none)`
            ```
            # no heading
            [code](none)
            ```
            [gone](c.md) and
            over [a
            line](#no-heading)
            """);
        Files.writeString(dir.resolve("docs/b.md"), "## Two words\n## [Two](a.md) words\n[x](a.md#two)\n");
        Files.writeString(dir.resolve("README.md"), "");
        List<String> dead = new ArrayList<>();
        check(dir, dead);
        assertEquals(List.of("docs/a.md: c.md", "docs/a.md: #no-heading", "docs/b.md: a.md#two"), dead);
    }

    /** Adds dead links; returns how many links there are. */
    private static int check(Path root, List<String> dead) throws IOException {
        List<Path> pages;
        try (Stream<Path> top = Files.list(root); Stream<Path> docs = Files.walk(root.resolve("docs"))) {
            pages = Stream.concat(top, docs).filter(page -> page.toString().endsWith(".md")).sorted().toList();
        }
        Map<Path, Set<String>> anchors = new HashMap<>();
        int links = 0;
        for (Path page : pages) {
            Matcher link = LINK.matcher(INLINE_CODE.matcher(String.join("\n", prose(page))).replaceAll("`"));
            for (; link.find(); links++) {
                if (!isAlive(page, link.group(1), anchors)) {
                    dead.add(root.relativize(page) + ": " + link.group(1));
                }
            }
        }
        return links;
    }

    private static boolean isAlive(Path page, String link, Map<Path, Set<String>> anchors) throws IOException {
        if (link.matches("[a-z]+:.*")) {
            return true;
        }
        int hash = link.indexOf('#');
        String path = hash < 0 ? link : link.substring(0, hash);
        Path target = path.isEmpty() ? page : page.resolveSibling(path).normalize();
        if (!Files.exists(target)) {
            return false;
        }
        if (hash < 0 || !target.toString().endsWith(".md")) {
            return true;
        }
        Set<String> known = anchors.get(target);
        if (known == null) {
            known = anchors(target);
            anchors.put(target, known);
        }
        return known.contains(link.substring(hash + 1));
    }

    /** Lines outside of blocks of code. */
    private static List<String> prose(Path page) throws IOException {
        List<String> lines = new ArrayList<>();
        boolean isCode = false;
        for (String line : Files.readAllLines(page)) {
            if (line.strip().startsWith("```")) {
                isCode = !isCode;
            } else if (!isCode) {
                lines.add(line);
            }
        }
        return lines;
    }

    /** The anchors that GitHub gives the headings of a page. */
    private static Set<String> anchors(Path page) throws IOException {
        Map<String, Integer> count = new HashMap<>();
        Set<String> anchors = new HashSet<>();
        for (String line : prose(page)) {
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                String text = LINK_TEXT.matcher(heading.group(1)).replaceAll("$1");
                String anchor = text.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-');
                int before = count.merge(anchor, 1, Integer::sum) - 1;
                anchors.add(before == 0 ? anchor : anchor + '-' + before);
            }
        }
        return anchors;
    }
}
