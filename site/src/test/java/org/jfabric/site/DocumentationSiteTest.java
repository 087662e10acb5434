package org.jfabric.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every link of the site leads to a file and an anchor of the site, or to a file of the repository. */
class DocumentationSiteTest {
    private static final Path ROOT = Path.of("..");
    private static final String SOURCES = "https://sources.invalid/";
    private static final Pattern LINK = Pattern.compile("(?:href|src)=\"([^\"]*)\"");
    private static final Pattern ID = Pattern.compile(" id=\"([^\"]*)\"");

    @TempDir
    private static Path output;
    private static final Map<Path, String> FILES = new HashMap<>();

    @BeforeAll
    static void make() throws IOException {
        new DocumentationSite(ROOT, SOURCES).write(output);
        try (Stream<Path> files = Files.walk(output)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                FILES.put(file, file.toString().endsWith(".png") ? "" : Files.readString(file));
            }
        }
    }

    @Test
    void shouldMakeAFileOfEachPage() throws IOException {
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            long pages = docs.filter(file -> file.toString().endsWith(".md")).count();
            assertEquals(pages, FILES.keySet().stream().filter(
                file -> file.startsWith(output.resolve("docs")) && file.toString().endsWith(".html")).count());
        }
        assertTrue(FILES.containsKey(output.resolve("index.html")), FILES.keySet()::toString);
    }

    @Test
    void shouldHaveNoDeadLinks() {
        List<String> dead = new ArrayList<>();
        int links = 0;
        for (Map.Entry<Path, String> file : FILES.entrySet()) {
            Matcher matcher = LINK.matcher(file.getValue());
            for (; matcher.find(); links++) {
                String link = matcher.group(1);
                if (!isAlive(file.getKey(), link)) {
                    dead.add(output.relativize(file.getKey()) + ": " + link);
                }
            }
        }
        assertEquals(List.of(), dead);
        assertTrue(links > 1000, links + " links");
    }

    private static boolean isAlive(Path from, String link) {
        if (link.startsWith(SOURCES)) {
            return Files.exists(ROOT.resolve(link.substring(SOURCES.length()).replaceFirst("#.*", "")));
        }
        if (link.startsWith("https://")) {
            return true;
        }
        int hash = link.indexOf('#');
        String path = hash < 0 ? link : link.substring(0, hash);
        String html = FILES.get(path.isEmpty() ? from : from.resolveSibling(path).normalize());
        return html != null && (hash < 0 || html.contains(" id=\"" + link.substring(hash + 1) + '"'));
    }

    @Test
    void shouldGiveEachAnchorOnce() {
        FILES.forEach((file, html) -> {
            Set<String> seen = new HashSet<>();
            for (Matcher ids = ID.matcher(html); ids.find();) {
                assertTrue(seen.add(ids.group(1)), () -> file + ": " + ids.group(1));
            }
        });
    }

    /** A table that is wider than the window must not make the page wider. */
    @Test
    void shouldLetEachTableScrollByItself() {
        FILES.forEach((file, html) -> assertEquals(html.split("<table", -1).length,
            html.split("<div class=\"table\"><table", -1).length, file::toString));
    }

    @Test
    void shouldLoadNothingFromElsewhere() {
        FILES.forEach((file, html) -> assertTrue(
            !html.replaceAll("<script src=\"(\\.\\./)*search.js\"", "").contains("<script")
                && !html.contains("src=\"http") && !html.contains("@import"), file::toString));
    }

    /** The script runs in a browser, and its answer is read from the page that it has made. */
    @Test
    void shouldFindTheSectionsThatHaveAllWords() throws Exception {
        Path browser = Path.of("/usr/bin/chromium");
        assumeTrue(Files.exists(browser) || "required".equals(System.getenv("JFABRIC_PEERS")), "no chromium");
        Path page = output.resolve("docs/tutorial.html");
        String found = dom(browser, page.toUri() + "?q=doorbell+wri");
        assertTrue(found.contains(
            "<a href=\"../docs/remote-memory.html#doorbells\">Remote memory access: Doorbells</a>"), found);
        assertTrue(dom(browser, page.toUri() + "?q=xyzzy").contains("No section has all of these words."));
    }

    private static String dom(Path browser, String url) throws Exception {
        Process process = new ProcessBuilder(browser.toString(), "--headless=new", "--no-sandbox", "--disable-gpu",
            "--virtual-time-budget=2000", "--user-data-dir=" + output.resolve("profile"), "--dump-dom", url)
            .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String html = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return html.substring(html.indexOf("<header"), html.indexOf("</header>"));
    }

    @Test
    void shouldShowTheVersionAndLinkTheFirstNameOfATypeToItsJavadoc(@TempDir Path folder) throws IOException {
        Path type = folder.resolve("javadoc/org.jfabric/org/jfabric/stream/Publication.html");
        Files.createDirectories(type.getParent());
        Files.createFile(type);
        Path annotation = folder.resolve("javadoc/testing/org/jfabric/junit/FabricTest.html");
        Files.createDirectories(annotation.getParent());
        Files.createFile(annotation);
        new DocumentationSite(ROOT, SOURCES).write(folder);
        String page = Files.readString(folder.resolve("docs/streams.html"));
        String link = "<a href=\"../javadoc/org.jfabric/org/jfabric/stream/Publication.html\"><code";
        assertEquals(2, page.split(Pattern.quote(link), -1).length, page);
        assertTrue(page.contains("<a href=\"../javadoc/index.html\">Javadoc</a>\n"
            + "<a href=\"../javadoc/testing/index.html\">Javadoc for tests</a>"), page);
        assertTrue(Files.readString(folder.resolve("docs/embedding.html")).contains(
            "<a href=\"../javadoc/testing/org/jfabric/junit/FabricTest.html\"><code class=\"short\">@FabricTest"));
        String home = Files.readString(folder.resolve("index.html"));
        assertTrue(home.matches("(?s).*<header>.*<span>\\d+\\.\\d+.*</header>.*"), home);
        assertFalse(FILES.get(output.resolve("index.html")).contains("javadoc/"));
    }
}
